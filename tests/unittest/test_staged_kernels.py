"""Kernels with loops over elements are one program each, and equal NumPy."""

import copy

import numpy as onp
import pytest
from loop_kernels import NAMES, arguments, kernels

from npcompat import np, npx


def outcome(function, given):
    result = function(*given)
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    arrays = [*[a for a in given if hasattr(a, "shape")], *results]
    return [onp.asarray(a.asnumpy() if hasattr(a, "asnumpy") else a) for a in arrays]


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_is_one_program_and_equals_numpy(name):
    given = arguments(name)
    with onp.errstate(all="ignore"):
        expected = outcome(kernels(onp)[name], copy.deepcopy(given))
    with npx.np_default_dtype(), npx.compile_log() as log:
        ours = [np.array(a) if isinstance(a, onp.ndarray) else a for a in copy.deepcopy(given)]
        found = outcome(npx.jit(kernels(np)[name]), ours)
    lines = [line for entry in log for line in entry.loops]
    assert lines and all(["one loop" in line for line in lines])
    for one, other in zip(expected, found, strict=True):
        assert one.dtype == other.dtype
        onp.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-12)
