"""Blocks: trees of layers with parameters, and `hybridize`, which compiles them."""

from npcompat.gluon._block import Block
from npcompat.gluon._hybrid_block import HybridBlock

__all__ = ["Block", "HybridBlock"]
