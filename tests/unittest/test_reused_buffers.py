"""NumPy's arrays that a program writes again while it records: the tape has the values of the call."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

CALLS = """
x * c | c * x | x @ c | c @ x | np.dot(x, c) | np.where(b, x, 0.0) | np.where(b, x, c) | x[i] | x[b] | np.take(x, i)
np.einsum('i,i->', x, c) | abs(x) ** c | np.outer(x, c) | x / c | c / x | np.tensordot(x, c, 1) | np.sum(x * x, where=b)
np.multiply(x, 2.0, where=b, out=np.zeros(4)) | np.maximum(x, c) | np.hypot(x, c) | np.convolve(x, c) | np.kron(x, c)
np.inner(x, c) | np.clip(x, c - 1, c) | np.choose(i % 2, [x, x * 2]) | np.select([b], [x], c) | np.average(x, weights=c)
np.polyval(c, x) | npx.pick(x.reshape(2, 2), i[:2] % 2) | np.take_along_axis(x, i, 0) | np.compress(b, x) | np.repeat(x, i)
npx.embedding(i, x.reshape(4, 1), input_dim=4, output_dim=1) | np.cross(x[:3], c[:3]) | np.linalg.solve(np.diag(x + 3), c)
npx.fully_connected(x.reshape(1, 4), c.reshape(1, 4), no_bias=True, num_hidden=1) | npx.gather_nd(x, i.reshape(1, 4))
npx.masked_softmax(x.reshape(1, 4), b.reshape(1, 4)) | np.stack([x, c]) * np.stack([c, x]) | np.array([x, c]) * x
np.asarray(c) * x | np.array(c) * x | np.fft.fft(x * c).real | np.trapezoid(x, c) | np.diff(x, prepend=c[:1]) ** 2
np.copysign(x, c) | np.insert(x, 1, c[:1]) ** 2 | np.piecewise(x, [b], [lambda v: v * v, 0]) | x * np.logical_not(b)
"""
WRITES = """
y *= c | y += c | y[i] = c | y[b] = c[b] | y[:] = c | y[...] = c | y[1:] = c[1:] | y.reshape(2, 2).T[:] = c.reshape(2, 2)
y = np.zeros(4); y[:] = c | y = np.zeros(2); y[:] = c.reshape(2, 2)[1]; x = x[:2] | y.flat = c | np.copyto(y, c, where=b)
np.multiply(x, c, out=y) | y.put(i[:2], c[:2]) | y = np.zeros(()); y[...] = c[:1].reshape(()) | y[0] = c[1] | y.fill(c[0])
"""
PROGRAMS = [f"y = {part}" for line in CALLS.strip().splitlines() for part in line.split("|")]
PROGRAMS += [
    f"y = x * 1\n{part.strip()}\ny = y * x"
    for line in WRITES.strip().splitlines()
    for part in line.split("|")
]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_buffer_that_is_written_again(program, backend):
    def run(writes):
        c, i = onp.array([2.0, 3.0, -1.5, 0.5]), onp.array([2, 0, 1, 3])
        b, x = onp.array([True, False, True, True]), np.array([1.0, 2.0, 0.5, 3.0])
        x.attach_grad()
        names = {"np": np, "npx": npx, "c": c, "i": i, "b": b, "x": x}
        with autograd.record():
            exec("\n".join(line.strip() for line in program.split("\n")), names)
            if writes:
                c[:], i[:], b[:] = 7, 0, False
            z = (names["y"] * names["y"]).sum()
        z.backward()
        return z.item(), x.grad.tolist()

    with npx.backend(backend), npx.np_default_dtype():
        (value, gradient), (wanted, expected) = run(writes=True), run(writes=False)
    assert value == pytest.approx(wanted) and gradient == pytest.approx(expected)


@pytest.mark.parametrize("watched", [npx.audit, npx.profile])
def test_a_buffer_that_is_written_again_under_an_observer(watched):
    buffer, y = onp.ones(3, "f4"), np.zeros(3)
    with watched():
        y[:] = buffer
        buffer[:] = 7
    assert y.tolist() == [1, 1, 1]
