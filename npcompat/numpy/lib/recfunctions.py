"""NumPy's record-field functions, on the host with our arrays: add, drop, rename, join."""

import numpy.lib.recfunctions as _numpys
from numpy.lib.recfunctions import *  # noqa: F403
from numpy.lib.recfunctions import __all__ as __all__

from npcompat.numpy._host_arrays import functions_on_host as _functions_on_host

globals().update(_functions_on_host(_numpys))
