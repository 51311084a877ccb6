"""npcompat: NumPy for accelerators and for learning.

    from npcompat import autograd, gluon, np, npx
"""

from npcompat import autograd, numpy, numpy_extension
from npcompat import numpy as np
from npcompat import numpy_extension as npx

__version__ = "0.1.0"
__all__ = ["autograd", "np", "npx", "numpy", "numpy_extension"]
