"""Adding elements to arrays, and removing them."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, subclasses
from npcompat._internal.indexing.assigned_value import fitted
from npcompat.numpy._checks import shaping
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._joining import concatenate
from npcompat.numpy._manipulation import moveaxis, ravel
from npcompat.numpy._memory_order import in_order
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._selection import take
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- adding and removing elements -----------------------------------------------------------------


@defers_to_classes
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> "ndarray":
    """Append values along an axis, or after raveling both; a new array.

    Examples
    --------
    >>> np.append([1, 2], [[3], [4]])
    array([1, 2, 3, 4])
    """
    if axis is None:
        return concatenate((ravel(arr), ravel(values)))
    return concatenate((asarray(arr), asarray(values)), axis)


def _removed(obj: Any, length: int, axis: int) -> onp.ndarray[Any, Any]:
    """Return a mask of the positions along an axis that stay."""
    keep = onp.ones(length, bool)
    if isinstance(obj, slice):
        keep[obj] = False
        return keep
    host = onp.asarray(shaping(obj, "delete"))
    if host.dtype == bool:
        if host.shape != (length,):
            raise ValueError(
                "boolean array argument obj to delete must be one dimensional and match the axis "
                f"length of {length}"
            )
        return ~host
    if host.size == 0 and not hasattr(obj, "dtype"):
        return keep
    if host.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    wrong = host[(host < -length) | (host >= length)]
    if wrong.size:
        raise IndexError(
            f"index {wrong.flat[0]} is out of bounds for axis {axis} with size {length}"
        )
    keep[host] = False
    return keep


@defers_to_classes
def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> "ndarray":
    """Delete the positions that an int, a slice, integers or a mask selects; a new array.

    Examples
    --------
    >>> np.delete([1, 2, 3, 4], [0, 2])
    array([2, 4])
    """
    arr = asanyarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = onp.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    kept = take(arr, onp.flatnonzero(_removed(obj, arr.shape[axis], axis)), axis)
    return _as_laid_out(kept, arr)


@defers_to_classes
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> "ndarray":
    """Insert values before positions along an axis; a new array.

    Parameters
    ----------
    arr : array_like
        The array.
    obj : int, slice, or array_like of int or bool
        Positions of `arr` before which to insert.
    values : array_like
        Values to insert; cast to the dtype of `arr`, broadcast to the place.
    axis : int, optional
        The axis; if not given, the elements of all axes in C order.

    Examples
    --------
    >>> np.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    """
    arr = asanyarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = onp.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    length = arr.shape[axis]
    if isinstance(obj, slice):
        positions = onp.arange(*obj.indices(length))
    else:
        positions = onp.asarray(shaping(obj, "insert"))
        if positions.dtype == bool:
            if positions.ndim != 1:
                raise ValueError("boolean array argument obj to insert must be one dimensional")
            positions = onp.flatnonzero(positions)
        elif positions.size == 0 and not hasattr(obj, "dtype"):
            positions = positions.astype(onp.int64)
        if positions.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
        if positions.dtype.kind not in "iu":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
    wrong = positions[(positions < -length) | (positions > length)]
    if wrong.size:
        raise IndexError(
            f"index {wrong.flat[0]} is out of bounds for axis {axis} with size {length}"
        )
    new: Any = values if isinstance(values, Handle) else asarray(values, arr.dtype)
    count = positions.size
    if count == 1:  # `values` may hold several slices
        new = new.reshape((1,) * (arr.ndim - new.ndim) + new.shape)
        new = moveaxis(new, 0, axis) if positions.ndim == 0 else new
        count = new.shape[axis]
    block_shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    block_of_new = handles.wrap(fitted(new, block_shape, arr.dtype))
    positions = onp.broadcast_to(onp.where(positions < 0, positions + length, positions), (count,))
    order = onp.argsort(onp.concatenate([positions, onp.arange(length)]), kind="stable")
    made = take(concatenate((block_of_new, arr), axis, dtype=arr.dtype), order, axis)
    return subclasses.inherit(_as_laid_out(made, arr), arr)


def _as_laid_out(made: Any, arr: Any) -> Any:
    """Return a new array in Fortran order if its source lies in that order, and not in C order."""
    return in_order(made, "F") if handles.layout(arr).flags.fnc else made


__all__ = ["append", "delete", "insert"]
