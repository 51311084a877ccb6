"""Products in loops that are computed for all rounds at once are those of the rounds."""

import jax
import numpy as onp
import pytest
from internals import rewritten
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxprs import equations, names

from npcompat import autograd, np, npx

N = 30


def of_columns(np, a, b):
    total = np.zeros((N, N), a.dtype)
    for i in range(N):
        total[i, i:] = a[:, i] @ a[:, i:]
    return total


def of_some_columns(np, a, b):
    total = np.zeros((N, N), a.dtype)
    for i in range(N - 1, 0, -2):
        total[i] = b @ (a[i] * i - a[i - 1]) + a[:, 0].sum()
    return total


def of_rows(np, a, b):
    total = np.zeros(N, a.dtype)
    for row in a:
        total = total * 0.5 + np.dot(b, row)
    return total


def of_one_row(np, a, b):
    total = np.zeros((N, N), a.dtype)
    for i in range(N):
        for j in range(N):
            total[i, j] = a[i, :i] @ b[:i, j] + b[j] @ b[0]
    return total


def of_what_changes(np, a, b):
    x = b[0] * 1
    for i in range(N):
        x = np.tanh(a @ x + a[i] @ b)
        b[i] = x
    return x


def of_matrices(np, a, b):
    total = np.zeros((N, N), a.dtype)
    for i in range(N):
        total += a[:, i : i + 1] @ b[i : i + 1] + (b + i) @ a
    return total


LOOPS = [of_columns, of_some_columns, of_rows, of_one_row, of_what_changes, of_matrices]


def _arrays(dtype):
    return onp.random.default_rng(0).normal(size=(2, N, N)).astype(dtype) / 9


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("function", LOOPS)
def test_values(function, dtype):
    a, b = _arrays(dtype)
    with npx.np_default_dtype():
        x, y = np.array(a), np.array(b)
        got = npx.jit(lambda x, y: function(np, x, y))(x, y)
    expected = function(onp, a, b)
    assert got.dtype == expected.dtype
    onp.testing.assert_allclose(got.asnumpy(), expected, 1e-3, 1e-5)
    onp.testing.assert_allclose(y.asnumpy(), b, 1e-3, 1e-5)


@pytest.mark.parametrize("function", [of_columns, of_some_columns, of_rows])
def test_gradients(function):
    weight = onp.random.default_rng(1).normal(size=N)
    found = []
    for compiled in (False, True):
        with npx.np_default_dtype():
            x, y = map(np.array, _arrays("float64"))
            x.attach_grad()
            y.attach_grad()
            call = lambda x, y: (function(np, x, y) * np.array(weight)).sum()
            with autograd.record():
                loss = npx.jit(call)(x, y) if compiled else call(x, y)
            loss.backward()
            found.append((x.grad.asnumpy(), y.grad.asnumpy()))
    for eager, staged in zip(*found, strict=True):
        onp.testing.assert_allclose(staged, eager, 1e-9, 1e-12)


def _has_product(scan):
    return "dot_general" in names(scan.params["jaxpr"].jaxpr)


def _loops(jaxpr):
    return [e for e in equations(jaxpr) if e.primitive.name == "scan"]


@pytest.mark.parametrize("reverse", [False, True])
def test_products_are_before_the_loop(reverse):
    a, b = _arrays("float32")

    def rounds(a, b):
        def one(state, row):
            i, total = state
            column = jax.lax.dynamic_index_in_dim(a, i, 1, keepdims=False)
            return (i + 1, total + row @ b), column @ a

        return jax.lax.scan(one, (2, b[0]), a[:20], reverse=reverse)

    loop = jax.make_jaxpr(rounds)(a, b)
    moved = rewritten(loop.jaxpr)
    assert [*map(_has_product, _loops(loop.jaxpr))] == [True]
    assert [*map(_has_product, _loops(moved))] == [False]
    got = jaxpr_as_fun(ClosedJaxpr(moved, loop.consts))(a, b)
    for mine, theirs in zip(got, jax.tree.leaves(rounds(a, b)), strict=True):
        onp.testing.assert_allclose(mine, theirs, 1e-5, 1e-6)


def test_products_that_take_much_memory_stay_in_the_loop():
    vector, matrix = onp.ones(4, "float32"), onp.ones((4, 4096), "float32")

    def rounds(v, m):
        one = lambda total, i: (total + ((v * i) @ m).sum(), None)
        return jax.lax.scan(one, jax.numpy.float32(0), jax.numpy.arange(5000.0))[0]

    loop = jax.make_jaxpr(rounds)(vector, matrix)
    assert [*map(_has_product, _loops(rewritten(loop.jaxpr)))] == [True]
