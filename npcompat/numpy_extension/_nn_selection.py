"""Embedding, indexing, one-hot, top-k, sequence masks, and reshaping by example."""

from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.devices import as_device
from npcompat._internal.indexing import entry, lens
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy_extension._nn_types import float32, int64, positioned

# --- positions ------------------------------------------------------------------------------------


def _positions(data: ArrayLike) -> Any:
    """Convert indices to an integer array; floats, common in data pipelines, are truncated."""
    found = asarray(data)
    return found if found.dtype.kind in "iu" else found.astype(int64)


def embedding(
    data: ArrayLike,
    weight: ArrayLike,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: DTypeLike = None,
    sparse_grad: bool = False,
) -> ndarray:
    """Embedding lookup: rows of a matrix at given indices.

    Unlike MXNet, which clips them, indices out of range raise, as in `weight[data]`.

    Parameters
    ----------
    data : array_like
        Indices, of any shape; floats are truncated to integers.
    weight : array_like, shape (input_dim, output_dim)
        One row for each index.
    input_dim, output_dim : int, optional
        Checked against the shape of `weight`, which determines them.
    dtype : dtype, optional
        Checked against the dtype of `weight`.
    sparse_grad : bool
        Sparse gradients are not supported: True raises NotImplementedError.

    Returns
    -------
    ndarray
        Of shape `data.shape + (output_dim,)`.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> npx.embedding([2, 0], [[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]])
    array([[2. , 2.1],
           [0. , 0.1]])
    """
    if sparse_grad:
        raise NotImplementedError(
            "embedding: sparse_grad=True is not supported; gradients are dense"
        )
    weight = asarray(weight)
    if (
        weight.ndim != 2
        or (input_dim or weight.shape[0], output_dim or weight.shape[1]) != weight.shape
    ):
        raise ValueError(
            f"embedding: weight must have shape ({input_dim or 'input_dim'}, "
            f"{output_dim or 'output_dim'}), got {weight.shape}"
        )
    if dtype is not None and dtypes.canonical(dtype) != weight.dtype:
        raise TypeError(f"embedding: dtype={dtype}, but weight has dtype {weight.dtype}")
    return entry.getitem(weight, _positions(data))


def gather_nd(data: ArrayLike, indices: ArrayLike) -> ndarray:
    """Gather elements at indices whose coordinates are stored along the first axis.

    Parameters
    ----------
    data : array_like
        Source.
    indices : array_like of int, shape (m, ...)
        Coordinates along the first m axes of `data`.

    Returns
    -------
    ndarray
        Of shape `indices.shape[1:] + data.shape[m:]`.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> npx.gather_nd([[0, 1], [2, 3]], [[1, 1, 0], [0, 1, 0]])
    array([2, 3, 0])
    """
    data, found = asarray(data), _positions(indices)
    if found.ndim < 1 or found.shape[0] > data.ndim:
        raise IndexError(
            f"gather_nd: indices of shape {found.shape} hold coordinates along their first axis; "
            f"data has {data.ndim} axes"
        )
    return entry.getitem(data, tuple(found[i] for i in range(found.shape[0])))


def _chosen(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [int64], attrs["dtype"]


@operator("_npx_one_hot", rule=_chosen, differentiable=False, pattern="broadcast")
def _one_hot(xp: Any, x: Any, *, depth: int, on: float, off: float, dtype: Any) -> Any:
    """One-hot encoding along a new last axis.

    Parameters
    ----------
    on : float
        Value at the index.
    off : float
        Value elsewhere.
    """
    return xp.where(
        xp.expand_dims(x, -1) == xp.arange(depth), xp.asarray(on, dtype), xp.asarray(off, dtype)
    )


def one_hot(
    data: ArrayLike,
    depth: int | None = None,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DTypeLike = "float32",
) -> ndarray:
    """One-hot encoding: vectors that are 1 at an index, and 0 elsewhere.

    Parameters
    ----------
    data : array_like
        Indices; those outside of `[0, depth)` become vectors of `off_value`.
    depth : int
        Length of the vectors.
    on_value, off_value : float
        Values at the index, and elsewhere.
    dtype : dtype
        Dtype of the result.

    Examples
    --------
    >>> npx.one_hot([1, 0], 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    if depth is None:
        raise TypeError("one_hot: depth, the length of the vectors, must be given")
    return apply(_one_hot, (data,), (int(depth), on_value, off_value, dtypes.canonical(dtype)))


@operator("_npx_pick", rule=positioned, pattern="injective")
def _pick(
    xp: Any,
    x: Any,
    positions: Any,
    *,
    axis: int | None = -1,
    mode: str = "clip",
    keepdims: bool = False,
) -> Any:
    """Pick one element along an axis for each index."""

    def in_range(size: int) -> Any:
        return xp.clip(positions, 0, size - 1) if mode == "clip" else positions % size

    if axis is None:
        return xp.reshape(
            xp.take_along(xp.reshape(x, -1), xp.reshape(in_range(x.size), -1), 0), positions.shape
        )
    axis = onp.lib.array_utils.normalize_axis_index(axis, x.ndim)
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    if positions.shape not in (rest, (*x.shape[:axis], 1, *x.shape[axis + 1 :])):
        raise ValueError(
            f"pick: index must have shape {rest}, that of data {x.shape} without axis {axis}, got "
            f"{positions.shape}"
        )
    picked = xp.take_one(
        x, xp.reshape(in_range(x.shape[axis]), (*x.shape[:axis], 1, *x.shape[axis + 1 :])), axis
    )
    return picked if keepdims else xp.squeeze(picked, axis)


def pick(
    data: ArrayLike,
    index: ArrayLike,
    axis: int | None = -1,
    mode: str = "clip",
    keepdims: bool = False,
) -> ndarray:
    """Pick one element along an axis for each index over the other axes.

    Parameters
    ----------
    data : array_like
        Source.
    index : array_like
        Indices, in the shape of `data` without the axis (or with length 1 there); floats are
        truncated to integers.
    axis : int or None
        The axis; None: indices refer to the flattened array.
    mode : {'clip', 'wrap'}
        Whether indices out of range are clipped, or wrap around.
    keepdims : bool
        Whether the axis stays, with length 1.

    Examples
    --------
    >>> npx.pick([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    array([1., 4.])
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"pick: mode must be 'clip' or 'wrap', got {mode!r}")
    return apply(_pick, (data, index), (None if axis is None else int(axis), mode, bool(keepdims)))


# --- the largest ----------------------------------------------------------------------------------


def _ranked(xp: Any, x: Any, axis: int | None, k: int, ascending: bool) -> tuple[Any, Any, int]:
    """Return the data with the axis last, the ranked indices along it, and the axis' position."""
    if axis is None:
        x, axis = xp.reshape(x, -1), 0
    axis = onp.lib.array_utils.normalize_axis_index(axis, x.ndim)
    last = xp.moveaxis(x, axis, -1)
    count = last.shape[-1] if k < 1 else k
    if count > last.shape[-1]:
        raise ValueError(
            f"topk: k={k}, but axis {axis} of shape {x.shape} has only {last.shape[-1]} elements"
        )
    return last, xp.astype(xp.top_positions(last, count, ascending), int64), axis


@operator(
    "_npx_topk",
    rule=lambda types, attrs: (dtypes.keep(types)[0], attrs["dtype"]),
    differentiable=False,
)
def _topk(xp: Any, x: Any, *, axis: int | None, k: int, ascending: bool, dtype: Any) -> Any:
    """Top-k indices: positions of the largest elements along an axis.

    Parameters
    ----------
    ascending : bool
        Whether the smallest elements are selected.
    """
    _, positions, axis = _ranked(xp, x, axis, k, ascending)
    return xp.moveaxis(positions, -1, axis)


@operator("_npx_topk_value", rule=dtypes.promote)
def _topk_value(xp: Any, x: Any, *, axis: int | None, k: int, ascending: bool) -> Any:
    """Top-k values: the largest elements along an axis.

    Parameters
    ----------
    ascending : bool
        Whether the smallest elements are selected.
    """
    last, positions, axis = _ranked(xp, x, axis, k, ascending)
    return xp.moveaxis(xp.take_along(last, positions, -1), -1, axis)


@operator("_npx_topk_mask", rule=dtypes.promote, differentiable=False)
def _topk_mask(xp: Any, x: Any, *, axis: int | None, k: int, ascending: bool) -> Any:
    """Top-k mask: 1 for the largest elements along an axis, else 0.

    Parameters
    ----------
    ascending : bool
        Whether the smallest elements are selected.
    """
    shape = x.shape
    last, positions, axis = _ranked(xp, x, axis, k, ascending)
    chosen = xp.any(xp.expand_dims(positions, -1) == xp.arange(last.shape[-1]), axis=-2)
    return xp.reshape(xp.moveaxis(chosen, -1, axis), shape)


def topk(
    data: ArrayLike,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: DTypeLike = "float32",
) -> ndarray | tuple[ndarray, ndarray]:
    """Top-k: the k largest elements along an axis, in order.

    Parameters
    ----------
    data : array_like
        Operand.
    axis : int or None
        The axis; with None, the array is flattened.
    k : int
        Number of elements; all, if it is less than 1.
    ret_typ : {'indices', 'value', 'both', 'mask'}
        Indices, values, values and indices, or an array in the shape of `data` that is 1 at the
        indices.
    is_ascend : bool
        Whether to select the smallest elements, in ascending order.
    dtype : dtype
        Dtype of indices: float32 by default, as in MXNet; pass an integer dtype to index with them.

    Examples
    --------
    >>> npx.topk([3.0, 1.0, 2.0], k=2, dtype="int64")
    array([0, 2])
    >>> npx.topk([3.0, 1.0, 2.0], k=2, ret_typ="value")
    array([3., 2.])
    """
    if ret_typ not in ("indices", "value", "both", "mask"):
        raise ValueError(
            f"topk: ret_typ must be 'indices', 'value', 'both' or 'mask', got {ret_typ!r}"
        )
    attrs = (None if axis is None else int(axis), int(k), bool(is_ascend))
    if ret_typ == "mask":
        return apply(_topk_mask, (data,), attrs)
    if ret_typ == "value":
        return apply(_topk_value, (data,), attrs)
    positions = apply(_topk, (data,), (*attrs, dtypes.canonical(dtype)))
    return positions if ret_typ == "indices" else (apply(_topk_value, (data,), attrs), positions)


# --- sequences and shapes -------------------------------------------------------------------------


@operator("_npx_sequence_mask", rule=positioned, pattern="broadcast")
def _sequence_mask(xp: Any, x: Any, lengths: Any, *, value: float, axis: int) -> Any:
    """Sequence mask: replace elements beyond the length of each sequence by a value."""
    time = xp.reshape(xp.arange(x.shape[axis]), (-1, 1) if axis == 0 else (1, -1))
    kept = time < xp.expand_dims(lengths, axis)
    return xp.where(
        xp.reshape(kept, kept.shape + (1,) * (x.ndim - 2)), x, xp.asarray(value, x.dtype)
    )


def sequence_mask(
    data: ArrayLike,
    sequence_length: ArrayLike | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
) -> ndarray:
    """Mask sequences: overwrite elements beyond the end of each sequence of a batch.

    Parameters
    ----------
    data : array_like, shape (time, batch, ...) or (batch, time, ...)
        Sequences.
    sequence_length : array_like, shape (batch,), optional
        Their lengths.
    use_sequence_length : bool
        Must be True if lengths are given; if False, the data is returned as it is.
    value : float
        Value written beyond the end.
    axis : {0, 1}
        The axis of time.

    Examples
    --------
    >>> npx.sequence_mask(np.ones((2, 3)), [1, 3], use_sequence_length=True, axis=1)
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """
    if use_sequence_length != (sequence_length is not None):
        given = "missing" if sequence_length is None else "given"
        raise ValueError(
            f"sequence_mask: use_sequence_length={use_sequence_length}, but sequence_length is "
            f"{given}"
        )
    data = asarray(data)
    if axis not in (0, 1) or data.ndim < 2:
        raise ValueError(
            f"sequence_mask: data needs two axes, time being 0 or 1; got shape {data.shape}, "
            f"axis={axis}"
        )
    return (
        apply(_sequence_mask, (data, sequence_length), (float(value), axis))
        if use_sequence_length
        else data.copy()
    )


def arange_like(
    data: ArrayLike,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Any = None,
    axis: int | None = None,
) -> ndarray:
    """Evenly spaced values in the shape of an array, or of the length of one of its axes.

    Parameters
    ----------
    data : array_like
        The example.
    start, step : float
        First value, and difference.
    repeat : int
        Number of repetitions of each value.
    ctx : Device or str, optional
        Device of the result.
    axis : int, optional
        The axis whose length to take; the result is 1-d then.

    Examples
    --------
    >>> npx.arange_like(np.zeros((2, 3)))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    >>> npx.arange_like(np.zeros((2, 3)), axis=0)
    array([0., 1.])
    """
    data = asarray(data)
    shape = data.shape if axis is None else (data.shape[axis],)
    size = int(onp.prod(shape))
    dtype = data.dtype if dtypes.is_float(data.dtype) else float32
    values = (start + step * (onp.arange(size) // repeat)).astype(dtype).reshape(shape)
    if ctx is None:
        return array_like.array_of(values)
    with as_device(ctx):
        return array_like.array_of(values)


def reshape_like(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
) -> ndarray:
    """Reshape an array to the shape of another one, or a range of axes to a range of its axes.

    Parameters
    ----------
    lhs : array_like
        The array; the result is a view where NumPy returns one.
    rhs : array_like
        The array whose shape is used.
    lhs_begin, lhs_end, rhs_begin, rhs_end : int, optional
        Ranges of axes, as in slices; all axes if not given.

    Examples
    --------
    >>> npx.reshape_like(np.arange(6), np.zeros((3, 2))).shape
    (3, 2)
    >>> npx.reshape_like(np.zeros((30, 7)), np.zeros((15, 2, 4)), 0, 1, 0, 2).shape
    (15, 2, 7)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    replaced = range(lhs.ndim)[slice(lhs_begin, lhs_end)]
    begin = replaced.start if len(replaced) or lhs.ndim else 0
    shape = (
        lhs.shape[:begin]
        + rhs.shape[slice(rhs_begin, rhs_end)]
        + lhs.shape[begin + len(replaced) :]
    )
    return lens.reshaped(lhs, shape)


__all__ = [
    "arange_like",
    "embedding",
    "gather_nd",
    "one_hot",
    "pick",
    "reshape_like",
    "sequence_mask",
    "topk",
]
