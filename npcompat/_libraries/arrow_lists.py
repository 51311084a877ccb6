"""Lists and scalars of npcompat's as those of pyarrow, which reads only NumPy's classes in them."""

import functools
from collections.abc import Callable
from typing import Any

import pyarrow.lib

from npcompat._internal.core.handle import Handle
from npcompat._libraries.replacing import rebind, with_numpys


def extended(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of pyarrow that takes our arrays and scalars for NumPy's, also in rows.

    Rows are searched only where pyarrow refuses them, since there may be millions.
    """

    @functools.wraps(function)
    def call(obj: Any, *args: Any, **kwargs: Any) -> Any:
        if type(obj) in (list, tuple) and any([issubclass(k, Handle) for k in set(map(type, obj))]):
            obj = with_numpys(obj)
        try:
            return function(obj, *args, **kwargs)
        except (pyarrow.lib.ArrowInvalid, pyarrow.lib.ArrowTypeError):
            converted = with_numpys(obj)
            if converted is obj:
                raise
        return function(converted, *args, **kwargs)

    return call


for _name in ("array", "scalar"):
    _function = getattr(pyarrow.lib, _name)
    rebind("pyarrow", _function, extended(_function))

__all__ = ["extended"]
