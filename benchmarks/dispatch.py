"""Single eager calls: npcompat on XLA and under `auto`, NumPy, `jax.numpy`, torch, `torch._numpy`.

`jit` is the cheapest compiled call with as many operands (`x + y`), `same` the call itself,
compiled by `jax.jit`. Results are compared with NumPy's first: a library that does not support a
call, or returns something else, is omitted from its row; npcompat must support all. Large results
are waited for.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from benchmarks.calls import (
    CALLS,
    DRAWN,
    LARGE,
    SHAPES,
    Library,
    agrees,
    bound,
    libraries,
    names,
    operands,
)
from benchmarks.report import Table
from benchmarks.timing import PAUSE, Function

COLUMNS = ("numpy", "xla", "auto", "jit", "same", "jnp", "torch", "tnp")
PAIRS = (
    ("xla", "jit"), ("xla", "same"), ("xla", "jnp"), ("auto", "numpy"), ("auto", "jit"),
    ("auto", "torch"), ("jnp", "numpy"), ("torch", "numpy"), ("tnp", "numpy"),
)  # fmt: skip


def run(seconds: float) -> dict[str, Any]:
    """Return a table for each shape."""
    compared = libraries()
    tables = {}
    for shape in SHAPES:
        table = Table(f"eager calls on {shape}, us", PAIRS, COLUMNS)
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy warns of means of empty arrays at each call
            for source in CALLS:
                functions = callable_on(compared, source, shape)
                if functions:
                    contexts = {name: library.mode for name, library in compared.items()}
                    table.measure(
                        source,
                        functions,
                        seconds,
                        contexts=contexts,
                        pause=PAUSE if math.prod(shape) >= LARGE else 0.0,
                    )
        tables[f"dispatch on {shape}"] = table.close(groups=CALLS)
    return tables


def callable_on(
    compared: Mapping[str, Library], source: str, shape: tuple[int, ...]
) -> dict[str, Function]:
    """Return the functions to time for one call on one shape, by library.

    Empty if NumPy itself does not support the call.
    """
    arrays = operands(shape)
    large = arrays["a"].size >= LARGE
    host = arrays["a"].copy()
    functions: dict[str, Function] = {}
    expected: Any = None
    for name, library in compared.items():
        with library.mode():
            own = {key: library.array(value) for key, value in arrays.items()}
            call = bound(source, library.namespace, own, host)
            try:
                result = call()
            except Exception as error:
                if name == "numpy":
                    return {}
                if name in ("xla", "auto"):
                    raise AssertionError(
                        f"{source} on {shape}, {name}: npcompat raises where NumPy does not"
                    ) from error
                continue
            if name == "numpy":
                expected = result.copy() if isinstance(result, numpy.ndarray) else result
            elif not (
                numpy.shape(result) == shape if source in DRAWN else agrees(result, expected)
            ):
                if name in ("xla", "auto"):
                    raise AssertionError(
                        f"{source} on {shape}, {name}: {result!r} is not NumPy's {expected!r}"
                    )
                continue
        functions[name] = waiting(call, library.wait) if large and library.wait else call
    taken = names(source)
    if taken:
        floats = [jnp.asarray(arrays["ab"[i % 2]]) for i in range(len(taken))]
        functions["jit"] = _waited(partial(jax.jit(_total), *floats), large)
        functions |= _compiled(source, arrays, host, taken, large)
    return functions


def _total(*arrays: Any) -> Any:
    return sum(arrays[1:], arrays[0]) if len(arrays) > 1 else arrays[0] + arrays[0]


def _compiled(
    source: str, arrays: Mapping[str, Any], host: Any, taken: list[str], large: bool
) -> dict[str, Function]:
    """Return the compiled call, if JAX can compile it and it writes nothing."""
    jitted = jax.jit(
        lambda *given: bound(source, jnp, dict(zip(taken, given, strict=True)), host)()
    )
    function = partial(jitted, *[jnp.asarray(arrays[name]) for name in taken])
    try:
        function()
    except (jax.errors.JAXTypeError, TypeError, AttributeError, ValueError, IndexError):
        return {}
    return {"same": _waited(function, large)}


def _waited(function: Function, large: bool) -> Function:
    return waiting(function, jax.block_until_ready) if large else function


def waiting(function: Function, wait: Callable[[Any], object]) -> Function:
    """Return a function that also waits for the result."""
    return lambda: wait(function())
