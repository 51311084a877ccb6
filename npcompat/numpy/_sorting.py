"""Sorting, searching sorted arrays, argmax and argmin, counting."""

import operator as python
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import Op, as_axis, operator
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat.numpy._checks import outside, refuse
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._empty_slices import all_nan, is_empty
from npcompat.numpy._manipulation import ndim, ravel
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._selection import finish_safely, take
from npcompat.numpy._typing import ArrayLike, AxisLike, NoValue, Out
from npcompat.numpy._ufunc import name_of
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64 = onp.dtype("int64")
_NOTHING = onp.empty(0)


def _as_positions(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: the result holds indices or counts."""
    return [None if isinstance(t, onp.dtype) else dtypes.strong(t) for t in types], _int64


# --- sorting --------------------------------------------------------------------------------------


@operator("_npi_sort", order="K", pattern="opaque")
def _sort(xp: Any, a: Any, *, axis: int | None = -1, descending: bool = False) -> Any:
    """Sort along an axis, or the raveled array, ascending or descending; NaN comes last."""
    a, axis = (xp.ravel(a), 0) if axis is None else (a, axis)
    if not descending:
        return xp.sort(a, axis=axis)
    if dtypes.is_inexact(a.dtype):  # NaN stays last
        return -xp.sort(-a, axis=axis)
    if a.dtype.kind in "mM":  # NaT, the smallest integer, becomes last
        return xp.flip(xp.sort(a.view("int64"), axis=axis), axis).view(a.dtype)
    return xp.flip(xp.sort(a, axis=axis), axis)


@operator("_npi_argsort", rule=_as_positions, differentiable=False)
def _argsort(xp: Any, a: Any, *, axis: int | None = -1, descending: bool = False) -> Any:
    """Return the indices of a stable sort along an axis, or of the raveled array."""
    a, axis = (xp.ravel(a), 0) if axis is None else (a, axis)
    if not descending:
        return xp.argsort(a, axis=axis, stable=True)
    if dtypes.is_inexact(a.dtype):
        return xp.argsort(-a, axis=axis, stable=True)
    a = a.view("int64") if a.dtype.kind in "mM" else a
    return a.shape[axis] - 1 - xp.flip(xp.argsort(xp.flip(a, axis), axis=axis, stable=True), axis)


def _by_fields(
    function: Any, a: Any, *args: Any, order: Any, descending: bool | None = False
) -> Any:
    """Call a NumPy function on a record array, ordered by some fields."""
    if descending:
        raise ValueError(
            "descending=True and order= can't be given together: records are sorted in ascending "
            "order"
        )
    return array_like.array_of(function(handles.to_host(asarray(a)), *args, order=order))


def _is_descending(kind: Any, stable: Any, descending: Any) -> bool:
    """Return True for a descending order, after a check of `kind`; every algorithm is stable.

    A bool in the place of `kind`, an error in NumPy, is MXNet's `descending`.
    """
    if type(kind) is bool:
        if descending:
            raise ValueError("descending is given twice, by position and by name")
        return kind
    if kind is not None:
        if descending:
            raise ValueError(
                f"kind={kind!r} and descending=True can't be given together; leave out `kind`, "
                "since every sort is stable"
            )
        onp.sort(_NOTHING, kind=kind, stable=stable)  # raise NumPy's error for an unknown kind
    return bool(descending)


@call_cached
@defers_to_classes
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | bool | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool | None = False,
) -> "ndarray":
    """Sort along an axis, ascending or descending; NaN comes last.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int, optional
        The axis; with None, all elements in C order are sorted.
    kind : {'quicksort', 'heapsort', 'mergesort', 'stable'}, optional
        Without effect on the result: the sort is always stable. A bool means `descending`, as in
        MXNet.
    order : str or list of str, optional
        For records: the fields to compare, one after the other.
    stable : bool, optional
        Without effect on the result: equal elements always keep their order.
    descending : bool
        If True, the largest comes first. (Not in NumPy before 2.5.)

    Examples
    --------
    >>> np.sort([[3, 1], [2, 4]])
    array([[1, 3],
           [2, 4]])
    >>> np.sort([1, 3, 2], descending=True)
    array([3, 2, 1])
    """
    descending = _is_descending(kind, stable, descending)
    if order is not None:
        return _by_fields(onp.sort, a, axis, order=order, descending=descending)
    a = asanyarray(a)
    along = None if axis is None else onp.lib.array_utils.normalize_axis_index(axis, a.ndim)
    return apply_cached(_sort, (a,), (along, descending))


@call_cached
@defers_to_classes
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | bool | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool | None = False,
) -> "ndarray":
    """Return the indices that sort along an axis; the arguments are those of `sort`.

    Examples
    --------
    >>> np.argsort([30, 10, 20])
    array([1, 2, 0])
    >>> np.argsort([1, 2, 2], descending=True)
    array([1, 2, 0])
    """
    descending = _is_descending(kind, stable, descending)
    if order is not None:
        return _by_fields(onp.argsort, a, axis, order=order, descending=descending)
    a = asanyarray(a)
    along = None if axis is None else onp.lib.array_utils.normalize_axis_index(axis, a.ndim or 1)
    return apply_cached(_argsort, (a,), (along if a.ndim else None, descending))


def _check_kth(a: Any, kth: Any, axis: int, kind: str) -> None:
    if kind != "introselect":
        onp.partition(_NOTHING, 0, kind=cast(Any, kind))  # raise NumPy's error for an unknown kind
    size = a.shape[axis]
    places = onp.asarray(kth)
    if places.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if is_empty(a):
        return
    for k in places.reshape(-1):
        if not -size <= k < size:
            raise ValueError(f"kth(={k}) out of bounds ({size})")


@defers_to_classes
def partition(
    a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> "ndarray":
    """Partition along an axis: the `kth` element is in sorted position, none larger before it.

    Here the result is fully sorted.

    Examples
    --------
    >>> np.partition([3, 1, 2], 0)
    array([1, 2, 3])
    """
    if order is not None:
        return _by_fields(onp.partition, a, kth, axis, kind, order=order)
    a = asanyarray(a)
    if axis is None:
        a, axis = ravel(a), -1
    axis = onp.lib.array_utils.normalize_axis_index(axis, a.ndim)
    _check_kth(a, kth, axis, kind)
    return sort(a, axis)


@defers_to_classes
def argpartition(
    a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> "ndarray":
    """Return the indices that partition along an axis; here those of a full sort.

    Examples
    --------
    >>> np.argpartition([3, 1, 2], 0)
    array([1, 2, 0])
    """
    if order is not None:
        return _by_fields(onp.argpartition, a, kth, axis, kind, order=order)
    a = asanyarray(a)
    if axis is None or a.ndim == 0:
        a = ravel(a)
    axis = onp.lib.array_utils.normalize_axis_index(-1 if axis is None else axis, a.ndim)
    _check_kth(a, kth, axis, kind)
    return argsort(a, axis)


@operator("_npi_lexsort", keeps_class=False, scalars=True, rule=_as_positions, differentiable=False)
def _lexsort(xp: Any, *keys: Any, axis: int = -1) -> Any:
    """Return the indices that sort by several keys, the last one first.

    Parameters
    ----------
    *keys : array
        Keys; the last one counts first.
    """
    return xp.lexsort(keys, axis)


def lexsort(keys: ArrayLike, axis: int = -1) -> "ndarray":
    """Return the indices of an indirect sort by several keys, the last key first.

    Examples
    --------
    >>> np.lexsort(([3, 1, 2], [0, 1, 0]))
    array([2, 0, 1])
    """
    parts = [asarray(k) for k in cast("Any", keys)]
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(k.shape != parts[0].shape for k in parts):
        raise ValueError("all keys need to be the same shape")
    if parts[0].ndim or axis not in (0, -1):
        axis = onp.lib.array_utils.normalize_axis_index(axis, parts[0].ndim)
    return apply(_lexsort, parts, (axis,))


# --- searching ------------------------------------------------------------------------------------


def _searched_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    common = dtypes.result_type([dtypes.strong(t) for t in types])
    return [common, common], _int64


@operator(
    "_npi_searchsorted", keeps_class=False, scalars=True, rule=_searched_types, differentiable=False
)
def _searchsorted(xp: Any, a: Any, v: Any, *, side: str = "left") -> Any:
    """Find the insertion indices of values in a sorted vector."""
    return xp.searchsorted(a, v, side)


@defers_to_classes
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None
) -> "ndarray":
    """Find the indices at which inserted values keep a vector sorted (binary search).

    Parameters
    ----------
    a : array_like
        The vector, in ascending order unless `sorter` is given.
    v : array_like
        The values.
    side : {'left', 'right'}
        Side of elements equal to the value on which it is inserted.
    sorter : array_like of int, optional
        The positions that sort `a`.

    Examples
    --------
    >>> np.searchsorted([1, 2, 2, 3], 2, side="right")
    np.int64(3)
    """
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    a = asarray(a)
    if a.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array"
            if a.ndim == 0
            else "object too deep for desired array"
        )
    if sorter is not None:
        sorter = asarray(sorter)
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.shape != a.shape:
            raise ValueError("sorter.size must equal a.size")
        refuse(outside, (sorter,), (0, a.size), ValueError, "Sorter index out of range.")
        a = take(a, sorter, mode="clip")
    return apply(_searchsorted, (a, v), (side,))


# --- extremes -------------------------------------------------------------------------------------


def _extreme(name: str, method: str) -> Op:
    def compute(xp: Any, a: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        return getattr(xp, method)(a, axis=axis, keepdims=keepdims)

    return operator(name, rule=_as_positions, pattern="reduction", differentiable=False)(compute)


_argmax = _extreme("_npi_argmax", "argmax")
_argmin = _extreme("_npi_argmin", "argmin")


def _axis_of(a: Any, axis: Any) -> Any:
    """Return the axis; None for the axis 0 or -1 that NumPy accepts for 0-d arrays."""
    return None if axis in (0, -1) and ndim(a) == 0 else axis


def _position(op: Op, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    attrs = (
        None if axis is None else _axis_of(a, python.index(axis)),
        False if keepdims is NoValue else bool(keepdims),
    )
    result = apply_cached(op, (a,), attrs)
    return result if out is None else finish_safely(result, out, name_of(op))


@call_cached
@defers_to_classes
def argmax(
    a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: Any = NoValue
) -> "ndarray":
    """Return the index of the maximum along an axis, the first of equals; NaN is the largest.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int, optional
        The axis; if not given, the position is that among all elements in C order.
    out : ndarray, optional
        Array to write the result into.
    keepdims : bool, optional
        If True, the axis stays, with length 1.

    Examples
    --------
    >>> np.argmax([[1, 5], [7, 3]], axis=1)
    array([1, 0])
    """
    return _position(_argmax, a, axis, out, keepdims)


@call_cached
@defers_to_classes
def argmin(
    a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: Any = NoValue
) -> "ndarray":
    """Return the index of the minimum along an axis; the arguments are those of `argmax`.

    Examples
    --------
    >>> np.argmin([[1, 5], [7, 3]], axis=1)
    array([0, 1])
    """
    return _position(_argmin, a, axis, out, keepdims)


@operator("_npi_nan_replaced", pattern="elementwise", differentiable=False)
def _nan_replaced(xp: Any, a: Any, *, value: float) -> Any:
    """Replace NaN by a value.

    Parameters
    ----------
    value : float
        Replacement of NaN.
    """
    return xp.where(xp.isnan(a), xp.asarray(value, a.dtype), a)


def _nan_position(op: Op, a: Any, axis: Any, out: Any, keepdims: Any, least: float) -> Any:
    a = asanyarray(a)
    if dtypes.is_inexact(a.dtype):
        axis = None if axis is None else onp.lib.array_utils.normalize_axis_index(axis, a.ndim or 1)
        if a.size:
            refuse(
                all_nan, (a,), (axis if a.ndim else None,), ValueError, "All-NaN slice encountered"
            )
        a = apply(_nan_replaced, (a,), (least,))
    return _position(op, a, axis, out, keepdims)


@defers_to_classes
def nanargmax(
    a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: Any = NoValue
) -> "ndarray":
    """Return the index of the maximum, ignoring NaN; the arguments are those of `argmax`.

    Raises
    ------
    ValueError
        If all elements along the axis are nan.

    Examples
    --------
    >>> np.nanargmax([1.0, np.nan, 3.0])
    np.int64(2)
    """
    return _nan_position(_argmax, a, axis, out, keepdims, -onp.inf)


@defers_to_classes
def nanargmin(
    a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: Any = NoValue
) -> "ndarray":
    """Return the index of the minimum, ignoring NaN; the arguments are those of `argmax`.

    Raises
    ------
    ValueError
        If all elements along the axis are nan.

    Examples
    --------
    >>> np.nanargmin([np.nan, 2.0, 1.0])
    np.int64(2)
    """
    return _nan_position(_argmin, a, axis, out, keepdims, onp.inf)


# --- counting -------------------------------------------------------------------------------------


@operator("_npi_count_nonzero", rule=_as_positions, pattern="reduction", differentiable=False)
def _count_nonzero(xp: Any, a: Any, *where: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Count the elements that are not zero where the mask is true.

    Parameters
    ----------
    *where : array of bool
        Mask of the elements to count.
    """
    return xp.count_nonzero(
        xp.logical_and(a, where[0]) if where else a, axis=axis, keepdims=keepdims
    )


@call_cached
@defers_to_classes
def count_nonzero(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> "ndarray":
    """Count the elements that are not zero, over axes.

    Examples
    --------
    >>> np.count_nonzero([[0, 1], [2, 3]], axis=1)
    array([1, 2])
    """
    axis = as_axis(axis)
    if axis in (0, -1) and ndim(a) == 0:
        # NumPy accepts axis 0 or -1 of 0-d arrays. None would also count records, which NumPy
        # does only without an axis.
        axis = ()
    return apply_cached(_count_nonzero, (a,), (axis, bool(keepdims)))


__all__ = [
    "argmax", "argmin", "argpartition", "argsort", "count_nonzero", "lexsort", "nanargmax",
    "nanargmin", "partition", "searchsorted", "sort",
]  # fmt: skip
