"""Chains of functions that XLA's algebra would change are computed one after the other, as by NumPy."""

import random

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from internals import cpu_rewrites, rewritten
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from npcompat import autograd, np, npx

CHAINS = {
    "x / y / z": lambda np, x, y, z: x / y / z,
    "x / (y / z)": lambda np, x, y, z: x / (y / z),
    "(x / y) / (y / z)": lambda np, x, y, z: (x / y) / (y / z),
    "numbers": lambda np, x, y, z: x / y[0] / z[0],
    "products": lambda np, x, y, z: x / y * (1 / y)[0] * x[0] * (1 / z)[0] * y[0],
    "rows": lambda np, x, y, z: x / y[None] / z[:, None],
    "negated": lambda np, x, y, z: -(x / y) / z,
    "constants": lambda np, x, y, z: x * 1e30 * 1e30 * 1e-30,
    "quotients": lambda np, x, y, z: x / 1e-30 / 1e30 / 1e30 * 1e20,
    "rounded": lambda np, x, y, z: (x + 1e9) - 1e9,
    "less": lambda np, x, y, z: 1 - (1 - x),
    "root of square": lambda np, x, y, z: np.sqrt(x * x) + np.sqrt(y**2),
    "power of power": lambda np, x, y, z: (x**2) ** 0.5,
    "logarithm of exponential": lambda np, x, y, z: np.log(np.exp(x)) + np.log2(np.exp2(y)),
    "logarithm of power": lambda np, x, y, z: np.log((z - 2) ** 1.5),
    "exponentials": lambda np, x, y, z: np.exp(x * 1e33) * np.exp(y * -1e33),
    "square of root": lambda np, x, y, z: np.sqrt(-z) ** 2,
}
SMALL = {"float32": (1e-30, 1e-30, 1e-20), "float64": (1e-200, 1e-200, 1e-150)}


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", CHAINS)
def test_selections_stand_for_barriers_on_other_devices(name, dtype):
    for values in (SMALL[dtype], [1 / n for n in SMALL[dtype]]):
        arrays = [onp.full(4, v, dtype) for v in values]
        with onp.errstate(all="ignore"):
            expected = CHAINS[name](onp, *arrays)
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(lambda *given: CHAINS[name](jnp, *given))(*arrays)
            rewriter = cpu_rewrites._Rewriter(False, False)
            function = jax.jit(
                jaxpr_as_fun(ClosedJaxpr(rewriter.program(traced.jaxpr), traced.consts))
            )
            (got,) = function(*arrays)
            assert "optimization_barrier" not in function.lower(*arrays).as_text()
        onp.testing.assert_allclose(got, expected, 1e-5)


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", CHAINS)
def test_chains_as_numpy(name, dtype):
    function = CHAINS[name]
    for values in (SMALL[dtype], [1 / n for n in SMALL[dtype]]):
        arrays = [onp.full(4, v, dtype) for v in values]
        with onp.errstate(all="ignore"):
            expected = function(onp, *arrays)
        with npx.np_default_dtype():
            compiled = npx.jit(lambda *given: function(np, *given))
            got = compiled(*map(np.array, arrays)).asnumpy()

            @npx.jit
            def loop(x, y, z):
                total = np.zeros_like(expected)
                for _ in range(20):
                    total = function(np, x, y, z) + 0 * x
                return total

            repeated = loop(*map(np.array, arrays)).asnumpy()
        assert got.dtype == expected.dtype
        onp.testing.assert_allclose(got, expected, 1e-5)
        onp.testing.assert_allclose(repeated, expected, 1e-5)


NUMBERS = {
    "constants": lambda np, x: x * 1e-200 * 1e-200 * 1e200 * 1e200,
    "quotients": lambda np, x: 1 / (1e-200 / x) / 1e200 / 1e200 * 1e200,
    "rounded": lambda np, x: (x * 0 + 1e-3 + 1e16) - 1e16,
    "powers": lambda np, x: np.log((x - 2e200) ** 1.5) + np.sqrt(x * x),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_chains_of_one_number_as_numpy(name):
    x = onp.float64(1e200)
    with onp.errstate(all="ignore"):
        expected = NUMBERS[name](onp, x)
    with npx.np_default_dtype():
        got = npx.jit(lambda x: NUMBERS[name](np, x))(np.array(x))
    onp.testing.assert_allclose(onp.asarray(got), expected, 1e-6)


def test_derivatives_of_chains():
    x, y = np.array([1e-30]), np.array([1e-20])
    for function in (lambda x, y: x / y / y, npx.jit(lambda x, y: x / y / y)):
        x.attach_grad()
        with autograd.record():
            z = function(x, y)
        z.backward()
        onp.testing.assert_allclose(z.asnumpy(), [1e10], 1e-5)
        onp.testing.assert_allclose(x.grad.asnumpy(), [onp.inf])


def _barriers(function):
    x = jnp.ones(3)
    found = rewritten(jax.make_jaxpr(function)(x, x).jaxpr)
    return sum(e.primitive.name == "optimization_barrier" for e in found.eqns)


def test_barriers_stand_only_where_xla_would_simplify():
    assert _barriers(lambda x, y: x / y / y) == 1
    assert _barriers(lambda x, y: (x / y).reshape(3, 1) / (y / x)) == 2
    assert _barriers(lambda x, y: jax.jit(lambda a: a / y)(x) / y) == 1  # a call's
    assert _barriers(lambda x, y: x * y * y + x + y - x) == 0
    assert _barriers(lambda x, y: x * 2 * y * 2) == 0
    assert _barriers(lambda x, y: (x * 2) * (y * 3)) == 2
    assert _barriers(lambda x, y: x * 2 * 3) == 1
    assert _barriers(lambda x, y: x * y[0] * 3 * y[1]) == 2
    assert _barriers(lambda x, y: x + 2 + y) == 0
    assert _barriers(lambda x, y: jnp.log(x) + jnp.sqrt(x + y)) == 0
    assert _barriers(lambda x, y: (x > y) * 2 * 3) == 0  # whole numbers
    again = rewritten(rewritten(jax.make_jaxpr(lambda x, y: x / y / y)(1.0, 2.0).jaxpr))
    assert sum(e.primitive.name == "optimization_barrier" for e in again.eqns) == 1


ONE = ["np.exp({})", "np.log({})", "np.sqrt({})", "np.square({})", "({})**2", "({})**0.5"]
ONE += ["({})**-1", "({})**1.5", "({})*1e200", "({})*1e-200", "({})/1e200", "1/({})", "-({})"]
ONE += ["({})*3", "({})/3", "abs({})", "np.log2({})", "np.exp2({})", "np.reciprocal({})"]
TWO = ["({})/({})", "({})*({})"]
VALUES = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1e-200, -1e-200, 1e200, -1e200, 800.0, -800.0]
VALUES += [onp.inf, -onp.inf, onp.nan]


def _expression(rng, depth):
    """Write functions of three arrays, without sums of products, which are rounded once."""
    if not depth:
        return rng.choice("abc")
    if rng.random() < 0.6:
        return rng.choice(ONE).format(_expression(rng, depth - 1))
    return rng.choice(TWO).format(_expression(rng, depth - 1), _expression(rng, depth - 1))


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_of_very_large_and_small_numbers(seed):
    rng = random.Random(f"chains {seed}")
    text = _expression(rng, 3)
    function = eval(f"lambda np, a, b, c: {text}")
    arrays = [onp.array([rng.choice(VALUES) for _ in range(64)]) for _ in "abc"]
    with onp.errstate(all="ignore"):
        expected = function(onp, *arrays)
    with npx.np_default_dtype():
        got = npx.jit(lambda *given: function(np, *given))(*map(np.array, arrays)).asnumpy()
    least = onp.finfo("float64").tiny  # XLA takes smaller numbers for zero
    onp.testing.assert_allclose(got, expected, 1e-6, least, err_msg=text)


@pytest.mark.parametrize("options", [{"scale": 0.1}, {"loc": 0.3}, {"loc": -2.0, "scale": 3.0}])
def test_draws_are_the_same_compiled_and_not(options):
    with npx.np_default_dtype():
        one, other = np.random.default_rng(7), np.random.default_rng(7)
        drawn = one.normal(size=300, **options)
        compiled = npx.jit(lambda: other.normal(size=300, **options))()
    onp.testing.assert_array_equal(drawn.asnumpy(), compiled.asnumpy())
