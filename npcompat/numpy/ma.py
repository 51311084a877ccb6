"""NumPy's own masked arrays."""

from numpy.ma import *  # noqa: F403
from numpy.ma import __all__ as __all__
