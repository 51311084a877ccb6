"""Eager calls on small arrays: npcompat against a bare `jax.jit` call, `jax.numpy`, NumPy, and torch if installed.

`/jit` is against the cheapest compiled call of the same arity (`x + x`), `/same` against the compiled call of the same function.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from benchmarks.timing import geometric_mean, interleaved
from npcompat import np, npx

SHAPE = (8, 8)
UNARY = [
    "exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "arctan", "sinh", "absolute", "negative", "square", "floor", "ceil", "sign",
    "isnan", "log1p", "expm1", "reciprocal", "rint",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "greater", "less", "equal", "logical_and", "arctan2", "hypot",
    "matmul",
]  # fmt: skip
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "std", "all", "any", "argmax", "cumsum"]


def _calls() -> dict[str, tuple[Callable[[Any, Any, Any], Any], int]]:
    """Each call over a namespace and two arrays, and how many arrays it takes."""
    calls: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {}
    for name in UNARY:
        calls[name] = (lambda xp, a, b, name=name: getattr(xp, name)(a), 1)
    for name in BINARY:
        calls[name] = (lambda xp, a, b, name=name: getattr(xp, name)(a, b), 2)
    for name in REDUCTIONS:
        calls[f"{name}(axis=0)"] = (lambda xp, a, b, name=name: getattr(xp, name)(a, axis=0), 1)
    calls["a + 1.5"] = (lambda xp, a, b: a + 1.5, 1)
    calls["a * b"] = (lambda xp, a, b: a * b, 2)
    calls["a > 0.5"] = (lambda xp, a, b: a > 0.5, 1)
    calls["a[3, 2]"] = (lambda xp, a, b: a[3, 2], 1)
    calls["where"] = (lambda xp, a, b: xp.where(a > b, a, b) if xp is not np else np.where(_MASK, a, b), 2)
    calls["concatenate"] = (lambda xp, a, b: xp.concatenate((a, b)), 2)
    return calls


_HOST = numpy.random.RandomState(0).uniform(0.5, 1.0, size=SHAPE).astype("float32")
_MASK = np.array(_HOST > 0.75)


def run(seconds: float) -> dict[str, float]:
    """Print the table; returns the geometric means of the ratios."""
    a, b = np.array(_HOST), np.array(_HOST.T)
    ja, jb = jnp.asarray(_HOST), jnp.asarray(_HOST.T)
    bare = {1: jax.jit(lambda x: x + x), 2: jax.jit(lambda x, y: x + y)}
    torch: Any = None
    if find_spec("torch"):
        import torch  # optional: measured where it is installed
    ratios: dict[str, list[float]] = {}
    print(f"{'eager call on 8x8, us':<22}{'npcompat':>9}{'jit':>8}{'/jit':>7}{'/same':>7}{'/jnp':>7}{'/numpy':>8}{'/torch':>8}")
    for name, (call, arity) in _calls().items():
        functions: dict[str, Callable[[], object]] = {
            "npcompat": lambda call=call: call(np, a, b),
            "jit": (lambda: bare[1](ja)) if arity == 1 else (lambda: bare[2](ja, jb)),
            "same": lambda same=jax.jit(lambda x, y, call=call: call(jnp, x, y)): same(ja, jb),
            "jnp": lambda call=call: call(jnp, ja, jb),
            "numpy": lambda call=call: call(numpy, _HOST, _HOST.T),
        }
        if torch is not None and _torch_has(torch, call):
            ta, tb = torch.tensor(_HOST), torch.tensor(_HOST.T.copy())
            functions["torch"] = lambda call=call, ta=ta, tb=tb: call(torch, ta, tb)
        times = interleaved(functions, seconds)
        row = {other: times.ratio("npcompat", other) for other in functions if other != "npcompat"}
        for other, ratio in row.items():
            ratios.setdefault(other, []).append(ratio)
        widths = (("jit", 7), ("same", 7), ("jnp", 7), ("numpy", 8), ("torch", 8))
        shown = "".join(f"{row[o]:>{w}.2f}" if o in row else " " * (w - 1) + "-" for o, w in widths)
        print(f"{name:<22}{times['npcompat']:>9.2f}{times['jit']:>8.2f}{shown}")
    means = {other: geometric_mean(found) for other, found in ratios.items()}
    print(f"geometric mean of {len(ratios['jit'])} calls: " + ", ".join(f"{m:.2f}x {o}" for o, m in means.items()))
    return means


def run_on_host(seconds: float) -> dict[str, float]:
    """The same calls under placement `auto`, against NumPy; returns the geometric means by shape."""
    means = {}
    for shape in ((), SHAPE, (1000, 1000)):
        values = numpy.random.RandomState(0).uniform(0.5, 1.0, size=shape).astype("float32")
        with npx.backend("auto"):
            ours = np.array(values), np.array(values.T.copy())
        theirs = values if shape else numpy.asarray(values), values.T.copy()
        ratios = {}
        for name, (call, _) in _calls().items():
            if name in ("where", "matmul") or (not shape and ("axis" in name or "[" in name or name == "concatenate")):
                continue
            functions: dict[str, Callable[[], object]] = {
                "npcompat": lambda call=call, ours=ours: call(np, *ours),
                "numpy": lambda call=call, theirs=theirs: call(numpy, *theirs),
            }
            with npx.backend("auto"), numpy.errstate(all="ignore"):
                times = interleaved(functions, seconds)
            ratios[name] = times.ratio("npcompat", "numpy")
        worst = ", ".join(f"{n} {ratios[n]:.1f}" for n in sorted(ratios, key=lambda n: -ratios[n])[:5])
        means[str(shape)] = geometric_mean(list(ratios.values()))
        print(f"auto on {shape}: {means[str(shape)]:.2f}x numpy over {len(ratios)} calls; most: {worst}")
    return means


def _torch_has(torch: Any, call: Callable[[Any, Any, Any], Any]) -> bool:
    try:
        call(torch, torch.ones(SHAPE), torch.ones(SHAPE))
    except (AttributeError, TypeError, RuntimeError):
        return False
    return True
