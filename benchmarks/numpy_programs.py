"""Whole NumPy programs: NumPy, npcompat eager and under `npx.jit`, and hand-written `jax.jit`.

npcompat runs NumPy's source. Everything uses NumPy's own dtype rules, 64 bits where the program
does. Results are compared with NumPy's before anything is timed; a disagreement is an error.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from benchmarks.programs import PROGRAMS
from benchmarks.report import Table
from benchmarks.timing import PAUSE, Context, Function
from npcompat import np, npx

COLUMNS = ("numpy", "auto", "xla", "jit", "by hand")
PAIRS = (
    ("auto", "numpy"),
    ("xla", "numpy"),
    ("jit", "numpy"),
    ("jit", "by hand"),
    ("by hand", "numpy"),
)


def run(seconds: float) -> dict[str, Any]:
    """Return a table with a row for each program."""
    table = Table("whole NumPy programs, us", PAIRS, COLUMNS)
    for name in PROGRAMS:
        functions = ways(name, "FULL")
        if not getattr(PROGRAMS[name], "COMPILES", True):
            del functions["jit"]
        expected = functions["numpy"]()
        for way, function in functions.items():
            with CONTEXTS[way]():
                check(f"{name}, {way}", function(), expected)
        table.measure(name, functions, seconds, contexts=CONTEXTS, pause=PAUSE)
    return {"programs": table.close()}


def ways(name: str, size: str) -> dict[str, Function]:
    """Return the ways to run a program, as functions that wait for their result.

    Each must be called in its context.
    """
    module = PROGRAMS[name]
    given = module.inputs(*getattr(module, size))
    functions: dict[str, Function] = {"numpy": lambda: module.program(numpy, *given)}
    for way in ("auto", "xla"):
        functions[way] = _waiting(lambda arrays: module.program(np, *arrays), _entered(way, given))
    compiled = npx.jit(lambda *arrays: module.program(np, *arrays))
    functions["jit"] = _waiting(lambda arrays: compiled(*arrays), _entered("jit", given))
    with CONTEXTS["by hand"]():
        arrays = [jnp.asarray(x) if isinstance(x, numpy.ndarray) else x for x in given]
    numbers = [i for i, x in enumerate(given) if not isinstance(x, numpy.ndarray)]
    by_hand = jax.jit(module.by_hand, static_argnums=numbers)
    functions["by hand"] = lambda: by_hand(*arrays).block_until_ready()
    return functions


def _entered(way: str, given: tuple[Any, ...]) -> list[Any]:
    with CONTEXTS[way]():
        return [np.array(x) if isinstance(x, numpy.ndarray) else x for x in given]


def _waiting(function: Callable[[list[Any]], Any], arrays: list[Any]) -> Function:
    def call() -> Any:
        result = function(arrays)
        result.wait_to_read()
        return result

    return call


def _placed(backend: str) -> Context:
    def enter() -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(npx.backend(backend))
        stack.enter_context(npx.np_default_dtype())
        return stack

    return enter


CONTEXTS: dict[str, Context] = {
    "numpy": lambda: numpy.errstate(),
    "auto": _placed("auto"),
    "xla": _placed("jax"),
    "jit": _placed("jax"),
    "by hand": lambda: jax.enable_x64(True),
}


def check(what: str, result: Any, expected: Any) -> None:
    """Raise if a result differs from NumPy's in shape, dtype, or values.

    Values are compared to the precision of the dtype, since sums may be in any order.
    """
    got = numpy.asarray(result)
    assert got.shape == expected.shape and got.dtype == expected.dtype, (
        f"{what}: {got.dtype}{got.shape}, NumPy {expected.dtype}{expected.shape}"
    )
    tolerance = 1e-4 if got.dtype == numpy.float32 else 1e-8
    numpy.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=what)
