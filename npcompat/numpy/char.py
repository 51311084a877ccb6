"""NumPy's older string functions (`np.char`), on the host with our arrays."""

import numpy.char as _numpys
from numpy.char import *  # noqa: F403
from numpy.char import __all__ as __all__

from npcompat.numpy._host_arrays import functions_on_host as _functions_on_host

globals().update(_functions_on_host(_numpys))
