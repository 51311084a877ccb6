"""Gradients of ufuncs with `where=`: what is not computed has the gradient zero, never nan."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

AT = [0.0, -1.0, 2.0, 0.5, 0.0]
CALLS = {
    "log": (lambda x, m: np.log(x, where=m, out=np.zeros(5)), lambda x: 1 / x),
    "sqrt": (lambda x, m: np.sqrt(x, where=m, out=np.zeros(5)), lambda x: 0.5 / onp.sqrt(x)),
    "divide": (lambda x, m: np.divide(1, x, where=m, out=np.zeros(5)), lambda x: -1 / x**2),
    "log2": (lambda x, m: np.log2(x, where=m), lambda x: 1 / x / onp.log(2)),
    "reciprocal": (lambda x, m: np.reciprocal(x, where=m), lambda x: -1 / x**2),
    "power": (lambda x, m: np.power(x, 0.5, where=m), lambda x: 0.5 / onp.sqrt(x)),
    "list": (lambda x, m: np.log(x, where=[False, False, True, True, False]), lambda x: 1 / x),
    "in place": (lambda x, m: _in_place(x, m), lambda x: 1 / x),
    "arctanh": (lambda x, m: np.arctanh(x / 4, where=m), lambda x: 4 / (16 - x**2)),
}


def _in_place(x, m):
    y = x * m
    np.log(y, out=y, where=m)
    return y


@pytest.mark.parametrize("way", ["host", "xla", "compiled"])
@pytest.mark.parametrize("name", CALLS)
def test_gradients_with_where(name, way):
    call, derivative = CALLS[name]
    with npx.backend("jax" if way == "xla" else "numpy"), np.errstate(all="raise"):
        x = np.array(AT)
        m = x > 0
        x.attach_grad()

        def step():
            with autograd.record():
                loss = call(x, m).sum()
            loss.backward()

        (npx.jit(step) if way == "compiled" else step)()
    at, mask = onp.array(AT), onp.array(AT) > 0
    expected = onp.zeros(5)
    expected[mask] = derivative(at[mask])
    onp.testing.assert_allclose(x.grad.asnumpy(), expected, 1e-5)


def test_elements_left_out_raise_no_floating_point_error():
    for mask in ([True, False], onp.array([True, False])):
        with np.errstate(all="raise"):
            found = np.log(np.array([1.0, 0.0]), where=mask, out=np.full(2, 5.0))
        assert found.tolist() == [0, 5]


REDUCTIONS = {
    **{name: getattr(np, name) for name in ("sum", "prod", "mean", "var", "std")},
    **{name: getattr(np, name) for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd")},
    **{
        f"{name} from a start": lambda x, where, f=getattr(np, name): f(x, where=where, initial=2.5)
        for name in ("sum", "prod", "max", "min", "nanmax", "nanmin", "nansum", "nanprod")
    },
    **{
        f"{name}.reduce": lambda x, where, f=getattr(np, name): f.reduce(x, where=where, initial=1)
        for name in ("add", "multiply", "logaddexp", "hypot", "maximum", "fmin")
    },
    "var about a mean": lambda x, where: np.var(x, where=where, mean=np.array([2.0])),
    "the method": lambda x, where: x.std(where=where),
}


@pytest.mark.parametrize("way", ["host", "xla", "compiled"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_a_reduction_leaves_out_has_no_gradient(name, way):
    left, kept = [onp.nan, -onp.inf, onp.inf, 0.0, 7.0], [2.0, 3.5, 4.0]
    with npx.backend("jax" if way == "xla" else "numpy"):
        x, y = np.array(left + kept, dtype="float64"), np.array(kept, dtype="float64")
        mask = np.array([False] * len(left) + [True] * len(kept))
        gradients = []
        for array, where in ((x, mask), (y, np.ones(len(kept), dtype=bool))):
            array.attach_grad()

            def step(array=array, where=where):
                with autograd.record():
                    found = REDUCTIONS[name](array, where=where)
                found.backward()

            (npx.jit(step) if way == "compiled" else step)()
            gradients.append(array.grad.asnumpy())
    onp.testing.assert_array_equal(gradients[0][: len(left)], 0)
    onp.testing.assert_allclose(gradients[0][len(left) :], gradients[1], 1e-14)
