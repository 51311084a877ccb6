"""Rewrites of compiled functions for the CPU keep their results."""

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from internals import MANY, MANY_REPEATED, OFTEN, SHORT, rewritten

import npcompat.numpy as np
from npcompat import autograd, npx


def _stored(function, *arrays):
    """Count the stores of arrays in a rewritten function, those in the bodies of loops included."""
    found = rewritten(jax.make_jaxpr(function)(*arrays).jaxpr)
    bodies = [e.params["jaxpr"].jaxpr for e in found.eqns if e.primitive.name == "scan"]
    return sum(e.params.get("name") == "store" for part in (found, *bodies) for e in part.eqns)


def test_what_is_computed_and_read_often_is_stored_once():
    table, often, seldom = jnp.arange(8.0), jnp.zeros(8 * OFTEN, int), jnp.zeros(8 * OFTEN - 1, int)
    assert _stored(lambda t, i: jnp.exp(t)[i], table, often) == 1
    assert _stored(lambda t, i: jnp.exp(t)[i], table, seldom) == 0
    assert _stored(lambda t, i: t[i], table, often) == 0  # as it came
    assert _stored(lambda t, i: jnp.sort(t)[i], table, often) == 0  # stored anyway
    assert (
        _stored(lambda t, i: jnp.exp(t).reshape(2, 4)[:, None].reshape(-1)[i], table, often) == 1
    )  # moved on
    assert _stored(lambda t, i: jnp.where(t > 2, t, 0)[i], table, often) == 1  # a call's

    def twice(t, i):
        t = jnp.exp(t)
        return t[i] + t[i[::-1]]

    assert _stored(twice, table, often) == 1

    def round_by_round(t, i):
        return jax.lax.scan(lambda t, _: (jnp.sin(t), jnp.cos(t)[i]), t, None, length=3)

    assert _stored(round_by_round, table, often) == 1


def test_what_is_costly_and_broadcast_is_stored_once():
    x, y = jnp.arange(8.0), jnp.zeros((MANY_REPEATED, 8))
    assert _stored(lambda x, y: jnp.cos(x) * y, x, y) == 1
    assert _stored(lambda x, y: 2 * jnp.sin(x)[None, ::-1] * y + y, x, y) == 1
    assert _stored(lambda x, y: jnp.broadcast_to(jnp.exp(1j * x), y.shape), x, y) == 1
    assert _stored(lambda x, y: jax.jit(lambda t: jnp.cos(t) + 1)(x) * y, x, y) == 1
    assert _stored(lambda x, y: jax.jit(lambda t: t + 1)(jnp.cos(x)) * y, x, y) == 1
    assert _stored(lambda x, y: jnp.exp(x) * y, x, y) == 0  # XLA stores it by itself
    assert _stored(lambda x, y: jnp.cos(x * y), x, y) == 0
    assert _stored(lambda x, y: jnp.cos(x[0]) * y, x, y) == 0  # a number
    assert _stored(lambda x, y: jnp.cos(x) * y[:2], x, y) == 0  # few
    assert _stored(lambda x, y: jnp.sort(jnp.cos(x)) * y, x, y) == 0  # stored anyway

    def twice(x, y):
        t = jnp.cos(x)[None]
        return t * y + t * (y + 1)

    assert _stored(twice, x, y) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (40,), (1, 1), ()], ids=str)
def test_broadcast_tables_as_numpy_with_derivatives(shape, dtype):
    def turned(np, x, y):
        return np.cos(x * 2) * y + np.tan(x) * y

    x = (onp.arange(onp.prod(shape)).reshape(shape) / 30).astype(dtype)
    y = onp.linspace(-1, 1, 1600).reshape(40, 40).astype(dtype)
    with npx.np_default_dtype(), npx.backend("jax"):
        arrays = np.array(x), np.array(y)
        compiled = npx.jit(lambda x, y: turned(np, x, y))
        got = compiled(*arrays)
        gradients = []
        for function in (compiled, lambda x, y: turned(np, x, y)):
            for a in arrays:
                a.attach_grad()
            with autograd.record():
                found = function(*arrays)
            found.backward()
            gradients.append([a.grad.asnumpy() for a in arrays])
    expected = turned(onp, x, y)
    assert got.dtype == expected.dtype
    onp.testing.assert_allclose(got.asnumpy(), expected, 2e-5, 1e-6)
    for one, other in zip(*gradients, strict=True):
        onp.testing.assert_allclose(one, other, 2e-5, 1e-4)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"]
)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 0)], ids=str)
def test_as_numpy_for_each_dtype_and_shape(shape, dtype):
    def looked_up(np, table, places):
        return (table + table)[places]

    table = (onp.arange(onp.prod(shape)).reshape(shape) * 1.5 - 3).astype(dtype)
    places = onp.arange(12 * OFTEN).reshape(2, -1) % shape[0] - (shape[0] > 1)
    with npx.np_default_dtype(), npx.backend("jax"):
        got = npx.jit(lambda t, i: looked_up(np, t, i))(np.array(table), np.array(places))
    expected = looked_up(onp, table, places)
    assert got.dtype == expected.dtype
    onp.testing.assert_array_equal(got.asnumpy(), expected)


def test_derivatives_within_and_through_a_compiled_function():
    places = np.array([0, 1, 1, 2] * OFTEN)

    def looked_up(x):
        return (np.exp(x)[places] * np.arange(4.0 * OFTEN)).sum()

    def derivative(function):
        x = np.array([0.0, 1.0, 2.0])
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        return x.grad.asnumpy()

    expected = derivative(looked_up)
    assert expected.any()
    onp.testing.assert_allclose(derivative(npx.jit(looked_up)), expected, rtol=1e-6)
    onp.testing.assert_allclose(
        npx.jit(lambda: np.array(derivative_traced(looked_up)))().asnumpy(), expected, rtol=1e-6
    )


def derivative_traced(function):
    x = np.array([0.0, 1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    return x.grad


def test_a_place_that_is_not_there_is_an_error_still():
    function = npx.jit(lambda t, i: np.exp(t)[i])
    with pytest.raises(IndexError, match="out of bounds"):
        function(np.zeros(3), np.full(3 * OFTEN, 3)).wait_to_read()


def _values(shape, dtype):
    rng = onp.random.RandomState(0)
    if dtype == "bool":
        return rng.rand(*shape) < 0.7
    values = rng.normal(size=shape) * 50
    with onp.errstate(invalid="ignore"):
        values = values.astype(dtype)
    values.reshape(-1)[:: values.size // 3] = onp.nan if onp.dtype(dtype).kind in "fc" else 3
    values.reshape(-1)[12:24] = 0
    return -values if onp.dtype(dtype).kind == "f" else values


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "float32", "float64", "complex128"]
)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((MANY, 3), -1),
        ((MANY, 2, 2), (1, 2)),
        ((MANY, SHORT), 1),
        ((MANY, SHORT + 1), 1),
        ((2, MANY), 0),
    ],
    ids=str,
)
def test_reductions_over_short_axes_as_numpy_for_each_dtype(shape, axis, dtype):
    names = ("sum", "prod", "max", "min", "any", "all")

    def reduced(np, a):
        return [getattr(np, name)(a, axis=axis) for name in names]

    values = _values(shape, dtype)
    with npx.np_default_dtype(), npx.backend("jax"):
        found = npx.jit(lambda a: reduced(np, a))(np.array(values))
    with onp.errstate(all="ignore"):
        expected = reduced(onp, values)
    for name, got, true in zip(names, found, expected, strict=True):
        assert got.dtype == true.dtype, name
        tolerance = 1e-2 if dtype == "float16" else 1e-5
        onp.testing.assert_allclose(
            got.asnumpy(), true, rtol=tolerance, atol=tolerance, err_msg=name
        )
        if true.dtype.kind == "f":  # of negative zeros
            onp.testing.assert_array_equal(
                onp.signbit(got.asnumpy())[true == 0], onp.signbit(true)[true == 0], err_msg=name
            )


def test_only_short_last_axes_of_many_rows_are_taken_apart():
    def reductions(shape, axes):
        found = rewritten(
            jax.make_jaxpr(lambda a: jax.lax.reduce_sum_p.bind(a, axes=axes, out_sharding=None))(
                jnp.zeros(shape)
            ).jaxpr
        )
        return [e.primitive.name for e in found.eqns]

    assert reductions((MANY, SHORT), (1,)) == ["jit"]
    assert reductions((MANY, 2, 2), (1, 2)) == ["jit"]
    for shape, axes in [
        ((MANY - 1, 2), (1,)),
        ((MANY, SHORT + 1), (1,)),
        ((2, MANY), (0,)),
        ((MANY, 2, 2), (1,)),
        ((MANY, 1), (1,)),
    ]:
        assert reductions(shape, axes) == ["reduce_sum"]
    twice = rewritten(
        jax.make_jaxpr(lambda a: jnp.linalg.norm(a, axis=1) + jnp.linalg.norm(a + 1, axis=1))(
            jnp.zeros((MANY, 2))
        ).jaxpr
    )
    calls = [e.params["jaxpr"] for e in twice.eqns if e.params.get("name") == "norm"]
    assert len(calls) == 2 and calls[0].jaxpr is calls[1].jaxpr  # compiled once
    assert "reduce_sum" not in str(calls[0])


def test_derivatives_of_reductions_over_short_axes():
    def loss(x):
        return (np.sqrt((x * x).sum(axis=-1)) * x.max(axis=-1)).sum()

    def derivative(x):
        x = x.copy()
        x.attach_grad()
        with autograd.record():
            y = loss(x)
        y.backward()
        return x.grad

    x = np.array(onp.random.RandomState(1).normal(size=(MANY, 3)).astype("float32"))
    expected = derivative(x).asnumpy()
    onp.testing.assert_allclose(npx.jit(derivative)(x).asnumpy(), expected, rtol=1e-5, atol=1e-5)
    compiled, y = npx.jit(loss), x.copy()
    y.attach_grad()
    with autograd.record():
        z = compiled(y)
    z.backward()
    onp.testing.assert_allclose(y.grad.asnumpy(), expected, rtol=1e-5, atol=1e-5)
