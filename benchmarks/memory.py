"""Peak memory, in processes of their own: loops in place on 1e7 floats, and compiled training
steps.

A figure is how far the peak of the resident memory lies above what the process has before its
arrays are made; it has run the same once, so that everything is compiled. A copy of the loop's
array would show as 40 MB, one of the widest network's parameters as 38 MB. Linux only, which keeps
the peak and lets a process set it back.

`python -m benchmarks.memory loop auto` and its like are what these processes run.
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
    """A table of loops, and one of training steps."""
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
    """A figure of this process: `VmRSS`, what it has now, or `VmHWM`, the most that it had."""
    return (
        next(
            int(line.split()[1])
            for line in STATUS.read_text().splitlines()
            if line.startswith(f"{what}:")
        )
        / 1024
    )


def level() -> float:
    """The memory that this process needs now: what is free goes back to the system first."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return megabytes("VmRSS")


def peak_of(work: Callable[[], object], before: float) -> float:
    """How far memory rises above a level while something is done."""
    level()
    RESET.write_text("5")
    work()
    return megabytes("VmHWM") - before


def loop(name: str) -> float:
    """The peak of a loop that writes in place; of `jnp`, which can't, of its nearest equivalent."""

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
    """The loop."""
    for i in range(30):
        a *= 0.5
        a += 1.0
        a[i] = a[i + 1] + 2.0
        a[1000:2000] += a[:1000]
        a[::2] = 1.5
    return a


def functional(a: Any) -> Any:
    """The same without writes."""
    for i in range(30):
        a = a * 0.5
        a = a + 1.0
        a = a.at[i].set(a[i + 1] + 2.0)
        a = a.at[1000:2000].add(a[:1000])
        a = a.at[::2].set(1.5)
    return a


def steps_of(way: str, name: str) -> float:
    """The peak of ten training steps, with parameters, the optimizer's state, and what is computed
    in between.
    """
    training_step.by_hand(
        mlp, training_step.initial(mlp), *training_step.batch(mlp)
    )()  # what a process compiles first
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
