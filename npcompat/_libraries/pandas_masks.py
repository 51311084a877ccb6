"""Masks and integers of npcompat's arrays for pandas, which asks whether they are NumPy's.

pandas takes any other array for a list of positions or for a number: `series.iloc[mask]` would give
other rows, and `series & integers` would be bools. It has no extension point for either, so that
the two functions which ask are replaced by ones that know our arrays, too.
"""

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle


def _with_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function of pandas with our arrays as NumPy's over the same memory."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(_numpys, args))
        return function(*args, **{name: _numpys(x) for name, x in kwargs.items()})

    return call


def _numpys(x: Any) -> Any:
    return onp.asarray(x) if isinstance(x, Handle) else x


for module, name in (
    ("pandas.core.common", "is_bool_indexer"),
    ("pandas.core.ops", "logical_op"),
    ("pandas.core.ops.array_ops", "logical_op"),
):
    place = importlib.import_module(module)
    if hasattr(place, name):
        setattr(place, name, _with_numpys(getattr(place, name)))
    else:
        warnings.warn(
            f"{module} has no {name}: this version of pandas takes npcompat's masks for positions; "
            "hand over numpy.asarray(mask)",
            RuntimeWarning,
            stacklevel=1,
        )

__all__: list[str] = []
