"""Python's loops in compiled functions, whose rounds are rolled up into one where XLA would compute
them one after the other.
"""

import random

import jax
import numpy as onp
import pytest
from internals import roll_loops, tracing
from loops import check

from npcompat import autograd, gluon, np, npx


@pytest.fixture
def x():
    return onp.random.RandomState(0).normal(size=(8, 8))


def test_what_goes_from_round_to_round(found, x):
    def f(np, x):
        a, b = x[0], x[1]
        for _ in range(6):
            a, b = b + x.sum(axis=0) * 0.1, a - b.sum() * 0.01
        return a, b

    check(f, x)
    assert found == [True]


def test_numbers_and_positions_of_rounds(found, x):
    def f(np, x):
        a, table = x[0].copy(), np.zeros((8, 8))
        for i in range(6):
            table[i] = a
            a = np.cumsum(a) * (0.5 + i) + x[i, 1:2] + np.arange(8) * 0.1
            table[i, i] += table[i, np.arange(i % 2, i % 2 + 3)].sum()
        return a, table

    check(f, x)
    assert found == [True]


def test_what_each_round_leaves(found, x):
    def f(np, x):
        a, kept = x[0], []
        for _ in range(6):
            a = np.sort(a * 1.1)[::-1] + x[1]
            kept.append(a)
        return np.stack(kept), kept[2], a

    check(f, x)
    assert found == [True]


def test_what_was_made_two_rounds_before(found, x):
    def f(np, x):
        a, b = x[0], x[1]
        older = a
        for _ in range(7):
            a, older = np.cumsum(a * 0.1) + older, a
        return a, b

    check(f, x)


def test_loops_after_one_another_and_within(found, x):
    def f(np, x):
        a = x[0]
        for _ in range(5):
            for k in range(4):
                a = a @ x * 0.1 + k
        for _ in range(6):
            a = np.cumsum(a)[::-1] * 0.1
        return (a,)

    check(f, x)
    assert found == [True]


def test_rounds_that_differ_are_left(found, x):
    def f(np, x):
        a = x[0]
        for i in range(6):
            a = a[: len(a) - 1] @ x[: len(a) - 1, : len(a) - 1] + i
        return (a,)

    check(f, x)
    assert found == [False]


@pytest.mark.parametrize("width", [4, 64])
def test_layers_are_not_put_together(found, width):
    layers = [onp.random.RandomState(i).normal(size=(width, width)) / 8 for i in range(6)]

    def f(np, x, *layers):
        for w in layers:
            x = np.tanh(x @ w)
        return (x,)

    check(f, layers[0], *layers)
    assert found == [False]


def test_small_arrays_are_put_together_where_rounds_are_long(found, x):
    steps = [onp.random.RandomState(i).normal(size=8) for i in range(6)]

    def f(np, x, *steps):
        state, out = x[0], x[1]
        for now in steps:
            gate = np.tanh(x @ (state + now)) * 0.5
            out = np.exp(-np.abs(gate)) * out - gate
            state = np.cumsum(out) * gate.max() + np.sin(out)
        return state, out

    check(f, x, *steps)
    assert found == [True]


def test_elementwise_rounds_are_left_to_xla(x, monkeypatch):
    def f(z):
        for _ in range(10):
            z = z * z * 0.1 + 0.1
            z = z - 0.5
        return z

    x = x.astype("float32")
    jaxpr = jax.make_jaxpr(f)(x).jaxpr
    monkeypatch.setattr(roll_loops, "MIN_EQNS", 8)
    assert roll_loops.rolled(jaxpr, {}) is None
    monkeypatch.setattr(roll_loops, "MAX_FUSIBLE_EQNS", 16)
    (rolled,) = roll_loops.rolled(jaxpr, {})(x)
    assert onp.allclose(rolled, f(x))


def test_what_is_compiled_does_not_grow_with_the_rounds(x, monkeypatch):
    lengths = []
    as_call = tracing._as_call
    monkeypatch.setattr(
        tracing, "_as_call", lambda jaxpr: lengths.append(len(jaxpr.eqns)) or as_call(jaxpr)
    )

    def f(np, x, rounds):
        a = x[0]
        for i in range(rounds):
            a = np.minimum(a, a @ x + i) / np.abs(a).sum()
        return (a,)

    for rounds in (20, 40):
        check(lambda np, x, rounds=rounds: f(np, x, rounds), x, times=1, policies=("python",))
    assert lengths[0] == lengths[1] < 40


def test_gradients_and_training_in_a_loop(found):
    x = onp.random.RandomState(0).normal(size=(16, 3)).astype("float32")
    y = x @ onp.array([1.0, -2.0, 0.5], "float32")

    def train(compiled):
        w = np.zeros(3)
        w.attach_grad()

        def steps(x, y):
            losses = []
            for _ in range(8):
                with autograd.record():
                    loss = ((x @ w - y) ** 2).mean()
                loss.backward()
                w[:] -= 0.1 * w.grad
                losses.append(loss)
            return np.stack(losses)

        losses = (npx.jit(steps) if compiled else steps)(np.array(x), np.array(y))
        return losses.tolist(), w.tolist()

    for ours, expected in zip(train(True), train(False), strict=True):
        assert ours == pytest.approx(expected, rel=1e-5)
    assert found == [True]


def test_random_draws_in_a_loop_are_those_of_the_rounds(found):
    def walk(x):
        sums = []
        for _ in range(8):
            x = x + np.random.normal(size=x.shape) - np.random.uniform(size=x.shape).mean()
            sums.append(x.sum())
        return x, np.stack(sums)

    results = []
    for f in (walk, npx.jit(walk)):
        np.random.seed(3)
        results.append(
            [a.asnumpy() for a in (*f(np.zeros(5)), np.random.uniform(size=2), *f(np.zeros(5)))]
        )
    for ours, expected in zip(*results, strict=True):
        onp.testing.assert_allclose(ours, expected, atol=1e-5)
    assert found == [True]


def test_steps_of_a_trainer_are_one_loop(found):
    x, y = (
        onp.random.RandomState(0).normal(size=(16, 4)).astype("float32"),
        onp.ones((16, 1), "float32"),
    )

    def train(compiled):
        np.random.seed(0)
        net = gluon.nn.HybridSequential()
        net.add(
            gluon.nn.Dense(8, in_units=4, activation="relu"),
            gluon.nn.Dropout(0.3),
            gluon.nn.BatchNorm(in_channels=8),
        )
        net.add(gluon.nn.Dense(1, in_units=8))
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})

        def steps(x, y):
            losses = []
            for _ in range(6):
                with autograd.record():
                    loss = gluon.loss.L2Loss()(net(x), y).mean()
                loss.backward()
                trainer.step(1)
                losses.append(loss)
            return np.stack(losses)

        steps = npx.jit(steps) if compiled else steps
        losses = [
            *steps(np.array(x), np.array(y)).tolist(),
            *steps(np.array(x), np.array(y)).tolist(),
        ]
        return losses, [float(p.data().sum()) for p in net.collect_params().values()]

    for ours, expected in zip(train(True), train(False), strict=True):
        assert ours == pytest.approx(expected, abs=2e-3)
    assert found[0]


def test_a_compiled_loop_is_differentiated(found):
    def f(x):
        for i in range(6):
            x = np.cumsum(np.sin(x)) + i
        return x.sum()

    results = []
    for g in (f, npx.jit(f)):
        x = np.array([0.1, 0.2, 0.3])
        x.attach_grad()
        with autograd.record():
            y = g(x)
        y.backward()
        results.append((float(y), x.grad.tolist()))
    assert results[0][0] == pytest.approx(results[1][0]) and results[0][1] == pytest.approx(
        results[1][1]
    )


STATEMENTS = [
    "a = a * 0.5 + b", "b = b - a.sum() * 0.01", "a[i] = b[(i + 1) % 8]", "b[i:i + 3] = a[1:4]", "b = np.where(a > b, a, b) * 0.9",
    "a, b = b, a", "kept.append(a * 1)", "kept.append(b.sum())", "t = a @ b", "a = a + t * 0.01", "m[i] = a[:6]", "c = c + 1",
    "a = a + m[i % 3, :].sum() * 0.1", "b = np.roll(b, 1)", "a = np.cumsum(a) * 0.1", "b = b + np.arange(8.0) * i", "old = a",
    "k = np.arange(i % 3, i % 3 + 3); b[k] = a[k]", "b = b + old * 0.1", "np.add(a, b, out=a)", "a = np.sort(a)[::-1]", "b = b + x[i]",
    "s[:] = s + a[0]", "s[i % 2] += 1", "b = b + s.sum() * 0.01", "a = a + (i == 2)", "a = np.tanh(a)", "b = b + before * 0.1; before = old",
]  # fmt: skip
RESULTS = [
    "a, b, m, s",
    "(a, c, s, *[np.asarray(e) for e in kept])",
    "b, t, old, s",
    "a, (kept[2] if len(kept) > 2 else b), s",
    "m + a[0], s",
]


@pytest.mark.parametrize("seed", range(40))
def test_random_loops(found, seed):
    r = random.Random(seed)
    body = "\n        ".join(r.choice(STATEMENTS) for _ in range(r.randint(1, 7)))
    source = f"""def f(np, x, a, b, s):
    a, b, m, kept, t, c = a.copy(), b.copy(), np.zeros((8, 6)), [], np.array(0.5), np.array(0)
    old, before = b, a
    for i in range({r.randint(4, 6)}):
        {body}
    return {r.choice(RESULTS)}
"""
    exec(source, namespace := {})
    f, arrays = namespace["f"], onp.random.RandomState(seed).normal(size=(3, 8))
    ours, theirs = np.zeros(2, dtype="float64"), onp.zeros(2)
    check(lambda xp, *a: f(xp, *a, ours if xp is np else theirs), *arrays)
    assert onp.allclose(onp.asarray(ours), theirs)
