"""The way to functions that NumPy itself runs on the host, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes
from npcompat._internal.handle import Handle


def as_numpys(x: Any) -> Any:
    """An array as NumPy's own, with its values; anything else, also in lists and tuples, as it is."""
    if isinstance(x, Handle):
        return onp.array(dispatch.to_host(x))
    if type(x) is list or type(x) is tuple:
        return type(x)(map(as_numpys, x))
    return x


def held(dtype: onp.dtype[Any]) -> bool:
    """Whether arrays can have the dtype: that of numbers or bool, and no longer than XLA's."""
    if dtype.kind in "biufc":
        return dtype.itemsize <= (16 if dtype.kind == "c" else 8)
    return dtypes.is_inexact(dtype)


def given_back(found: Any, carried: Sequence[onp.dtype[Any]] | None = None) -> Any:
    """What NumPy returned, its arrays as arrays; strings, dates, objects, records and subclasses stay
    NumPy's.

    With the dtypes that the operands carry, floats of 64 bits that none of them has become the default float.
    """
    if type(found) is tuple or type(found) is list:
        return type(found)([given_back(f, carried) for f in found])
    if not (type(found) is onp.ndarray or isinstance(found, onp.generic)) or not held(found.dtype):
        return found
    wanted = found.dtype.newbyteorder("=")
    made = dispatch.array_of(onp.asarray(found, wanted if carried is None else dtypes.narrow(wanted, carried)))
    return dispatch.as_scalar(made) if isinstance(found, onp.generic) else made


__all__ = ["as_numpys", "given_back", "held"]
