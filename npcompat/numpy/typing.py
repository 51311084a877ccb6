"""NumPy's own: names for types of arguments."""

from numpy.typing import *  # noqa: F403
from numpy.typing import __all__ as __all__
