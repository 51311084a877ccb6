"""Functions in Fortran of SciPy: operands stay as they are unless they may be overwritten."""

import numpy as onp
import pytest

from npcompat import np, npx

linalg = pytest.importorskip("scipy.linalg")
blas, lapack = linalg.blas, linalg.lapack

CALLS = {
    "dgesv": lambda m, v, w: lapack.dgesv(m, v),
    "dgetrf": lambda m, v, w: lapack.dgetrf(m),
    "dpotrf": lambda m, v, w: lapack.dpotrf(m, lower=True),
    "dgeev": lambda m, v, w: lapack.dgeev(m),
    "dgeqrf": lambda m, v, w: lapack.dgeqrf(m),
    "dgesdd": lambda m, v, w: lapack.dgesdd(m),
    "dgels": lambda m, v, w: lapack.dgels(m, v),
    "dgemv": lambda m, v, w: blas.dgemv(1.0, m, v, beta=1.0, y=w),
    "dgemm": lambda m, v, w: blas.dgemm(1.0, m, m, beta=1.0, c=m),
    "dger": lambda m, v, w: blas.dger(1.0, v, w, a=m),
    "dsyrk": lambda m, v, w: blas.dsyrk(1.0, m, c=m, beta=1.0),
    "drot": lambda m, v, w: blas.drot(v, w, 0.6, 0.8),
    "dswap": lambda m, v, w: blas.dswap(v, w),
    "dtrsv": lambda m, v, w: blas.dtrsv(m, v),
    "get_lapack_funcs": lambda m, v, w: linalg.get_lapack_funcs(("potrf",), (m,))[0](m),
    "get_blas_funcs": lambda m, v, w: linalg.get_blas_funcs("axpy", (v, w))(v, w, a=3.0),
}


def operands(module):
    matrix = module.asarray(onp.asfortranarray([[4.0, 1.0], [1.0, 3.0]]))
    return matrix, module.array([1.0, 2.0]), module.array([3.0, 5.0])


WRITING = ("dswap", "get_blas_funcs")
"""Calls whose functions write an operand, NumPy's, too."""


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", CALLS)
def test_operands_are_what_they_are_with_numpys(name, backend):
    theirs = operands(onp)
    wanted = CALLS[name](*theirs)
    with npx.backend(backend), npx.np_default_dtype():
        given = operands(np)
        if name in WRITING and backend == "jax":
            with pytest.raises(ValueError, match="writes an array that is read-only"):
                CALLS[name](*given)
            return
        found = CALLS[name](*given)
        assert [a.tolist() for a in given] == [a.tolist() for a in theirs]
    results = [r if isinstance(r, tuple) else (r,) for r in (found, wanted)]
    for one, other in zip(*results, strict=True):
        onp.testing.assert_allclose(one, other)


def test_what_may_be_overwritten_is():
    with npx.np_default_dtype():
        matrix, v, _ = operands(np)
        lapack.dgesv(matrix, v, overwrite_a=True, overwrite_b=True)
        assert v.tolist() != [1, 2] and matrix.tolist() != [[4, 1], [1, 3]]


def test_xla_keeps_what_may_be_overwritten():
    with npx.backend("jax"), npx.np_default_dtype():
        matrix, v, _ = operands(np)
        copy = v.copy()
        lapack.dgesv(matrix, v, overwrite_a=True, overwrite_b=True)
        assert v.tolist() == copy.tolist() == [1, 2]
