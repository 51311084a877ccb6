"""Masked arrays and matrices of NumPy's, and objects with methods of their own, keep their meaning."""

import operator
import warnings
from typing import Any

import numpy as onp
import pytest
import scipy.sparse

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


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "coo_array"])
@pytest.mark.parametrize(
    "infix", [operator.add, operator.sub, operator.mul, operator.matmul, operator.eq, operator.lt]
)
def test_operators_beside_sparse_arrays(infix, kind):
    with npx.np_default_dtype():
        sparse = getattr(scipy.sparse, kind)([[0.0, 1.0], [2.0, 0.0]])
        numpys = onp.array([[0.0, 1.0], [5.0, 7.0]])
        ours = np.array(numpys)
        for found, expected in (
            (infix(ours, sparse), infix(numpys, sparse)),
            (infix(sparse, ours), infix(sparse, numpys)),
        ):
            assert scipy.sparse.issparse(found) == scipy.sparse.issparse(expected)
            if scipy.sparse.issparse(found):
                found, expected = found.toarray(), expected.toarray()
            onp.testing.assert_array_equal(found, expected)


def test_a_recorded_array_beside_a_sparse_one_is_refused():
    sparse = scipy.sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])
    x = np.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for infix in (operator.add, operator.matmul):
            with pytest.raises(TypeError, match=r"recorded meets a csr_array .* c.toarray\(\)"):
                infix(y, sparse)


def test_functions_leave_sparse_and_masked_arrays_to_their_methods():
    sparse = scipy.sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])
    assert np.argmax(sparse) == 2 and np.argmin(sparse) == 0
    assert np.shape(sparse) == (2, 2) and np.ndim(sparse) == 2
    transposed: Any = np.transpose(sparse)
    onp.testing.assert_array_equal(transposed.toarray(), sparse.toarray().T)
    assert np.nonzero(sparse)[0].tolist() == [0, 1]
    for name, args in (
        ("argmax", ()),
        ("cumsum", ()),
        ("transpose", ()),
        ("reshape", (-1,)),
        ("repeat", (2,)),
        ("take", ([0, 2],)),
        ("round", ()),
        ("clip", (2, 5)),
        ("squeeze", ()),
    ):
        same(getattr(np, name)(MASKED, *args), getattr(onp, name)(MASKED, *args))
    same(np.take(MASKED, np.array([0, 2])), onp.take(MASKED, [0, 2]))


def test_functions_of_numpys_write_into_arrays_of_numpys():
    positions, mask = np.array([1, 1, 2]), np.array([True, False, False, True])
    for write, expected in (
        (lambda t: onp.add.at(t, positions, 1), [0, 2, 1, 0]),
        (lambda t: onp.subtract.at(t, np.array([0]), np.array([3.0])), [-3, 0, 0, 0]),
        (lambda t: onp.copyto(t, np.arange(4.0)), [0, 1, 2, 3]),
        (lambda t: onp.copyto(t, 5.0, where=mask), [5, 0, 0, 5]),
        (lambda t: onp.put(t, np.array([1]), np.array([7.0])), [0, 7, 0, 0]),
        (lambda t: onp.place(t, mask, np.array([9.0])), [9, 0, 0, 9]),
        (lambda t: onp.putmask(t, mask, np.arange(4.0)), [0, 0, 0, 3]),
        (lambda t: onp.put_along_axis(t, np.array([1]), np.array([5.0]), 0), [0, 5, 0, 0]),
    ):
        target = onp.zeros(4)
        write(target)
        assert target.tolist() == expected
    x = np.ones(4)
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="derivative"):
        onp.copyto(onp.zeros(4), x * 2)


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
