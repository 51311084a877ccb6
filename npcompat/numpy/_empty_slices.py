"""RuntimeWarnings for empty and all-NaN slices in eager code on XLA.

On the host NumPy itself warns.
"""

import math
import warnings
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_axis, normalized_axes, operator
from npcompat._internal.dispatch import array_like, backends, handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.support.errors import TracedValueError


@operator("_npi_all_nan", pattern="reduction", differentiable=False)
def all_nan(xp: Any, a: Any, *, axis: Any = None) -> Any:
    """Count the lines along the axis in which every element is NaN."""
    return xp.count_nonzero(xp.all(xp.isnan(a), axis=axis))


def _warn(message: str) -> None:
    # The stacklevel is that of the caller of the public function.
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def _is_readable_on_device(a: Any) -> bool:
    """Return True if an array's values are on XLA and can be read."""
    return type(array_like.as_value(a).payload) in backends.ON_DEVICES


def is_empty(a: Any) -> bool:
    """Return True if an array is known to have no elements."""
    try:
        return 0 in a.shape
    except TracedValueError:  # a masked array, whose length is traced
        return False


def _count(a: Any, axis: Any) -> int:
    """Return the number of elements that each result reduces.

    A 0-d array counts as one element; its axes have been checked before.
    """
    return math.prod([a.shape[i] for i in normalized_axes(axis, a.ndim)]) if a.ndim else 1


def warn_of_means(a: Any, axis: Any) -> None:
    """Warn of means of empty slices."""
    if is_empty(a) and _is_readable_on_device(a) and _count(a, axis) == 0:
        _warn("Mean of empty slice")


def warn_of_spreads(a: Any, axis: Any, ddof: Any) -> None:
    """Warn of variances with no degrees of freedom."""
    if (ddof != 0 or is_empty(a)) and _is_readable_on_device(a) and _count(a, axis) <= ddof:
        _warn("Degrees of freedom <= 0 for slice")


def warn_of_masked(a: Any, axis: Any, where: Any, result: Any, message: str, ddof: Any = 0) -> None:
    """Warn if a mask leaves no more than `ddof` elements, so that results are NaN."""
    if _is_readable_on_device(result) and not onp.isfinite(handles.to_host(result)).all():
        mask = onp.broadcast_to(
            handles.to_host(where) if isinstance(where, Handle) else where, a.shape
        )
        if (onp.count_nonzero(mask, axis) <= ddof).any():
            _warn(message)


def warn_of_nan(a: Any, axis: Any, result: Any, message: str, each: bool = False) -> None:
    """Warn of all-NaN slices, once or for each of them."""
    if _is_readable_on_device(result) and onp.isnan(handles.to_host(result)).any():
        count = int(apply(all_nan, (a,), (as_axis(axis) if a.shape else None,)))
        for _ in range(count if each else min(count, 1)):
            _warn(message)


__all__ = [
    "all_nan",
    "is_empty",
    "warn_of_masked",
    "warn_of_means",
    "warn_of_nan",
    "warn_of_spreads",
]
