"""Arrays that begin as copies of one array, and are written apart, in compiled loops and functions.

A copy shares its value with the original until one of them is written.
"""

import pytest

from npcompat import autograd, np, npx

COPIES = {
    "copy": lambda a: a.copy(),
    "np.copy": lambda a: np.copy(a),
    "np.array": lambda a: np.array(a),
    "astype": lambda a: a.astype(a.dtype),
    "+a": lambda a: +a,
}


def two(b, copy):
    p = copy(b)
    for _ in range(9):
        b += 1
        p += 2
    return p


def three(b, copy):
    p, q = copy(b), copy(b)
    for i in range(12):
        q[:] = q + p
        p[i % 3] += 1
        b -= q
    return p, q


def short(b, copy):
    p, i = copy(b), 0
    while i < 3:
        p += 2
        b += 1
        i += 1
    return p


def nested(b, copy):
    p, q = copy(b), copy(b)
    for _ in range(12):
        for j in range(12):
            p[0] += 1
            q[1] += p[0] - j
    return p, q


def branches(b, copy):
    r = b - 1
    p, s = copy(r), copy(r)
    for i in range(12):
        if i % 3 == 0:
            p *= 2
            r += p
        else:
            s -= r
            p += s
    return p, r, s


def in_a_tuple(b, copy):
    pair = (copy(b), copy(b))
    for _ in range(12):
        pair[0][...] += 1
        pair[1][...] += 2
    return pair


def foreach(b, copy):
    p, q = copy(b), copy(b)

    def body(x, state):
        p[...] = p + 2
        q[...] = q + 1
        return x + p.sum() - q.sum(), state

    out, _ = npx.foreach(body, np.arange(12.0), b * 1)
    return out, p, q


def while_loop(b, copy):
    p, q = copy(b), copy(b)

    def body(i):
        p[...] = p + 2
        q[...] = q + 1
        return [], [i + 1]

    npx.while_loop(lambda i: i < 12, body, [np.zeros(())], max_iterations=20)
    return p, q


def called(b, copy):
    p, q = copy(b), copy(b)

    @npx.jit
    def inner(k):
        p[...] += k
        q[...] += 2 * k

    for _ in range(3):
        inner(np.ones(3))
    return p, q


def conjugate_gradients(b, copy):
    a, x = np.eye(3) * 3 + 1, np.zeros(3)
    r = b - a @ x
    p, rest = copy(r), r @ r
    for _ in range(12):
        product = a @ p
        step = rest / (p @ product + 1e-30)
        x += step * p
        r -= step * product
        new = r @ r
        p *= new / (rest + 1e-30)
        p += r
        rest = new
    return x


PROGRAMS = (
    two, three, short, nested, branches, in_a_tuple, foreach, while_loop, called,
    conjugate_gradients,
)  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_as_eager(program, copy):
    with npx.np_default_dtype():
        given = [np.array([1.0, 2.0, 4.0]) for _ in range(2)]
        function = npx.jit(lambda b: program(b, COPIES[copy]))
        eager, compiled = program(given[0], COPIES[copy]), function(given[1])
    pairs = zip(*[r if isinstance(r, tuple) else (r,) for r in (eager, compiled)], strict=True)
    for expected, found in (*pairs, given):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_outside_arrays_that_share_their_value():
    with npx.np_default_dtype():
        p = np.zeros(3)
        q = p.copy()

        @npx.jit
        def step(k):
            for _ in range(9):
                p[...] += k
                q[...] += 2 * k

        for _ in range(3):
            step(np.ones(3))
    assert (p.tolist(), q.tolist()) == ([27.0] * 3, [54.0] * 3)


@pytest.mark.parametrize("copy", COPIES)
def test_derivatives(copy):
    def loss(b):
        p, q = COPIES[copy](b), COPIES[copy](b)
        for _ in range(12):
            p += q * 0.1
            q *= 1.1
        return (p * q).sum()

    found = []
    with npx.np_default_dtype():
        for function in (loss, npx.jit(loss)):
            b = np.array([1.0, 2.0, 3.0])
            b.attach_grad()
            with autograd.record():
                y = function(b)
            y.backward()
            found.append((float(y), b.grad.tolist()))
    assert found[1] == (pytest.approx(found[0][0]), pytest.approx(found[0][1]))
