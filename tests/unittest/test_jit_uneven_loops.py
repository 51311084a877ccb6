"""Loops whose rounds work on arrays of different sizes, rolled up into one round that serves for
all.
"""

import random

import numpy as onp
import pytest
from internals import ragged_rounds, roll_loops, tracing
from loops import check

from npcompat import autograd, np, npx


@pytest.fixture
def x():
    return onp.random.RandomState(0).normal(size=(8, 8))


@pytest.fixture
def definite(x):
    return x @ x.T + 8 * onp.eye(8)


def cholesky(np, m):
    factor = np.zeros_like(m)
    for j in range(len(m)):
        row = factor[j, :j]
        factor[j, j] = np.sqrt(m[j, j] - row @ row)
        factor[j + 1 :, j] = (m[j + 1 :, j] - factor[j + 1 :, :j] @ row) / factor[j, j]
    return (factor,)


def elimination(np, m):
    a = m.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return (a,)


def substitution(np, m):
    y = np.zeros(len(m))
    for i in range(len(m)):
        y[i] = (1 - m[i, :i] @ y[:i]) / m[i, i]
    return (y,)


def backward(np, m):
    y = np.ones(len(m))
    for i in range(len(m) - 1, -1, -1):
        y[i] = (y[i] - np.dot(m[i, i + 1 :], y[i + 1 :])) / m[i, i]
    return (y,)


def antidiagonals(np, m):
    t = np.zeros((9, 9), dtype="int64")
    n = (m > 0).astype("int64")
    for d in range(2, 17):
        i = np.arange(max(1, d - 8), min(8, d - 1) + 1)
        t[i, d - i] = np.maximum(t[i - 1, d - i], t[i, d - i - 1]) + n[i - 1, d - i - 1]
    return (t,)


def orthogonal(np, m):
    q = m.copy()
    for j in range(len(q) - 1):
        q[:, j] /= np.sqrt((q[:, j] ** 2).sum())
        q[:, j + 1 :] -= np.outer(q[:, j], q[:, j] @ q[:, j + 1 :])
    return (q,)


def heights(np, m):
    """Reductions and accumulations of windows."""
    a, found = m[0].copy(), np.zeros((8, 7))
    for i in range(1, 8):
        part = m[:i, i:]
        found[i, 0], found[i, 1], found[i, 2] = part.sum(), part.max(), np.prod(1 + 0.1 * part)
        found[i, 3], found[i, 4], found[i, 5] = part.min(), (part > 0).all(), (part > 1).any()
        a[i:] = np.cumsum(a[i:]) - np.cumprod(a[i:])[::-1] * 0.01
        a[:i] += np.arange(i) + part.mean(axis=1)
        found[i, 6] = a.sum()
    return found, a


def shifted(np, m):
    """Windows that are elsewhere than those they are put together with."""
    a, b = m[0].copy(), m[1].copy()
    for i in range(1, 8):
        a[:i] = a[8 - i :] * 0.5 + b[:i]
        b[i:] = np.where(a[: 8 - i] > 0, b[i:], -1.5)
        a[i:] = a[i:][::-1]
    return a, b


def rows(np, m):
    """Operate along axes whose length is the same in each round."""
    a = m.copy()
    for i in range(1, 8):
        a[i:] = np.sort(a[i:], axis=1)[:, ::-1] * 0.9
        a[:, i:] = np.concatenate([a[4:, i:], a[:4, i:] + a[i:, i - 1].sum()])
        a[0, :i] = a[:, :i].argmax(axis=0)
    return (a,)


def leaves(np, m):
    """Return an array of the last round, which is shorter than those of earlier rounds."""
    for i in range(1, 8):
        a = m[i:, 0] * 2
        m[i:, 1] = np.cumsum(a)
    return a, m


FOUND = [
    cholesky,
    elimination,
    substitution,
    backward,
    antidiagonals,
    orthogonal,
    heights,
    shifted,
    rows,
    leaves,
]


@pytest.mark.parametrize("f", FOUND)
def test_rounds_of_different_sizes_are_one(found, f, definite):
    check(f, definite)
    assert found == [True]


@pytest.mark.parametrize("f", FOUND)
def test_rounds_of_different_sizes_are_numpys_when_they_are_staged(f, definite):
    check(f, definite, policies=("staged",))


@pytest.mark.parametrize("f", FOUND)
def test_what_is_around_a_window_means_nothing(found, f, definite):
    """Elements that a round does not look at do not get into its results, though they be no
    numbers.
    """
    m = definite.copy()
    m[6, 7], m[7, 6], m[7, 7] = onp.nan, onp.inf, -onp.inf
    with onp.errstate(all="ignore"):
        check(f, m)
    assert found == [True]


def test_equations_do_not_grow_with_the_rounds(monkeypatch):
    lengths = []
    as_call = tracing._as_call
    monkeypatch.setattr(
        tracing, "_as_call", lambda jaxpr: lengths.append(len(jaxpr.eqns)) or as_call(jaxpr)
    )
    for n in (20, 40):
        check(cholesky, onp.eye(n) * 2 + 1, times=1)
    assert lengths[0] == lengths[1] < 100


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool", "complex64"])
def test_dtypes(found, dtype):
    def f(np, a, b):
        a, sums = a.copy(), np.zeros(8, dtype=a.dtype)
        for i in range(1, 8):
            a[i:] = np.where(b[i:] == a[i:], b[i:], a[i - 1])
            sums[i] = (
                a[:i].sum()
                if a.dtype.kind == "c"
                else a[:i].max() | a[i:].min()
                if a.dtype.kind in "iub"
                else a[i:].max()
            )
        return a, sums

    a, b = [onp.random.RandomState(s).randint(0, 3, size=8).astype(dtype) for s in (0, 1)]
    check(f, a, b)
    assert found == [True]


def sorts(np, m):
    a = m[0].copy()
    for i in range(1, 8):
        a[:i] = np.sort(a[:i]) * 0.9
    return (a,)


def grows(np, m):
    a = m[0, :1]
    for i in range(1, 8):
        a = np.concatenate([a, m[i, :1] + a[-1]])
    return (a,)


@pytest.mark.parametrize("f", [sorts, grows])
def test_rounds_for_which_none_serves_are_left(found, f, x):
    check(f, x)
    assert found == [False]


def test_little_in_large_arrays_is_left(found, monkeypatch):
    """A round that serves for all would compute much more than the rounds do."""

    def f(np, m):
        for n in (1, 2, 1, 2, 30, 2, 1, 2):
            m[:n, :n] = m[:n, :n] @ m[:n, :n] * 0.1
        return (m,)

    x = onp.random.RandomState(0).normal(size=(32, 32))
    check(f, x)
    monkeypatch.setattr(ragged_rounds, "WASTE", 1)
    check(f, x)
    assert found == [True, False]


def test_gradients(found, definite):
    def f(m):
        return cholesky(np, m)[0].sum()

    results = []
    with npx.np_default_dtype():
        for g in (f, npx.jit(f)):
            m = np.array(definite)
            m.attach_grad()
            with autograd.record():
                y = g(m)
            y.backward()
            results.append(m.grad.asnumpy())
    onp.testing.assert_allclose(*results, rtol=1e-10, atol=1e-12)


STATEMENTS = [
    "a[i] = (b[i] - x[i, :i] @ a[:i]) / (2 + abs(x[i, i]))", "a[i:] -= a[i - 1] * b[i:]",
    "m[i:, i:] -= np.outer(m[i:, i - 1], m[i - 1, i:]) * 0.1", "m[i, :i] = a[:i] * 0.5", "m[:i, i] += b[i]",
    "b[:i] = b[8 - i:] * 0.9 + a[:i]", "b[i:] = np.cumsum(a[i:]) * 0.1", "b[:i] = np.cumsum(a[:i])[::-1] * 0.1",
    "s = s + a[:i].sum() * 0.1 + b[i:].max()", "s = s + a[:i].min() - np.prod(1 + 0.01 * b[:i])",
    "t = m[i:, :i].T @ a[i:]; b[:i] += 0.01 * t", "p = np.arange(i, 8); a[p] = b[p - 1] * 0.9",
    "p = np.arange(max(0, i - 3), i + 1); m[p, i - p] += a[p]", "k[:i] += 1; k[i:] -= k[i - 1]",
    "w = a[:i] > b[:i]; s = s + w.any() + w.all() + np.sum(w)", "b[:i] = np.where(a[:i] > 0, b[:i], 0.5)", "a[i:] = a[i:][::-1]",
    "m[i:] = m[i:] * 0.9 + a", "m[:, i:] -= a[:, None] * m[i, i:] * 0.1", "b[i:] = np.tanh(b[i:] + x[i:, i:] @ a[i:] * 0.1)",
    "z[:i] *= 1j; z[i:] += a[i:]", "a[:i] = np.minimum(a[:i], m[:i, :i].max(axis=1))",
    "r = np.zeros(i); r += a[:i]; s = s + r @ r * 0.01", "a[:i] = (a[:i].reshape(1, -1) * 0.9 + 0.1).ravel()",
    "s = s + np.abs(x[:i, None, i:]).sum() * 0.01", "b[:i] = b[:i] + np.arange(i)", "b[1:i] = a[:i - 1]",
    "s = s + k[:i].max() + k[i:].min()", "z[i] = (z[:i] * a[:i]).sum() * 0.1", "b[:i] = np.sort(b[:i])",
    "b[:i] = a[8 - i:]; a[i - 1] = b.argmax()", "a[i:] = a[i - 1:-1]", "a[:i] = np.clip(a[:i], -1, b[:i] + 2)",
    "q = m[:i, :i] @ m[:i, i:]; m[:i, i:] = q * 0.05", "m[i:, :] = np.concatenate([m[i:, 4:], m[i:, :4]], axis=1)",
    "b[a[:].astype('int64') % (i + 1)] *= 0.9", "a[:i] /= 1 + np.abs(b[:i])", "s = s + np.mean(a[:i]) + np.var(b[:i])",
    "m[i] = m[:i].sum(axis=0)", "m[i, i:] = m[i:, i]", "x2 = m[:i].copy(); x2[:, 0] = 1; m[:i] = x2 * 0.9", "a[i::2] *= 0.5",
    "a[:i:2] += 1", "a[i:][a[i:] > 1] = 0.5", "b[:i] = np.einsum('ij,j->i', m[:i], a) * 0.05", "k[:i] //= 2; k[:i] |= 1; k[i:] ^= 3",
    "k[i:] = np.cumsum(k[:8 - i]) % 7", "a[:i] = np.maximum.accumulate(a[:i])", "b[i:] = np.where(k[i:] % 2 == 0, a[i:], b[i:])",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_random_loops(found, seed):
    r = random.Random(seed)
    body = "\n        ".join(r.choice(STATEMENTS) for _ in range(r.randint(1, 4)))
    source = f"""def f(np, x, a, b):
    a, b, z, m, k, s = a.copy(), b.copy(), a + 1j * b, x.copy(), np.arange(8), np.array(0.0)
    for i in range({r.choice([1, 1, 2, 3])}, {r.choice([8, 8, 7])}):
        {body}
    return {r.choice(["a, b, m, k, z, np.asarray(s)", "a, np.asarray(s), b * 1, m[2:], z", "m.T, k, np.asarray(s), a[::2]"])}
"""
    exec(source, namespace := {})
    state = onp.random.RandomState(seed)
    check(namespace["f"], state.normal(size=(8, 8)), *state.normal(size=(2, 8)))


def test_loops_are_looked_for_only_where_there_are_equations_enough(x, monkeypatch):
    monkeypatch.setattr(roll_loops, "_find", lambda *_: pytest.fail("looked for"))
    check(substitution, x[:4, :4])
