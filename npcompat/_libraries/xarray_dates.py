"""Dates of npcompat's arrays in xarray, whose units are those that it gives NumPy's."""

import functools
from typing import Any

import numpy as onp
from xarray.core import variable

from npcompat import numpy as np
from npcompat._internal.core.handle import Handle
from npcompat._libraries.replacing import rebind

_as_compatible_data = variable.as_compatible_data


@functools.wraps(_as_compatible_data)
def as_compatible_data(data: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a variable holds; dates and objects of ours are converted as NumPy's are."""
    held = _as_compatible_data(data, *args, **kwargs)
    if not isinstance(held, Handle) or held.dtype.kind not in "OMm":
        return held
    converted = onp.asarray(_as_compatible_data(onp.asarray(held)))
    return held if converted.dtype == held.dtype else np.asarray(converted)


rebind("xarray", _as_compatible_data, as_compatible_data)

__all__ = ["as_compatible_data"]
