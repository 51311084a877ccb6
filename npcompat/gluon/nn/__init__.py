"""Layers."""

from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.nn import _activations, _basic, _containers, _convolution, _normalization
from npcompat.gluon.nn._activations import *
from npcompat.gluon.nn._basic import *
from npcompat.gluon.nn._containers import *
from npcompat.gluon.nn._convolution import *
from npcompat.gluon.nn._normalization import *

__all__ = ["Block", "HybridBlock"]
__all__ += _activations.__all__
__all__ += _basic.__all__
__all__ += _containers.__all__
__all__ += _convolution.__all__
__all__ += _normalization.__all__
