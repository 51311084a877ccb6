"""Functions in C that ctypes calls: classes of `np.ctypeslib.ndpointer` take npcompat's arrays."""

import ctypes

import numpy as onp
import pytest

from npcompat import autograd, np, npx


@pytest.fixture
def fill():
    function = ctypes.CDLL(None)["memset"]  # a new object, whose argtypes are its own
    kind = np.ctypeslib.ndpointer(np.int32, ndim=1, flags="C_CONTIGUOUS")
    function.argtypes = [kind, ctypes.c_int, ctypes.c_size_t]
    return function


def test_c_writes_into_the_memory_of_an_array_and_of_a_view(fill):
    a, whole = np.zeros(4, dtype="int32"), np.zeros((2, 2), dtype="int32")
    fill(a, 1, 8)
    fill(whole[1], 1, 8)
    b = onp.zeros(4, "int32")
    fill(b, 1, 8)
    assert a.tolist() == b.tolist() == [16843009, 16843009, 0, 0]
    assert whole.tolist() == [[0, 0], [16843009, 16843009]]


@pytest.mark.parametrize("library", [np, onp])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda np: np.zeros(4), "array must have data type int32"),
        (lambda np: np.zeros((2, 2), dtype="int32"), "array must have 1 dimension"),
        (lambda np: np.zeros(4, dtype="int32")[::2], "array must have flags"),
        (lambda np: [1, 2], "argument must be an ndarray"),
    ],
)
def test_other_arrays_are_refused(fill, make, message, library):
    with pytest.raises(ctypes.ArgumentError, match=message):
        fill(make(library), 1, 8)


def test_memory_that_may_not_be_written_is_refused(fill):
    x = np.zeros(2)
    x.attach_grad()
    with npx.backend("jax"):
        placed = np.zeros(2, dtype="int32")
    kind = np.ctypeslib.ndpointer(np.float32)
    with autograd.record():
        recorded = x * 2
    with pytest.raises(ctypes.ArgumentError, match="no address that may be written"):
        fill(placed, 1, 8)
    with pytest.raises(NotImplementedError, match="no address that may be written"):
        kind.from_param(recorded)


def _random(a, b):
    np.random.default_rng(0).random(out=a, dtype="float64")


@pytest.mark.parametrize(
    "write",
    [
        lambda a, b: np.clip(b, 0, 2, out=a),
        lambda a, b: np.cumsum(b, out=a),
        lambda a, b: np.dot(np.eye(4, dtype="float64"), b, out=a),
        lambda a, b: np.einsum("i->i", b, out=a),
        lambda a, b: np.copyto(a, b),
        lambda a, b: np.putmask(a, b > 1, b),
        lambda a, b: np.take(b, [3, 2, 1, 0], out=a),
        npx.jit(lambda a, b: a.__iadd__(b)),
        lambda a, b: a.sort(),
        _random,
    ],
)
@pytest.mark.parametrize("part", [slice(None), slice(1, 3)])
def test_an_address_is_that_of_the_memory_for_as_long_as_the_array_lives(write, part):
    with npx.backend("numpy"):
        a, b = np.zeros(4, dtype="float64"), np.arange(4, dtype="float64")
        memory = (ctypes.c_double * len(a[part])).from_address(a[part].ctypes.data)
        for _ in range(3):
            write(a, b)
            assert list(memory) == a[part].tolist()
        memory[0] = 50
        assert a[part][0] == 50
