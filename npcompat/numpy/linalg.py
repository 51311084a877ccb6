"""Linear algebra: norms, decompositions, linear systems.

Errors of values (a singular matrix) are raised at once if values are known. In a compiled program
they are raised by the next read of an array.
"""

import operator as python
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as onp
from numpy.linalg import LinAlgError

from npcompat._internal.core import modes
from npcompat._internal.core.op import as_axis, operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import flagged, shaping
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._decompositions import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    linear_types,
    qr,
    real_dtype,
    stacked,
    svd,
    svdvals,
    working_dtype,
)
from npcompat.numpy._filled import full, zeros
from npcompat.numpy._manipulation import matrix_transpose, moveaxis
from npcompat.numpy._matrix_products import (
    cross,
    diagonal,
    matmul,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from npcompat.numpy._norms import matrix_norm, norm, vector_norm
from npcompat.numpy._overrides import defers_in_linalg
from npcompat.numpy._selection import where
from npcompat.numpy._sorting import count_nonzero
from npcompat.numpy._typing import ArrayLike, AxisLike, NoValue

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class SlogdetResult(NamedTuple):
    """Result of `slogdet`: sign of the determinant, logarithm of its absolute value."""

    sign: "ndarray"
    logabsdet: "ndarray"


# --- determinants and inverses --------------------------------------------------------------------


@operator("_npi_det", scalars=True, rule=linear_types("s", onp.linalg.det))
def _det(xp: Any, a: Any) -> Any:
    """Compute determinants."""
    # JAX has no gradient of empty matrices.
    return xp.linalg.det(a) if a.shape[-1] else xp.ones(a.shape[:-2], a.dtype)


@operator("_npi_slogdet", scalars=True, rule=linear_types("sr", onp.linalg.slogdet), outputs=2)
def _slogdet(xp: Any, a: Any) -> Any:
    """Compute signs of determinants, and logarithms of their absolute values."""
    return tuple(xp.linalg.slogdet(a))


@operator("_npi_inv", rule=linear_types("sb", onp.linalg.inv), outputs=2)
def _inv(xp: Any, a: Any) -> Any:
    """Compute inverses, and a flag: True if any matrix is singular."""
    return xp.inv_flagged(a)


@operator("_npi_solve", rule=linear_types("sb", onp.linalg.solve), outputs=2)
def _solve(xp: Any, a: Any, b: Any) -> Any:
    """Solve linear systems, with a flag: True if any matrix is singular."""
    return xp.solve_flagged(a, b)


@defers_in_linalg
def det(a: ArrayLike) -> "ndarray":
    """Compute the determinant of a square matrix, or of each in a stack.

    Examples
    --------
    >>> np.linalg.det(np.array([[2.0, 0.0], [0.0, 3.0]]))
    np.float32(6.0)
    """
    return apply(_det, (stacked(a, True),))


@defers_in_linalg
def slogdet(a: ArrayLike) -> SlogdetResult:
    """Compute the sign and the logarithm of the absolute value of the determinant.

    The logarithm does not overflow where the determinant would.

    Examples
    --------
    >>> np.linalg.slogdet(np.eye(3)).sign
    np.float32(1.0)
    """
    return SlogdetResult(*apply(_slogdet, (stacked(a, True),)))


@defers_in_linalg
def inv(a: ArrayLike) -> "ndarray":
    """Compute the inverse of a square matrix, or of each in a stack.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.

    Examples
    --------
    >>> np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    found, singular = apply(_inv, (stacked(a, True),))
    flagged(singular, LinAlgError, "Singular matrix")
    return found


@defers_in_linalg
def solve(a: ArrayLike, b: ArrayLike) -> "ndarray":
    """Solve the linear system `a @ x = b`.

    Parameters
    ----------
    a : array_like
        A square matrix, or a stack of them.
    b : array_like
        A vector, or matrices whose columns are right-hand sides.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.

    Examples
    --------
    >>> np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    a, b = stacked(a, True), asanyarray(b)
    working_dtype([a.dtype, b.dtype])
    rows = b.shape[0 if b.ndim == 1 else -2] if b.ndim else None
    if rows != a.shape[-1]:
        raise ValueError(
            f"solve: expected right-hand sides of {a.shape[-1]} rows, as the matrix of shape "
            f"{a.shape} has; got shape {b.shape}"
        )
    found, singular = apply(_solve, (a, b))
    flagged(singular, LinAlgError, "Singular matrix")
    return found


@operator("_npi_matrix_power", pattern="complex")
def _matrix_power(xp: Any, a: Any, *, n: int) -> Any:
    """Raise a matrix to a power.

    Parameters
    ----------
    n : int
        The power.
    """
    if n == 0:
        return xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    result, square = None, a
    while n:
        if n & 1:
            result = square if result is None else xp.matmul(result, square)
        n >>= 1
        square = xp.matmul(square, square) if n else square
    return result


@defers_in_linalg
def matrix_power(a: ArrayLike, n: int) -> "ndarray":
    """Raise a square matrix to an integer power; negative powers use its inverse.

    Examples
    --------
    >>> np.linalg.matrix_power(np.array([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])
    """
    a = stacked(a, True)
    try:
        exponent = python.index(n)
    except TypeError:
        raise TypeError("exponent must be an integer") from None
    return apply(_matrix_power, (inv(a) if exponent < 0 else a,), (abs(exponent),))


@defers_in_linalg
def tensorinv(a: ArrayLike, ind: int = 2) -> "ndarray":
    """Compute the inverse with respect to `tensordot` over the first `ind` axes.

    Examples
    --------
    >>> np.linalg.tensorinv(np.eye(6).reshape(6, 2, 3), ind=1).shape
    (2, 3, 6)
    """
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = 1
    for n in a.shape[ind:]:
        rows *= n
    return inv(a.reshape(rows, -1)).reshape(a.shape[ind:] + a.shape[:ind])


@defers_in_linalg
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: AxisLike = None) -> "ndarray":
    """Solve the tensor equation `tensordot(a, x, x.ndim) = b`.

    Examples
    --------
    >>> np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3))).shape
    (6,)
    """
    a, b = asarray(a), asarray(b)
    if axes is not None:
        moved = as_axis(axes)
        moved = (moved,) if isinstance(moved, int | onp.integer) else moved or ()
        a = moveaxis(a, moved, range(a.ndim - len(moved), a.ndim))
    shape = a.shape[b.ndim :]
    columns = 1
    for n in shape:
        columns *= n
    if a.size != columns * columns:
        raise LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            f"prod(a.shape[:b.ndim]), got shape {a.shape}"
        )
    return solve(a.reshape(columns, columns), b.reshape(-1)).reshape(shape)


# --- least squares and what singular values tell --------------------------------------------------


@operator("_npi_pinv", rule=linear_types("sb", onp.linalg.pinv), outputs=2)
def _pinv(xp: Any, a: Any, *, rcond: Any, hermitian: bool = False) -> Any:
    """Compute pseudo-inverses, and a flag: True if any decomposition did not converge."""
    return xp.pinv_flagged(a, onp.asarray(rcond, real_dtype(onp.dtype(a.dtype))), hermitian)


@operator(
    "_npi_lstsq", rule=linear_types("srir", onp.linalg.lstsq), outputs=4, separate_outputs=True
)
def _lstsq(xp: Any, a: Any, b: Any, *, rcond: Any = None) -> Any:
    """Solve least squares: solution, squared residuals, rank, singular values."""
    return xp.lstsq(a, b, rcond)


def _epsilon(dtype: Any) -> float:
    return float(onp.finfo(dtype).eps)


@defers_in_linalg
def pinv(
    a: ArrayLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NoValue
) -> "ndarray":
    """Compute the Moore-Penrose pseudo-inverse of a matrix, or of each in a stack.

    Parameters
    ----------
    a : array_like
        The matrices.
    rcond, rtol : float or array_like, optional
        Singular values below this fraction of the largest count as zero; if not given, 1e-15 in
        float64 and as many machine epsilons in float32 (where NumPy's 1e-15 would count noise); the
        larger side times the machine epsilon for ``rtol=None``.
    hermitian : bool
        True if `a` is Hermitian, which is faster.

    Examples
    --------
    >>> np.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    a = stacked(a, hermitian)
    if rcond is not None and rtol is not NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    # NumPy returns early for empty matrices and accepts any dtype.
    if 0 in a.shape[-2:] and a.dtype.char not in "fdFD":
        return zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    epsilon = _epsilon(working_dtype([a.dtype]))
    if rcond is None:
        rcond = 1e-15 * (epsilon / _epsilon("f8")) if rtol is NoValue else rtol
    if rcond is None:
        rcond = max(a.shape[-2:]) * epsilon
    fractions = onp.asarray(shaping(rcond, "linalg.pinv"))
    if not fractions.size:  # then there are no matrices
        onp.broadcast_shapes(fractions.shape, a.shape[:-2])
        fractions = onp.zeros(())
    found, failed = apply(_pinv, (a,), (_frozen(fractions.tolist()), bool(hermitian)))
    flagged(failed, LinAlgError, "SVD did not converge")
    return found


def _frozen(nested: Any) -> Any:
    return tuple(_frozen(n) for n in nested) if isinstance(nested, list) else nested


@defers_in_linalg
def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None
) -> "tuple[ndarray, ndarray, ndarray, ndarray]":
    """Solve a linear least-squares problem: the shortest `x` that minimizes `|b - a @ x|`.

    Parameters
    ----------
    a : array_like
        A matrix of shape (m, n).
    b : array_like
        One right-hand side of m elements, or several as columns.
    rcond : float, optional
        Singular values below this fraction of the largest count as zero; the larger side times the
        machine epsilon if not given, half the epsilon for -1.

    Returns
    -------
    tuple of ndarray
        Solution; squared residuals, which are empty if `a` has not full rank or m <= n; rank;
        singular values. In a compiled function, where the rank is not known, the residuals of a
        deficient matrix are nan instead.

    Examples
    --------
    >>> np.round(np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))[0], 3)
    array([2.])
    """
    a, b = asarray(a), asarray(b)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim not in (1, 2):
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be two-dimensional")
    rows, columns = a.shape
    if rows != b.shape[0]:
        raise LinAlgError(f"Incompatible dimensions: `a` has {rows} rows, `b` has {b.shape[0]}")
    dtype = working_dtype([a.dtype, b.dtype])
    if rcond is None:
        fraction = _epsilon(dtype) * max(rows, columns)
    else:
        fraction = _epsilon(dtype) / 2 if rcond == -1 else float(rcond)
    x, squared, rank, s = apply(_lstsq, (a, b), (fraction,))
    if rows <= columns:
        squared = squared[:0].copy()
    elif modes.current().trace is not None:
        squared = where(rank == columns, squared, onp.nan)
    elif int(rank) != columns:
        squared = squared[:0].copy()
    return x, squared, handles.as_scalar(rank), s


@defers_in_linalg
def matrix_rank(
    A: ArrayLike, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> "ndarray":
    """Compute the rank of a matrix: the number of singular values above a tolerance.

    Parameters
    ----------
    A : array_like
        A matrix, or a stack of them; a vector has rank 0 or 1.
    tol : float or array_like, optional
        The tolerance.
    hermitian : bool
        True if `A` is Hermitian, which is faster.
    rtol : float or array_like, optional
        The tolerance as a fraction of the largest singular value; if neither is given, the larger
        side times the machine epsilon.

    Examples
    --------
    >>> np.linalg.matrix_rank(np.array([[1.0, 2.0], [2.0, 4.0]]))
    np.int64(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = asarray(A)
    if A.ndim < 2:
        return asarray((A != 0).any()).astype("int64")[()]
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        fraction = (
            max(A.shape[-2:]) * _epsilon(s.dtype) if rtol is None else asarray(rtol)[..., None]
        )
        tol = s.max(axis=-1, keepdims=True, initial=0) * fraction
    else:
        tol = asarray(tol)[..., None]
    return count_nonzero(s > tol, axis=-1)


@defers_in_linalg
def cond(x: ArrayLike, p: Any = None) -> "ndarray":
    """Compute the condition number: the norm of a matrix times that of its inverse.

    Parameters
    ----------
    x : array_like
        A matrix, or a stack of them.
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'}
        Kind of norm; None is the 2-norm.

    Examples
    --------
    >>> np.linalg.cond(np.array([[4.0, 0.0], [0.0, 2.0]]))
    np.float32(2.0)
    """
    x = asarray(x)
    if x.ndim >= 2 and 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    x = stacked(x)
    with onp.errstate(all="ignore"):  # 0 / 0 is handled below
        if p is None or p in (2, -2):
            s = svdvals(x)
            found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        else:
            found = norm(x, p, (-2, -1)) * norm(apply(_inv, (stacked(x, True),))[0], p, (-2, -1))
    undefined = (found != found) & ~(x != x).any(axis=(-2, -1))  # NaN != NaN
    return handles.as_scalar(where(undefined, full((), onp.inf, found.dtype), found))


__all__ = [
    "EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
