"""Levels of the conformance kit: transfers, equations, memory, compiled state."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as onp

from npcompat import autograd, np, npx
from npcompat._internal.backend.conformance import equations
from npcompat._internal.backend.equations.program import UnsupportedError
from npcompat._internal.backend.plugin.backend import Plugin
from npcompat._internal.core import modes
from npcompat._internal.support.errors import UnsupportedDtypeError

Finding = tuple[str, str]
"""Name of a check, and "right", or what was found: it begins with missing, wrong or raised."""
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def checked(name: str, check: Callable[[], str]) -> Finding:
    """Run a check; what it raises is a finding."""
    try:
        return name, check()
    except (UnsupportedError, UnsupportedDtypeError) as error:
        return name, f"missing: {error}"
    except Exception as error:
        return name, f"raised: {type(error).__name__}: {error}"


def transfers(plugin: Plugin) -> Iterator[Finding]:
    """Check that arrays of each dtype, of any strides, come back as they were sent."""
    device, engine = _device(plugin), plugin.engine
    for name in DTYPES:
        dtype = onp.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        if not plugin.has_dtype(dtype, device):
            yield f"dtype {name}", "missing: not among dtypes()"
            continue
        yield checked(f"dtype {name}", lambda dtype=dtype: _there_and_back(engine, device, dtype))  # type: ignore[misc]
    yield checked("no aliasing", lambda: _is_copied(engine, device))
    yield checked("fresh", lambda: _is_fresh(engine, device))
    yield checked("device_of", lambda: _is_known(plugin))


def _there_and_back(engine: Any, device: Any, dtype: Any) -> str:
    wide = onp.arange(12).reshape(3, 4).astype(dtype)
    for given in (wide[:1, 0].reshape(()), wide[:0], wide, wide[::-1, ::2], wide.T):
        found = engine.to_host(engine.from_host(given, device), given.dtype)
        if found.dtype != given.dtype or found.shape != given.shape:
            return f"wrong: {given.dtype}{given.shape} came back as {found.dtype}{found.shape}"
        if found.tobytes() != onp.ascontiguousarray(given).tobytes():
            return f"wrong: values of an array with strides {given.strides}"
    return "right"


def _is_copied(engine: Any, device: Any) -> str:
    source = onp.ones(3, "float32")
    held = engine.from_host(source, device)
    source[:] = 5
    same = engine.to_host(held, source.dtype)[0] == 1
    return "right" if same else "wrong: from_host looks into the caller's memory"


def _is_fresh(engine: Any, device: Any) -> str:
    held = engine.from_host(onp.ones(3, "float32"), device)
    if engine.fresh(held) is held:
        return "wrong: fresh returned its argument"
    return "right"


def _is_known(plugin: Plugin) -> str:
    device = _device(plugin)
    held = plugin.engine.from_host(onp.ones(3, "float32"), device)
    found = plugin.engine.device_of(held)
    return "right" if found == device else f"wrong: {found} in place of {device}"


def _device(plugin: Plugin) -> Any:
    return plugin.device(modes.current().device)


def equation_corners(plugin: Plugin) -> Iterator[Finding]:
    """Check single equations in corners against XLA."""
    for name in equations.EQUATIONS:
        yield name, equations.outcome(plugin, name, _device(plugin))


# --- memory: programs of views, copies and writes, beside the same on NumPy ------------------------

_KEYS: tuple[Callable[[random.Random, int], Any], ...] = (
    lambda r, n: slice(r.randrange(n), n),
    lambda r, n: slice(None, None, 2),
    lambda r, n: slice(None, None, -1),
    lambda r, n: r.randrange(n),
    lambda r, n: slice(1, max(2, n - 1)),
)


def memory(plugin: Plugin, programs: int) -> Iterator[Finding]:
    """Check random programs of views, copies and writes against NumPy."""
    for seed in range(programs):
        yield checked(f"program {seed}", lambda seed=seed: random_program(seed))  # type: ignore[misc]


def random_program(seed: int) -> str:
    """Run one random program on the backend of the context and on NumPy."""
    choose = random.Random(seed)
    shape = (choose.choice((4, 7, 160)), choose.choice((3, 5, 130)))
    start = onp.arange(onp.prod(shape), dtype="float32").reshape(shape)
    ours: list[Any] = [np.array(start)]
    theirs: list[Any] = [start.copy()]
    for _ in range(12):
        i = choose.randrange(len(ours))
        mine, other = ours[i], theirs[i]
        action = choose.choice(("view", "copy", "write", "write", "add", "transpose", "read"))
        if not other.ndim or not other.size:
            continue
        key = choose.choice(_KEYS)(choose, other.shape[0])
        if action == "view":
            ours.append(mine[key])
            theirs.append(other[key] if isinstance(key, slice) else other[key, ...])
        elif action == "copy":
            ours.append(mine.copy())
            theirs.append(other.copy())
        elif action == "transpose":
            ours.append(mine.T)
            theirs.append(other.T)
        elif action == "write":
            number = choose.randrange(100)
            mine[key] = number
            other[key] = number
        elif action == "add":
            mine += 1
            other += 1
        else:
            float(mine.sum())
        for a, b in zip(ours, theirs, strict=True):
            if not onp.array_equal(onp.asarray(a.asnumpy()), b):
                return f"wrong: after {action} of array {i} by {key}"
    return "right"


# --- compiled functions ---------------------------------------------------------------------------


def compiled(plugin: Plugin) -> Iterator[Finding]:
    """Check state, donation and derivatives of compiled functions."""
    yield checked("state that a compiled step writes", _state)
    yield checked("gradient of a compiled function", _gradient)
    yield checked("second derivative", _second)
    yield checked("loops and branches", _loops)
    yield checked("a copy outlives its original's writes", _donation)


def _same(found: Any, expected: Any) -> str:
    found = onp.asarray(found)
    if onp.allclose(found, expected, rtol=1e-5, atol=1e-6):
        return "right"
    return f"wrong: {found}, expected {expected}"


def _state() -> str:
    state, log = np.zeros(4), np.zeros((8, 4))

    @npx.jit
    def step(x: Any, i: int) -> Any:
        state[...] = state * 0.5 + x
        log[i] = state
        return state.sum()

    expected, rows = onp.zeros(4, "float32"), onp.zeros((8, 4), "float32")
    for i in range(8):
        x = onp.full(4, i, "float32")
        total = float(step(np.array(x), i))
        expected = expected * onp.float32(0.5) + x
        rows[i] = expected
        if not onp.allclose(total, expected.sum()):
            return f"wrong: step {i} returned {total}, expected {expected.sum()}"
    return _same(log, rows)


def _donation() -> str:
    x = np.arange(6.0)
    held, view = x.copy(), x[2:4]
    x *= 2
    x[0] = 9
    found = _same(held, onp.arange(6.0))
    return found if found != "right" else _same(view, onp.array([4.0, 6.0]))


def _gradient() -> str:
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    cube = npx.jit(lambda v: (v * v * v).sum())
    with autograd.record():
        y = cube(x)
    y.backward()
    return _same(x.grad, [3.0, 12.0, 27.0])


def _second() -> str:
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        (slope,) = autograd.grad([(x**3).sum()], [x], create_graph=True)
        z = (slope * slope).sum()
    z.backward()
    return _same(x.grad, [36.0, 288.0, 972.0])


def _loops() -> str:
    @npx.jit
    def power(x: Any, n: Any) -> Any:
        _, (_, found) = npx.while_loop(
            lambda i, y: i < n,
            lambda i, y: (None, (i + 1, y * x)),
            (np.array(0), np.ones_like(x)),
            max_iterations=5,
        )
        return npx.cond(x.sum() > 0, lambda: found, lambda: -found)

    x = np.array([1.0, 2.0])
    found = _same(power(x, np.array(3)), [1.0, 8.0])
    return found if found != "right" else _same(power(-x, np.array(2)), [-1.0, -4.0])


__all__ = [
    "Finding",
    "checked",
    "compiled",
    "equation_corners",
    "memory",
    "random_program",
    "transfers",
]
