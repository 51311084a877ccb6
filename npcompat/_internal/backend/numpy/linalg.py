"""Linear algebra on the host: NumPy's, with a flag for a failure instead of an exception."""

from collections.abc import Callable
from typing import Any

import numpy as onp
from numpy.linalg import LinAlgError

from npcompat._internal.support.kernel_table import register_kernel, register_kernels

Array = onp.ndarray[Any, Any]


norm = onp.linalg.norm
vector_norm = onp.linalg.vector_norm
register_kernels(
    "numpy",
    norm=norm,
    vector_norm=vector_norm,
)


@register_kernel("einsum", backend="numpy")
def einsum(subscripts: str, *operands: Array, optimize: Any) -> Array:
    """Compute an Einstein sum, in float32 for dtypes without a loop in NumPy (bfloat16)."""
    found: Array = onp.einsum(
        subscripts,
        *[a.astype(onp.float32) if a.dtype.kind == "V" else a for a in operands],
        optimize=optimize,
    )
    return found


def _attempted(function: Callable[..., Array], *arrays: Array) -> tuple[Array, Any]:
    """Return the result, and True if a matrix failed; its part is nan, the others are computed."""
    try:
        return function(*arrays), onp.False_
    except LinAlgError:
        lead = onp.broadcast_shapes(*[a.shape[:-2] for a in arrays])
        if not lead:
            shape = arrays[0].shape[-1], *arrays[-1].shape[-1:]
            return onp.full(shape, onp.nan, arrays[0].dtype), onp.True_
        stacks = [onp.broadcast_to(a, lead + a.shape[-2:]) for a in arrays]
        parts = [_attempted(function, *[s[i] for s in stacks])[0] for i in onp.ndindex(lead)]
        return onp.stack(parts).reshape(lead + parts[0].shape), onp.True_


@register_kernel("inv_flagged", backend="numpy")
def inv_flagged(a: Array) -> tuple[Array, Any]:
    """Inverses, and a flag: True if any matrix is singular."""
    return _attempted(onp.linalg.inv, a)


@register_kernel("solve_flagged", backend="numpy")
def solve_flagged(a: Array, b: Array) -> tuple[Array, Any]:
    """Solutions of linear systems, and a flag: True if any matrix is singular."""
    if b.ndim == 1:
        made, flag = _attempted(onp.linalg.solve, a, b[:, None])
        return made[..., 0], flag
    return _attempted(onp.linalg.solve, a, b)


@register_kernel("cholesky_flagged", backend="numpy")
def cholesky_flagged(a: Array, upper: bool) -> tuple[Array, Any]:
    """Cholesky factors, and a flag: True if any matrix is not positive definite."""
    return _attempted(lambda m: onp.linalg.cholesky(m, upper=upper), a)


@register_kernel("eigh", backend="numpy")
def eigh(a: Array, uplo: Any) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read."""
    values, vectors = onp.linalg.eigh(a, uplo)
    return values, vectors


@register_kernel("eigvalsh", backend="numpy")
def eigvalsh(a: Array, uplo: Any) -> Array:
    """Eigenvalues of Hermitian matrices, of which one triangle is read."""
    found: Array = onp.linalg.eigvalsh(a, uplo)
    return found


@register_kernel("eig_checked", backend="numpy")
def eig_checked(a: Array) -> tuple[Array, Array, Any]:
    """Eigenvalues, eigenvectors, and a flag: True, with nans, if an element is not finite."""
    if not onp.isfinite(a).all():
        values, vectors = (
            onp.full(a.shape[:-1], onp.nan, complex),
            onp.full(a.shape, onp.nan, complex),
        )
        return values, vectors, onp.True_
    return (*onp.linalg.eig(a), onp.False_)


@register_kernel("eigvals_checked", backend="numpy")
def eigvals_checked(a: Array) -> tuple[Array, Any]:
    """Eigenvalues, and a flag: True, with nans, if an element is not finite."""
    if not onp.isfinite(a).all():
        return onp.full(a.shape[:-1], onp.nan, complex), onp.True_
    return onp.linalg.eigvals(a), onp.False_


@register_kernel("svd_flagged", backend="numpy")
def svd_flagged(a: Array, full_matrices: bool, hermitian: bool) -> tuple[Array, Array, Array, Any]:
    """Singular value decompositions, and a flag: True if any did not converge."""
    try:
        return (*onp.linalg.svd(a, full_matrices, True, hermitian), onp.False_)
    except LinAlgError:
        shapes = onp.linalg.svd(onp.zeros_like(a), full_matrices, True, hermitian)
        return (*[onp.full_like(x, onp.nan) for x in shapes], onp.True_)


@register_kernel("svdvals_flagged", backend="numpy")
def svdvals_flagged(a: Array, hermitian: bool) -> tuple[Array, Any]:
    """Singular values, and a flag: True if any decomposition did not converge."""
    try:
        return onp.linalg.svd(a, compute_uv=False, hermitian=hermitian), onp.False_
    except LinAlgError:
        return onp.full((*a.shape[:-2], min(a.shape[-2:])), onp.nan), onp.True_


@register_kernel("pinv_flagged", backend="numpy")
def pinv_flagged(a: Array, rcond: Any, hermitian: bool) -> tuple[Array, Any]:
    """Pseudo-inverses, and a flag: True if any decomposition did not converge."""
    try:
        return onp.linalg.pinv(a, rcond, hermitian), onp.False_
    except LinAlgError:
        return onp.full((*a.shape[:-2], a.shape[-1], a.shape[-2]), onp.nan, a.dtype), onp.True_


@register_kernel("lstsq", backend="numpy")
def lstsq(a: Array, b: Array, rcond: Any) -> tuple[Array, Array, Any, Array]:
    """Least squares: solution, squared residuals, rank, singular values.

    There is a residual for each column, whatever the rank.
    """
    x, _, rank, s = onp.linalg.lstsq(a, b, rcond=rcond)
    residual = b - a @ x
    squared = onp.sum(onp.real(residual * residual.conj()), axis=0)
    return x, onp.atleast_1d(squared), onp.int64(rank), s
