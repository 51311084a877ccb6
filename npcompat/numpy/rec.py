"""NumPy's record arrays (`np.rec`), on the host with our arrays."""

import numpy.rec as _numpys
from numpy.rec import *  # noqa: F403
from numpy.rec import __all__ as __all__

from npcompat.numpy._host_arrays import functions_on_host as _functions_on_host

globals().update(_functions_on_host(_numpys))
