"""First calls, in fresh processes: compilation of a training step, and eager calls.

The step is compiled by `npx.jit` and by hand. `python -m benchmarks.first_call step MLP` and
similar commands are run in these processes.
"""

import sys
import time
from typing import Any

import numpy

from benchmarks import training_step
from benchmarks.models import MODELS
from benchmarks.processes import in_turn
from benchmarks.report import Table
from benchmarks.timing import Timings
from npcompat import np, npx

STEPS = ("step", "by hand")
NAMESPACES = ("numpy", "auto", "xla")


def run(seconds: float) -> dict[str, Any]:
    """Return a table of training steps by network, and one of eager calls."""
    rounds = 2 if seconds < 0.1 else 5
    steps = Table("first call of a training step, us", [("step", "by hand")], STEPS, digits=0)
    for name in MODELS:
        steps.add_times(
            name,
            Timings(
                in_turn({way: ["-m", "benchmarks.first_call", way, name] for way in STEPS}, rounds)
            ),
        )
    eager = Table(
        "first eager calls, us", [("auto", "numpy"), ("xla", "numpy")], NAMESPACES, digits=0
    )
    eager.add_times(
        "8 rounds of 6 calls",
        Timings(in_turn({n: ["-m", "benchmarks.first_call", n] for n in NAMESPACES}, rounds)),
    )
    return {"first call of a step": steps.close(), "first eager calls": eager.close()}


def first_step(way: str, name: str) -> float:
    """Return the time of the first step of a network in microseconds, without creating arrays."""
    model = MODELS[name]
    weights, (x, y) = training_step.initial(model), training_step.batch(model)
    step = (
        training_step.npcompats(model, way, weights, x, y)
        if way == "step"
        else training_step.by_hand(model, weights, x, y)
    )
    start = time.perf_counter()
    step()
    return (time.perf_counter() - start) * 1e6


def first_calls(name: str) -> float:
    """Return the time of the process' first few eager calls in microseconds."""
    xp: Any = numpy if name == "numpy" else np
    with npx.backend("auto" if name == "auto" else "jax"):
        start = time.perf_counter()
        a = xp.ones((8, 8), dtype="float32")
        for i in range(8):
            b = xp.exp(a) * i + a.sum(axis=0)
            a[i] = b[:, i]
            a = xp.concatenate([a[1:], a[:1]])
        float(a.sum())
        return (time.perf_counter() - start) * 1e6


if __name__ == "__main__":
    print(first_step(*sys.argv[1:]) if len(sys.argv) > 2 else first_calls(sys.argv[1]))
