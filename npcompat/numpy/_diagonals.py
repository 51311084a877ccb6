"""Diagonals, triangles, identity matrices."""

import math
import operator as python
from typing import TYPE_CHECKING, Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import extra
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.indexing import lens
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._filled import created
from npcompat.numpy._manipulation import ravel
from npcompat.numpy._memory_order import check_c_or_f
from npcompat.numpy._overrides import defers_to_classes, made_like
from npcompat.numpy._typing import ArrayLike, DTypeLike, Order
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


@defers_to_classes
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "ndarray":
    """Return the diagonal over two axes, as the last axis: a read-only view.

    Examples
    --------
    >>> np.diagonal([[1, 2], [3, 4]])
    array([1, 4])
    """
    found = writeable_diagonal(asanyarray(a), offset, axis1, axis2)
    extra(found).readonly = True
    return found


def writeable_diagonal(a: Any, offset: int, axis1: int, axis2: int) -> Any:
    """Return the diagonal over two axes as a writeable view, as `einsum('ii->i', a)` does."""
    handles.layout(a).diagonal(offset, axis1, axis2)  # raise NumPy's error for invalid axes
    return lens.view(a, lens.diagonal(python.index(offset), axis1 % a.ndim, axis2 % a.ndim))


@operator("_npi_diag", keeps_class=False, pattern="injective")
def _diag(xp: Any, v: Any, *, k: int = 0) -> Any:
    """Build a matrix with a vector on one diagonal.

    Parameters
    ----------
    v : array
        A vector, or a matrix.
    """
    return xp.diag(v, k)


@defers_to_classes
def diag(v: ArrayLike, k: int = 0) -> "ndarray":
    """Build a diagonal matrix from a vector, or extract the `k`-th diagonal of a matrix.

    An extracted diagonal is a read-only view.

    Examples
    --------
    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    >>> np.diag([[1, 2], [3, 4]], k=1)
    array([2])
    """
    v = asanyarray(v)
    if v.ndim == 1:
        return apply(_diag, (v,), (python.index(k),))
    if v.ndim == 2:
        return diagonal(v, k)
    raise ValueError(f"Input must be 1- or 2-d, got {v.ndim}-d.")


@defers_to_classes
def diagflat(v: ArrayLike, k: int = 0) -> "ndarray":
    """Build a matrix with all elements of an array on its `k`-th diagonal.

    Examples
    --------
    >>> np.diagflat([[1], [2]])
    array([[1, 0],
           [0, 2]])
    """
    return diag(ravel(v), k)


@operator("_npi_tril", order="K", keeps_class=False, pattern="injective")
def _tril(xp: Any, m: Any, *, k: int = 0) -> Any:
    """Lower triangle of a matrix, zeros elsewhere."""
    return xp.tril(_as_matrix(xp, m), k)


@operator("_npi_triu", order="K", keeps_class=False, pattern="injective")
def _triu(xp: Any, m: Any, *, k: int = 0) -> Any:
    """Upper triangle of a matrix, zeros elsewhere."""
    return xp.triu(_as_matrix(xp, m), k)


def _as_matrix(xp: Any, m: Any) -> Any:
    return xp.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m


def _check_triangle(m: Any) -> Any:
    if m.ndim == 0:
        raise TypeError("tril and triu: expected an array of at least 1 dimension, got 0")
    return m


@defers_to_classes
def tril(m: ArrayLike, k: int = 0) -> "ndarray":
    """Return the lower triangle of the last two axes: zeros above the `k`-th diagonal.

    Examples
    --------
    >>> np.tril([[1, 2], [3, 4]])
    array([[1, 0],
           [3, 4]])
    """
    return apply(_tril, (_check_triangle(asanyarray(m)),), (python.index(k),))


@defers_to_classes
def triu(m: ArrayLike, k: int = 0) -> "ndarray":
    """Return the upper triangle of the last two axes: zeros below the `k`-th diagonal.

    Examples
    --------
    >>> np.triu([[1, 2], [3, 4]])
    array([[1, 2],
           [0, 4]])
    """
    return apply(_triu, (_check_triangle(asanyarray(m)),), (python.index(k),))


def fill_diagonal(a: Any, val: ArrayLike, wrap: bool = False) -> None:
    """Write values on the main diagonal in place.

    For more than two axes it holds the elements whose indices are all equal.

    Parameters
    ----------
    a : ndarray
        The array, of at least two axes, of equal lengths if there are more.
    val : array_like
        One value, or as many as fit, repeated.
    wrap : bool
        If True, the diagonal of a tall matrix starts again after the last column.

    Examples
    --------
    >>> a = np.zeros((2, 2), dtype=int)
    >>> np.fill_diagonal(a, [1, 2])
    >>> a
    array([[1, 0],
           [0, 2]])
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step, end = a.shape[1] + 1, None if wrap else a.shape[1] * a.shape[1]
    else:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, end = 1 + sum(math.prod(a.shape[:i]) for i in range(1, a.ndim)), None
    a.flat[:end:step] = val


@operator("_npi_eye", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _eye(xp: Any, *, N: int, M: int, k: int, dtype: Any) -> Any:
    """Matrix with ones on a diagonal."""
    return xp.eye(N, M, k, dtype=dtype)


@call_cached
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    order: Order = "C",
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create a matrix with ones on the `k`-th diagonal, zeros elsewhere.

    Examples
    --------
    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    """
    if like is not None and (made := made_like(like, eye, locals())) is not NotImplemented:
        return made
    rows = N.__index__()
    attrs = (
        rows,
        rows if M is None else M.__index__(),
        k.__index__(),
        dtypes.canonical(float if dtype is None else dtype),
    )
    return created(_eye, attrs, ctx if device is None else device, check_c_or_f(order))


@call_cached
def identity(
    n: int, dtype: DTypeLike = None, *, device: Any = None, ctx: Any = None, like: Any = None
) -> "ndarray":
    """Create the identity matrix.

    Examples
    --------
    >>> np.identity(2, dtype=int)
    array([[1, 0],
           [0, 1]])
    """
    if like is not None and (made := made_like(like, identity, locals())) is not NotImplemented:
        return made
    return eye(n, dtype=float if dtype is None else dtype, device=device, ctx=ctx)


@operator("_npi_tri", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _tri(xp: Any, *, N: int, M: int, k: int, dtype: Any) -> Any:
    """Matrix with ones on and below a diagonal."""
    return xp.tri(N, M, k, dtype=dtype)


@call_cached
def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create a matrix with ones on and below the `k`-th diagonal.

    Examples
    --------
    >>> np.tri(2)
    array([[1., 0.],
           [1., 1.]])
    """
    if like is not None and (made := made_like(like, tri, locals())) is not NotImplemented:
        return made
    attrs = (N, N if M is None else M, k, dtypes.canonical(float if dtype is None else dtype))
    return created(_tri, attrs, ctx if device is None else device)


__all__ = [
    "diag",
    "diagflat",
    "diagonal",
    "eye",
    "fill_diagonal",
    "identity",
    "tri",
    "tril",
    "triu",
]
