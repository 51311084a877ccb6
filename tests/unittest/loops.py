"""Functions with loops, compiled, against NumPy."""

import numpy as onp

from npcompat import autograd, np, npx


def check(f, *arrays, times=2, policies=("python",)):
    """Compare a function of a namespace and arrays, compiled, with NumPy."""
    for loops in policies:
        _check(f, arrays, times, loops)


def _check(f, arrays, times, loops):
    with npx.np_default_dtype():
        compiled = npx.jit(lambda *a: f(np, *a), loops=loops)
        for _ in range(times):
            ours, theirs = compiled(*map(np.array, arrays)), f(onp, *[a.copy() for a in arrays])
            for one, other in zip(ours, theirs, strict=True):
                assert one.dtype == other.dtype and one.shape == other.shape
                onp.testing.assert_allclose(onp.asarray(one), other, rtol=1e-10, atol=1e-11)


def compare_with_numpy(program, arrays, **close):
    """Compare what a program makes of arrays, compiled, with NumPy; return the log's lines on loops."""
    theirs, ours = [x.copy() for x in arrays], [np.array(x) for x in arrays]
    type(program)(program.__code__, {**program.__globals__, "np": onp})(*theirs)
    with npx.compile_log() as log:
        npx.jit(program)(*ours)
    for one, other in zip(ours, theirs, strict=True):
        onp.testing.assert_allclose(onp.asarray(one), other, **close)
    return [line for entry in log for line in entry.loops]


def compare_gradients(program, arrays):
    """Compare derivatives with respect to arrays that a program writes, compiled, with eager ones."""

    def gradients(function):
        inputs = [np.array(x) for x in arrays]
        for x in inputs:
            x.attach_grad()
        with autograd.record():
            written = [x * 1 for x in inputs]
            function(*written)
            loss = sum([(np.arctan(x) * np.arange(x.size).reshape(x.shape)).sum() for x in written])
        loss.backward()
        return [x.grad.asnumpy() for x in inputs]

    for one, other in zip(gradients(npx.jit(program)), gradients(program), strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
