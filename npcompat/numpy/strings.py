"""NumPy's string functions (`np.strings`), on the host with our arrays."""

import numpy.strings as _numpys
from numpy.strings import *  # noqa: F403
from numpy.strings import __all__ as __all__

from npcompat.numpy._host_arrays import functions_on_host as _functions_on_host

globals().update(_functions_on_host(_numpys))
