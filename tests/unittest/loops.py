"""Functions with loops, compiled, against NumPy."""

import numpy as onp

from npcompat import np, npx


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
