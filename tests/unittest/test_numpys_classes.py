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


CALLS = {
    "ravel": (), "flip": (), "diff": (), "flatnonzero": (), "argwhere": (), "sort": (), "median": (),
    "average": (), "unique": (), "gradient": (), "zeros_like": (), "ones_like": (), "full_like": (7.0,),
    "atleast_3d": (), "expand_dims": (0,), "moveaxis": (0, 1), "rollaxis": (1,), "roll": (1, 1),
    "rot90": (), "tile": (2,), "vsplit": (2,), "where": (), "nan_to_num": (), "isreal": (), "angle": (),
    "isclose": (2.0,), "nansum": (), "nanmean": (1,), "nanmax": (0,), "nanstd": (), "nancumsum": (),
    "dot": (MATRIX,), "inner": (MATRIX,), "kron": (MATRIX,), "trapezoid": (), "polyval": (2.0,),
    "real_if_close": (), "unstack": (), "meshgrid": (), "linspace": (9.0, 3), "ix_": (), "require": (),
    "array_str": (), "append": (MATRIX,), "delete": (0, 0), "extract": ([[1, 0], [0, 1]],),
    "percentile": (50,), "count_nonzero": (0,),
}  # fmt: skip
SQUARE = onp.ma.array([[1.0, 2.0], [0.0, 4.0]], mask=[[0, 1], [0, 0]])


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("array", [SQUARE, MATRIX], ids=["masked", "matrix"])
@pytest.mark.filterwarnings("ignore:Warning. 'partition' will ignore the 'mask'")
def test_functions_leave_masked_arrays_and_matrices_to_numpys(name, array):
    args = CALLS[name]
    if name == "ix_":
        array = array[0, :] if array is SQUARE else onp.arange(2.0)
    try:
        expected = getattr(onp, name)(array, *args)
    except Exception as error:
        with pytest.raises(type(error)):
            getattr(np, name)(array, *args)
        return
    found = getattr(np, name)(array, *args)
    several = isinstance(expected, tuple | list)
    for f, e in zip(found, expected, strict=True) if several else [(found, expected)]:
        if name in ("where", "argwhere", "ix_") and not isinstance(e, onp.ma.MaskedArray):
            f, e = onp.asarray(f), onp.asarray(e)
        same(f, e)
    if args and args[0] is MATRIX:
        plain = onp.asarray(MATRIX)
        same(getattr(np, name)(array, np.array(plain)), getattr(onp, name)(array, plain))


def test_any_operand_may_be_masked():
    ours = np.arange(4.0).reshape(2, 2)
    same(np.where(SQUARE > 1, SQUARE, 0.0), onp.where(SQUARE > 1, SQUARE, 0.0))
    same(np.isclose(ours, SQUARE), onp.isclose(onp.asarray(ours), SQUARE))
    same(np.nansum(a=SQUARE, axis=1), onp.nansum(SQUARE, axis=1))
    same(np.full_like(SQUARE, fill_value=np.array(3.0)), onp.full_like(SQUARE, 3.0))
    x = np.ones((2, 2))
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="masked array or a matrix"):
        np.dot(SQUARE, x * 2)


def test_linear_algebra_of_matrices_gives_matrices():
    symmetric = MATRIX + MATRIX.T + 5 * onp.eye(2)
    for name, args in {
        "inv": (), "pinv": (), "cholesky": (), "matrix_power": (3,), "solve": (MATRIX,), "qr": (), "eigh": (), "svd": (),
        "det": (), "norm": (), "matrix_rank": (), "lstsq": (MATRIX,),
    }.items():  # fmt: skip
        expected = getattr(onp.linalg, name)(symmetric, *args)
        found = getattr(np.linalg, name)(symmetric, *args)
        several = isinstance(expected, tuple)
        for f, e in zip(found, expected, strict=True) if several else [(found, expected)]:
            same(f, e)
    for name in ("vstack", "hstack", "concatenate", "column_stack", "block"):
        for other in (MATRIX, np.eye(2)):
            same(
                getattr(np, name)([MATRIX, other]), getattr(onp, name)([MATRIX, onp.asarray(other)])
            )
    positions = onp.array([[0, 2], [1, 0]])
    expected = onp.take_along_axis(MASKED, positions, 1)
    same(np.take_along_axis(MASKED, np.array(positions), 1), expected)


class Metres(onp.ndarray):
    """NumPy's arrays with a unit, which only NumPy's functions keep."""

    def __array_function__(self, func, types, args, kwargs):
        return func.__name__, super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(x) for x in inputs]


def test_classes_that_override_numpys_protocols_are_asked():
    q: Any = onp.arange(3.0).view(Metres)
    ours = np.arange(3.0)
    for name, args in {
        "dot": (q, ours), "where": (onp.array([True, False, True]), q, ours), "concatenate": ([ours, q],),
        "sort": (q,), "sum": (q,), "ravel": (q,),
    }.items():  # fmt: skip
        assert getattr(np, name)(*args)[0] == name
    np_linalg: Any = np.linalg
    assert np_linalg.norm(q)[0] == "norm"
    assert (ours * q)[0] == "multiply" and (q * ours)[0] == "multiply" and (ours @ q)[0] == "matmul"
    assert np.sqrt(q) == ("sqrt", [Metres]) and np.add(ours, q)[1][0] is not Metres
    x = np.ones(3)
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="recorded meets a Metres"):
        np.dot(q, x * 2)


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


class Named(onp.ndarray):
    """Arrays with a name, as columns of tables are."""

    def __array_finalize__(self, source):
        self.name = getattr(source, "name", None)


def named(values):
    made = onp.asarray(values).view(Named)
    made.name = "height"
    return made


OF_NAMED = {
    "operators": lambda m, x, y: [x * y, y * x, x - 2, y > x, x**y, -x],
    "ufuncs": lambda m, x, y: [m.multiply(x, y), m.add(y, x), m.exp(x), m.add.reduce(x)],
    "functions": lambda m, x, y: [m.sort(x), m.cumsum(x), m.clip(x, 0, 1), m.zeros_like(x)],
    "methods": lambda m, x, y: [x.dot(y), x.take(m.array([0, 1])), x[y > 1]],
    "joined": lambda m, x, y: [m.concatenate([x, m.atleast_1d(y)]), m.where(x > 1, x, y)],
    "reduced": lambda m, x, y: [m.sum(x), m.mean(x), m.max(x), m.dot(x, x)],
}


@pytest.mark.parametrize("name", OF_NAMED)
@pytest.mark.parametrize("operand", [[1.0, 2.0, 3.0], 2.0])
def test_instances_of_users_subclasses_of_numpys_array_keep_their_class(name, operand):
    x = named([0.0, 1.0, 2.0])
    found = OF_NAMED[name](np, x, np.array(operand, dtype="float64"))
    expected = OF_NAMED[name](onp, x, onp.array(operand))
    for a, b in zip(found, expected, strict=True):
        assert isinstance(a, Named) == isinstance(b, Named), (type(a), type(b))
        assert getattr(a, "name", None) == getattr(b, "name", None)
        onp.testing.assert_array_equal(onp.asarray(a), onp.asarray(b))


def test_beside_what_is_recorded_or_traced_instances_of_subclasses_are_elements():
    x, p = named([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    p.attach_grad()
    for f in (
        lambda p: x * p,
        lambda p: p * x,
        lambda p: np.multiply(x, p),
        lambda p: onp.multiply(x, p),
        lambda p: np.concatenate([x, p * x]),
        lambda p: np.where(x > 5, x, p * x),
        lambda p: np.dot(x, p),
    ):
        with autograd.record():
            loss = f(p).sum()
        loss.backward()
        assert p.grad.tolist() == [0, 1, 2]
        assert npx.jit(f)(p).tolist() == onp.asarray(f(p)).tolist()


def test_memory_of_files_computes_as_plain_arrays(tmp_path):
    x = onp.memmap(tmp_path / "x", "float64", "w+", shape=3)
    assert type(np.exp(x)) is np.ndarray and type(x * np.ones(3)) is np.ndarray


def test_arrays_beside_tracers_of_a_program_of_jax():
    jax, jnp = pytest.importorskip("jax"), pytest.importorskip("jax.numpy")
    w = np.array([2.0, 3.0])
    functions = [
        lambda x, w: (x * w).sum(),
        lambda x, w: (w - x).sum() * 2,
        lambda x, w: w @ x,
        lambda x, w: x @ w,
        lambda x, w: (x**w).sum(),
        lambda x, w: (w / x).sum(),
    ]
    for function in functions:
        given = jnp.ones(2)
        found = jax.grad(lambda x, f=function: f(x, w))(given)
        wanted = jax.grad(lambda x, f=function: f(x, w.asnumpy()))(given)
        assert found.tolist() == wanted.tolist()
    assert jax.jit(lambda x: x > w)(jnp.ones(2)).tolist() == [False, False]
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = x * 2  # its derivative would be lost
        with pytest.raises(jax.errors.TracerArrayConversionError):
            jax.grad(lambda t: (t * y).sum())(jnp.ones(2))
