"""Recording a chain of operations and backward through it, eager: npcompat under `auto` and on XLA, and torch if installed."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy

from benchmarks.timing import geometric_mean, interleaved
from npcompat import autograd, np, npx

LENGTH = 50


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratios of npcompat under `auto` to the others, by shape."""
    ratios: dict[str, float] = {}
    by_torch = []
    for shape in ((8, 8), (64, 64), (256, 256)):
        values = numpy.random.RandomState(0).normal(size=shape).astype("float32")
        functions: dict[str, Callable[[], object]] = {name: _ours(name, values) for name in ("auto", "jax")}
        if find_spec("torch"):
            functions["torch"] = _torchs(values)
        times = interleaved(functions, seconds)
        print(f"{LENGTH} operations on {shape}: " + ", ".join(f"{name} {times[name]:.0f} us" for name in functions))
        for name in functions.keys() - {"auto"}:
            ratios[f"{shape} auto / {name}"] = times.ratio("auto", name)
        if "torch" in functions:
            by_torch.append(times.ratio("auto", "torch"))
    if by_torch:
        ratios["auto / torch, geometric mean"] = geometric_mean(by_torch)
    for name, ratio in sorted(ratios.items()):
        print(f"{name}: {ratio:.2f}")
    return ratios


def _ours(backend: str, values: Any) -> Callable[[], object]:
    with npx.backend(backend):
        x, w = np.array(values), np.array(values * 0.1)
    x.attach_grad()

    def call() -> object:
        with npx.backend(backend):
            with autograd.record():
                y = x
                for _ in range(LENGTH // 2):
                    y = np.tanh(y * w)
                total = y.sum()
            total.backward()
        x.grad.wait_to_read()
        return x.grad

    return call


def _torchs(values: Any) -> Callable[[], object]:
    import torch  # optional: measured where it is installed

    x, w = torch.tensor(values, requires_grad=True), torch.tensor(values * 0.1)

    def call() -> object:
        x.grad = None
        y = x
        for _ in range(LENGTH // 2):
            y = torch.tanh(y * w)
        y.sum().backward()
        return x.grad

    return call
