"""Linear algebra on XLA.

Products ask XLA for the highest precision. So float32 means float32 on GPUs and TPUs too, which
otherwise multiply with 10 or 8 bits of mantissa. On the CPU it changes nothing.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel

HIGHEST = lax.Precision.HIGHEST


@register_kernel("matmul", backend="jax")
def matmul(a: Any, b: Any) -> Any:
    """Matrix product of the last two axes."""
    return jnp.matmul(a, b, precision=HIGHEST)


@register_kernel("vecdot", backend="jax")
def vecdot(a: Any, b: Any) -> Any:
    """Inner product of the last axes, the first operand conjugated."""
    return jnp.vecdot(a, b, precision=HIGHEST)


def _check_rank(a: Any, least: int) -> None:
    if a.ndim < least:
        raise ValueError(f"expected an operand of at least {least} dimensions, got {a.ndim}")


@register_kernel("matvec", backend="jax")
def matvec(a: Any, b: Any) -> Any:
    """Product of matrices and vectors."""
    _check_rank(a, 2)
    return jnp.squeeze(jnp.matmul(a, b[..., None], precision=HIGHEST), -1)


@register_kernel("vecmat", backend="jax")
def vecmat(a: Any, b: Any) -> Any:
    """Product of conjugated vectors and matrices."""
    _check_rank(b, 2)
    return jnp.squeeze(jnp.matmul(jnp.conj(a)[..., None, :], b, precision=HIGHEST), -2)


@register_kernel("dot", backend="jax")
def dot(a: Any, b: Any) -> Any:
    """Product of two arrays by the rules of NumPy's `dot`."""
    return jnp.dot(a, b, precision=HIGHEST)


@register_kernel("vdot", backend="jax")
def vdot(a: Any, b: Any) -> Any:
    """Inner product of all elements, the first operand conjugated."""
    return jnp.vdot(a, b, precision=HIGHEST)


@register_kernel("inner", backend="jax")
def inner(a: Any, b: Any) -> Any:
    """Inner product over the last axes."""
    return jnp.inner(a, b, precision=HIGHEST)


@register_kernel("tensordot", backend="jax")
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Sum of products over pairs of axes."""
    return jnp.tensordot(a, b, axes, precision=HIGHEST)


@register_kernel("einsum", backend="jax")
def einsum(subscripts: str, *operands: Any, optimize: Any) -> Any:
    """Einstein summation.

    XLA contracts two operands at a time, so there is always an order to choose.
    """
    path: Any = (
        list(optimize[1:])
        if isinstance(optimize, Sequence) and not isinstance(optimize, str)
        else optimize
    )
    return jnp.einsum(subscripts, *operands, optimize=path or "auto", precision=HIGHEST)


# --- decompositions: each failure is a flag, as a compiled program can't raise --------------------


def _any_zero_pivot(a: Any) -> Any:
    """True if elimination meets a pivot of exactly zero, which NumPy calls singular."""
    if 0 in a.shape:
        return jnp.asarray(False)
    factors = lax.linalg.lu(lax.stop_gradient(a))[0]
    return jnp.any(jnp.diagonal(factors, axis1=-2, axis2=-1) == 0)


@register_kernel("inv_flagged", backend="jax")
def inv_flagged(a: Any) -> tuple[Any, Any]:
    """Inverses, and a flag: True if any matrix is singular."""
    return jnp.linalg.inv(a), _any_zero_pivot(a)


@register_kernel("solve_flagged", backend="jax")
def solve_flagged(a: Any, b: Any) -> tuple[Any, Any]:
    """Solutions of linear systems, and a flag: True if any matrix is singular."""
    return jnp.linalg.solve(a, b), _any_zero_pivot(a)


def _adjoint(a: Any) -> Any:
    return jnp.conj(jnp.swapaxes(a, -1, -2))


def _mirrored(a: Any, lower: bool) -> Any:
    """Complete a Hermitian matrix from one triangle.

    The other triangle is neither read nor differentiated.
    """
    strict = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1))
    return strict + _adjoint(strict) + diagonal[..., None] * jnp.eye(a.shape[-1], dtype=a.dtype)


@register_kernel("cholesky_flagged", backend="jax")
def cholesky_flagged(a: Any, upper: bool) -> tuple[Any, Any]:
    """Cholesky factors, and a flag: True if any matrix is not positive definite."""
    factor = jnp.linalg.cholesky(_mirrored(a, not upper), symmetrize_input=False)
    failed = jnp.isnan(jnp.diagonal(lax.stop_gradient(factor), axis1=-2, axis2=-1)).any(-1)
    failed = jnp.any(failed & jnp.isfinite(jnp.tril(a) if not upper else jnp.triu(a)).all((-2, -1)))
    return (_adjoint(factor) if upper else factor), failed


@register_kernel("eigh", backend="jax")
def eigh(a: Any, uplo: str) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read."""
    values, vectors = jnp.linalg.eigh(_mirrored(a, uplo == "L"), symmetrize_input=False)
    return values, vectors


@register_kernel("eigvalsh", backend="jax")
def eigvalsh(a: Any, uplo: str) -> Any:
    """Eigenvalues of Hermitian matrices, of which one triangle is read."""
    return jnp.linalg.eigh(_mirrored(a, uplo == "L"), symmetrize_input=False)[0]


@register_kernel("eig_checked", backend="jax")
def eig_checked(a: Any) -> tuple[Any, Any, Any]:
    """Eigenvalues and eigenvectors, and a flag: True if an element is not finite."""
    # The derivatives of vectors are those of unit vectors whose largest element is real, as LAPACK
    # gives them; where eigenvalues are equal they are not finite.
    values, vectors = lax.linalg.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    return values, vectors, jnp.any(~jnp.isfinite(a))


@register_kernel("eigvals_checked", backend="jax")
def eigvals_checked(a: Any) -> tuple[Any, Any]:
    """Eigenvalues, and a flag: True if an element is not finite."""
    return jnp.linalg.eigvals(a), jnp.any(~jnp.isfinite(a))


def _not_converged(a: Any, s: Any) -> Any:
    """True if singular values are nan for a matrix for which NumPy raises an error.

    That is a matrix with nan, or a finite one.
    """
    only_infinite = jnp.isinf(a).any((-2, -1)) & ~jnp.isnan(a).any((-2, -1))
    return jnp.any(jnp.isnan(s).any(-1) & ~only_infinite)


def _reciprocal(a: Any) -> Any:
    """Elementwise reciprocal, zero where the element is zero."""
    return jnp.where(a == 0, 0, 1 / jnp.where(a == 0, 1, a))


def _completed(square: Any, below: Any) -> Any:
    """Complete an antihermitian matrix from its first block and the rows below; the rest is 0."""
    if not below.shape[-2]:
        return square
    rest = jnp.zeros((*below.shape[:-1], below.shape[-2]), below.dtype)
    above = jnp.concatenate([square, -_adjoint(below)], -1)
    return jnp.concatenate([above, jnp.concatenate([below, rest], -1)], -2)


@jax.custom_jvp
def _full_svd(a: Any) -> tuple[Any, Any, Any]:
    """Singular value decompositions with square matrices of singular vectors."""
    u, s, vh = jnp.linalg.svd(a, True, True)
    return u, s, vh


@_full_svd.defjvp
def _derivative_of_full_svd(operands: Any, tangents: Any) -> tuple[Any, Any]:
    """Derivative in which vectors without a singular value do not turn among themselves.

    Their choice is free, so that this is the derivative of all that does not depend on it, singular
    values and the other vectors included. With P = U^H dA V: dU = U X and dV = V Y, of which X and
    Y are antihermitian and solve P = X S + dS - S Y. (J. Townsend, Differentiating the singular
    value decomposition, 2016.)
    """
    u, s, vh = _full_svd(*operands)
    k = s.shape[-1]
    p = matmul(_adjoint(u), matmul(tangents[0], _adjoint(vh)))
    first, columns, rows = p[..., :k, :k], s[..., None, :], s[..., :, None]
    factor = _reciprocal((columns - rows) * (columns + rows))
    inverse = _reciprocal(columns)
    x = factor * (first * columns + rows * _adjoint(first))
    y = factor * (rows * first + _adjoint(first) * columns)
    turned = (first - _adjoint(first)) / 2 * inverse * jnp.eye(k, dtype=s.dtype)
    x = _completed(x + turned, p[..., k:, :k] * inverse)
    y = _completed(y, _adjoint(p[..., :k, k:]) * inverse)
    ds = jnp.real(jnp.diagonal(first, axis1=-2, axis2=-1))
    return (u, s, vh), (matmul(u, x), ds, matmul(_adjoint(y), vh))


@register_kernel("svd_flagged", backend="jax")
def svd_flagged(a: Any, full_matrices: bool, hermitian: bool) -> tuple[Any, Any, Any, Any]:
    """Singular value decompositions, and a flag: True if any did not converge."""
    if full_matrices and a.shape[-1] != a.shape[-2]:
        u, s, vh = _full_svd(a)
    else:
        u, s, vh = jnp.linalg.svd(a, full_matrices, True, hermitian)
    return u, s, vh, _not_converged(a, s)


@register_kernel("svdvals_flagged", backend="jax")
def svdvals_flagged(a: Any, hermitian: bool) -> tuple[Any, Any]:
    """Singular values, and a flag: True if any decomposition did not converge."""
    s = jnp.linalg.svd(a, compute_uv=False, hermitian=hermitian)
    return s, _not_converged(a, s)


@register_kernel("pinv_flagged", backend="jax")
def pinv_flagged(a: Any, rcond: Any, hermitian: bool) -> tuple[Any, Any]:
    """Pseudo-inverses, and a flag: True if any matrix holds nan.

    NumPy's decomposition does not converge then.
    """
    return jnp.linalg.pinv(a, rcond, hermitian), jnp.any(jnp.isnan(a))


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _solution(a: Any, b: Any, rcond: Any) -> tuple[Any, Any]:
    """Solution and singular values of least squares."""
    x, _, _, s = jnp.linalg.lstsq(a, b, rcond)
    return x, s


@_solution.defjvp
def _derivative_of_solution(rcond: Any, operands: Any, tangents: Any) -> tuple[Any, Any]:
    """Derivative by that of the pseudo-inverse, which exists where singular values are equal."""
    (a, b), (da, db) = operands, tangents
    inverse = jnp.linalg.pinv(a, rcond)
    x, _ = _solution(a, b, rcond)
    s, ds = jax.jvp(lambda m: jnp.linalg.svd(m, compute_uv=False), (a,), (da,))
    back = da.conj().T
    along = matmul(back, matmul(inverse.conj().T, x))
    dx = (
        matmul(inverse, db - matmul(da, x))
        + matmul(inverse, matmul(inverse.conj().T, matmul(back, b - matmul(a, x))))
        + along
        - matmul(inverse, matmul(a, along))
    )
    return (x, s), (dx, ds)


@register_kernel("lstsq", backend="jax")
def lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
    """Least squares: solution, squared residuals, rank, singular values.

    There is a residual for each column, whatever the rank. As in LAPACK, which NumPy calls, an
    `rcond` that is not between 0 and 1 means the precision of the dtype.
    """
    if rcond is not None and not 0 < rcond < 1:
        rcond = float(onp.finfo(a.dtype).eps)
    rank = jnp.linalg.lstsq(lax.stop_gradient(a), lax.stop_gradient(b), rcond)[2]
    x, s = _solution(a, b, rcond)
    residual = b - matmul(a, x)
    return x, jnp.atleast_1d(jnp.sum(jnp.real(residual * jnp.conj(residual)), axis=0)), rank, s
