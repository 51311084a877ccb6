"""Probability: distributions, transformations of random variables, and stochastic blocks.

Samples of distributions with `has_grad` are differentiable in the parameters. Everything runs
eagerly, in hybridized blocks, and in `npx.jit`. Names and parameters are MXNet's.
"""

from npcompat.gluon.probability import block, constraint, distributions, transformation
from npcompat.gluon.probability.block import *
from npcompat.gluon.probability.distributions import *
from npcompat.gluon.probability.transformation import *

__all__ = ["block", "constraint", "distributions", "transformation"]
__all__ += block.__all__
__all__ += distributions.__all__
__all__ += transformation.__all__
