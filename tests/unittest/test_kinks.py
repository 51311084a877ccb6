"""Derivatives at kinks, by the table of docs/autograd.md, eager and compiled."""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx

TABLE = {
    "abs": (np.abs, [0.0, -1.0], [0, -1]),
    "fabs": (np.fabs, [0.0, 2.0], [0, 1]),
    "sign": (np.sign, [0.0], [0]),
    "clip": (lambda x: np.clip(x, 0, 1), [0.0, 1.0, 0.5, 2.0, -1.0], [1, 1, 1, 0, 0]),
    "clip from below": (lambda x: np.clip(x, 0, None), [0.0, -1.0], [1, 0]),
    "clip from above": (lambda x: x.clip(None, 1), [1.0, 2.0], [1, 0]),
    "interp": (
        lambda x: np.interp(x, [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0]),
        [-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0],
        [0, 1, 3, 3, 5, 5, 0],
    ),
    "remainder": (lambda x: x % 3, [3.0, -6.0, 0.0, 4.0, -4.0], [1] * 5),
    "remainder of divmod": (lambda x: np.divmod(x, 3)[1], [3.0, -6.0, 4.0], [1, 1, 1]),
    "remainder by its divisor": (
        lambda x: np.remainder(6, x),
        [3.0, 2.0, -3.0, 4.0],
        [-2, -3, 2, -1],
    ),
    "angle of real numbers": (np.angle, [0.0, -2.0, 3.0], [0, 0, 0]),
    "floor_divide": (lambda x: np.floor_divide(6, x), [3.0, 4.0, -2.0], [0, 0, 0]),
    "ldexp": (lambda x: np.ldexp(x, 3), [0.0, -0.0, 2.0], [8, 8, 8]),
    "fmod": (lambda x: np.fmod(x, 3), [3.0, -6.0, 4.0], [1, 1, 1]),
    "fraction": (lambda x: np.modf(x)[0], [-3.0, 3.0, -2.5], [1, 1, 1]),
    "fmax": (lambda x: np.fmax(x, 1), [1.0, 2.0, 0.0, onp.nan], [0.5, 1, 0, 0]),
    "fmin": (lambda x: np.fmin(onp.nan, np.fmin(x, 1)), [1.0, 2.0, 0.0], [0.5, 0, 1]),
    "fmax of elements": (np.fmax.reduce, [3.0, 3.0, 1.0], [0.5, 0.5, 0]),
    "relu": (npx.relu, [0.0, 1.0], [0, 1]),
    "maximum": (lambda x: np.maximum(x, 0), [0.0], [0.5]),
    "max of equals": (np.max, [1.0, 1.0], [0.5, 0.5]),
    "max with nan": (np.max, [1.0, onp.nan, 3.0, onp.nan], [0, 0.5, 0, 0.5]),
    "min of rows with nan": (
        lambda x: x.reshape(2, 2).min(1, keepdims=True),
        [1.0, onp.nan, 3.0, 2.0],
        [0, 1, 0, 1],
    ),
    "max where": (
        lambda x: np.max(x, where=np.array([True, True, False]), initial=-9.0),
        [1.0, 1.0, onp.nan],
        [0.5, 0.5, 0],
    ),
    "max where, with the initial": (
        lambda x: np.max(x, where=np.array([True, False, True]), initial=5.0),
        [5.0, 7.0, 1.0],
        [0.5, 0, 0],
    ),
    "max with nan and an initial": (lambda x: np.max(x, initial=0.0), [onp.nan, 1.0], [1, 0]),
    "ptp with nan": (np.ptp, [1.0, onp.nan, 3.0], [0, 0, 0]),
    "norm": (np.linalg.norm, [0.0, 0.0], [0, 0]),
    "norm of rows": (
        lambda x: np.linalg.norm(x.reshape(2, 2), axis=1),
        [0.0, 0.0, 3.0, 4.0],
        [0, 0, 0.6, 0.8],
    ),
    "norm, ord 1": (lambda x: np.linalg.norm(x, ord=1), [0.0, -1.0], [0, -1]),
    "norm, ord 3": (lambda x: np.linalg.norm(x, ord=3), [0.0, 0.0], [0, 0]),
    "vector_norm": (np.linalg.vector_norm, [0.0, 0.0], [0, 0]),
    "norm, ord inf": (lambda x: np.linalg.norm(x, ord=onp.inf), [0.0, 0.0], [0, 0]),
    "norm of a matrix, ord 1": (lambda x: np.linalg.norm(x[None], ord=1), [0.0, 0.0], [0, 0]),
    "norm of a matrix, ord inf": (
        lambda x: np.linalg.norm(x[None], ord=onp.inf),
        [0.0, -1.0],
        [0, -1],
    ),
    "hypot": (lambda x: np.hypot(x[0], x[1]) + np.hypot(x[0], 1.0), [0.0, 0.0], [0, 0]),
    "hypot elsewhere": (lambda x: np.hypot(x[0], x[1]), [3.0, 4.0], [0.6, 0.8]),
    "nanstd": (np.nanstd, [1.0, 1.0], [0, 0]),
    "std": (np.std, [1.0, 1.0], [0, 0]),
    "L1Loss": (lambda x: gluon.loss.L1Loss()(x, np.zeros(2)), [0.0, 1.0], [0, 1]),
    "x**0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "x**0.0": (lambda x: x**0.0, [0.0, 2.0], [0, 0]),
    "x**1": (lambda x: x**1, [0.0], [1]),
    "powers": (lambda x: x[:, None] ** np.arange(3), [0.0, 2.0], [1, 5]),
    "integers": (lambda x: x ** np.array([0, 1, 2]), [0.0, 0.0, 0.0], [0, 1, 0]),
    "polynomial": (lambda x: sum(c * x**k for k, c in enumerate([1.0, 2.0, 3.0])), [0.0], [2]),
    "float_power": (lambda x: np.float_power(x, 0), [0.0], [0]),
    "exponent of zero": (lambda p: np.zeros(3) ** p, [0.0, 1.0, 2.0], [0, 0, 0]),
}


@pytest.mark.parametrize("way", ["host", "xla", "compiled"])
@pytest.mark.parametrize("name", TABLE)
def test_derivatives_at_kinks(name, way):
    function, at, expected = TABLE[name]
    with npx.backend("jax" if way == "xla" else "numpy"):
        x = np.array(at)
        x.attach_grad()

        def step():
            with autograd.record():
                y = function(x).sum()
            y.backward()

        (npx.jit(step) if way == "compiled" else step)()
    onp.testing.assert_allclose(x.grad.asnumpy(), expected, 1e-6)


@pytest.mark.parametrize(
    ("power", "expected"), [(0, 0), (1, 0), (1.0, 0), (2, 2), (2.0, 2), (3, 0)]
)
def test_second_derivatives_of_powers_at_zero(power, expected):
    x = np.array([0.0])
    x.attach_grad()
    with autograd.record():
        y = (x ** np.array([power])).sum()
        first = autograd.grad(y, [x], create_graph=True)[0].sum()
    first.backward()
    assert x.grad.tolist() == [expected]


@pytest.mark.parametrize("ord", [None, 1, 2, 3, onp.inf, -onp.inf, 0, 2.5])
def test_norms_are_numpys(ord):
    for shape, axis in (((4,), None), ((3, 4), 1), ((3, 4), 0)):
        a = onp.random.RandomState(0).randn(*shape)
        for keepdims in (False, True):
            expected = onp.linalg.norm(a, ord, axis, keepdims)
            with npx.backend("jax"):
                found = np.linalg.norm(np.array(a), ord, axis, keepdims)
            onp.testing.assert_allclose(found.asnumpy(), expected, 1e-12)
            c = a + 1j
            with npx.backend("jax"):
                found = np.linalg.norm(np.array(c), ord, axis, keepdims)
            onp.testing.assert_allclose(found.asnumpy(), onp.linalg.norm(c, ord, axis, keepdims))


@pytest.mark.parametrize("ord", [1, -1, onp.inf, -onp.inf])
@pytest.mark.parametrize("axis", [(0, 1), (1, 0), (2, 0), (-1, -2)])
def test_norms_of_matrices_are_numpys(ord, axis):
    a = onp.sin(onp.arange(24.0)).reshape(2, 3, 4).astype("float32")
    with npx.backend("jax"):
        for given in (a, a + 1j * a[::-1]):
            for keepdims in (False, True):
                onp.testing.assert_allclose(
                    np.linalg.norm(np.array(given), ord, axis, keepdims).asnumpy(),
                    onp.linalg.norm(given, ord, axis, keepdims),
                    rtol=1e-5,
                )


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_quotient_by_zero_that_is_rounded_down_has_no_derivative(backend):
    with npx.backend(backend):
        x = np.array([0.0, 2.0])
        x.attach_grad()
        with autograd.record(), np.errstate(divide="ignore"):
            y = (6 // x).sum()
        y.backward()
    assert x.grad.tolist() == [0, 0]
