"""NumPy's own `testing`; its assertions accept our arrays by NumPy's protocols.

Those that look into lists, tuples and dicts get NumPy's arrays for ours
(`npcompat/_libraries/replaced.py`), as in `numpy.testing` itself.
"""

from numpy.testing import *  # noqa: F403
from numpy.testing import __all__ as __all__
