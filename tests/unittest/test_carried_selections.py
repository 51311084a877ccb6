"""Compiled loops and branches that carry what boolean masks select, whose length data decide."""

import numpy as onp
import pytest
from internals import TracedValueError

from npcompat import autograd, np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")
RANDOM = onp.random.default_rng(0)
VALUES, NUMBERS = RANDOM.normal(size=50) * 5, RANDOM.integers(1, 60, 40)


def fewer_each_round(m, z):
    total, count = z.sum() * 0, 0
    i = m.arange(z.shape[0])
    out = m.zeros(z.shape[0])
    for k in range(12):
        if len(z) == 0:
            break
        z = z - 1
        keep = z > 0
        out[i[~keep]] = k
        total = total + z.sum()
        z = z[keep]
        i = i[keep]
        count += 1
    return out, total, count


def until_none_is_left(m, z):
    steps = m.zeros(z.shape[0], dtype=int)
    i = m.arange(z.shape[0])
    z = z + 0
    while len(z):
        z = m.where(z % 2 == 0, z // 2, 3 * z + 1)
        steps[i] += 1
        go = z != 1
        z, i = z[go], i[go]
    return steps


def escape_times(m, c):
    """Mandelbrot set by points that are left; buffers are used again with `out=`."""
    count = m.zeros(c.shape, dtype=int)
    i = m.arange(c.shape[0])
    z = m.zeros(c.shape, dtype=complex)
    for k in range(20):
        if not len(z):
            break
        m.multiply(z, z, z)
        m.add(z, c, z)
        gone = abs(z) > 2
        count[i[gone]] = k + 1
        m.logical_not(gone, gone)
        z = z[gone]
        i, c = i[gone], c[gone]
    return count


def two_masks(m, z):
    a, b = z[z > 0], z[z < 0]
    for k in range(5):
        a = a[a > k]
        b = b * 2
    return a.sum(), b.sum()


def masks_that_part(m, z):
    a, b = z[z > 0], z[z > 0]
    for k in range(4):
        b = b + 1
        a = a[a > k]
    return a.sum(), b.sum()


def another_name(m, z):
    a = z[z > 0]
    b = a
    for _ in range(5):
        a += 1
        b = b * 2
    return a.sum(), b.sum()


def written_or_bound_anew(m, z):
    w, v = z[z > 0], z[z > 0]
    if z[0] > 0:
        w = w * 2
        v += 1
    else:
        v = v - 1
    return (w + v).sum(), w.max(), v.mean()


def nested(m, z):
    total = 0.0
    a = z[z > 0]
    for k in range(4):
        for j in range(3):
            if a.sum() > 3:
                a = a * 0.5
            total = total + a.sum() * j
        a = a[a > 0.1 * k]
    return total, a.sum()


PROGRAMS = {
    fewer_each_round: VALUES,
    until_none_is_left: NUMBERS,
    escape_times: (VALUES + 1j * VALUES[::-1]) / 6,
    two_masks: VALUES,
    masks_that_part: VALUES,
    another_name: VALUES,
    written_or_bound_anew: VALUES,
    nested: VALUES,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_masks_select_is_carried(program, sign):
    given = PROGRAMS[program]
    given = given * sign if given.dtype.kind == "f" else given
    wanted = program(onp, given.copy())
    found = npx.jit(lambda z: program(np, z))(np.array(given))
    for one, other in zip(
        wanted if type(wanted) is tuple else [wanted],
        found if type(found) is tuple else [found],
        strict=True,
    ):
        onp.testing.assert_allclose(onp.asarray(other), one, rtol=1e-12)


@pytest.mark.parametrize("program", [fewer_each_round, escape_times])
def test_they_are_one_loop(program):
    with npx.compile_log() as log:
        npx.jit(lambda z: program(np, z))(np.array(PROGRAMS[program][:37]))
    (line,) = [line for entry in log for line in entry.loops]
    assert "one loop: carries" in line


def test_gradients_through_loops_that_carry_selections():
    def program(z):
        for k in range(4):
            z = z[z > k] * 0.9
        return (z * z).sum()

    found = []
    for function in (program, npx.jit(program)):
        x = np.array(VALUES)
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        found.append(x.grad.asnumpy())
    assert found[0].any()
    onp.testing.assert_allclose(*found, rtol=1e-12)


def test_writes_by_another_mask_are_refused():
    def program(z):
        w = z[z > 0]
        for _ in range(4):
            w[w > 1] -= 1
        return w.sum()

    with pytest.raises(TracedValueError, match="through another boolean mask"):
        npx.jit(program)(np.array(VALUES))
