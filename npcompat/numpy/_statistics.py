"""Medians and quantiles."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_axis, normalized_axes, operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat.numpy._averages import weights_along
from npcompat.numpy._checks import flagged, refuse
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._empty_slices import is_empty
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._manipulation import broadcast_to
from npcompat.numpy._memory_order import in_order
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._reductions import averaged
from npcompat.numpy._typing import ArrayLike, AxisLike, Out
from npcompat.numpy._ufunc import finish

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_float64 = onp.dtype("float64")


def lines_of(xp: Any, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Join the reduced axes as the last one; also return the result's shape with kept axes."""
    reduced = normalized_axes(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in reduced]
    size = 1
    for i in reduced:
        size *= a.shape[i]
    lines = xp.reshape(xp.transpose(a, (*kept, *reduced)), (*[a.shape[i] for i in kept], size))
    return lines, tuple(1 if i in reduced else n for i, n in enumerate(a.shape))


@operator("_npi_median", rule=lambda types, attrs: averaged(types, {"dtype": None}), scalars=True)
def _median(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the median: the middle element, or the mean of two; NaN if one is NaN."""
    lines, kept = lines_of(xp, a, axis)
    n = lines.shape[-1]
    if n == 0:
        found = xp.full(lines.shape[:-1], onp.nan, a.dtype)
    else:
        ordered = xp.sort(lines, axis=-1)
        low, high, last = ordered[..., (n - 1) // 2], ordered[..., n // 2], ordered[..., -1]
        found = low if n % 2 else (low + high) / 2
        if dtypes.is_inexact(onp.dtype(a.dtype)):
            found = xp.where(xp.isnan(last), last, found)
    return xp.reshape(found, kept) if keepdims else found


@defers_to_classes
def median(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> "ndarray":
    """Compute the median over axes: the middle element, or the mean of the middle two.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of int, optional
        The axes; all if not given.
    out : ndarray, optional
        Array to write the result into.
    overwrite_input : bool
        Permission to overwrite `a`; it is not used.
    keepdims : bool
        If True, reduced axes stay, with length 1.

    Examples
    --------
    >>> np.median([3, 1, 4, 2])
    np.float32(2.5)
    """
    a = asanyarray(a)
    # NumPy handles NaT, takes means of objects, warns of empty slices, and refuses texts and records.
    if (a.dtype.kind in "mMOSUV" and not dtypes.on_devices(a.dtype)) or (
        is_empty(a) and modes.current().trace is None
    ):
        return finish(
            by_numpy(onp.median, (a, axis), {"keepdims": keepdims}, [a.dtype]),
            out,
            "median",
            "unsafe",
        )
    found = apply(_median, (a,), (as_axis(axis), bool(keepdims)))
    if type(axis) is int and not keepdims and not in_c_order(a) and found.shape:
        found = in_order(found, "K", onp.moveaxis(handles.layout(a), axis, 0)[0])
    if keepdims and not found.shape:  # NumPy's is an array then, not a scalar
        found = handles.wrap(handles.read(found))
    return finish(found, out, "median", "unsafe")


_PLOTTING = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""Plotting positions (alpha, beta) of Hyndman and Fan's continuous estimators (1996)."""
EXACT_METHODS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""Estimators whose result is always one of the elements."""
_METHODS = (*_PLOTTING, *EXACT_METHODS, "averaged_inverted_cdf", "midpoint")


def neighbours(xp: Any, q: Any, n: Any, method: str) -> tuple[Any, Any]:
    """Locate quantiles of n sorted elements: the index below, and the weight above it."""
    # `where` keeps XLA from fusing `n * q - 1` to a multiply-add with one rounding.
    share = xp.where(q >= 0, n * q, q)
    if method in _PLOTTING:
        alpha, beta = _PLOTTING[method]
        place = (n - 1) * q if method == "linear" else share + (alpha + q * (1 - alpha - beta)) - 1
        below = xp.floor(place)
        return below, place - below
    if method in ("inverted_cdf", "averaged_inverted_cdf"):
        place = share - 1
        below = xp.floor(place)
        return below, xp.where(place == below, 0.0 if method == "inverted_cdf" else 0.5, 1.0)
    if method == "closest_observation":
        place = share - 1.5
        below = xp.floor(place)
        return below, xp.where((place == below) & (below % 2 == 1), 0.0, 1.0)
    place = (n - 1) * q
    below = xp.floor(place)
    if method == "lower":
        return below, xp.zeros_like(below)
    if method == "nearest":
        return xp.round(place), xp.zeros_like(below)
    return below, xp.where(place == below, 0.0, 1.0 if method == "higher" else 0.5)


@operator("_npi_quantile_places", order="K", scalars=True, outputs=2)
def _places(xp: Any, q: Any, *, n: int, method: str) -> Any:
    """Locate quantiles of n sorted elements.

    Parameters
    ----------
    q : array
        Fractions.
    n : int
        Number of elements.
    method : str
        NumPy's name of the method.
    """
    return neighbours(xp, q, n, method)


def between(
    xp: Any, low: Any, high: Any, below: Any, weight: Any, n: Any, exact: bool, dtype: Any
) -> Any:
    """Interpolate between two neighbours; at the ends there is only one."""
    if exact:
        return xp.where(weight > 0, high, low)
    weight = xp.where(below < 0, 0.0, xp.where(below >= n - 1, 0.0, weight))
    weight = xp.astype(weight, dtype)
    step = high - low
    return xp.where(weight < 0.5, low + step * weight, high - step * (1 - weight))


@operator(
    "_npi_quantile",
    rule=lambda types, attrs: ([dtypes.strong(types[0]), None, None], attrs["dtype"]),
    scalars=True,
)
def _quantile(
    xp: Any,
    a: Any,
    below: Any,
    weight: Any,
    *,
    axis: Any = None,
    exact: bool = False,
    keepdims: bool = False,
    dtype: Any = None,
) -> Any:
    """Compute quantiles by their positions among the sorted elements.

    The axes of the positions come first.

    Parameters
    ----------
    below : array of int
        The places below which quantiles lie.
    weight : array
        Fraction of the distance to the next place.
    exact : bool
        If True, the places are those of elements; there is no interpolation.
    """
    lines, kept = lines_of(xp, a, axis)
    n = lines.shape[-1]
    ordered = xp.sort(lines, axis=-1)
    below, weight, shape = xp.ravel(below), xp.ravel(weight), below.shape
    low = xp.take_at(ordered, (..., xp.astype(xp.clip(below, 0, n - 1), onp.int64)))
    high = xp.take_at(ordered, (..., xp.astype(xp.clip(below + 1, 0, n - 1), onp.int64)))
    found = between(xp, low, high, below, weight, n, exact, dtype)
    if dtypes.is_inexact(onp.dtype(a.dtype)):
        last = ordered[..., -1:]
        found = xp.where(xp.isnan(last), last, found)
    found = xp.moveaxis(found, -1, 0)
    return xp.reshape(found, shape + (kept if keepdims else found.shape[1:]))


@operator("_npi_not_within", pattern="reduction", differentiable=False)
def _not_within(xp: Any, q: Any, *, low: float, high: float) -> Any:
    """Return True if any value lies outside `low <= q <= high`.

    Parameters
    ----------
    q : array
        Values.
    low : float
        Least value.
    high : float
        Greatest value.
    """
    return ~xp.all((q >= low) & (q <= high))


def _weighted_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [dtypes.strong(types[0]), None, None], (dtypes.strong(types[0]), onp.dtype(bool))


@operator("_npi_weighted_quantile", rule=_weighted_types, outputs=2)
def _weighted_quantile(
    xp: Any,
    a: Any,
    q: Any,
    weights: Any,
    *,
    axis: Any = None,
    keepdims: bool = False,
    skip: bool = False,
) -> Any:
    """Compute weighted quantiles, and a flag: True if weights sum to zero.

    With `skip`, NaN has no weight.

    Parameters
    ----------
    q : array
        Fractions.
    weights : array
        Weights of the elements.
    skip : bool
        If True, NaN has no weight.
    """
    ordered, kept = lines_of(xp, a, axis)
    weights = lines_of(xp, xp.broadcast_to(weights, a.shape), axis)[0]
    order = xp.argsort(ordered, axis=-1)
    ordered, weights = (xp.take_along_axis(x, order, axis=-1) for x in (ordered, weights))
    weights = xp.astype(weights, onp.float64)
    last = xp.full(ordered.shape[:-1], ordered.shape[-1] - 1)
    if dtypes.is_inexact(onp.dtype(a.dtype)) and skip:
        missing = xp.isnan(ordered)
        weights, last = (
            xp.where(missing, 0.0, weights),
            xp.maximum(xp.sum(~missing, axis=-1) - 1, 0),
        )
    reached = xp.cumsum(weights, axis=-1)
    reached = reached / reached[..., -1:]
    bad = xp.any(xp.isnan(reached[..., -1]) & ~xp.isnan(ordered[..., 0]))
    reached = xp.astype(
        xp.where(reached == 0, -1.0, reached), q.dtype if q.dtype.kind == "f" else onp.float64
    )
    places = xp.vectorize(
        lambda line, fractions: xp.searchsorted(line, fractions), signature="(n),(q)->(q)"
    )(reached, xp.ravel(q))
    found = xp.take_along_axis(ordered, xp.minimum(places, last[..., None]), axis=-1)
    if dtypes.is_inexact(onp.dtype(a.dtype)) and not skip:
        found = xp.where(xp.isnan(ordered[..., -1:]), ordered[..., -1:], found)
    found = xp.moveaxis(found, -1, 0)
    return xp.reshape(found, q.shape + (kept if keepdims else found.shape[1:])), bad


def check_method(method: str, weights: Any) -> None:
    """Raise an error for an unknown estimator, or for weights that it does not support."""
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(_METHODS)}")


def fractions_of(a: Any, q: Any, scale: int, what: str) -> tuple[Any, Type, bool]:
    """Return the fractions, their type for promotion, and True if they are integers.

    They are on the host if they are known.
    """
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    carried: Type = float
    if isinstance(q, Handle | onp.ndarray | onp.generic):
        q = asarray(q)
        carried = q.dtype if dtypes.is_inexact(q.dtype) else dtypes.default_float()
        chosen: Any = q / scale if scale != 1 else q
        if modes.current().trace is None and handles.read(chosen).node is None:
            chosen = handles.to_host(chosen)
    else:
        chosen = onp.asarray(q, onp.float64) / scale
        carried = float if isinstance(q, int | float) else dtypes.default_float()
    whole = (
        scale == 1
        and onp.result_type(q.dtype if hasattr(q, "dtype") else onp.asarray(q)).kind in "biu"
    )
    refuse(_not_within, (chosen,), (0, 1), ValueError, f"{what}s must be in the range [0, {scale}]")
    return chosen, carried, whole


def weighted_quantile(
    a: Any, chosen: Any, weights: Any, axis: Any, keepdims: bool, skip: bool
) -> Any:
    """Compute weighted quantiles."""
    weights = weights_along(a, weights, None if axis is None else normalized_axes(axis, a.ndim))
    flagged((weights < 0).any(), ValueError, "Weights must be non-negative.")
    found, bad = apply(
        _weighted_quantile, (a, asarray(chosen), weights), (as_axis(axis), bool(keepdims), skip)
    )
    flagged(bad, ValueError, "Weights included NaN, inf or were all zero.")
    return found


def _of_objects(q: Any) -> bool:
    """Return True if fractions are objects, such as Python's `fractions.Fraction`."""
    return (
        not isinstance(q, int | float)
        and (q.dtype if hasattr(q, "dtype") else onp.asarray(q).dtype).kind == "O"
    )


def _quantiles(
    a: Any,
    q: Any,
    scale: int,
    what: str,
    axis: Any,
    out: Any,
    method: str,
    keepdims: bool,
    weights: Any,
) -> Any:
    check_method(method, weights)
    a = asanyarray(a)
    if a.dtype.kind in "mMO" or _of_objects(q):
        options = {"method": method, "keepdims": keepdims, "weights": weights}
        return finish(
            by_numpy(getattr(onp, what.lower()), (a, q, axis), options), out, what.lower()
        )
    chosen, carried, whole = fractions_of(a, q, scale, what)
    if whole and method == "linear":
        method = "lower"  # quantiles 0 and 1 are elements and stay integers
    size = 1
    for i in normalized_axes(axis, a.ndim):
        size *= a.shape[i]
    if size == 0:
        raise IndexError(f"{what.lower()}: no elements along axis {axis} of shape {a.shape}")
    if a.dtype == onp.bool_ and method not in EXACT_METHODS:
        raise TypeError(f"{what.lower()}: bool elements can't be subtracted; use .astype('int64')")
    if weights is not None:
        return finish(
            weighted_quantile(a, chosen, weights, axis, keepdims, False), out, what.lower()
        )
    dtype = quantile_dtype(a.dtype, carried, method)
    # Known fractions are located on the host, which compiles nothing.
    places = (
        apply(_places, (chosen,), (size, method))
        if isinstance(chosen, Handle)
        else neighbours(onp, chosen, size, method)
    )
    result = apply(
        _quantile,
        (a, *map(asarray, places)),
        (as_axis(axis), method in EXACT_METHODS, bool(keepdims), dtype),
    )
    if isinstance(out, Handle):
        result = broadcast_to(result, out.shape)
    return finish(result, out, what.lower())


def quantile_dtype(dtype: onp.dtype[Any], carried: Type, method: str) -> onp.dtype[Any]:
    """Return the dtype of quantiles: that of the elements for exact methods."""
    return dtype if method in EXACT_METHODS else dtypes.result_type([dtype, carried])


@defers_to_classes
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> "ndarray":
    """Compute quantiles over axes: the value below which a fraction `q` of the elements lies.

    Parameters
    ----------
    a : array_like of real
        The array.
    q : array_like
        Fractions, from 0 to 1.  The axes of an array come first in the result.
    axis : int or tuple of int, optional
        The axes; all if not given.
    out : ndarray, optional
        Array to write the result into.
    overwrite_input : bool
        Permission to overwrite `a`; it is not used.
    method : str
        Estimator: any of NumPy's thirteen, after Hyndman and Fan (1996).
    keepdims : bool
        If True, reduced axes stay, with length 1.
    weights : array_like, optional
        Weight of each element: in the shape of `a`, or of the axes alone; only for method
        'inverted_cdf'.

    Examples
    --------
    >>> np.quantile([1, 2, 3, 4, 5], [0.25, 0.5])
    array([2., 3.])
    """
    return _quantiles(a, q, 1, "Quantile", axis, out, method, keepdims, weights)


@defers_to_classes
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> "ndarray":
    """Compute percentiles over axes: as `quantile`, with `q` from 0 to 100.

    Examples
    --------
    >>> np.percentile([1, 2, 3, 4, 5], 25)
    np.float32(2.0)
    """
    return _quantiles(a, q, 100, "Percentile", axis, out, method, keepdims, weights)


__all__ = ["median", "percentile", "quantile"]
