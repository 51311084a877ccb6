"""NumPy's own exceptions and warnings."""

from numpy.exceptions import *  # noqa: F403
from numpy.exceptions import RankWarning as RankWarning
from numpy.exceptions import __all__ as __numpys_all

__all__ = [*__numpys_all, "RankWarning"]  # noqa: PLE0604
