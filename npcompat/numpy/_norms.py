"""Norms of vectors and matrices."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import as_axis, normalized_axes, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._decompositions import real_dtype, working_dtype
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._overrides import defers_in_linalg
from npcompat.numpy._typing import ArrayLike, AxisLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _norm_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    if not dtypes.is_inexact(dtype):
        dtype = dtypes.default_float()
    return [dtype], real_dtype(dtype)


@operator("_npi_norm", rule=_norm_types, pattern="reduction")
def _norm(xp: Any, x: Any, *, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the norm of vectors or matrices."""
    return xp.norm(x, ord, axis, keepdims)


@operator("_npi_vector_norm", rule=_norm_types, pattern="reduction")
def _vector_norm(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute the norm of vectors, which may lie along several axes.

    Parameters
    ----------
    ord : int or float
        Exponent p of the p-norm; inf is the greatest absolute value.
    """
    return xp.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


@defers_in_linalg
def norm(x: ArrayLike, ord: Any = None, axis: AxisLike = None, keepdims: bool = False) -> "ndarray":
    """Compute the norm of vectors (one axis) or matrices (two axes).

    Parameters
    ----------
    x : array_like
        The array.
    ord : {None, number, inf, -inf, 'fro', 'nuc'}
        Kind of norm; None is the 2-norm of all elements.
    axis : int or pair of int, optional
        Axis of the vectors, or the two axes of the matrices; all if not given.
    keepdims : bool
        If True, these axes stay, with length 1.

    Examples
    --------
    >>> np.linalg.norm(np.array([3.0, 4.0]))
    np.float32(5.0)
    """
    order = ord.item() if hasattr(ord, "item") else ord
    x, chosen = asarray(x), as_axis(axis)
    if x.dtype.hasobject:  # objects define their own abs and sum
        return by_numpy(onp.linalg.norm, (x, order, chosen, keepdims), {})
    of_matrices = x.ndim == 2 if chosen is None else isinstance(chosen, tuple) and len(chosen) == 2
    if of_matrices and order is not None:
        if len(set(normalized_axes(chosen, x.ndim))) < 2:
            raise ValueError("Duplicate axes given.")
        if order in (2, -2, "nuc"):
            working_dtype([x.dtype])
    return apply(_norm, (x,), (order, chosen, bool(keepdims)))


@defers_in_linalg
def vector_norm(
    x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False, ord: Any = 2
) -> "ndarray":
    """Compute the norm of vectors along one or more axes, all if not given.

    Examples
    --------
    >>> np.linalg.vector_norm(np.array([[3.0, 4.0]]))
    np.float32(5.0)
    """
    order = ord.item() if hasattr(ord, "item") else ord
    return apply(_vector_norm, (x,), (as_axis(axis), bool(keepdims), order))


@defers_in_linalg
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> "ndarray":
    """Compute the norm of matrices in the last two axes.

    Examples
    --------
    >>> np.linalg.matrix_norm(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.float32(5.0)
    """
    return norm(x, ord, (-2, -1), keepdims)


__all__ = ["matrix_norm", "norm", "vector_norm"]
