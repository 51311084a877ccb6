"""Sums, norms, comparisons and casts under MXNet's names."""

import functools
from collections.abc import Sequence

from npcompat import numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.op import as_axis
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy._ufunc import finish


def add_n(*args: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Elementwise sum of arrays of one shape.

    Parameters
    ----------
    *args : array_like
        One or more arrays.
    out : ndarray, optional
        Array that the sum is written to; it may be one of the arrays.

    Examples
    --------
    >>> npx.add_n([1, 2], [3, 4], [5, 6])
    array([ 9, 12])
    """
    arrays = [asarray(a) for a in args]
    if not arrays:
        raise TypeError("add_n: expected at least one array")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError(
            f"add_n: arrays must have one shape, got {', '.join(str(a.shape) for a in arrays)}"
        )
    return finish(functools.reduce(np.add, arrays[1:], arrays[0].copy()), out, "add_n")


def broadcast_greater(lhs: ArrayLike, rhs: ArrayLike) -> ndarray:
    """Elementwise lhs > rhs, as ones and zeros in the common dtype, as in MXNet.

    (`np.greater` returns bools.)

    Parameters
    ----------
    lhs, rhs : array_like
        Operands, which broadcast.

    Examples
    --------
    >>> npx.broadcast_greater([1.0, 3.0], 2.0)
    array([0., 1.])
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    return np.greater(lhs, rhs).astype(dtypes.result_type((lhs.dtype, rhs.dtype)))


def cast(data: ArrayLike, dtype: DTypeLike) -> ndarray:
    """Cast an array to another dtype; returns a copy.

    Parameters
    ----------
    data : array_like
        The array.
    dtype : dtype
        The dtype.

    Examples
    --------
    >>> npx.cast([0.9, 1.3], "int32")
    array([0, 1], dtype=int32)
    """
    return asarray(data).astype(dtype)


def nonzero(x: ArrayLike) -> ndarray:
    """Indices of nonzero elements, as an array with one row for each.

    (`np.nonzero` returns an array for each axis.) Not in a compiled function, since their number
    depends on the values.

    Parameters
    ----------
    x : array_like
        The array.

    Returns
    -------
    ndarray of int64, shape (n, x.ndim)
        Positions, in C order.

    Examples
    --------
    >>> npx.nonzero([[1, 0], [0, 2]])
    array([[0, 0],
           [1, 1]])
    """
    return np.argwhere(asarray(x))


def norm(
    data: ArrayLike,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: DTypeLike = None,
    keepdims: bool = False,
) -> ndarray:
    """1- or 2-norm of the elements, over all or some axes.

    Where the 2-norm is zero, so is its derivative.

    Parameters
    ----------
    data : array_like
        Operand.
    ord : {1, 2}
        Sum of absolute values, or root of the sum of squares; also over two axes (no matrix
        norms).
    axis : int or sequence of int, optional
        Axes; all if not given.
    out_dtype : dtype, optional
        Dtype in which to compute; the operand's if not given.
    keepdims : bool
        Whether axes stay, with length 1.

    Examples
    --------
    >>> npx.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    array([ 5., 10.])
    """
    if ord not in (1, 2):
        raise ValueError(f"norm: ord must be 1 or 2, got {ord}; np.linalg.norm has others")
    data = asarray(data) if out_dtype is None else asarray(data).astype(out_dtype)
    axes = None if axis == () else as_axis(axis)
    if ord == 1:
        return np.sum(np.abs(data), axis=axes, keepdims=keepdims)
    if data.dtype.kind in "biu":
        data = data.astype(dtypes.default_float())
    squares = np.sum(np.square(np.abs(data)), axis=axes, keepdims=keepdims)
    nothing = squares == 0
    return np.where(nothing, 0, np.sqrt(np.where(nothing, 1, squares)))


__all__ = ["add_n", "broadcast_greater", "cast", "nonzero", "norm"]
