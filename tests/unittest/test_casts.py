"""Casts between dtypes: what becomes of values out of range, what warns, and what is refused."""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np

SMALL = onp.array([1, 2, 3], onp.uint8)


@pytest.mark.usefixtures("placed")
def test_complex_to_real_warns():
    with pytest.warns(onp.exceptions.ComplexWarning):
        assert np.array([1 + 2j]).astype(float).tolist() == [1]


@pytest.mark.usefixtures("placed")
def test_same_value_casts_refuse_what_would_change():
    assert np.array([1.0, 2.0]).astype(int, casting="same_value").tolist() == [1, 2]
    with pytest.raises(ValueError, match="same_value"):
        np.array([1.5]).astype(int, casting="same_value")


@pytest.mark.usefixtures("placed")
def test_python_numbers_are_checked_against_casting():
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(1.5, 2.5, dtype=int)
    assert np.add(1, 2, dtype=float) == 3


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize(
    "program",
    [
        lambda np, a: a + -1,
        lambda np, a: np.maximum(a, 300),
        lambda np, a: a.__iadd__(-1),
        lambda np, a: np.sum(a, initial=-1),
        lambda np, a: np.max(a, initial=256),
        lambda np, a: np.put(a, [1], [-1]),
        lambda np, a: np.place(a, [True, False, True], [-1]),
        lambda np, a: np.putmask(a, [True, False, True], [300]),
        lambda np, a: np.insert(a, 1, -1),
        lambda np, a: a.__setitem__(a < 2, -1),
        lambda np, a: a.flat.__setitem__(slice(None), [-1]),
    ],
)
def test_python_integers_must_fit(program):
    assert isinstance(agrees(program, SMALL, message=True), OverflowError)


@pytest.mark.usefixtures("numpy_mode")
def test_at_casts_python_integers_as_arrays():
    agrees(lambda np, a: np.add.at(a, [0, 0, 2], -1), SMALL)
    agrees(lambda np, a: np.multiply.at(a, [0, 1], True), SMALL > 1)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["f8", "f4", "f2", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_floats_become_integers_by_dropping_bits(source, dtype):
    # One element each: what NumPy makes of numbers out of range differs between single elements and
    # many.
    for x in (
        300.0,
        -3.0,
        70000.5,
        -0.7,
        3e9 if source != "f2" else 3.0,
        onp.inf,
        -onp.inf if dtype != "uint64" else -1.0,
    ):
        if not (dtype == "uint32" and onp.isinf(x)):
            agrees(lambda np, a: a.astype(dtype), onp.array([x]).astype(source))


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("x", [2.0**63, 3 * 2.0**62, 2.0**64, 1e30, -(2.0**63), onp.nan])
@pytest.mark.filterwarnings("ignore")
def test_large_floats_become_uint64(x):
    agrees(lambda np, a: a.astype("uint64"), onp.array([x]))


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.filterwarnings("ignore")
def test_what_at_computes_in_floats_becomes_an_integer_by_dropping_bits():
    agrees(
        lambda np, a, x: np.subtract.at(a, [0, 0, 1], x),
        onp.array([253, 4], onp.uint8),
        onp.array(-2.0, onp.float32),
    )


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("digits", [-1, -2, -20])
@pytest.mark.parametrize(
    "numbers",
    [
        onp.array([2**63 + 123, 2**64 - 1, 25], "uint64"),
        onp.array([-(2**63), 2**63 - 1, 25], "int64"),
        onp.array([-(2**31), 2**31 - 1, 25], "int32"),
        onp.array([255, 127, 25], "uint8"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_large_integers_are_rounded_to_tens_by_way_of_doubles(numbers, digits):
    agrees(lambda np, a: np.round(a, digits), numbers)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("values", [onp.array([1.5, 2.5]), onp.array([1j])])
@pytest.mark.parametrize("name", ["place", "putmask"])
def test_masked_values_of_a_higher_kind_are_refused(name, values):
    target = onp.array([1, 2, 3])
    error = agrees(lambda np, a, v: getattr(np, name)(a, a > 1, v), target, values)
    assert isinstance(error, TypeError)
    agrees(lambda np, a: getattr(np, name)(a, a > 1, values.real.tolist()), target)


@pytest.mark.usefixtures("placed")
def test_masked_values_of_the_same_kind_are_cast():
    a = np.zeros(3, "float32")
    np.putmask(a, [True, False, True], np.arange(3.0, dtype="float64"))
    assert a.tolist() == [0, 0, 2]
