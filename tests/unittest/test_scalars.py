"""Scalars: what NumPy returns as one does not alias, does not change, and is of NumPy's scalar
types for `isinstance`.
"""

import contextlib
import copy
import json
import math
import pickle

import numpy as onp
import pytest
from internals import handles
from oracle import agrees

from npcompat import autograd, np, npx

PLACEMENT = "jax"

pytestmark = pytest.mark.usefixtures("backend")
DTYPES = ["bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_element_is_a_scalar_of_numpys_type(dtype):
    theirs = onp.array([1, 0, 1], dtype)
    x = np.array(theirs)
    y = x[2]
    for kind in (
        onp.generic,
        onp.number,
        onp.floating,
        onp.integer,
        onp.complexfloating,
        onp.bool_,
        float,
        int,
        complex,
        onp.dtype(dtype).type,
    ):
        assert isinstance(y, kind) == isinstance(theirs[2], kind), kind
    assert (
        not isinstance(y, np.ndarray)
        and np.isscalar(y)
        and np.ndim(y) == 0
        and np.shape(y) == ()
        and y.size == 1
    )
    assert (
        y.dtype == dtype
        and hash(y) == hash(theirs[2])
        and {y: 1}[theirs[2]] == 1
        and {theirs[2]: 1}[y] == 1
    )
    assert repr(y) == repr(theirs[2]) and str(y) == str(theirs[2]) and f"{y}" == f"{theirs[2]}"
    x[2] = 0
    assert y == theirs[2] and y.item() == theirs[2].item() and y.tolist() == theirs[2].tolist()


def test_what_is_a_scalar_and_what_an_array_of_no_axes():
    def program(xp, x, m, zero):
        return [
            x[0], x[0, ...], m[1, 2], m[1, 2, ...], x[()], zero[()], zero[...], x[xp.array(1)],
            x.sum(), m.sum(), m.mean(), m.max(), m.argmax(), m.std(), m.all(), m.any(), x @ x, xp.dot(x, x), xp.vdot(x, x),
            zero + 1, zero * zero, -zero, zero == zero, xp.sin(zero), xp.add(zero, 1), xp.abs(zero), xp.maximum(zero, 2),
            zero.copy(), zero.astype("int64"), zero.reshape(()), xp.array(x[0]), xp.asarray(x[0]), xp.squeeze(x[:1]), xp.zeros(()),
            xp.where(zero > 0, 1.0, 2.0), xp.add.reduce(x), xp.linalg.norm(x), xp.linalg.det(xp.eye(2)), xp.median(x), xp.percentile(x, 30),
            xp.interp(1.5, x, x), xp.searchsorted(x, 1.5), xp.trace(m), xp.ptp(x), xp.prod(x), xp.take(x, 1), xp.clip(x[1], 0, 1),
            x[1].real, x[1].imag, x[1].astype("int64"), x[1].T, x[1].squeeze(), x[1].copy(), x[1].reshape(1), x[1].conj(), round(x[1], 1),
        ]  # fmt: skip

    with npx.np_default_dtype():
        agrees(program, onp.arange(4.0), onp.arange(12.0).reshape(3, 4), onp.array(3.0))


def test_scalars_are_numbers():
    x = np.array([3, 1, 2])
    assert list(range(x[0])) == [0, 1, 2] and [10, 20, 30, 40][x[0]] == 40 and "abc" * x[1] == "abc"
    assert [1, 2] * x[2] == x[2] * [1, 2] == [1, 2, 1, 2]
    for product in (lambda s: s * [1, 2], lambda s: [1, 2] * s):
        with pytest.raises(TypeError, match="sequence by non-int|only integer scalar"):
            product(np.array([2.0])[0])
    assert (
        math.sqrt(x[1]) == 1
        and json.dumps(float(x[2])) == "2.0"
        and divmod(x[0], 2) == (1, 1)
        and round(np.array([2.5])[0]) == 2
    )
    assert (
        x[x[1]] == 1
        and sorted(x) == [1, 2, 3]
        and max(x) == 3
        and sum(x) == 6
        and f"{np.array([0.125])[0]:.2f}" == "0.12"
    )
    assert (
        {v: v + 1 for v in x} == {3: 4, 1: 2, 2: 3}
        and len({*x, *x}) == 3
        and x[0] in {3}
        and 3 in {x[0]}
    )


def test_scalars_do_not_change():
    x = np.arange(3.0)
    y = total = x[1]
    total += 1
    assert y == 1 and total == 2 and x.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="does not support item assignment"):
        y[...] = 5
    with pytest.raises(TypeError, match="does not support item assignment"):
        y[()] = 5
    with pytest.raises(TypeError, match="ArrayType"):
        np.add(x[0], 1, out=y)
    view = y.reshape(1)
    view[0] = 9
    assert y == 1 and np.asarray(y) is not y
    array = np.asarray(y)
    array[...] = 7
    assert y == 1 and array == 7
    assert copy.copy(y) == copy.deepcopy(y) == pickle.loads(pickle.dumps(y)) == 1 and isinstance(
        pickle.loads(pickle.dumps(y)), np.floating
    )


def test_iteration_gives_scalars_and_sees_what_is_written():
    x = np.arange(4.0)
    seen = []
    for i, v in enumerate(x):
        seen.append(float(v))
        if i < 3:
            x[i + 1] = 10 * v + 1
    assert seen == [0, 1, 11, 111]
    assert all(isinstance(v, np.floating) for v in x) and [v.shape for v in np.ones((2, 3))] == [
        (3,),
        (3,),
    ]
    v = next(iter(x))
    x[0] = 5
    assert v == 0


def test_iteration_transfers_once(monkeypatch):
    with npx.backend("jax"):
        x = np.arange(100)
    moved = []
    to_host = handles.to_host
    monkeypatch.setattr(handles, "to_host", lambda handle: moved.append(handle) or to_host(handle))
    elements = list(x)
    assert len(moved) == 1
    monkeypatch.undo()
    assert elements == list(range(100))


def test_scalars_are_differentiated():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        total = x[0] * x[1] + sum(v * v for v in x)
    assert isinstance(total, np.floating)
    total.backward()
    assert x.grad.tolist() == [4, 5, 6]
    s = np.array(x[2])
    s.attach_grad()
    with autograd.record():
        y = s[()] * s[()]
    y.backward()
    assert s.grad == 6 and isinstance(s.grad, np.ndarray)


def test_scalars_pass_through_compiled_functions():
    total = np.zeros(())

    @npx.jit
    def f(x, s):
        assert isinstance(s, onp.floating) and not isinstance(x.sum(), np.ndarray)
        total[...] += s
        return x.sum(), s, s * 2, np.asarray(s), {"mean": x.mean(axis=0)}

    x = np.arange(3.0)
    for _ in range(2):
        out = f(x, x[2])
        assert [isinstance(o, np.ndarray) for o in out[:4]] == [False, False, False, True] and [
            float(o) for o in out[:4]
        ] == [3, 2, 4, 2]
        assert isinstance(out[4]["mean"], np.floating)
    assert total == 4
    g = npx.jit(lambda x: x + 1)
    assert (
        isinstance(g(np.array(1.0)), np.floating)
        and isinstance(g(x[1]), np.floating)
        and g(x[1]) == 2
    )


def test_scalars_have_what_only_numpys_scalars_have():
    x = np.array([2.0, 2.5], "float64")
    assert (
        x[0].is_integer()
        and not x[1].is_integer()
        and x[1].as_integer_ratio() == (5, 2)
        and x[1].hex() == (2.5).hex()
    )
    assert np.array([7])[0].bit_count() == 3 and np.array([7])[0].is_integer()
    assert not hasattr(np.array([1], "float32")[0], "hex") and not hasattr(x, "is_integer")
    with pytest.raises(AttributeError, match=r"float64' object has no attribute 'other'"):
        x[0].other


WRITES = {
    "put": lambda x: x.put([0], [3]),
    "np.put": lambda x: np.put(x, [0], [3]),
    "copyto": lambda x: np.copyto(x, 3),
    "place": lambda x: np.place(x, np.array(True), [3]),
    "putmask": lambda x: np.putmask(x, True, 3),
    "out=": lambda x: np.add(x, 1, out=x),
    "out= of a reduction": lambda x: np.sum(np.ones(2), out=x),
    "at": lambda x: np.add.at(x, (), 1),
    "fill": lambda x: x.fill(3),
    "flat": lambda x: x.flat.__setitem__(0, 3),
    "an ellipsis": lambda x: x[...].__setitem__((), 3),
    "a reshape": lambda x: x.reshape(1).__setitem__(0, 3),
    "a new axis": lambda x: x[None].__setitem__(0, 3),
    "T": lambda x: x.T.__setitem__((), 3),
    "a view": lambda x: x.view("uint8").__setitem__((), 3),
    "real": lambda x: setattr(x, "real", 3),
    "array": lambda x: np.array(x).__setitem__((), 3),
    "atleast_1d": lambda x: np.atleast_1d(x).__setitem__(0, 3),
    "sort": lambda x: x.sort(),
    "shuffle": lambda x: np.random.shuffle(x),
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "byteswap": lambda x: x.byteswap(True),
    "resize": lambda x: x.resize(1),
    "shape": lambda x: setattr(x, "shape", (1,)),
    "numpy.asarray": lambda x: onp.asarray(x).__setitem__((), 3),
    "from_dlpack": lambda x: onp.from_dlpack(x).__setitem__((), 3),
    "memoryview": lambda x: memoryview(x).cast("B").__setitem__(0, 7),
    "copyto of an array": lambda x: np.array(7.0).copyto(x),
    "setfield": lambda x: x.setfield(3, "int32"),
}


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("write", WRITES)
def test_nothing_changes_a_scalar(write, dtype):
    x = np.array([1, 0], dtype)[0]
    before = repr(x)
    with contextlib.suppress(TypeError, ValueError, AttributeError, RuntimeError, BufferError):
        WRITES[write](x)
    assert repr(x) == before and x.shape == () and x.item() == 1 and np.array(x) == 1
