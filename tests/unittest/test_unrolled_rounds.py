"""Compiled loops with several rounds in one: the results of NumPy, whatever the count."""

import jax
import numpy as onp
import pytest
from internals import cpu_rewrites, loop_bodies

from benchmarks.programs import heat
from npcompat import np, npx

N = 40
"""Lengths of axes of arrays that are large enough for changes of places to count."""


def wave(np, a, steps):
    before, now, after = a.copy(), a.copy(), np.zeros_like(a)
    for _ in range(steps):
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - now[1:-1])
        after[0] = after[1]
        before, now, after = now, after, before
    return np.stack([before, now, after])


def shifted(np, a, steps):
    one, other = a.copy(), a[::-1].copy()
    for k in range(steps):
        one[1:] = other[:-1] + k
        other[:-1] = one[1:] * 0.5
        one, other = other, one
    return one - other


def in_turn(np, a, steps):
    x, y = a.copy(), 1 - a
    for _ in range(steps):
        x, y = y, x * 0.9 + 0.01
    return x + 3 * y


def elementwise(np, a, steps):
    z = np.zeros_like(a)
    count = np.zeros(a.shape, dtype="int32")
    for _ in range(steps):
        inside = abs(z) <= 2
        np.multiply(z, z, out=z, where=inside)
        np.add(z, a, out=z, where=inside)
        count += inside
    return z + count


def summed(np, a, steps):
    x, total = a.copy(), 0.0
    for k in range(steps):
        x = np.sin(x) + k
        total += x[k % 3, 0]
    return x * total


def by_channels(np, a, steps):
    weights, places = np.linspace(0, 1, 5), (3, 1, 4, 0, 2)
    out, total = np.zeros((*a.shape, 5)), np.ones(a.shape)
    for _ in range(steps):
        for i in range(5):
            out[:, :, places[i]] = weights[i] * (a + total) ** 2 / 9
        for i in range(4):  # reads what it writes
            out[:, :, i + 1] += out[:, :, i] / 2
        total = out.sum(axis=-1) / (1 + abs(out.sum(axis=-1)))
    return np.concatenate([out, total[:, :, None]], axis=-1)


PROGRAMS = (by_channels, heat.program, wave, shifted, in_turn, elementwise, summed)


@pytest.mark.parametrize("steps", [1, 2, 3, 9, 10, 11, 24, 61])
@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_of_several_rounds_in_one_give_numpys_results(program, steps):
    a = onp.random.RandomState(steps).uniform(-1, 1, size=(N, N))
    expected = program(onp, a, steps)
    with npx.np_default_dtype():
        found = npx.jit(lambda x: program(np, x, steps))(np.array(a))
    onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-9, atol=1e-12)


def loops(function, *arrays):
    """The lengths of the loops of a function, as XLA gets them."""
    jaxpr = jax.make_jaxpr(function)(*arrays).jaxpr
    rewriter = cpu_rewrites._Rewriter(True, False)
    found = []

    def look(jaxpr):
        for e in jaxpr.eqns:
            if e.primitive.name == "scan":
                found.append(e.params["length"])
            for value in e.params.values():
                if hasattr(value, "jaxpr"):
                    look(value.jaxpr)

    look(rewriter.program(jaxpr))
    return found


def repeated(step, length, *state):
    return jax.lax.fori_loop(0, length, lambda _, s: step(*s), state)


def take(a, i):
    return jax.lax.dynamic_slice_in_dim(a, i, 1)


def write(a, i, row):
    return jax.lax.dynamic_update_slice_in_dim(a, row, i, 0)


def write_row(i, a):
    return i + 1, write(a, i, take(B, i) + 1)


A, B, C = (jax.numpy.ones((N, N)) * k for k in (1, 2, 3))


@pytest.mark.parametrize(
    ("step", "state", "length", "expected"),
    [
        (lambda a, b: (b, a @ b), (A, B), 10, [5]),
        (lambda a, b: (b, a @ b), (A, B), 11, [5]),
        (lambda a, b, c: (b, c, a @ b), (A, B, C), 31, [10]),
        (lambda a, b: (b, a @ b), (A[:2, :2], B[:2, :2]), 10, [10]),  # too small
        (lambda a, b: (a @ b, b), (A, B), 10, [10]),  # nothing changes places
        (lambda a: (a * 2 + 1,), (A,), 20, []),  # one kernel
        (lambda a: (a * 2 + 1,), (A,), 2000, [2000]),
        (lambda a: (a[::-1] * 2,), (A,), 20, [20]),  # reads other elements
        (write_row, (0, A), 16, []),
        (write_row, (0, A), 17, [17]),
        (lambda i, a: (i + 1, loop_bodies.in_place(a, B[:1] + i, (i, 0))), (0, A), 16, []),
        (lambda i, a: (i + 1, write(a, i, take(a, i - 1) + 1)), (0, A), 9, [9]),  # reads it
        (lambda i, a: (i + 1, write(a, i, a[:1] + 1)), (0, A), 9, [9]),
    ],
)
def test_which_loops_have_several_rounds_in_one(step, state, length, expected):
    assert loops(lambda *s: repeated(step, length, *s), *state) == expected
