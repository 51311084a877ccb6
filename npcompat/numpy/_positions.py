"""Index arrays of triangles and diagonals, flat and multi-dimensional indices."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_shape, normalized_axes
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.outside_traces import outside as outside_of_traces
from npcompat.numpy._checks import outside, refuse, shaping
from npcompat.numpy._creation import asarray
from npcompat.numpy._filled import ones
from npcompat.numpy._joining import stack
from npcompat.numpy._memory_order import columns_of
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._ranges import arange
from npcompat.numpy._rounding import clip
from npcompat.numpy._typing import ArrayLike, AxisLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64 = onp.dtype("int64")
_Host = onp.ndarray[Any, Any]


def _number(x: Any) -> Any:
    """Convert a size or an offset given as a 0-d array to a number."""
    return x.item() if isinstance(x, Handle) else x  # type: ignore[attr-defined]


def _arrays(found: Sequence[_Host]) -> tuple[Any, ...]:
    return tuple(map(handles.as_scalar, columns_of(found)))


def _shaped(arr: Any) -> _Host:
    """Return a host array of the same shape, for NumPy functions that use only the shape."""
    return handles.layout(asarray(arr))


# --- diagonals and triangles ----------------------------------------------------------------------


def diag_indices(n: int, ndim: int = 2) -> "tuple[ndarray, ...]":
    """Return the indices of the main diagonal of an array with `ndim` axes of length `n`.

    Examples
    --------
    >>> a = np.zeros((2, 2), dtype=int)
    >>> a[np.diag_indices(2)] = 7
    >>> a
    array([[7, 0],
           [0, 7]])
    """
    return (arange(n),) * ndim


def diag_indices_from(arr: ArrayLike) -> "tuple[ndarray, ...]":
    """Return the indices of the main diagonal of an array whose axes are equally long.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or their lengths differ.

    Examples
    --------
    >>> np.diag_indices_from(np.ones((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    found = onp.diag_indices_from(_shaped(arr))
    return diag_indices(len(found[0]), len(found))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> "tuple[ndarray, ...]":
    """Return the indices of the lower triangle of an `n` by `m` matrix.

    It holds the elements on and below the `k`-th diagonal; `m` is `n` if not given.

    Examples
    --------
    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _arrays(onp.tril_indices(_number(n), _number(k), _number(m)))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> "tuple[ndarray, ...]":
    """Return the indices of the upper triangle of an `n` by `m` matrix.

    It holds the elements on and above the `k`-th diagonal; `m` is `n` if not given.

    Examples
    --------
    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _arrays(onp.triu_indices(_number(n), _number(k), _number(m)))


def tril_indices_from(arr: ArrayLike, k: int = 0) -> "tuple[ndarray, ...]":
    """Return the indices of the lower triangle of a matrix, from the `k`-th diagonal.

    Examples
    --------
    >>> np.tril_indices_from(np.ones((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _arrays(onp.tril_indices_from(_shaped(arr), _number(k)))


def triu_indices_from(arr: ArrayLike, k: int = 0) -> "tuple[ndarray, ...]":
    """Return the indices of the upper triangle of a matrix, from the `k`-th diagonal.

    Examples
    --------
    >>> np.triu_indices_from(np.ones((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _arrays(onp.triu_indices_from(_shaped(arr), _number(k)))


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> "tuple[ndarray, ...]":
    """Return the indices that a mask function such as `np.triu` keeps in an `n` by `n` matrix.

    The function is called as ``mask_func(ones, k)``.

    Examples
    --------
    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    with outside_of_traces():
        kept = asarray(mask_func(ones((n, n), int), k))
        found = onp.nonzero(handles.to_host(kept))
    return _arrays(found)


# --- several indices and one ----------------------------------------------------------------------


def _weights(dims: tuple[int, ...], order: str) -> list[int]:
    """Return the flat-index stride of each axis."""
    if order == "C":
        return [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    return [math.prod(dims[:i]) for i in range(len(dims))]


def _few(a: Any) -> _Host:
    """Return zeros with the dtype, number of axes and emptiness of an index array.

    NumPy checks them in its place.
    """
    return onp.zeros([min(n, 1) for n in a.shape], a.dtype)


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Literal["C", "F"] = "C"
) -> "ndarray":
    """Convert multi-dimensional indices to flat indices.

    Parameters
    ----------
    multi_index : sequence of array_like of int
        The positions along each axis; they are broadcast against each other.
    dims : int or tuple of int
        The array's shape.
    mode : {'raise', 'wrap', 'clip'} or a tuple of them
        Treatment of indices out of range, for all axes or for each: an error, the index
        modulo the length, or the nearest valid one.
    order : {'C', 'F'}
        Memory order: the last index changes fastest ('C'), or the first ('F').

    Returns
    -------
    ndarray of int64

    Raises
    ------
    ValueError
        If a position is out of range and the mode is 'raise'.

    Examples
    --------
    >>> np.ravel_multi_index(([0, 1], [2, 1]), (2, 3))
    array([2, 4])
    """
    parts, shape = list(multi_index), as_shape(dims)
    if not any([isinstance(p, Handle) for p in parts]):
        return handles.as_scalar(
            array_like.array_of(
                onp.asarray(onp.ravel_multi_index(tuple(parts), shape, mode, order))
            )
        )
    parts = [asarray(p) for p in parts]
    onp.ravel_multi_index(
        tuple([_few(p) for p in parts]), shape, "wrap" if mode == "raise" else mode, order
    )
    how = tuple(mode) if isinstance(mode, tuple | list) else (mode,) * len(shape)
    empty = 0 in onp.broadcast_shapes(*[p.shape for p in parts])  # NumPy then checks no index
    total: Any = asarray(0)
    for part, size, rule, weight in zip(parts, shape, how, _weights(shape, order), strict=True):
        if rule == "raise" and not empty:
            refuse(outside, (part,), (0, size), ValueError, "invalid entry in coordinates array")
        along: Any = asarray(part, _int64)
        if rule == "wrap":
            along = along % max(size, 1)
        elif rule == "clip":
            along = clip(along, 0, max(size - 1, 0))
        total = total + along * weight
    return total


def unravel_index(
    indices: ArrayLike, shape: Any, order: Literal["C", "F"] = "C"
) -> "tuple[ndarray, ...]":
    """Convert flat indices to multi-dimensional indices.

    Parameters
    ----------
    indices : array_like of int
        Positions among all elements.
    shape : int or tuple of int
        The array's shape.
    order : {'C', 'F'}
        Memory order: the last index changes fastest ('C'), or the first ('F').

    Returns
    -------
    tuple of ndarray of int64
        One for each axis.

    Raises
    ------
    ValueError
        If a position is out of range.

    Examples
    --------
    >>> np.unravel_index([2, 4], (2, 3))
    (array([0, 1]), array([2, 1]))
    """
    dims = as_shape(shape)
    if not isinstance(indices, Handle):
        return _arrays(
            [onp.asarray(f) for f in onp.unravel_index(cast("Any", indices), dims, order)]
        )
    onp.unravel_index(_few(indices), dims, order)
    if not dims:
        return ()
    size = math.prod(dims)
    refuse(
        outside,
        (indices,),
        (0, size),
        ValueError,
        f"index is out of bounds for array with size {size}",
    )
    places: Any = asarray(indices, _int64)
    found = [
        places // max(weight, 1) % max(length, 1)
        for weight, length in zip(_weights(dims, order), dims, strict=True)
    ]
    if not places.ndim or len(found) == 1:
        return tuple(found)
    whole = stack(found, axis=-1)  # of which NumPy returns views
    return tuple([whole[..., i] for i in range(len(found))])


# --- without zeros --------------------------------------------------------------------------------


@overload
def trim_zeros(filt: list[Any], trim: str = "fb", axis: AxisLike = None) -> list[Any]: ...


@overload
def trim_zeros(
    filt: tuple[Any, ...], trim: str = "fb", axis: AxisLike = None
) -> tuple[Any, ...]: ...


@overload
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: AxisLike = None) -> "ndarray": ...


@defers_to_classes
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: AxisLike = None) -> Any:
    """Trim the leading and trailing zeros of an array: a view; a list for a list.

    Parameters
    ----------
    filt : array_like
        The array, or a list or tuple of numbers.
    trim : {'fb', 'f', 'b'}
        Ends to trim: front, back, or both.
    axis : int or sequence of int, optional
        Axes to trim; all if not given.

    Raises
    ------
    TracedValueError
        In a compiled function: the shape of the result depends on values.

    Examples
    --------
    >>> np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    host = shaping(filt, "trim_zeros")
    trim = trim.lower()
    if trim not in {"fb", "bf", "f", "b"}:
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = normalized_axes(axis, host.ndim)
    if not axes:
        return filt
    found = onp.argwhere(host != 0 if host.dtype == object else host)  # None counts as nonzero
    key = [slice(None)] * host.ndim
    for i in axes:
        first, last = (int(found[:, i].min()), int(found[:, i].max())) if len(found) else (0, -1)
        key[i] = slice(
            first if "f" in trim or not len(found) else None,
            last + 1 if "b" in trim or not len(found) else None,
        )
    array: Any = filt
    return array[key[0]] if len(key) == 1 else array[tuple(key)]


__all__ = [
    "diag_indices", "diag_indices_from", "mask_indices", "ravel_multi_index", "tril_indices",
    "tril_indices_from", "trim_zeros", "triu_indices", "triu_indices_from", "unravel_index",
]  # fmt: skip
