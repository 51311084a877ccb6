"""Medians and quantiles that ignore NaN."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import as_axis, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._empty_slices import warn_of_nan
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._nan_reductions import nanmean
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._reductions import averaged
from npcompat.numpy._statistics import (
    EXACT_METHODS,
    between,
    check_method,
    fractions_of,
    lines_of,
    median,
    neighbours,
    percentile,
    quantile,
    quantile_dtype,
    weighted_quantile,
)
from npcompat.numpy._typing import ArrayLike, AxisLike, NoValue, Out
from npcompat.numpy._ufunc import finish

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _warning(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Compute on the host, where NumPy warns of all-NaN lines."""

    def on_host(xp: Any, a: Any, *rest: Any, **attrs: Any) -> Any:
        lines = lines_of(xp, a, attrs["axis"])[0]
        # NumPy gives one warning per line.
        for _ in range(onp.count_nonzero(xp.isnan(lines).all(axis=-1))):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
        return compute(xp, a, *rest, **attrs)

    return on_host


def _picked(xp: Any, ordered: Any, places: Any) -> Any:
    """Gather elements at positions along the last axis, which may be out of range."""
    return xp.take_along_axis(
        ordered, xp.astype(xp.clip(places, 0, ordered.shape[-1] - 1), onp.int64), axis=-1
    )


def _middle(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the median of the elements that are not NaN."""
    lines, kept = lines_of(xp, a, axis)
    ordered = xp.sort(lines, axis=-1)
    count = xp.sum(~xp.isnan(lines), axis=-1, keepdims=True)
    low, high = (_picked(xp, ordered, place)[..., 0] for place in ((count - 1) // 2, count // 2))
    even = count[..., 0] % 2 == 0
    found = xp.where(even, (low + xp.where(even, high, low)) / 2, low)
    return xp.reshape(found, kept) if keepdims else found


@defers_to_classes
def nanmedian(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    keepdims: bool = NoValue,
) -> "ndarray":
    """Compute the median over axes, ignoring NaN; see `median`.

    Examples
    --------
    >>> np.nanmedian([3, np.nan, 4, 2])
    np.float32(3.0)
    """
    a, keep = asanyarray(a), keepdims is not NoValue and bool(keepdims)
    if a.size == 0:
        return nanmean(a, axis, out=out, keepdims=keepdims)
    if a.dtype.kind in "mM":  # NaT is handled by NumPy
        found = by_numpy(onp.nanmedian, (a, axis), {"keepdims": keep})
        return finish(found, out, "nanmedian", "unsafe")
    if not dtypes.is_inexact(a.dtype):
        return median(a, axis, out, overwrite_input, keep)
    found = apply(_nanmedian, (a,), (as_axis(axis), keep))
    warn_of_nan(a, axis, found, "All-NaN slice encountered", each=True)  # as NumPy does
    return finish(found, out, "nanmedian", "unsafe")


def _between_neighbours(
    xp: Any,
    a: Any,
    q: Any,
    *,
    axis: Any = None,
    method: str = "linear",
    keepdims: bool = False,
    dtype: Any = None,
) -> Any:
    """Compute quantiles that ignore NaN; the axes of the fractions come first."""
    lines, kept = lines_of(xp, a, axis)
    ordered = xp.sort(lines, axis=-1)
    count = xp.sum(~xp.isnan(lines), axis=-1, keepdims=True)
    n = xp.astype(count, q.dtype)
    below, weight = neighbours(xp, xp.ravel(q), n, method)
    low, high = (
        _picked(xp, ordered, xp.clip(place, 0, xp.maximum(n - 1, 0)))
        for place in (below, below + 1)
    )
    found = xp.moveaxis(
        between(xp, low, high, below, weight, n, method in EXACT_METHODS, dtype), -1, 0
    )
    return xp.reshape(found, q.shape + (kept if keepdims else found.shape[1:]))


_nanmedian = operator(
    "_npi_nanmedian",
    rule=lambda types, attrs: averaged(types, {"dtype": None}),
    scalars=True,
    kernels={"numpy": _warning(_middle)},
)(_middle)
_nanquantile = operator(
    "_npi_nanquantile",
    order="K",
    rule=lambda types, attrs: ([dtypes.strong(types[0]), None], attrs["dtype"]),
    scalars=True,
    kernels={"numpy": _warning(_between_neighbours)},
)(_between_neighbours)


def _nan_quantiles(
    of: Any,
    a: Any,
    q: Any,
    scale: int,
    what: str,
    axis: Any,
    out: Any,
    overwrite: bool,
    method: str,
    keepdims: Any,
    weights: Any,
) -> Any:
    a, keep = asanyarray(a), keepdims is not NoValue and bool(keepdims)
    if not dtypes.is_inexact(a.dtype) and a.size:
        return of(a, q, axis, out, overwrite, method, keep, weights=weights)
    check_method(method, weights)
    chosen, carried, whole = fractions_of(a, q, scale, what)
    if whole and method == "linear":
        method = "lower"  # quantiles 0 and 1 are elements
    if a.size == 0:
        return nanmean(a, axis, out=out, keepdims=keepdims)
    if weights is not None:
        found = weighted_quantile(a, chosen, weights, axis, keep, True)
    else:
        chosen = asarray(chosen)
        if not dtypes.is_inexact(chosen.dtype):
            chosen = chosen.astype(float)
        found = apply(
            _nanquantile,
            (a, chosen),
            (as_axis(axis), method, keep, quantile_dtype(a.dtype, carried, method)),
        )
        warn_of_nan(a, axis, found, "All-NaN slice encountered", each=True)  # as NumPy does
    return finish(found, out, of.__name__)


@defers_to_classes
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = NoValue,
    *,
    weights: ArrayLike | None = None,
) -> "ndarray":
    """Compute quantiles over axes, ignoring NaN; the arguments are those of `quantile`.

    Examples
    --------
    >>> np.nanquantile([1, np.nan, 2, 3], 0.5)
    np.float32(2.0)
    """
    return _nan_quantiles(
        quantile, a, q, 1, "Quantile", axis, out, overwrite_input, method, keepdims, weights
    )


@defers_to_classes
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = NoValue,
    *,
    weights: ArrayLike | None = None,
) -> "ndarray":
    """Compute percentiles, ignoring NaN: as `nanquantile`, with `q` from 0 to 100.

    Examples
    --------
    >>> np.nanpercentile([1, np.nan, 2, 3], 50)
    np.float32(2.0)
    """
    return _nan_quantiles(
        percentile, a, q, 100, "Percentile", axis, out, overwrite_input, method, keepdims, weights
    )


__all__ = ["nanmedian", "nanpercentile", "nanquantile"]
