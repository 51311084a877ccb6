"""NumPy's own `testing`; its assertions accept our arrays by NumPy's protocols."""

from numpy.testing import *  # noqa: F403
from numpy.testing import __all__ as __all__
