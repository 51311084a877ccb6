"""The NumPy programs of `benchmarks/programs`, at their small size: npcompat computes what NumPy
computes, eager and compiled.
"""

import numpy as onp
import pytest

from benchmarks.numpy_programs import CONTEXTS, check, ways
from benchmarks.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_numpy_does(name):
    functions = ways(name, "SMALL")
    module = PROGRAMS[name]
    expected = functions.pop("numpy")()
    assert not onp.isnan(expected).any()
    for way, function in functions.items():
        with CONTEXTS[way]():
            if way == "by hand":
                continue  # compared where it is timed
            if way == "jit" and not getattr(module, "COMPILES", True):
                with pytest.raises(TypeError, match="while the function is being compiled"):
                    function()
            else:
                check(f"{name}, {way}", function(), expected)


def test_a_result_that_differs_is_an_error():
    expected = onp.array([1.0, 2.0])
    check("same", onp.array([1.0, 2.0 + 1e-12]), expected)
    for other in (
        onp.array([1.0, 2.001]),
        onp.array([1.0]),
        onp.array([1, 2]),
        onp.array([1.0, onp.nan]),
    ):
        with pytest.raises(AssertionError, match="heat, jit"):
            check("heat, jit", other, expected)
