"""Sums, products, extremes and means that ignore NaN."""

from typing import TYPE_CHECKING, Any, cast

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import Op, normalized_axes
from npcompat.numpy._comparison import isnan
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._empty_slices import is_empty, warn_of_means, warn_of_nan
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._reductions import (
    accumulated,
    averaged,
    highest,
    kept,
    lowest,
    mean_of,
    reduce,
    reduction,
)
from npcompat.numpy._selection import where as where_of
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_nansum = reduction("_npi_nansum", "nansum", accumulated)
_nanprod = reduction("_npi_nanprod", "nanprod", accumulated)
_nanmax = reduction("_npi_nanmax", "nanmax", kept, identity=lowest)
_nanmin = reduction("_npi_nanmin", "nanmin", kept, identity=highest)
_nanmean = reduction("_npi_nanmean", "nanmean", averaged)


@defers_to_classes
def nansum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the sum over axes with NaN as zero; the arguments are those of `sum`.

    Examples
    --------
    >>> np.nansum([1.0, np.nan])
    np.float32(1.0)
    """
    a = _without_nan(a, dtype, 0)
    return reduce(_nansum, a, axis, dtype, out, keepdims, initial, where)


@defers_to_classes
def nanprod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the product over axes with NaN as one; the arguments are those of `sum`.

    Examples
    --------
    >>> np.nanprod([2.0, np.nan])
    np.float32(2.0)
    """
    a = _without_nan(a, dtype, 1)
    return reduce(_nanprod, a, axis, dtype, out, keepdims, initial, where)


def _without_nan(a: Any, dtype: DTypeLike, number: int) -> Any:
    """Return an array whose elements that are NaN are a number, if integers are made of them."""
    if dtype is None or dtypes.is_inexact(dtypes.canonical(dtype)):
        return a
    a = asanyarray(a)
    return where_of(isnan(a), number, a) if dtypes.is_inexact(a.dtype) else a


def _nan_extreme(
    op: Op, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    a = asanyarray(a)
    result = reduce(op, a, axis, None, out, keepdims, initial, where)
    if dtypes.is_inexact(a.dtype):
        warn_of_nan(a, axis, result, "All-NaN slice encountered")
    return result


@defers_to_classes
def nanmax(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Return the maximum over axes, ignoring NaN; the arguments are those of `sum`.

    Examples
    --------
    >>> np.nanmax([1.0, np.nan])
    np.float32(1.0)
    """
    return _nan_extreme(_nanmax, a, axis, out, keepdims, initial, where)


@defers_to_classes
def nanmin(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Return the minimum over axes, ignoring NaN; the arguments are those of `sum`.

    Examples
    --------
    >>> np.nanmin([1.0, np.nan])
    np.float32(1.0)
    """
    return _nan_extreme(_nanmin, a, axis, out, keepdims, initial, where)


@defers_to_classes
def nanmean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the mean over axes, ignoring NaN.

    Examples
    --------
    >>> np.nanmean([1.0, np.nan, 3.0])
    np.float32(2.0)
    """
    a = asanyarray(a)
    inexact = dtypes.is_inexact(a.dtype)
    if inexact and dtype is not None and not dtypes.is_inexact(dtypes.canonical(dtype)):
        raise TypeError("If a is inexact, then dtype must be inexact")
    if inexact and out is not None and not dtypes.is_inexact(cast("Any", out).dtype):
        raise TypeError("If a is inexact, then out must be inexact")
    if not inexact and dtype is not None:  # there is no NaN, and the sum has that dtype
        return mean_of(a, axis, dtype, out, keepdims, where)
    if not inexact:
        normalized_axes(axis, a.ndim)  # a mean refuses axis 0 of a 0-d array
    result = reduce(_nanmean, a, axis, dtype, out, keepdims, NoValue, where)
    if inexact:
        warn_of_nan(a, axis, result, "Mean of empty slice")
    elif is_empty(a):
        warn_of_means(a, axis)
    return result


__all__ = ["nanmax", "nanmean", "nanmin", "nanprod", "nansum"]
