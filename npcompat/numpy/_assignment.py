"""Assignment of elements in place, by index or by mask."""

from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle, check_writeable
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like, handles, writes
from npcompat._internal.indexing.checks import check_bounds
from npcompat.numpy._creation import asarray
from npcompat.numpy._host_arrays import into_numpys
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._selection import _along, _check_mode, _in_range, _positions
from npcompat.numpy._typing import ArrayLike

_int64, _bool = onp.dtype("int64"), onp.dtype(bool)


@defers_to_classes
@into_numpys
def put_along_axis(arr: Any, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Scatter values into each 1-D slice along an axis at the same slice of `indices`.

    Examples
    --------
    >>> a = np.zeros((2, 2))
    >>> np.put_along_axis(a, np.array([[1], [0]]), 7, axis=1)
    >>> a
    array([[0., 7.],
           [7., 0.]])
    """
    _check_array(arr, "put_along_axis")
    if axis is None:
        flat, positions, _ = _along(arr, indices, None)
        flat[positions] = values
        if flat._view is None:  # the elements don't lie in C order: they were copied
            arr[...] = flat.reshape(arr.shape)
        return
    arr, positions, axis = _along(arr, indices, axis)
    key: list[Any] = []
    for i, n in enumerate(arr.shape):
        key.append(
            positions if i == axis else onp.arange(n).reshape((-1,) + (1,) * (arr.ndim - 1 - i))
        )
    arr[tuple(key)] = values


def _check_array(a: Any, what: str) -> None:
    if not isinstance(a, Handle):
        raise TypeError(f"{what}: argument 1 must be an npcompat ndarray, not {type(a).__name__}")
    check_writeable(a)


def _written(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    kept = dtypes.strong(types[0])
    return [None, _int64, kept], kept


@operator("_npi_put", rule=_written, pattern="opaque")
def _put(xp: Any, a: Any, ind: Any, v: Any, *, mode: str = "raise") -> Any:
    """Write values at flat indices; values are repeated.

    Parameters
    ----------
    ind : array of int
        Positions among all elements.
    v : array
        Values to write; repeated if there are too few.
    """
    flat, positions = xp.ravel(a), xp.ravel(_in_range(xp, ind, a.size, mode))
    new = xp.resize(xp.ravel(v), positions.shape)
    return xp.shaped_back(xp.put_at(flat, (positions,), new), a.shape)


@into_numpys
@defers_to_classes
def put(a: Any, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at flat indices (C order) in place; too few values are repeated.

    Examples
    --------
    >>> a = np.zeros(4, dtype=int)
    >>> np.put(a, [0, 2], [5, 6])
    >>> a
    array([5, 0, 6, 0])
    """
    _check_array(a, "put")
    positions, mode = _positions(ind), _check_mode(mode)
    values: Any = v if isinstance(v, Handle) else array_like.joined(v, a.dtype)
    if positions.size == 0:
        return
    if a.size == 0:
        raise IndexError("cannot replace elements of an empty array")
    if values.size == 0:
        return
    if mode == "raise":
        check_bounds(positions, a.size, 0)
    operands = [None, array_like.as_value(positions), array_like.as_value(values)]
    writes.write_part(a, _put, operands, (mode,))


def _masked(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    kept = dtypes.strong(types[0])
    return [None, _bool, kept], kept


@operator("_npi_place", rule=_masked, pattern="opaque")
def _place(xp: Any, arr: Any, mask: Any, vals: Any) -> Any:
    """Write successive values where the mask is true; values are repeated.

    Parameters
    ----------
    vals : array
        Values to write.
    """
    mask, vals = xp.reshape(mask, arr.shape), xp.ravel(vals)
    rank = xp.cumsum(xp.ravel(mask)) - 1
    return xp.where(
        mask, xp.reshape(xp.take_at(vals, (xp.remainder(rank, vals.size),)), arr.shape), arr
    )


@operator("_npi_putmask", rule=_masked, pattern="opaque")
def _putmask(xp: Any, a: Any, mask: Any, values: Any) -> Any:
    """Write the n-th value at the n-th element where the mask is true; values are repeated.

    Parameters
    ----------
    values : array
        Values to write: the one at the same position, repeated.
    """
    return xp.where(xp.reshape(mask, a.shape), xp.resize(xp.ravel(values), a.shape), a)


def _mask_and_values(a: Any, mask: ArrayLike, values: Any, what: str) -> tuple[Any, Any]:
    """Check the arguments of `place` and `putmask`, and return the mask and the values as arrays.

    NumPy casts arrays only where that is safe; here their kind must be the same or a lower one, as
    for `copyto`. Lists and scalars become elements of the dtype of `a`.
    """
    _check_array(a, what)
    chosen, is_array = asarray(mask), isinstance(values, (Handle, onp.ndarray))
    if is_array and values.ndim and not onp.can_cast(values.dtype, a.dtype, "same_kind"):
        raise TypeError(
            f"{what}: cannot cast array data from {values.dtype!r} to {a.dtype!r} according to the "
            "rule 'same_kind'; convert the values by astype"
        )
    if chosen.size != a.size:
        raise ValueError(
            f"{what}: mask and data must be the same size, got {chosen.size} and {a.size} elements"
        )
    return chosen, values if isinstance(values, Handle) else asarray(values, a.dtype)


@into_numpys
def place(arr: Any, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write successive values where a mask is true, in place; values are repeated.

    Examples
    --------
    >>> a = np.arange(4)
    >>> np.place(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    chosen, written = _mask_and_values(arr, mask, vals, "place")
    if written.size == 0:
        if chosen.any():
            raise ValueError("Cannot insert from an empty array!")
        return
    operands = [None, handles.read(chosen), handles.read(written)]
    writes.write_part(arr, _place, operands)


@into_numpys
def putmask(a: Any, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Write values at the same positions where a mask is true, in place.

    Values are repeated to the size of the array.

    Examples
    --------
    >>> a = np.arange(4)
    >>> np.putmask(a, a > 1, [5, 6, 7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    chosen, written = _mask_and_values(a, mask, values, "putmask")
    if written.size:
        operands = [None, handles.read(chosen), handles.read(written)]
        writes.write_part(a, _putmask, operands)


__all__ = ["place", "put", "put_along_axis", "putmask"]
