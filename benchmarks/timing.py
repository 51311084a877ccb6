"""Times of functions, measured in turn within one run, so that what slows the machine slows them all."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Function = Callable[[], object]


@dataclass(frozen=True)
class Timings:
    """Times per call in microseconds, by function, one of each round."""

    samples: dict[str, list[float]]

    def __getitem__(self, name: str) -> float:
        """The least time of a function: whatever else the machine does only adds to it."""
        return min(self.samples[name])

    def ratio(self, name: str, to: str) -> float:
        """How many times as long a function takes as another: the median over the rounds, each of which compares the two.

        (The least times of two functions may come from moments when the machine ran at different speeds.)
        """
        return statistics.median([a / b for a, b in zip(self.samples[name], self.samples[to], strict=True)])


def interleaved(functions: Mapping[str, Function], seconds: float = 0.3, rounds: int = 100) -> Timings:
    """Time functions for some seconds each, in turn; every other round goes backwards, as each finds the caches of the one before."""
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
    for i in range(rounds):
        for name in reversed(functions) if i % 2 else functions:
            function, count = functions[name], loops[name]
            start = time.perf_counter()
            for _ in range(count):
                function()
            samples[name].append((time.perf_counter() - start) / count * 1e6)
    return Timings(samples)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
