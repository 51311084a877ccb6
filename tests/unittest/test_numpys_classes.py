"""Masked arrays and matrices of NumPy's, and objects with methods of their own, keep their meaning."""

import operator
import warnings

import numpy as onp
import pytest

from npcompat import autograd, np, npx

MASKED = onp.ma.array([[1.0, 2.0, 30.0], [4.0, 50.0, 6.0]], mask=[[0, 0, 1], [0, 1, 0]])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = onp.matrix([[1.0, 2.0], [3.0, 4.0]])
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, onp.ma.MaskedArray):
        onp.testing.assert_array_equal(onp.ma.getmaskarray(found), onp.ma.getmaskarray(expected))
        found, expected = found.filled(0), expected.filled(0)
    onp.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all"])
@pytest.mark.parametrize("array", [MASKED, MATRIX], ids=["masked", "matrix"])
def test_reductions(array, name, axis):
    same(getattr(np, name)(array, axis=axis), getattr(onp, name)(array, axis=axis))


@pytest.mark.parametrize("name", ["sqrt", "exp", "negative", "abs"])
@pytest.mark.parametrize("array", [MASKED, MATRIX], ids=["masked", "matrix"])
def test_ufuncs(array, name):
    same(getattr(np, name)(array), getattr(onp, name)(array))


@pytest.mark.parametrize("infix", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_operators_beside_our_arrays(infix, backend):
    with npx.backend(backend), npx.np_default_dtype():
        for array in (MASKED, MATRIX):
            ours, numpys = np.full(array.shape, 2.0), onp.full(array.shape, 2.0)
            if infix is operator.truediv and array is MATRIX:
                continue  # NumPy's matrices divide as arrays do
            same(infix(ours, array), infix(numpys, array))
            same(infix(array, ours), infix(array, numpys))
            same(np.add(ours, array), onp.add(numpys, array))


def test_what_would_lose_a_derivative_is_refused():
    x = np.ones((2, 3))
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="no derivatives: take its elements"):
        x * MASKED


class Table:
    """No array-like, with a method that NumPy's function calls."""

    def sum(self, axis=None, dtype=None, out=None):
        return ("sum", axis)

    def mean(self, axis=None, dtype=None, out=None):
        return ("mean", axis)


def test_methods_of_other_objects_are_called():
    for name in ("sum", "mean"):
        for axis in (None, 1):
            expected = getattr(onp, name)(Table(), axis=axis)
            assert getattr(np, name)(Table(), axis=axis) == expected == (name, axis)


def test_sparse_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(onp.diag([1.0, 2.0, 3.0]))
    assert np.sum(matrix) == 6.0 and np.max(matrix) == 3.0 and np.mean(matrix) == 6 / 9
    assert np.sum(matrix, axis=0).tolist() == onp.sum(matrix, axis=0).tolist()
