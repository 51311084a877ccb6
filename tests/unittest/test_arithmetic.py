"""Arithmetic and comparison where kinds or special values decide: powers, nan, Python integers."""

import operator

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx

SMALL = onp.array([1, 2, 3], onp.uint8)
TABLE = onp.arange(6.0).reshape(2, 3)


@pytest.mark.usefixtures("placed")
def test_integers_to_negative_powers_of_another_kind_are_floats():
    with npx.np_default_dtype():
        assert np.power(np.array([2], "uint64"), np.array([-1])).tolist() == [0.5]


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "int32", "bool"])
@pytest.mark.parametrize("exponent", [2, -1, 0.5, 2.0, -2, 3])
@pytest.mark.parametrize("write", [operator.pow, operator.ipow])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_of_some_exponents_are_squares_reciprocals_and_roots(placed, kind, exponent, write):
    def attempted(a):
        try:
            return np.asarray(write(a, exponent)).asnumpy()
        except (TypeError, ValueError) as error:
            return type(error)

    with npx.np_default_dtype():
        host = (
            onp.array([-onp.inf, -0.0, 0, 4, onp.nan]).astype(kind)
            if kind[0] in "fc"
            else onp.array([3, 1, 0]).astype(kind)
        )
        host = (
            host[1:] if kind == "complex64" and placed == "jax" else host
        )  # XLA has 0 for what is nan of infinite ones
        ours, theirs = attempted(np.array(host)), attempted(host.copy())
        assert type(ours) is type(theirs) and getattr(ours, "dtype", None) == getattr(
            theirs, "dtype", None
        )
        onp.testing.assert_allclose(ours, theirs, 1e-6) if type(theirs) is onp.ndarray else None


@pytest.mark.usefixtures("placed", "numpy_mode")
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["power", "float_power"])
@pytest.mark.parametrize("exponent", [0.5, [0.5], [0.5] * 4], ids=["number", "one", "many"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_roots_of_infinity_and_of_negative_zero_by_powers_are_as_numpys(name, kind, exponent):
    base, exponent = onp.array([-onp.inf, -0.0, 0, 4], kind), onp.array(exponent, kind)
    expected = getattr(onp, name)(base, exponent)
    for compiled in (False, True):
        function = npx.jit(getattr(np, name)) if compiled else getattr(np, name)
        found = function(np.array(base), np.array(exponent)).asnumpy()
        onp.testing.assert_array_equal(found, expected)
        assert (onp.signbit(found) == onp.signbit(expected))[1:].all()


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize(
    "program",
    [
        lambda np, a: a > -3,
        lambda np, a: a < 300,
        lambda np, a: np.equal(a, -1),
        lambda np, a: a != 256,
    ],
)
def test_integers_are_compared_with_python_integers_of_any_size(program):
    agrees(program, SMALL)


@pytest.mark.usefixtures("numpy_mode")
def test_products_of_bool():
    agrees(lambda np, a: np.kron(a, a), TABLE > 2)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_false_times_nan_is_nan(dtype):
    mask = onp.array([True, False, False, False])
    a = onp.array([onp.nan, onp.nan, onp.inf, -1.0]).astype(dtype)
    agrees(
        lambda np, m, a: [
            m * a,
            m[1] * a,
            np.inner(m[1], a[1]),
            m.astype(dtype) * a,
            np.signbit((m * a).real),
        ],
        mask,
        a,
    )
