"""Scalars on the host: what takes NumPy's scalars takes them, and nothing drops a gradient."""

import datetime
import decimal
import fractions
import json
import math
import operator
import pickle
import sqlite3
import statistics
import struct
from collections import abc
from typing import Any

import numpy as onp
import pytest
from internals import handles

from npcompat import autograd, gluon, lr_scheduler, np, npx

DTYPES = [*onp.typecodes["AllInteger"], *"efdFD"]


@pytest.fixture(autouse=True)
def on_the_host():
    with npx.backend("numpy"), npx.np_default_dtype():
        yield


def makers(dtype):
    """Yield scalars of value 3 that are made in different ways."""
    a = np.array([1, 2, 3], dtype)
    yield a[2]
    yield a.max() if a.dtype.kind != "c" else a[1:].sum() - a[1]
    yield np.array([[1, 2], [3, 4]], dtype)[1, 0]
    yield a[0] + a[1]
    yield np.add(a[0], a[1])
    yield a[a == 3].sum(dtype=dtype)
    yield a[:2].sum(dtype=dtype)
    yield np.array(3, dtype)[()]
    yield list(a)[2]
    yield np.array([1, 2, 3]).astype(dtype)[2].copy()
    yield pickle.loads(pickle.dumps(a[2]))
    yield a[2].astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_derive_from_numpys_class_of_their_dtype(dtype):
    x: Any
    for x in makers(dtype):
        numpys = type(x).__mro__[1]
        assert issubclass(numpys, onp.generic) and onp.dtype(numpys) == x.dtype
        assert onp.dtype(type(x)) == x.dtype and np.zeros(2, type(x)).dtype == x.dtype
        assert type(x).__name__ == numpys.__name__
        assert issubclass(type(x), numpys) and type(x.max()).__mro__[1] is numpys
        plain: Any = numpys
        assert plain.__eq__(plain(x), plain(3)) and x == 3 and x.asnumpy() == 3
        assert onp.asarray(x).dtype == x.dtype and onp.asarray([x, x]).tolist() == [3, 3]
        assert repr(x) == repr(onp.asarray(x)[()]) and hash(x) == hash(onp.asarray(x)[()])
        assert x.item() == 3 and type(x.item()) is type(onp.asarray(x).item())


@pytest.mark.parametrize("dtype", DTYPES)
def test_their_class_converts_numbers(dtype):
    x: Any = np.array([7], dtype)[0]
    for given in (3, np.array([3], dtype)[0], onp.int16(3), 3.0):
        made = type(x)(given)
        assert type(made) is type(x) and made.dtype == x.dtype and made == 3
        assert type(made + made) is type(x) and made.asnumpy() == 3
    assert type(x)([1, 2]).tolist() == [1, 2] and isinstance(type(x)([1, 2]), np.ndarray)
    assert type(x)() == 0


def test_what_takes_floats_of_python_takes_them():
    a: Any = np.array([1.5, 2.5, 3.5])
    assert json.dumps([a.mean(), {"x": a[0]}]) == '[2.5, {"x": 1.5}]'
    assert statistics.mean(a) == 2.5 and statistics.median(list(a)) == 2.5
    assert type(statistics.mean(a)) is type(a[0])
    assert struct.pack("<d", a[1]) == struct.pack("<d", 2.5)
    assert struct.pack("<q", np.array([5])[0]) == struct.pack("<q", 5)
    assert decimal.Decimal(a[0]) == decimal.Decimal("1.5")
    assert datetime.timedelta(days=a[0]) == datetime.timedelta(days=1.5)
    assert math.fsum(a) == 7.5 and float.hex(a[0]) == (1.5).hex()
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (x real)")
        database.executemany("insert into t values (?)", [(x,) for x in a])
        assert database.execute("select sum(x) from t").fetchone() == (7.5,)
    database.close()
    assert f"{a[2]:6.2f}" == "  3.50"


def test_operators_of_numpys_scalars_leave_the_result_to_ours():
    for ours in (np.array([3.0], "float32")[0], np.array([3])[0], np.array([3j])[0]):
        for theirs in (onp.float64(2), onp.float32(2), onp.int8(2), onp.complex64(2), 2, 2.0, 2j):
            for made in (theirs * ours, ours * theirs, theirs - ours):
                assert hasattr(made, "asnumpy")
            assert (theirs * ours).dtype == (onp.asarray(ours)[()] * theirs).dtype
    assert type(onp.add(1.0, np.array([3.0])[0])) is onp.float64


@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ipow", "add", "mul", "lt", "eq"])
def test_arrays_of_numpys_compute_with_them(name, dtype):
    scalar, numpys = np.array([2], dtype)[0], onp.array([2], dtype)[0]
    infix = getattr(operator, name)
    if name == "lt" and dtype == "complex128":
        infix = operator.ne
    found, expected = onp.ones((2, 2), dtype), onp.ones((2, 2), dtype)
    row, wanted = found[0], expected[0]
    row, wanted = infix(row, scalar), infix(wanted, numpys)
    assert type(row) is onp.ndarray
    onp.testing.assert_array_equal(row, wanted)
    onp.testing.assert_array_equal(found, expected)


def test_their_bits_are_scalars_too(backend):
    with npx.np_default_dtype():
        bits, expected = np.array([0.15], "f4")[0].view(np.int32), onp.float32(0.15).view("i4")
        assert {expected: "bits"}[bits] == "bits" and type(bits.view("f4").item()) is float
        assert bits.byteswap() == expected.byteswap() and bits.view() == bits
        with pytest.raises(ValueError, match="itemsize"):
            bits.view("i8")


def test_bools_are_numpys():
    a = np.array([1.0, 2.0])
    flags = np.array([True, False])
    for flag in (a[0] > 0, flags[0], flags.any(), np.all(a > 0), np.isfinite(a[0]), ~flags[1]):
        assert type(flag) is onp.bool_ and flag
    assert (flags[0] & flags).tolist() == [True, False] and np.where(flags[0], 3, 4) == 3
    with autograd.record():
        assert type(a.sum() > 0) is onp.bool_
    compiled = npx.jit(lambda x, flag: np.where(flag, x, -x))
    assert compiled(a, flags[0]).tolist() == [1, 2] and compiled(a, flags[1]).tolist() == [-1, -2]


def test_compiled_functions_take_integers_as_numbers():
    x = np.arange(6.0)
    programs = (
        lambda x, k: np.zeros(k),
        lambda x, k: x[:k],
        lambda x, k: x.reshape(k, -1),
        lambda x, k: np.repeat(x, k),
        lambda x, k: np.pad(x, k),
        lambda x, k: x.sum(axis=k - 2) + max(k, 1) + {2: 5}[k],
        lambda x, k: sum(x[i] for i in range(k)) * (k in (2, 3)),
        lambda x, k: np.diff(x, n=k),
        lambda x, k: x * k + k,
    )
    for program in programs:
        k, numpys = np.array([2])[0], onp.int64(2)
        expected = onp.asarray(program(x, numpys))
        onp.testing.assert_array_equal(npx.jit(program)(x, k), expected)
        onp.testing.assert_array_equal(npx.jit(lambda x, p=program, k=k: p(x, k))(x), expected)


def test_loops_of_as_many_rounds_are_recorded():
    x = np.array([2.0, 3.0])
    x.attach_grad()

    def powered(x, n):
        found = x[0]
        for _ in range(n):
            found = found * x[1]
        return found

    n = np.arange(5)[3]
    for compiled in (npx.jit(powered), npx.jit(lambda x, _: powered(x, n))):
        with autograd.record():
            y = compiled(x, n)
        y.backward()
        assert x.grad.tolist() == [27, 54]


def test_what_is_recorded_is_never_taken_for_a_number():
    x = np.array([1.0, 2.0], "float32")
    x.attach_grad()
    for number in (onp.float64(2), onp.float32(2), onp.int64(2), 2.0):
        for program in (
            lambda s, n: n * s,
            lambda s, n: s * n,
            lambda s, n: onp.multiply(n, s),
            lambda s, n: onp.multiply(s, n),
            lambda s, n: onp.add(s, s),
            lambda s, n: n * s.astype("float64"),
            lambda s, n: onp.sum(s) * n,
        ):
            with autograd.record():
                y = program(x[1] * x[1], number)
            y.backward()
            assert x.grad.tolist() == [0, 8], number
    with autograd.record():
        assert not issubclass(type(x.sum()), onp.generic)
        with pytest.raises(TypeError, match=r"recorded.*use x.dtype.type\(value\)"):
            type(x.sum())(3)
        loss = onp.float64(0.5) * (x * x).sum() + x.max()
    loss.backward()
    assert x.grad.tolist() == [1, 3]


def test_a_scalar_on_the_host_is_no_variable():
    with pytest.raises(TypeError, match="attach_grad on a scalar"):
        np.array([1.0])[0].attach_grad()
    with pytest.raises(TypeError, match="attach_grad on a scalar"):
        autograd.mark_variables([np.array([1.0])[0]], [np.array(0.0)])


def test_compiled_functions_take_them_as_operands():
    calls = []

    @npx.jit
    def scaled(x, s):
        calls.append(type(s))
        return x * s + s

    x = np.array([1.0, 2.0])
    for s in np.array([3.0, 4.0, 5.0]):
        assert scaled(x, s).tolist() == [2 * float(s), 3 * float(s)]
    assert len(calls) == 1


def test_a_compiled_function_sees_another_scalar_from_outside():
    x = np.array([1.0, 2.0])
    factor = np.array([1.0, 4.0])[1]
    held = {"factor": factor}
    programs = [
        npx.jit(lambda a: a * factor + math.sqrt(factor)),
        npx.jit(lambda a: a * held["factor"] + math.sqrt(held["factor"])),
    ]
    for program in programs:
        assert program(x).tolist() == [6, 10]
    factor = held["factor"] = np.array([8.0, 8.0]).sum()
    for program in programs:
        assert program(x).tolist() == [20, 36]


def test_loops_carry_them():
    def summed(a):
        total = a[0] - a[0]
        for i in range(len(a)):
            total = total + a[i]
        return total

    a = np.arange(20.0)
    assert summed(a) == 190 and npx.jit(summed)(a) == 190
    total = a.min()
    found = npx.foreach(lambda e, s: (e + s, e + s), a, total)
    assert found[1] == 190 and found[0].tolist() == onp.cumsum(onp.arange(20.0)).tolist()


def test_arrays_keep_what_is_written_after_an_element_was_read():
    a = np.array([1.0, 2.0])
    s = a[0]
    a[0] = 5
    assert s == 1 and float(s) == 1 and onp.float64(s) == 1
    assert [type(x).__name__ for x in a] == ["float64", "float64"]
    assert handles.read(s).payload.shape == ()


def test_they_are_no_sequences_and_never_written():
    x: Any = np.array([1.5, 2.5])[0]
    numpys: Any = onp.float64(1.5)
    for kind in (abc.Sequence, abc.Iterable, abc.Sized, abc.Container, abc.Hashable):
        assert isinstance(x, kind) == isinstance(numpys, kind)
    for function in (len, iter, list, lambda v: 1 in v, operator.index, lambda v: v.ctypes):
        for given in (x, numpys):
            with pytest.raises((TypeError, AttributeError), match="float64"):
                function(given)
    for write in (
        lambda: x.__setitem__((), 3.0),
        lambda: operator.setitem(x, (), 3.0),
        lambda: x.fill(3.0),
        lambda: x.setfield(3.0, "float64"),
        lambda: x.put([0], [3.0]),
        lambda: np.add(x, 1, out=x),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            write()
    assert x == 1.5 and float(x) == 1.5
    assert type(x[()]) is type(x) and x[None].tolist() == [1.5] and x[...].shape == ()
    assert isinstance(x[None], np.ndarray) and isinstance(x[...], np.ndarray)


def test_integers_of_numpys_and_of_ours_are_sizes_of_layers():
    pixels = np.ones((1, 2, 8, 8))
    for three in (onp.int64(3), onp.int32(3), np.array([3, 1])[0]):
        for layer in (
            gluon.nn.Conv2D(4, kernel_size=three, padding=three, strides=three),
            gluon.nn.MaxPool2D(pool_size=three),
            gluon.nn.ReflectionPad2D(three),
            gluon.nn.Dense(three, in_units=onp.int64(128)),
        ):
            layer.initialize()
            assert layer(pixels).shape[0] == 1
        assert npx.pooling(pixels, kernel=(three, three)).shape == (1, 2, 6, 6)
        assert np.fft.fft(np.ones(4), n=three).shape == (3,)
        assert np.histogram2d([1.0], [2.0], bins=three)[0].shape == (3, 3)
        lr = lr_scheduler.PolyScheduler(max_update=three, base_lr=1.0)
        assert lr(3) == 0


class Constraint:
    """An expression of a modelling library: comparisons and sums give objects."""

    def __ge__(self, other):
        return f">= {other}"

    def __eq__(self, other):
        return f"== {other}"

    __hash__ = None

    def __radd__(self, other):
        return (other, "+")


@pytest.mark.parametrize("value", [2.0, 3], ids=["float", "int"])
def test_objects_have_their_own_operators_beside_scalars(value):
    for x in (np.array([value])[0], np.array([value, 0]).sum(), onp.array([value])[0]):
        expression = Constraint()
        assert (x <= expression) == f">= {value}" and (x == expression) == f"== {value}"
        assert x + expression == (value, "+")
        assert x == fractions.Fraction(value) and x + fractions.Fraction(1, 2) == value + 0.5
        assert divmod(x, fractions.Fraction(3, 2)) == divmod(value, fractions.Fraction(3, 2))
        assert x != "a"


@pytest.mark.parametrize(
    "overflow",
    [
        lambda np: np.array([127], "int8")[0] + onp.int8(1),
        lambda np: onp.int8(-128) - np.array([1], "int8")[0],
        lambda np: np.array([1], "uint8")[0] - onp.uint8(2),
        lambda np: np.array([2**62, 2**62], "int64").max() * onp.int64(2),
        lambda np: np.array([1.0])[0] / onp.float64(0),
    ],
)
def test_scalars_warn_as_numpys_beside_numpys(overflow):
    for module in (onp, np):
        with pytest.warns(RuntimeWarning, match="overflow encountered|divide by zero"):
            overflow(module)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_objects_beside_scalars_of_any_backend(backend):
    with npx.backend(backend):
        x = np.array([1.0, 2.0])
        assert (x[0] <= Constraint()) == ">= 1.0" and x.sum() + Constraint() == (3.0, "+")
        x.attach_grad()
        with autograd.record():
            y = x * 2
            assert (y[0] == Constraint()) == "== 2.0"
            with pytest.raises(TypeError, match="a recorded scalar meets a Constraint"):
                y.sum() + Constraint()
        compiled = npx.jit(lambda n: x.sum() * n - n)
        assert [compiled(n).item() for n in (2, 1.5)] == [4.0, 3.0]
