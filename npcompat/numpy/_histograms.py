"""Histograms, bin edges and counts of integers."""

import operator as python
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import (
    check_casts_to_float,
    flagged,
    refuse,
    shaping,
)
from npcompat.numpy._creation import asarray
from npcompat.numpy._differences import diff
from npcompat.numpy._host_arrays import as_numpys
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64, _float64 = onp.dtype("int64"), onp.dtype("float64")


# --- counting integers ----------------------------------------------------------------------------


def _counted(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    if len(types) == 1:
        return [_int64], _int64
    weights = dtypes.narrow(_float64, types[1:])
    return [_int64, weights], weights


def _bincount_jax(xp: Any, x: Any, *weights: Any, length: int) -> Any:
    return xp.bincount(x, *weights, length=length)


@operator(
    "_npi_bincount",
    keeps_class=False,
    rule=_counted,
    kernels={
        "jax": _bincount_jax,
        "numpy": lambda xp, x, *weights, length: xp.bincount(x, *weights, minlength=length),
    },
)
def counted(xp: Any, x: Any, *weights: Any, length: int) -> Any:
    """Count the occurrences of each number below `length`, or sum their weights.

    Parameters
    ----------
    length : int
        Length of the result.
    """
    return _bincount_jax(xp, x, *weights, length=length)


@defers_to_classes
def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> "ndarray":
    """Count the occurrences of each integer from 0 to the largest, or sum their weights.

    Parameters
    ----------
    x : array_like of int
        Integers that are not negative, along one axis.
    weights : array_like, optional
        Weight of each of them.
    minlength : int
        Least length of the result.

    Raises
    ------
    TracedValueError
        In a compiled function: the length of the result depends on values.

    Examples
    --------
    >>> np.bincount([0, 2, 2])
    array([1, 0, 2])
    """
    host = shaping(x, "bincount")
    if host.size == 0 and not hasattr(x, "dtype"):
        host = host.astype(_int64)
        x = host
    if host.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array"
            if host.ndim == 0
            else "object too deep for desired array"
        )
    if not hasattr(x, "dtype") and host.dtype.kind not in "biu":
        warnings.warn(
            "Non-integer input is deprecated. Passing non-integer sequences is deprecated, and "
            "they are cast to int64",
            DeprecationWarning,
            stacklevel=2,
        )
        x = host = host.astype(_int64)
    if not onp.can_cast(host.dtype, _int64, "safe") and host.dtype.kind != "u":
        raise TypeError(
            f"Cannot cast array data from {host.dtype!r} to {_int64!r} according to the rule 'safe'"
        )
    minlength = python.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if host.size and host.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(host.max()) + 1 if host.size else 0, minlength)
    if weights is None or not host.size:
        return apply(counted, (x,), (length,))
    weights = asarray(weights)
    check_casts_to_float(weights.dtype)
    if weights.shape != host.shape:
        raise ValueError(
            f"The weights and list don't have the same length: {weights.shape} and {host.shape}"
        )
    return apply(counted, (x, weights), (length,))


# --- bins -----------------------------------------------------------------------------------------


def _binned(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [dtypes.result_type(types)] * 2, _int64


@operator("_npi_digitize", keeps_class=False, scalars=True, rule=_binned, differentiable=False)
def _digitize(xp: Any, x: Any, bins: Any, *, right: bool = False) -> Any:
    """Find the bin of each element, for ascending or descending edges."""
    side, count = ("left" if right else "right"), bins.shape[0]
    ascending = xp.searchsorted(bins, x, side)
    if count < 2:
        return ascending
    return xp.where(_ascend(xp, bins), ascending, count - xp.searchsorted(bins[::-1], x, side))


def _ascend(xp: Any, bins: Any) -> Any:
    """Return True if the first two edges that differ ascend, or all are equal; nan equals nothing."""
    differ = bins[1:] != bins[:-1]
    return ~xp.any(differ) | (bins[1:] > bins[:-1])[xp.argmax(differ)]


@operator("_npi_not_monotonic", pattern="reduction", differentiable=False)
def not_monotonic(xp: Any, bins: Any, *, descending: bool = True) -> Any:
    """Return True if edges neither ascend nor (if that is allowed) descend.

    Parameters
    ----------
    bins : array
        Edges.
    descending : bool
        If True, they may descend.
    """
    falls = xp.any(bins[1:] < bins[:-1])
    if not descending or bins.shape[0] < 2:
        return falls
    return xp.where(_ascend(xp, bins), falls, xp.any(bins[1:] > bins[:-1]))


@defers_to_classes
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> "ndarray":
    """Find the bin index of each element: the number of edges at or below it.

    Parameters
    ----------
    x : array_like
        The elements.
    bins : array_like
        The edges, ascending or descending.
    right : bool
        If True, a bin contains its upper edge instead of its lower one.

    Raises
    ------
    ValueError
        If the edges are in no order.

    Examples
    --------
    >>> np.digitize([0.5, 1.0, 2.5], [1, 2])
    array([0, 1, 2])
    """
    x, bins = asarray(x), asarray(bins)
    if x.dtype.kind == "c" or bins.dtype.kind == "c":
        raise TypeError(f"{'x' if x.dtype.kind == 'c' else 'bins'} may not be complex")
    check_casts_to_float(bins.dtype)
    if bins.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array"
            if bins.ndim == 0
            else "object too deep for desired array"
        )
    refuse(
        not_monotonic,
        (bins,),
        (),
        ValueError,
        "bins must be monotonically increasing or decreasing",
    )
    return apply(_digitize, (x, bins), (bool(right),))


# --- histograms -----------------------------------------------------------------------------------


def _edge_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [
        onp.result_type(*[t if isinstance(t, onp.dtype) else _float64 for t in types], 1.0)
    ] * 2, attrs["dtype"]


@operator("_npi_bin_edges", rule=_edge_types)
def spaced_edges(xp: Any, low: Any, high: Any, *, count: int, dtype: Any) -> Any:
    """Compute the edges of equal-width bins; an empty interval is widened by one.

    Parameters
    ----------
    low : array
        Left end.
    high : array
        Right end.
    count : int
        Number of bins.
    """
    empty = low == high
    low, high = xp.where(empty, low - 0.5, low), xp.where(empty, high + 0.5, high)
    return xp.linspace(low, high, count + 1)


@operator("_npi_not_finite", pattern="reduction", differentiable=False)
def _not_finite(xp: Any, low: Any, high: Any) -> Any:
    """Return True if an end of an interval is not finite.

    Parameters
    ----------
    low : array
        Left end.
    high : array
        Right end.
    """
    return ~(xp.isfinite(low) & xp.isfinite(high))


def _histogram_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    carried, rest = [dtypes.strong(t) for t in types[:2]], types[2:]
    together = onp.result_type(*carried)
    # Compute in int64, so that integers in bins between integers stay exact.
    exact = len(rest) > 1 and carried[0].kind in "iu" and carried[0] != onp.uint64
    kept = [None] * len(rest)
    return [_int64 if exact else together, together, *kept], dtypes.strong(types[-1]) if len(
        rest
    ) % 2 else _int64


def _histogram_on_host(xp: Any, a: Any, edges: Any, *rest: Any) -> Any:
    weights = rest[-1] if len(rest) % 2 else None
    if len(rest) < 2:
        return xp.histogram(a, edges, weights=weights)[0]
    return xp.histogram(a, edges.shape[0] - 1, rest[:2], weights=weights)[0]


@operator("_npi_histogram", rule=_histogram_types, kernels={"numpy": _histogram_on_host})
def _histogram(xp: Any, a: Any, edges: Any, *rest: Any) -> Any:
    """Count the elements in each bin, or sum their weights; the last bin is closed.

    After the edges come both ends of the range, if its bins have one width, and the weights, if
    any.

    Parameters
    ----------
    edges : array
        Edges of the bins.
    *rest : array
        Both ends of the range, if its bins are of one width; weights, if any.
    """
    a, count = xp.ravel(a), edges.shape[0] - 1
    if count < 1:
        return xp.zeros((0,), onp.int64)
    if len(rest) < 2:
        inside = (a >= edges[0]) & (a <= edges[-1])
        place = xp.where(a == edges[-1], count - 1, xp.searchsorted(edges, a, "right") - 1)
    else:
        low, high = rest[:2]
        inside = ((a >= low) & (a <= high)) | ((low == high) & (a >= edges[0]) & (a <= edges[-1]))
        place = _bin_of_one_width(xp, a, edges, inside)
    place = xp.where(inside, place, count)  # dropped by `add_at`
    if len(rest) % 2:
        each = xp.ravel(rest[-1])
        return xp.add_at(xp.zeros((count,), each.dtype), (place,), each)
    return xp.add_at(xp.zeros((count,), onp.int64), (place,), 1)


def _bin_of_one_width(xp: Any, a: Any, edges: Any, inside: Any) -> Any:
    """Find the bin of each element by division, corrected by the edges for rounding."""
    last, known = edges.shape[0] - 2, xp.known(edges)
    if a.dtype == onp.int64 and type(known) is onp.ndarray and (width := _whole_width(known)):
        distance = a - int(known[0])
        return xp.minimum(distance if width == 1 else distance // width, last)
    wide = onp.result_type(edges.dtype, onp.float32)
    first = edges[0].astype(wide)
    share = (a.astype(wide) - first) / (edges[-1].astype(wide) - first)
    place = xp.minimum(xp.where(inside, share * (last + 1), 0).astype(onp.int64), last)
    place = place - (a < xp.take_at(edges, (place,)))  # stays >= 0 in the first bin
    return place + ((a >= xp.take_at(edges, (place + 1,))) & (place != last))


def _whole_width(edges: onp.ndarray[Any, Any]) -> int:
    """Return the width of equal bins between integers, which need no rounding; else 0."""
    if not (onp.abs(edges) < 2**52).all():  # False for NaN, too
        return 0
    width = int(edges[1] - edges[0])
    return width if (edges == int(edges[0]) + width * onp.arange(len(edges))).all() else 0


@defers_to_classes
def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> "ndarray":
    """Compute the bin edges that `histogram` uses.

    Examples
    --------
    >>> np.histogram_bin_edges([1.0, 2.0, 5.0], 2)
    array([1., 3., 5.])
    """
    a = asarray(a)
    return _of_one_histogram(_edges(a, bins, range, weights)[0], bins, a)


def shown_edges(edges: Any, bins: Any, a: Any) -> Any:
    """Convert edges to the dtype in which they are returned, by the default-float rule."""
    return (
        edges.astype(dtypes.narrow(edges.dtype, [a.dtype]))
        if isinstance(bins, str | int | onp.integer)
        else edges
    )


def _of_one_histogram(edges: Any, bins: Any, a: Any) -> Any:
    """Convert edges as `shown_edges`; those of bins of objects are objects, as NumPy's."""
    shown, computed = shown_edges(edges, bins, a), isinstance(bins, str | int | onp.integer)
    return shown.astype(object) if computed and a.dtype.kind == "O" else shown


def _edges(a: Any, bins: Any, range: Any, weights: Any) -> tuple[Any, list[Any]]:
    """Compute the edges in NumPy's dtype, so that integers are binned exactly.

    For bins of one width the ends of the range are returned, too.
    """
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(
                "Automated estimation of the number of bins is not supported for weighted data"
            )
        return array_like.array_of(
            onp.histogram_bin_edges(shaping(a, f"histogram(bins={bins!r})"), bins, range)
        ), []
    if not isinstance(bins, int | onp.integer):
        edges = asarray(bins)
        if edges.ndim == 0:
            raise TypeError("`bins` must be an integer, a string, or an array")
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        refuse(
            not_monotonic,
            (edges,),
            (False,),
            ValueError,
            "`bins` must increase monotonically, when an array",
        )
        return edges, []
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    ends = ends_of(a, range)
    dtype = onp.result_type(a.dtype, 1.0) if a.dtype.kind == "f" else _float64
    edges = apply(spaced_edges, ends, (int(bins), dtype))
    message = f"Too many bins for data range. Cannot create {bins} finite-sized bins."
    flagged((edges[1:] <= edges[:-1]).any(), ValueError, message)
    return edges, ends


def refuse_complex(a: Any) -> None:
    """Raise TypeError for complex elements, which no bins hold."""
    if a.dtype.kind == "c":
        raise TypeError("a histogram's elements may not be complex")


def ends_of(a: Any, range: Any) -> list[Any]:
    """Return the first and the last edge: as given, or the least and the largest element."""
    refuse_complex(a)
    if range is not None:
        low, high = (v if type(v) in (int, float) else onp.asarray(as_numpys(v)) for v in range)
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (onp.isfinite(low) and onp.isfinite(high)):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
        return [low, high]
    if a.size == 0:
        return [0, 1]
    ends = [a.min(), a.max()]
    refuse(_not_finite, ends, (), ValueError, "autodetected range is not finite")
    return ends


@defers_to_classes
def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> "tuple[ndarray, ndarray]":
    """Compute a histogram: the number of elements in each bin, and the bin edges.

    Parameters
    ----------
    a : array_like
        The elements, of any shape.
    bins : int, str or array_like
        Number of bins of one width, the name of one of NumPy's rules (computed on the
        host), or the edges.
    range : (float, float), optional
        First and last edge; the least and the largest element if not given.
    density : bool, optional
        If True, return a probability density, whose integral over the range is one, instead
        of counts.
    weights : array_like, optional
        Weight of each element.

    Returns
    -------
    (ndarray, ndarray)
        Counts, and edges, of which there is one more.

    Examples
    --------
    >>> np.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    a = asarray(a)
    refuse_complex(a)
    if a.dtype == onp.bool_:
        warnings.warn(
            "Converting input from bool to <class 'numpy.uint8'> for compatibility.",
            RuntimeWarning,
            stacklevel=2,
        )
        a = a.astype(onp.uint8)
    if weights is not None:
        weights = asarray(weights)
        if weights.shape != a.shape:
            raise ValueError(
                f"weights should have the same shape as a: {a.shape}, got {weights.shape}"
            )
    edges, ends = _edges(a, bins, range, weights)
    counts = apply(_histogram, (a, edges, *ends, *([] if weights is None else [weights])))
    shown = _of_one_histogram(edges, bins, a)
    if not density:
        return counts, shown
    return (counts / diff(shown)) / counts.sum(), shown


__all__ = ["bincount", "digitize", "histogram", "histogram_bin_edges"]
