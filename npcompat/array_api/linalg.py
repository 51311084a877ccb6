"""Linear algebra of the array API standard: `npcompat.numpy.linalg`, whose results are arrays."""

from collections import namedtuple
from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat.array_api._array import of_arrays
from npcompat.numpy import linalg

cholesky = of_arrays(linalg.cholesky)
cross = of_arrays(linalg.cross)
det = of_arrays(linalg.det)
diagonal = of_arrays(linalg.diagonal)
eigh = of_arrays(linalg.eigh)
eigvalsh = of_arrays(linalg.eigvalsh)
inv = of_arrays(linalg.inv)
matmul = of_arrays(linalg.matmul)
matrix_norm = of_arrays(linalg.matrix_norm)
matrix_power = of_arrays(linalg.matrix_power)
matrix_rank = of_arrays(linalg.matrix_rank)
matrix_transpose = of_arrays(linalg.matrix_transpose)
outer = of_arrays(linalg.outer)
pinv = of_arrays(linalg.pinv)
qr = of_arrays(linalg.qr)
slogdet = of_arrays(linalg.slogdet)
solve = of_arrays(linalg.solve)
svd = of_arrays(linalg.svd)
svdvals = of_arrays(linalg.svdvals)
tensordot = of_arrays(linalg.tensordot)
trace = of_arrays(linalg.trace)
vecdot = of_arrays(linalg.vecdot)
vector_norm = of_arrays(linalg.vector_norm)

EigResult = namedtuple("EigResult", ["eigenvalues", "eigenvectors"])


def eig(x: Any, /) -> EigResult:
    """Eigenvalues and right eigenvectors of square matrices, complex also where all are real.

    Parameters
    ----------
    x : ndarray
        Square matrices on the last two axes.

    Returns
    -------
    EigResult
        Eigenvalues, and eigenvectors of length one in columns.

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.linalg.eig(xp.asarray([[2.0]])).eigenvalues
    array([2.+0.j])
    """
    return EigResult(*map(_complex, linalg.eig(x)))


def eigvals(x: Any, /) -> Any:
    """Eigenvalues of square matrices, complex also where all of them are real.

    Parameters
    ----------
    x : ndarray
        Square matrices on the last two axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.linalg.eigvals(xp.asarray([[2.0]]))
    array([2.+0.j])
    """
    return _complex(linalg.eigvals(x))


def _complex(a: Any) -> Any:
    return np.asarray(a, dtype=onp.result_type(a.dtype, onp.complex64))


__all__ = [
    "EigResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
