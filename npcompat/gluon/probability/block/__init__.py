"""gluon.probability.block: blocks that collect losses while they compute."""

from npcompat.gluon.probability.block.stochastic_block import StochasticBlock, StochasticSequential

__all__ = ["StochasticBlock", "StochasticSequential"]
