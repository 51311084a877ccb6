"""NumPy's older string functions (`np.char`), on the host with our arrays."""

from typing import TYPE_CHECKING, Any

import numpy.char as _numpys
from numpy.char import __all__ as __all__

from npcompat.numpy import _host_arrays

if TYPE_CHECKING:
    from numpy.char import *  # noqa: F403
else:
    globals().update(_host_arrays.current_attributes_on_host(_numpys))

    def __getattr__(name: str) -> Any:
        """Return a name that NumPy deprecates, with its warning."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _host_arrays.attribute_on_host(_numpys, name)
