"""Loops that are differentiated take as long for each round in a large array as in a small one."""

import re

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from internals import for_cpu

from npcompat import autograd, np, npx

N, M = 40, 16


def last_state(np, a, w):
    state = np.zeros(M)
    for t in range(N):
        state = np.tanh(a[t] + state @ w)
    return state


def decaying(np, a, w):
    found = np.zeros((N, M))
    found[0] = a[0]
    for t in range(1, N):
        found[t] = found[t - 1] * 0.5 + a[t] * w[0]
    return found


def twice_written(np, a, w):
    for t in range(1, N - 1):
        a[t] *= a[t - 1, ::-1]
        a[t + 1, 2:9] += a[t, 1:8] * w[t % M, 3]
    return a


def from_two_places(np, a, w):
    total = np.zeros(M)
    for t in range(N - 2, 0, -2):
        total = total * 0.9 + a[t] * a[N - 1 - t] + a[t + 1] * w[2]
    return total


def chosen_rows(np, a, w):
    total, rows = np.zeros((N, M)), np.array([3, 1, 3])
    for t in range(N):
        total[t] = a[rows + t % 5].sum(0) * w[t % M] + a[t]
    return total


def overwritten(np, a, w):
    b = a * 2
    for t in range(N):
        b[t] = b[t] * w[1] + 1
        b[N - 1 - t, 1:4] = w[t % M, :3]
    return b


LOOPS = [last_state, decaying, twice_written, from_two_places, chosen_rows, overwritten]


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", LOOPS)
def test_gradients_are_those_of_eager_calls(function):
    made = onp.random.default_rng(0)
    weight, found = made.normal(size=(N, M)), []
    arrays = [made.normal(size=(N, M)) / 2, made.normal(size=(M, M)) / 4]
    for compiled in (False, True):
        a, w = map(np.array, arrays)
        a.attach_grad()
        w.attach_grad()

        def loss(a, w):
            result = function(np, a * 1, w)
            return (
                result * np.array(weight[: len(result)] if result.ndim > 1 else weight[0])
            ).sum()

        def step(a, w):
            with autograd.record():
                value = loss(a, w)
            value.backward()
            return value

        value = (npx.jit(step) if compiled else step)(a, w)
        found.append((value.asnumpy(), a.grad.asnumpy(), w.grad.asnumpy()))
    for eager, staged in zip(*found, strict=True):
        onp.testing.assert_allclose(staged, eager, 1e-9, 1e-12)


def rows_of(a, w):
    """A loop of JAX that reads and writes rows."""

    def one(t, state):
        found, total = state
        row = jnp.tanh(a[t] * w + found[t - 1])
        return jax.lax.dynamic_update_index_in_dim(found, row, t, 0), total * 0.5 + row.sum()

    found, total = jax.lax.fori_loop(1, len(a), one, (a * 2, 0.0))
    return found.sum() + total


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="of XLA's CPU compiler")
def test_no_round_reads_or_writes_a_whole_array():
    a, w = onp.ones((777, 8), "float32"), onp.ones(8, "float32")
    gradient = jax.grad(rows_of, (0, 1))
    programs = [jax.jit(f).lower(a, w).compile().as_text() for f in (gradient, for_cpu(gradient))]
    whole = []
    for text in programs:
        bodies = [part for part in re.split(r"\n\n", text) if " while" not in part.split("{")[0]]
        rounds = [part for part in bodies if part.startswith("%") and "wide" in part.split(" ")[0]]
        whole.append(sum([len(re.findall(r"f32\[777,8\]\S* (?:copy|add)\(", r)) for r in rounds]))
    assert whole[0] > 0 and whole[1] == 0
    for mine, theirs in zip(for_cpu(gradient)(a, w), gradient(a, w), strict=True):
        onp.testing.assert_allclose(mine, theirs, 1e-5)


@pytest.mark.parametrize(("dtype", "n"), [("int8", 128), ("uint8", 256)])
def test_narrow_indices(dtype, n):
    def rounds(y):
        def one(state, _):
            i, y = state
            zero = jnp.zeros_like(i)
            row = (
                jax.lax.dynamic_slice(y, (i - 1, zero), (1, 4), allow_negative_indices=False) * 0.5
                + 1
            )
            y = jax.lax.dynamic_update_slice(y, row, (i, zero), allow_negative_indices=False)
            return (i + 1, y), None

        return jax.lax.scan(one, (jnp.ones((), dtype), y), None, n - 1)[0][1]

    y = onp.arange(4.0 * n, dtype="float32").reshape(n, 4)
    onp.testing.assert_array_equal(for_cpu(rounds)(y), rounds(y))
