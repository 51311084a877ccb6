"""First calls: tracing and compiling a whole training step, by `npx.jit` and by hand, and the first
eager calls, in fresh processes.

`python -m benchmarks.first_call step MLP` and its like are what these processes run.
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
    """A table of whole steps by network, and one of a few eager calls."""
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
    """Microseconds that the first step of a network takes, without the making of its arrays."""
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
    """Microseconds that a few eager calls take, the first of the process."""
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
