"""NumPy's protocols both ways: its functions called with our arrays return ours, and mixed operands
work in any order.
"""

import numpy as onp
import pytest

from npcompat import array_api, np, npx
from npcompat._internal.support.errors import TracedValueError

A = onp.arange(6.0).reshape(2, 3)


@pytest.fixture(params=["jax", "numpy", "auto"], autouse=True)
def backend(request):
    with npx.backend(request.param), npx.np_default_dtype():
        yield request.param


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


def test_ufuncs_that_are_not_ours_run_on_the_host():
    found = onp.frompyfunc(lambda x: 2 * x, 1, 1)(np.array([1, 2]))
    assert type(found) is np.ndarray and found.dtype == object and found.tolist() == [2, 4]
    x = np.array([1, 2])
    onp.frompyfunc(lambda x: 2 * x, 1, 1).at(x, 0)
    assert x.tolist() == [2, 2]
    with pytest.raises(
        TypeError, match="ufunc 'isnat'"
    ):  # NumPy's own function, which takes dates only
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


# --- DLPack, the array API's namespace ------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool", "complex64"])
def test_dlpack_goes_to_numpy_and_jax_and_comes_back(dtype):
    import jax

    values = onp.arange(6).reshape(2, 3).astype(dtype)
    ours = np.array(values)
    onp.testing.assert_array_equal(onp.from_dlpack(ours), values)
    with jax.enable_x64(True):
        onp.testing.assert_array_equal(onp.asarray(jax.dlpack.from_dlpack(ours)), values)
        same(np.from_dlpack(jax.numpy.asarray(values)), values)
    same(np.from_dlpack(values), values)
    same(np.from_dlpack(ours), values)
    same(np.from_dlpack(ours[:, ::2]), values[:, ::2])
    assert ours.__dlpack_device__() == (1, 0)


def on_the_host():
    return onp.asarray(np.ones(1)).flags.writeable


def test_dlpack_goes_to_torch_and_comes_back():
    torch = pytest.importorskip("torch", reason="torch is no part of the README's commands")
    ours = np.array(A)
    theirs = torch.from_dlpack(ours)
    onp.testing.assert_array_equal(theirs.numpy(), A)
    ours[0, 0] = 100
    assert theirs[0, 0] == (100 if on_the_host() else 0)  # on XLA what was given away stays
    same(np.from_dlpack(torch.tensor(A)), A)


@pytest.mark.parametrize(
    "theirs",
    [A[:, ::2], A[::-1], onp.broadcast_to(A[:1], (2, 3)), onp.frombuffer(bytes(16))],
    ids=["gaps", "backwards", "repeated", "read-only"],
)
@pytest.mark.parametrize("copy", [None, True])
def test_memory_that_xla_cannot_look_into_is_copied(backend, theirs, copy):
    same(np.from_dlpack(theirs, copy=copy), theirs)
    if backend == "jax":
        with pytest.raises(BufferError, match="give a copy of the array"):
            np.from_dlpack(theirs, copy=False)


def test_what_dlpack_brings_is_shared_on_the_host_and_read_only_on_xla():
    values = onp.arange(16.0)
    ours = np.from_dlpack(values)
    if on_the_host():
        ours[0] = 5
        ours += 1
        assert values[0] == ours[0] == 6
    else:
        with pytest.raises(ValueError, match="read-only"):
            ours += 1
    copied = np.from_dlpack(values, copy=True)
    before = copied[1]
    values[1] = 50
    assert copied[1] == before


def test_dlpack_without_a_copy_says_where_it_needs_one(backend):
    unaligned = onp.zeros(9, "float32")[1:]
    if backend == "jax":
        with pytest.raises(ValueError, match="copy"):
            np.from_dlpack(unaligned, copy=False)
    else:
        assert np.from_dlpack(unaligned, copy=False).tolist() == [0] * 8


def test_dlpack_refuses():
    with pytest.raises(TypeError, match="speaks DLPack, got list"):
        np.from_dlpack([1, 2])
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: onp.from_dlpack(x))(np.array(A))


def test_the_namespace_is_that_of_the_standard():
    assert np.array(A).__array_namespace__() is array_api
    assert np.array(A)[0, 0].__array_namespace__(api_version="2025.12") is array_api
    with pytest.raises(ValueError, match="api_version='1999'"):
        np.array(A).__array_namespace__(api_version="1999")
    info = np.__array_namespace_info__()
    assert info.default_dtypes() == onp.__array_namespace_info__().default_dtypes()
    assert info.dtypes(kind="integral") == onp.__array_namespace_info__().dtypes(kind="integral")
    assert np.__array_api_version__ == "2025.12"
    assert (
        npx.cpu(0) in info.devices()
        and info.default_device() in info.devices()
        and info.capabilities()["data-dependent shapes"]
    )


def test_memory_without_a_mark_is_the_arrays_own():
    torch = pytest.importorskip("torch", reason="what NumPy takes without a mark it does not write")
    with npx.backend("numpy"):
        a = np.array([1.0, 2.0])
        same = a.copy()  # nothing is copied yet
    shared = torch.from_dlpack(Old(a))
    shared[0] = 7
    assert a.tolist() == [7, 2] and same.tolist() == [1, 2]
    a.flags.writeable = False
    with pytest.raises(BufferError):
        torch.from_dlpack(Old(a))


class Old:
    """Producer of the first version of DLPack: it takes no arguments, and never copies."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__(copy=False)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Echo:
    """Operand whose `__array_ufunc__` returns its arguments."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ufunc, method, [i for i in inputs if not isinstance(i, Echo)], options


class Refusing:
    __array_ufunc__ = None

    def __radd__(self, other):
        return "added"


class Unable:
    def __array_ufunc__(self, *inputs, **options):
        return NotImplemented


class Prior:
    __array_priority__ = 10.0

    def __rmatmul__(self, other):
        return "multiplied"


def test_other_classes_come_first_in_ufuncs():
    a, t = np.ones(2), Echo()
    assert np.add(a, t) == a + t == (np.add, "__call__", [a], {})
    assert np.add(2, t, dtype=float) == (np.add, "__call__", [2], {"dtype": float})
    assert np.sin(1.0, out=t) == (np.sin, "__call__", [1.0], {"out": (t,)})
    assert np.matmul(t, a) == (np.matmul, "__call__", [a], {})
    assert np.add.reduce(t, 1, keepdims=True) == (
        np.add,
        "reduce",
        [],
        {"axis": 1, "keepdims": True},
    )
    assert np.add.accumulate(t, out=(a,)) == (np.add, "accumulate", [], {"out": (a,)})
    assert np.add.reduceat(t, [0, 1]) == (np.add, "reduceat", [[0, 1]], {})
    assert np.add.outer(t, 3, dtype=int) == (np.add, "outer", [3], {"dtype": int})
    b = a
    b += t
    assert b == (np.add, "__call__", [a], {"out": (a,)})


def test_subclasses_of_other_classes_come_before_their_bases():
    class Below(Echo):
        def __array_ufunc__(self, *inputs, **options):
            return "below"

    assert np.add(Echo(), Below()) == np.add(Below(), Echo()) == "below"
    assert np.add(Unable(), Echo())[0] is np.add


def test_other_classes_may_refuse_ufuncs():
    a = np.ones(2)
    assert a + Refusing() == "added" and a @ Prior() == "multiplied"
    with pytest.raises(TypeError, match="'Refusing' does not support ufuncs"):
        np.add(a, Refusing())
    with pytest.raises(
        TypeError, match="all returned NotImplemented from __array_ufunc__.*: 'ndarray', 'Unable'"
    ):
        a * Unable()
    with pytest.raises(TypeError, match="'Refusing' does not support ufuncs"):
        a -= Refusing()
    with pytest.raises(TypeError, match="'Refusing' does not support ufuncs"):
        np.add(Echo(), Refusing())
    with pytest.raises(TypeError, match="expected a ufunc, got int"):
        a.__array_ufunc__(1, 2)
