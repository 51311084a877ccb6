"""Eager differentiation: calls recorded, recorded and walked back, and chains of operations.

torch records, too; `jax.vjp` traces at each call; `jit` is a compiled program of the same, a bound
that no eager library can reach.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from benchmarks.calls import CALLS, GROUPS, LARGE, Library, agrees, bound, libraries, operands
from benchmarks.report import Table
from benchmarks.timing import PAUSE, Context, Function
from npcompat import autograd

LENGTH = 50
SHAPES = ((8, 8), (256, 256))
CHAIN_SHAPES = ((), (8, 8), (64, 64), (256, 256))
COLUMNS = ("auto", "xla", "torch", "jax.vjp", "jit")
PAIRS = (("auto", "torch"), ("xla", "torch"), ("xla", "jit"), ("jax.vjp", "torch"))
LEFT_OUT = (
    "set",
    "creation",
    "sorting",
    "astype",
    "random",
    "conversion",
)  # no derivative, or a write into the variable itself


def run(seconds: float) -> dict[str, Any]:
    """Return tables of recorded calls, of calls with their derivatives, and of chains."""
    compared = {name: library for name, library in libraries().items() if name in COLUMNS}
    tables = {}
    for shape in SHAPES:
        for what in ("recorded", "recorded and walked back"):
            table = Table(f"calls {what} on {shape}, us", PAIRS, COLUMNS)
            for source in (s for group in GROUPS if group not in LEFT_OUT for s in GROUPS[group]):
                functions = derived(compared, source, shape, backward=what != "recorded")
                if len(functions) > 1:
                    contexts = _recording(compared) if what == "recorded" else _modes(compared)
                    table.measure(
                        source,
                        functions,
                        seconds,
                        contexts=contexts,
                        pause=PAUSE if math.prod(shape) >= LARGE else 0.0,
                    )
            tables[f"{what} on {shape}"] = table.close(groups=CALLS)
    return tables | {"chain": _chains(seconds)}


def _modes(compared: Mapping[str, Library]) -> dict[str, Context]:
    return {name: library.mode for name, library in compared.items()}


def _recording(compared: Mapping[str, Library]) -> dict[str, Context]:
    def entered(mode: Context) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(mode())
        stack.enter_context(autograd.record())
        return stack

    return {
        name: partial(entered, library.mode) if name in ("auto", "xla") else nullcontext
        for name, library in compared.items()
    }


def derived(
    compared: Mapping[str, Library], source: str, shape: tuple[int, ...], backward: bool
) -> dict[str, Function]:
    """Return the functions to time for one call; empty if it is not differentiable in `a`."""
    arrays = operands(shape)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = bound(source, numpy, arrays, None)()
    except (ValueError, IndexError):
        return {}
    if (
        "a" not in source
        or not isinstance(expected, numpy.ndarray | numpy.generic)
        or expected.dtype.kind != "f"
    ):
        return {}
    head = numpy.random.RandomState(1).uniform(0.5, 1, size=expected.shape).astype(expected.dtype)
    gradient = _by_jax(source, arrays, head)
    found: dict[str, tuple[Function, Function]] = {"jax.vjp": gradient}
    for name, library in compared.items():
        if name == "torch":
            functions = _by_torch(library, source, arrays, head, expected)
            if functions is not None:
                found[name] = functions
        else:
            found[name] = _by_npcompat(library, source, arrays, head)
    wanted = gradient[1]()
    for name, (_, walk) in found.items():
        got = walk()
        if not agrees(got, wanted):
            raise AssertionError(
                f"{source} on {shape}, {name}: the derivative {got!r} is not that of JAX, "
                f"{wanted!r}"
            )
    timed = {name: functions[int(backward)] for name, functions in found.items()}
    own = {name: jnp.asarray(value) for name, value in arrays.items()}
    if backward:
        timed["jit"] = partial(
            jax.jit(lambda a, head: _recorded(source, own | {"a": a})[1](head)),
            own["a"],
            jnp.asarray(head),
        )
    else:
        timed["jit"] = partial(jax.jit(lambda a: _recorded(source, own | {"a": a})), own["a"])
    return timed


def _recorded(source: str, own: Mapping[str, Any]) -> Any:
    return jax.vjp(lambda a: bound(source, jnp, {**own, "a": a}, None)(), own["a"])


def _by_jax(source: str, arrays: Mapping[str, Any], head: Any) -> tuple[Function, Function]:
    own = {name: jnp.asarray(value) for name, value in arrays.items()}
    on_device = jnp.asarray(head)

    return lambda: _recorded(source, own), lambda: _recorded(source, own)[1](on_device)[0]


def _by_npcompat(
    library: Library, source: str, arrays: Mapping[str, Any], head: Any
) -> tuple[Function, Function]:
    with library.mode():
        own, cotangent = (
            {name: library.array(value) for name, value in arrays.items()},
            library.array(head),
        )
    own["a"].attach_grad()
    call = bound(source, library.namespace, own, None)

    def walk() -> Any:
        with autograd.record():
            y = call()
        y.backward(cotangent)
        return own["a"].grad

    return call, walk


def _by_torch(
    library: Library, source: str, arrays: Mapping[str, Any], head: Any, expected: Any
) -> tuple[Function, Function] | None:
    own, cotangent = (
        {name: library.array(value) for name, value in arrays.items()},
        library.array(head),
    )
    own["a"].requires_grad_()
    call = bound(source, library.namespace, own, None)
    try:
        if not agrees(call().detach(), expected):
            return None
    except (AttributeError, TypeError, RuntimeError, ValueError):
        return None

    def walk() -> Any:
        own["a"].grad = None
        call().backward(cotangent)
        return own["a"].grad

    return call, walk


def _chains(seconds: float) -> dict[str, Any]:
    table = Table(f"{LENGTH} operations forward and back, us", PAIRS, COLUMNS)
    compared = {name: library for name, library in libraries().items() if name in COLUMNS}
    for shape in CHAIN_SHAPES:
        values = numpy.asarray(numpy.random.RandomState(0).normal(size=shape), "float32")
        functions: dict[str, Function] = {
            name: _chain(name, library, values) for name, library in compared.items()
        }
        x, w = jnp.asarray(values), jnp.asarray(values * 0.1)
        derivative = jax.grad(partial(_through, jnp.tanh))
        functions |= {
            "jax.vjp": partial(derivative, x, w),
            "jit": partial(jax.jit(derivative), x, w),
        }
        wanted = functions["jit"]()
        for name, function in functions.items():
            numpy.testing.assert_allclose(function(), wanted, rtol=1e-4, atol=1e-6, err_msg=name)
        table.measure(str(shape), functions, seconds, contexts=_modes(compared), pause=PAUSE)
    return table.close()


def _through(tanh: Callable[[Any], Any], x: Any, w: Any) -> Any:
    for _ in range(LENGTH // 2):
        x = tanh(x * w)
    return x.sum()


def _chain(name: str, library: Library, values: Any) -> Function:
    with library.mode():
        x, w = library.array(values), library.array(values * numpy.float32(0.1))
    if name == "torch":
        x.requires_grad_()
    else:
        x.attach_grad()

    def call() -> Any:
        if name == "torch":
            x.grad = None
        with nullcontext() if name == "torch" else autograd.record():
            total = _through(library.namespace.tanh, x, w)
        total.backward()
        if name != "torch":
            x.grad.wait_to_read()
        return x.grad

    return call
