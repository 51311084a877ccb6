"""Details of `np.linalg`, held to NumPy's; values, gradients and shapes are in the registry's
cases.
"""

from fractions import Fraction

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx
from npcompat.test_utils import check_numeric_gradient


@pytest.fixture(params=["numpy", "jax"], autouse=True)
def placed(request):
    with npx.backend(request.param), npx.np_default_dtype():
        yield


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigvalsh", "pinv", "svd"])
@pytest.mark.parametrize("dtype", [">f8", ">f4", ">c16"])
def test_swapped_bytes_are_taken(name, dtype):
    host = onp.array([[4, 1], [1, 3]], dtype=dtype)
    found, expected = getattr(np.linalg, name)(np.array(host)), getattr(onp.linalg, name)(host)
    for mine, its in zip(
        *[x if isinstance(x, tuple) else (x,) for x in (found, expected)], strict=True
    ):
        assert mine.dtype == its.dtype and mine.dtype.isnative
        onp.testing.assert_allclose(mine.asnumpy(), its, rtol=1e-5)


def test_norms_of_objects_are_made_by_their_own_arithmetic():
    a = np.array([Fraction(3, 2), Fraction(-2)], dtype=object)
    assert np.linalg.norm(a, 1) == Fraction(7, 2)
    nested = onp.empty(2, dtype=object)
    nested[:] = [onp.array([3, 0]), onp.array([4, 0])]
    assert np.linalg.norm(np.array(nested)).tolist() == [5, 0]


@pytest.mark.parametrize("mode", ["full", "f", "economic", "e"])
def test_modes_of_qr_in_old_programs_are_taken_with_a_warning(mode):
    host = onp.array([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]])
    with pytest.warns(DeprecationWarning, match="deprecated"):
        found = np.linalg.qr(np.array(host), mode)
    with pytest.warns(DeprecationWarning, match="deprecated"):
        expected = onp.linalg.qr(host, mode)
    for mine, its in zip(
        *[x if isinstance(x, tuple) else (x,) for x in (found, expected)], strict=True
    ):
        onp.testing.assert_allclose(mine.asnumpy(), its, rtol=1e-6, atol=1e-12)


def test_the_shape_of_fractions_without_elements_is_kept():
    agrees(lambda np, a: np.linalg.pinv(a, rtol=onp.zeros((0, 2))), onp.zeros((0, 2, 3, 3)))


@pytest.mark.parametrize("matrix", [[[2.0, 1.0], [1.0, 2.0]], [[0.0, 1.0], [-1.0, 0.0]]])
def test_eigenvalues_are_complex_where_those_of_the_installed_numpy_are(backend, matrix):
    with npx.np_default_dtype():
        theirs, ours = onp.linalg.eig(onp.array(matrix)), np.linalg.eig(np.array(matrix))
        assert [f.dtype for f in ours] == [f.dtype for f in theirs]
        assert np.linalg.eigvals(np.array(matrix)).dtype == onp.linalg.eigvals(matrix).dtype
        assert np.roots([1.0, -3.0, 2.0]).dtype == onp.roots([1.0, -3.0, 2.0]).dtype
        assert np.poly(np.array(matrix)).dtype == onp.poly(onp.array(matrix)).dtype


def _of_vectors(a):
    """What does not depend on the choice of vectors without a singular value."""
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    left = u[..., k:] @ np.conj(np.swapaxes(u[..., k:], -1, -2))
    right = np.conj(np.swapaxes(vh[..., k:, :], -1, -2)) @ vh[..., k:, :]
    again = (u[..., :k] * (s**2 * np.arange(1.0, k + 1))[..., None, :]) @ vh[..., :k, :]
    return s, left[..., 0, -1], right[..., 0, -1], again


@pytest.mark.parametrize("shape", [(4, 3), (3, 5), (2, 4, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_decompositions_with_square_matrices_of_vectors(shape, dtype):
    rng = onp.random.default_rng(0)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0)
    for jit in (False, True):
        check_numeric_gradient(_of_vectors, [np.array(a)], rtol=1e-4, atol=1e-6, jit=jit)


@pytest.mark.parametrize("rcond", [None, -1, 0.0, 0.999, 1.0, 150.0])
def test_fractions_of_least_squares_mean_what_they_mean_in_lapack(rcond):
    a, b = onp.array([[1.0, 2], [3, 4], [5, 6]]), onp.array([1.0, 2, 4])
    x, _, rank, s = onp.linalg.lstsq(a, b, rcond)
    for call in (np.linalg.lstsq, npx.jit(lambda a, b, rcond: np.linalg.lstsq(a, b, rcond))):
        found = call(np.array(a), np.array(b), rcond)
        assert int(found[2]) == rank
        onp.testing.assert_allclose(found[0], x, rtol=1e-9)
        onp.testing.assert_allclose(found[3], s, rtol=1e-9)
