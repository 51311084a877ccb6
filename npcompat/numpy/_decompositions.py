"""Matrix decompositions: Cholesky, QR, SVD, eigenvalues; type rules of linear algebra."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as onp
from numpy.linalg import LinAlgError

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import check_numbers, flagged
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._overrides import defers_in_linalg
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_INEXACT = frozenset(onp.dtype(c) for c in ("f4", "f8", "c8", "c16"))
_bool, _int32 = onp.dtype(bool), onp.dtype("int32")


class EigResult(NamedTuple):
    """Result of `eig`: eigenvalues, and eigenvectors as columns."""

    eigenvalues: "ndarray"
    eigenvectors: "ndarray"


class EighResult(NamedTuple):
    """Result of `eigh`: eigenvalues, and eigenvectors as columns."""

    eigenvalues: "ndarray"
    eigenvectors: "ndarray"


class QRResult(NamedTuple):
    """Result of `qr`: an orthonormal and an upper triangular matrix."""

    Q: "ndarray"
    R: "ndarray"


class SVDResult(NamedTuple):
    """Result of `svd`: left singular vectors, singular values, right singular vectors as rows."""

    U: "ndarray"
    S: "ndarray"
    Vh: "ndarray"


# --- types and shapes -----------------------------------------------------------------------------


def working_dtype(types: Sequence[Type]) -> onp.dtype[Any]:
    """Return the dtype of the computation: non-floats become the default float."""
    found = [dtypes.strong(t).newbyteorder("=") for t in types]
    for t in found:
        if dtypes.is_inexact(t) and t not in _INEXACT:
            raise TypeError(f"array type {t} is unsupported in linalg")
    common = onp.result_type(*[t if dtypes.is_inexact(t) else onp.dtype("f8") for t in found])
    return dtypes.narrow(common, found)


def real_dtype(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the real dtype of the absolute value."""
    return onp.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def linear_types(outputs: str, numpys: Callable[..., object] | None = None) -> Any:
    """Return a type rule from one letter for each output, and the function that refuses dtypes.

    's' is the working dtype, 'r' its real dtype, 'c' its complex dtype, 'b' a flag, 'i' a
    count.
    """

    def rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
        if numpys is not None:
            check_numbers(types, numpys)
        dtype = working_dtype(types)
        real = real_dtype(dtype)
        of = {
            "s": dtype,
            "r": real,
            "c": onp.dtype(f"c{real.itemsize * 2}"),
            "b": _bool,
            "i": _int32,
        }
        outs = tuple([of[letter] for letter in outputs])
        return [dtype] * len(types), outs if len(outs) > 1 else outs[0]

    return rule


def stacked(a: Any, square: bool = False) -> "ndarray":
    """Check that an operand is a matrix or a stack of matrices."""
    a = asanyarray(a)
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square, got shape {a.shape}")
    return a


# --- decompositions -------------------------------------------------------------------------------


@operator("_npi_cholesky", rule=linear_types("sb", onp.linalg.cholesky), outputs=2)
def _cholesky(xp: Any, a: Any, *, upper: bool = False) -> Any:
    """Compute Cholesky factors, and a flag: True if any matrix is not positive definite."""
    return xp.cholesky_flagged(a, upper)


@operator("_npi_qr", rule=linear_types("ss"), outputs=2)
def _qr(xp: Any, a: Any, *, mode: str = "reduced") -> Any:
    """Compute the QR decomposition."""
    return tuple(xp.linalg.qr(a, mode))


@operator("_npi_qr_r", rule=linear_types("s"))
def _qr_r(xp: Any, a: Any) -> Any:
    """Compute the triangular factor R of the QR decomposition."""
    return xp.linalg.qr(a, "r")


@operator("_npi_svd", rule=linear_types("srsb", onp.linalg.svd), outputs=4, separate_outputs=True)
def _svd(xp: Any, a: Any, *, full_matrices: bool = True, hermitian: bool = False) -> Any:
    """Compute singular value decompositions, and a flag: True if any did not converge."""
    return xp.svd_flagged(a, full_matrices, hermitian)


@operator("_npi_svdvals", rule=linear_types("rb", onp.linalg.svdvals), outputs=2)
def _svdvals(xp: Any, a: Any, *, hermitian: bool = False) -> Any:
    """Compute singular values, and a flag: True if any decomposition did not converge."""
    return xp.svdvals_flagged(a, hermitian)


@operator("_npi_eigh", rule=linear_types("rs", onp.linalg.eigh), outputs=2, separate_outputs=True)
def _eigh(xp: Any, a: Any, *, UPLO: str = "L") -> Any:
    """Compute eigenvalues and eigenvectors of Hermitian matrices."""
    return xp.eigh(a, UPLO)


@operator("_npi_eigvalsh", rule=linear_types("r", onp.linalg.eigvalsh))
def _eigvalsh(xp: Any, a: Any, *, UPLO: str = "L") -> Any:
    """Compute eigenvalues of Hermitian matrices."""
    return xp.eigvalsh(a, UPLO)


@operator("_npi_eig", rule=linear_types("ccb", onp.linalg.eig), outputs=3, separate_outputs=True)
def _eig(xp: Any, a: Any) -> Any:
    """Compute eigenvalues and eigenvectors, and a flag: True if an element is not finite."""
    return xp.eig_checked(a)


@operator("_npi_eigvals", rule=linear_types("cb", onp.linalg.eigvals), outputs=2)
def _eigvals(xp: Any, a: Any) -> Any:
    """Compute eigenvalues, and a flag: True if an element is not finite."""
    return xp.eigvals_checked(a)


@defers_in_linalg
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> "ndarray":
    """Compute the Cholesky factor `L` with `L @ L.conj().T = a`.

    Only one triangle of the Hermitian `a` is read.

    Parameters
    ----------
    a : array_like
        A positive definite matrix, or a stack of them.
    upper : bool
        If True, read the upper triangle and return the upper factor.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.

    Examples
    --------
    >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    found, failed = apply(_cholesky, (stacked(a, True),), (bool(upper),))
    flagged(failed, LinAlgError, "Matrix is not positive definite")
    return found


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...


@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> "ndarray": ...


@overload
def qr(a: ArrayLike, mode: Literal["raw"]) -> "tuple[ndarray, ndarray]": ...


@overload
def qr(a: ArrayLike, mode: str) -> "ndarray | tuple[ndarray, ndarray]": ...


@defers_in_linalg
def qr(a: ArrayLike, mode: str = "reduced") -> "ndarray | tuple[ndarray, ndarray]":
    """Compute the QR decomposition: `Q @ R = a`, `Q` orthonormal, `R` upper triangular.

    Parameters
    ----------
    a : array_like
        A matrix, or a stack of them.
    mode : {'reduced', 'complete', 'r', 'raw'}
        The smaller factors, a square `Q`, `R` alone, or LAPACK's reflectors and their scales.

    Examples
    --------
    >>> q, r = np.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> np.allclose(q @ r, [[3, 1], [4, 2]], atol=1e-5)
    True
    """
    if mode in ("f", "full"):
        warnings.warn(
            "The 'full' option is deprecated in favor of 'reduced', the default.",
            DeprecationWarning,
            stacklevel=2,
        )
        mode = "reduced"
    elif mode in ("e", "economic"):
        warnings.warn(
            "The 'economic' option is deprecated: 'raw' gives the reflectors, transposed.",
            DeprecationWarning,
            stacklevel=2,
        )
        return apply(_qr, (stacked(a),), ("raw",))[0].mT
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(
            f"Unrecognized mode '{mode}'; expected 'reduced', 'complete', 'r' or 'raw'"
        )
    a = stacked(a)
    if mode == "r":
        return apply(_qr_r, (a,))
    found = apply(_qr, (a,), (mode,))
    return found if mode == "raw" else QRResult(*found)


@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> SVDResult: ...


@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False
) -> "ndarray": ...


@overload
def svd(
    a: ArrayLike, full_matrices: bool, compute_uv: Literal[False], hermitian: bool = False
) -> "ndarray": ...


@defers_in_linalg
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> "ndarray | SVDResult":
    """Compute the singular value decomposition `a = U @ diag(S) @ Vh`.

    Parameters
    ----------
    a : array_like
        A matrix, or a stack of them.
    full_matrices : bool
        If True, `U` and `Vh` are square.
    compute_uv : bool
        If False, only `S` is computed and returned.
    hermitian : bool
        True if `a` is Hermitian, which is faster.

    Examples
    --------
    >>> np.linalg.svd(np.array([[3.0, 0.0], [0.0, 2.0]])).S
    array([3., 2.])
    """
    a = stacked(a, hermitian)
    if not compute_uv:
        return _singular_values(a, hermitian)
    u, s, vh, failed = apply(_svd, (a,), (bool(full_matrices), bool(hermitian)))
    flagged(failed, LinAlgError, "SVD did not converge")
    return SVDResult(u, s, vh)


def _singular_values(a: Any, hermitian: bool = False) -> Any:
    s, failed = apply(_svdvals, (a,), (bool(hermitian),))
    flagged(failed, LinAlgError, "SVD did not converge")
    return s


@defers_in_linalg
def svdvals(x: ArrayLike, /) -> "ndarray":
    """Compute the singular values, largest first.

    Examples
    --------
    >>> np.linalg.svdvals(np.array([[2.0, 0.0], [0.0, 3.0]]))
    array([3., 2.])
    """
    return svd(x, compute_uv=False)


def _triangle(UPLO: str) -> str:
    chosen = UPLO.upper()
    if chosen not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return chosen


@defers_in_linalg
def eigh(a: ArrayLike, UPLO: str = "L") -> EighResult:
    """Compute the eigenvalues, ascending, and eigenvectors of a Hermitian matrix.

    Only the lower or the upper triangle is read.

    Examples
    --------
    >>> np.linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    return EighResult(*apply(_eigh, (stacked(a, True),), (_triangle(UPLO),)))


@defers_in_linalg
def eigvalsh(a: ArrayLike, UPLO: str = "L") -> "ndarray":
    """Compute the eigenvalues of a Hermitian matrix, ascending; see `eigh`.

    Examples
    --------
    >>> np.linalg.eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    return apply(_eigvalsh, (stacked(a, True),), (_triangle(UPLO),))


_COMPLEX_EIGENVALUES = onp.lib.NumpyVersion(onp.__version__) >= "2.5.0"
"""True if the installed NumPy returns complex eigenvalues even if all are real."""


def _maybe_real(a: Any, *found: Any) -> tuple[Any, ...]:
    """Convert complex results to real if a real matrix has only real eigenvalues."""
    if (
        a.dtype.kind == "c"
        or modes.current().trace is not None
        or handles.to_host(found[0].imag).any()
    ):
        return found
    return tuple(x.real.copy() for x in found)


@defers_in_linalg
def eig(a: ArrayLike) -> EigResult:
    """Compute the eigenvalues and eigenvectors of a square matrix.

    They are complex. With NumPy before 2.5 they are real, as NumPy's, if the matrix is real and all
    eigenvalues are, but not in a compiled function, where values are not known. Eigenvectors have
    derivatives where no two eigenvalues are equal.

    Raises
    ------
    LinAlgError
        If an element is not finite.

    Examples
    --------
    >>> np.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    array([0.+1.j, 0.-1.j])
    """
    a = stacked(a, True)
    values, vectors, failed = apply(_eig, (a,))
    flagged(failed, LinAlgError, "Array must not contain infs or NaNs")
    if not _COMPLEX_EIGENVALUES:
        values, vectors = _maybe_real(a, values, vectors)
    return EigResult(values, vectors)


@defers_in_linalg
def eigvals(a: ArrayLike) -> "ndarray":
    """Compute the eigenvalues of a square matrix; see `eig`.

    Examples
    --------
    >>> np.linalg.eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]])).dtype
    dtype('complex64')
    """
    return eigenvalues(a, _COMPLEX_EIGENVALUES)


def eigenvalues(a: ArrayLike, always_complex: bool) -> "ndarray":
    """Compute the eigenvalues of a square matrix; real where they can be, unless told otherwise."""
    a = stacked(a, True)
    values, failed = apply(_eigvals, (a,))
    flagged(failed, LinAlgError, "Array must not contain infs or NaNs")
    found: ndarray = values if always_complex else _maybe_real(a, values)[0]
    return found


__all__ = [
    "EigResult", "EighResult", "QRResult", "SVDResult", "cholesky", "eig", "eigenvalues", "eigh", "eigvals",
    "eigvalsh", "linear_types", "qr", "real_dtype", "stacked", "svd", "svdvals", "working_dtype",
]  # fmt: skip
