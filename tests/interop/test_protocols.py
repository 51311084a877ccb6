"""NumPy's protocols both ways: its functions called with our arrays return ours, and mixed operands work in any order."""

import numpy as onp
import pytest

from npcompat import np, npx

A = onp.arange(6.0).reshape(2, 3)


@pytest.fixture(params=["jax", "numpy", "auto"], autouse=True)
def backend(request):
    with npx.backend(request.param), npx.np_default_dtype():
        yield


def same(found, expected):
    assert isinstance(found, np.ndarray | onp.generic) and not isinstance(found, onp.ndarray)
    onp.testing.assert_allclose(onp.asarray(found), expected, rtol=1e-14)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda a: onp.add(a, 1),
        lambda a: onp.add(A, a),
        lambda a: onp.sin(a),
        lambda a: onp.divmod(a, 2)[1],
        lambda a: onp.add.reduce(a),
        lambda a: onp.add.reduce(a, axis=1, keepdims=True),
        lambda a: onp.multiply.outer(a[0], a[1]),
        lambda a: onp.add.accumulate(a, axis=1),
        lambda a: onp.matmul(a, a.T),
        lambda a: A + a,
        lambda a: A[0] * a,
        lambda a: a - A,
        lambda a: a > A,
        lambda a: onp.float64(2) * a,
        lambda a: a[0, 1] + onp.float64(2),
        lambda a: onp.concatenate([a, A]),
        lambda a: onp.where(A > 1, a, 0),
        lambda a: onp.sum(a, axis=0),
        lambda a: onp.mean(a),
        lambda a: onp.transpose(a),
        lambda a: onp.linalg.norm(a),
        lambda a: onp.linalg.solve(a[:, :2] + onp.eye(2), A[:, :1]),
        lambda a: onp.fft.fft(a),
        lambda a: onp.einsum("ij,kj->ik", a, A),
        lambda a: onp.unique(a),
        lambda a: onp.stack([a, a], axis=1),
        lambda a: onp.full_like(a, 7),
        lambda a: onp.pad(a, 1),
        lambda a: onp.percentile(a, 30),
    ],
)
def test_numpys_functions_return_ours(function):
    same(function(np.array(A)), function(A))


def test_numpys_ufuncs_write_into_either_kind():
    ours, theirs = np.array(A), A.copy()
    assert onp.add(ours, 1, out=theirs) is theirs
    onp.testing.assert_array_equal(theirs, A + 1)
    assert onp.add(A, 1, out=ours) is ours and ours.tolist() == (A + 1).tolist()
    theirs += ours
    onp.testing.assert_array_equal(theirs, 2 * (A + 1))
    whole = onp.zeros(3, "int64")
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        onp.add(ours[0], 1.5, out=whole)
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        onp.add(ours, 1, out=onp.zeros(3))
    assert whole.tolist() == [0, 0, 0]
    with pytest.raises(NotImplementedError, match="where="):
        onp.add(ours, 1, out=theirs, where=A > 1)


def test_what_is_not_ours_is_refused():
    @onp.vectorize
    def twice(x):
        return 2 * x

    with pytest.raises(TypeError):
        onp.frompyfunc(twice, 1, 1)(np.array(A))
    with pytest.raises(TypeError, match="ufunc 'isnat'"):  # NumPy's own function, which takes dates only
        onp.isnat(np.array(A))


def test_numpys_testing_takes_ours():
    a = np.array([1.0, onp.nan, onp.inf])
    onp.testing.assert_array_equal(a, [1, onp.nan, onp.inf])
    onp.testing.assert_allclose(a, a.asnumpy())
    onp.testing.assert_equal(a[1], onp.nan)
    onp.testing.assert_almost_equal(a[0] / 3, 1 / 3)
    with pytest.raises(AssertionError):
        onp.testing.assert_array_equal(a, [1, 2, 3])
    with pytest.raises(AssertionError):
        onp.testing.assert_allclose(a[0], 2.0)
