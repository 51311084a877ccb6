"""Quotients and casts are rounded once on XLA, as NumPy rounds them, to the last bit."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

A = onp.random.default_rng(0).normal(size=(200, 41)) * 100

QUOTIENTS = {
    "by a number": lambda xp, a: a / 7,
    "by a float": lambda xp, a: a / 0.3,
    "by an array without axes": lambda xp, a: a / a[3, 4],
    "of rows": lambda xp, a: a / a[:, :1],
    "of columns": lambda xp, a: a / a[0],
    "of a number": lambda xp, a: 3 / a,
    "of numbers": lambda xp, a: a[0, 0] / 10,
    "means": lambda xp, a: xp.ones_like(a).mean(axis=1),
    "means over an axis in front": lambda xp, a: xp.ones_like(a).mean(axis=0),
    "means of some": lambda xp, a: (xp.zeros_like(a) + 6).mean(
        axis=0, where=xp.argsort(a[:, :1], axis=0) < 7
    ),
    "variances of some": lambda xp, a: (14 * (a > 0).astype(a.dtype)).var(
        axis=0, where=xp.argsort(a[:, :1], axis=0) < 7
    ),
    "variances": lambda xp, a: xp.ones_like(a).var(axis=1, ddof=1),
    "rounded": lambda xp, a: xp.round(a, 2),
    "of infinities and nan": lambda xp, a: (
        xp.asarray([onp.nan, onp.inf, -0.0, 0.0], dtype=a.dtype) / 0
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients(name, dtype):
    function, host = QUOTIENTS[name], A.astype(dtype)
    with onp.errstate(all="ignore"):
        wanted = onp.asarray(function(onp, host))
    with npx.backend("jax"), npx.np_default_dtype():
        x = np.array(host)
        for found in (function(np, x), npx.jit(lambda x: function(np, x))(x)):
            onp.testing.assert_array_equal(found.asnumpy(), wanted)
            assert found.dtype == wanted.dtype


def test_tenths_print_as_numpys():
    with npx.backend("jax"), npx.np_default_dtype():
        assert str(np.arange(7) / 10) == "[0.  0.1 0.2 0.3 0.4 0.5 0.6]"


def test_quotients_by_a_repeated_divisor_have_derivatives_of_both():
    with npx.backend("jax"), npx.np_default_dtype():
        x, y = np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([2.0, 4.0])
        x.attach_grad()
        y.attach_grad()
        with autograd.record():
            z = (x / y) * x
            gx, gy = autograd.grad(z, [x, y], create_graph=True)
            both = gx.sum() + gy.sum()
        onp.testing.assert_allclose(gx.asnumpy(), (2 * x / y).asnumpy())
        onp.testing.assert_allclose(gy.asnumpy(), (-(x**2) / y**2).sum(axis=0).asnumpy())
        both.backward()
        onp.testing.assert_allclose(x.grad.asnumpy(), (2 / y - 2 * x / y**2).asnumpy())
        onp.testing.assert_allclose(
            y.grad.asnumpy(), (-2 * x / y**2 + 2 * x**2 / y**3).sum(axis=0).asnumpy()
        )


def test_doubles_become_the_halves_next_to_them():
    rng = onp.random.default_rng(1)
    spread = rng.normal(size=1000) * 10.0 ** rng.integers(-9, 5, 1000)
    ties = onp.concatenate(
        [
            (onp.arange(3000) + 0.5) * 2.0**-24,
            onp.arange(1, 2000) * 2.0**-24,
            [65519.9999999999, 65520.0, 1e300],
        ]
    )
    all_of_them = onp.concatenate([x * sign for x in (spread, ties) for sign in (1, -1)])
    x = onp.concatenate(
        [
            all_of_them,
            onp.nextafter(all_of_them, onp.inf),
            [onp.nan, onp.inf, -onp.inf, 0.0, -0.0, 1e-320],
        ]
    )
    with onp.errstate(over="ignore"):
        wanted = x.astype("float16")
    with npx.backend("jax"):
        for found in (
            np.array(x).astype("float16"),
            npx.jit(lambda x: x.astype("float16"))(np.array(x)),
        ):
            assert (found.asnumpy().view("uint16") == wanted.view("uint16")).all()
        y = np.array([1.5, 2.0000001], dtype="float64")
        y.attach_grad()
        with autograd.record():
            z = (y.astype("float16") * 3).sum()
        z.backward()
        assert y.grad.tolist() == [3, 3] and y.grad.dtype == onp.float64


def test_complex_numbers_become_bools_without_a_warning():
    with npx.backend("jax"):
        assert np.array([0, 1j, 1, onp.nan]).astype(bool).tolist() == [False, True, True, True]


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("name", ["exp2", "expm1", "hypot", "logaddexp", "logaddexp2"])
def test_functions_of_halves_are_rounded_once(name):
    numbers = onp.array([0.5, 1.5, 2, 5.5, 6], "f2")
    with npx.backend("jax"):
        given = [np.array(numbers)[:, None], np.array(numbers)][: getattr(onp, name).nin]
        expected = getattr(onp, name)(*[x.asnumpy().astype("f4") for x in given]).astype("f2")
        for function in (getattr(np, name), npx.jit(getattr(np, name))):
            onp.testing.assert_array_max_ulp(function(*given).asnumpy(), expected, 1, "f2")
