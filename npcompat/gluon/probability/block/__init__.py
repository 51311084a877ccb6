"""Stochastic blocks, which collect losses during the forward pass."""

from npcompat.gluon.probability.block.stochastic_block import StochasticBlock, StochasticSequential

__all__ = ["StochasticBlock", "StochasticSequential"]
