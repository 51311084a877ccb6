"""Peak memory, in fresh processes: loops in place on 1e7 floats, and compiled training steps.

A figure is the peak of the resident memory above its level before the arrays are created; the
process has run the same once, so that everything is compiled. A copy of the loop's array would be
40 MB, one of the widest network's parameters 38 MB. Linux only, which records the peak and lets a
process reset it.

`python -m benchmarks.memory loop auto` and similar commands are run in these processes.
"""

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy

from benchmarks import training_step
from benchmarks.models import MODELS, mlp
from benchmarks.processes import figure
from benchmarks.report import Table
from npcompat import np, npx

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
LOOPS = ("numpy", "auto", "xla", "jnp")
STEPS = ("step", "by hand")
WIDE = SimpleNamespace(
    __name__="wide",
    SHAPE=(16, 256),
    net=lambda: mlp.net((256, 2048, 4096, 10)),
    by_hand=mlp.by_hand,
)
NETWORKS: dict[str, Any] = {
    "MLP of 9e6 parameters": WIDE,
    **{name: MODELS[name] for name in ("ResNet-18", "Transformer encoder")},
}


def run(seconds: float) -> dict[str, Any]:
    """Return a table of loops, and one of training steps."""
    if not RESET.exists():
        print("memory is measured on Linux only")
        return {}
    loops = Table(
        "peak memory of loops in place on 1e7 floats, MB",
        [("auto", "numpy"), ("xla", "numpy"), ("jnp", "numpy")],
        LOOPS,
    )
    loops.add(
        "30 rounds of 5 writes",
        {name: figure(["-m", "benchmarks.memory", "loop", name]) for name in LOOPS},
    )
    steps = Table("peak memory of compiled training steps, MB", [("step", "by hand")], STEPS)
    for name in NETWORKS:
        steps.add(name, {way: figure(["-m", "benchmarks.memory", way, name]) for way in STEPS})
    return {"memory of loops": loops.close(), "memory of training": steps.close()}


def megabytes(what: str) -> float:
    """Return a figure of this process: `VmRSS`, the current size, or `VmHWM`, the peak."""
    return (
        next(
            int(line.split()[1])
            for line in STATUS.read_text().splitlines()
            if line.startswith(f"{what}:")
        )
        / 1024
    )


def level() -> float:
    """Return the current memory of this process, after free memory is returned to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return megabytes("VmRSS")


def peak_of(work: Callable[[], object], before: float) -> float:
    """Return the peak memory above a level while a function runs."""
    level()
    RESET.write_text("5")
    work()
    return megabytes("VmHWM") - before


def loop(name: str) -> float:
    """Return the peak of a loop that writes in place; for `jnp`, of its nearest equivalent."""

    def work() -> None:
        with npx.backend("auto" if name == "auto" else "jax"):
            if name == "jnp":
                functional(jnp.ones(10_000_000, "float32")).block_until_ready()
            elif name == "numpy":
                in_place(numpy.ones(10_000_000, "float32"))
            else:
                in_place(np.ones(10_000_000, "float32")).wait_to_read()

    work()
    return peak_of(work, level())


def in_place(a: Any) -> Any:
    """Run the loop with writes."""
    for i in range(30):
        a *= 0.5
        a += 1.0
        a[i] = a[i + 1] + 2.0
        a[1000:2000] += a[:1000]
        a[::2] = 1.5
    return a


def functional(a: Any) -> Any:
    """Run the same loop without writes."""
    for i in range(30):
        a = a * 0.5
        a = a + 1.0
        a = a.at[i].set(a[i + 1] + 2.0)
        a = a.at[1000:2000].add(a[:1000])
        a = a.at[::2].set(1.5)
    return a


def steps_of(way: str, name: str) -> float:
    """Return the peak of ten training steps: parameters, optimizer state, intermediates."""
    training_step.by_hand(
        mlp, training_step.initial(mlp), *training_step.batch(mlp)
    )()  # compiles first
    training_step.npcompats(mlp, "step", training_step.initial(mlp), *training_step.batch(mlp))()
    model = NETWORKS[name]
    before = level()
    weights, (x, y) = training_step.initial(model), training_step.batch(model)
    step = (
        training_step.npcompats(model, way, weights, x, y)
        if way == "step"
        else training_step.by_hand(model, weights, x, y)
    )
    del weights
    step()
    return peak_of(lambda: [step() for _ in range(10)], before)


if __name__ == "__main__":
    print(loop(sys.argv[2]) if sys.argv[1] == "loop" else steps_of(*sys.argv[1:]))
