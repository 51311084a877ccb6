"""Times of functions, measured in turn within one run, so that what slows the machine slows them all."""

import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence

Function = Callable[[], object]


def interleaved(functions: Mapping[str, Function], seconds: float = 0.3, rounds: int = 25) -> dict[str, float]:
    """The least time per call over all rounds, in microseconds; each round times every function once.

    The least, because whatever else the machine does only adds to it.
    """
    loops = {}
    for name, function in functions.items():
        for _ in range(3):
            function()
        start = time.perf_counter()
        for _ in range(5):
            function()
        once = (time.perf_counter() - start) / 5
        loops[name] = max(1, int(seconds / rounds / max(once, 1e-7)))
    samples: dict[str, list[float]] = {name: [] for name in functions}
    gc.collect()
    for _ in range(rounds):
        for name, function in functions.items():
            count = loops[name]
            start = time.perf_counter()
            for _ in range(count):
                function()
            samples[name].append((time.perf_counter() - start) / count * 1e6)
    return {name: min(times) for name, times in samples.items()}


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
