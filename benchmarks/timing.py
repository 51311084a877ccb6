"""Timing of functions, interleaved within one run, so that slowdowns affect all of them."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Function = Callable[[], object]
Context = Callable[[], AbstractContextManager[object]]
PAUSE = 0.03  # seconds for which threads of torch and of NumPy's BLAS spin after a call
# seconds of a function in a round: shorter times depend on caches left by the previous function
SHORTEST = 0.001
# seconds of a function that runs in a loop: the first ten steps after a pause take up to 20% longer
STEADY = 0.1


@dataclass(frozen=True)
class Ratio:
    """Ratio of the times of two functions: median over the rounds, and quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timings:
    """Times per call in microseconds, by function, one for each round."""

    samples: dict[str, list[float]]

    def __getitem__(self, name: str) -> float:
        """Return the minimum time of a function, since disturbances only add to it."""
        return min(self.samples[name])

    def ratio(self, name: str, to: str) -> Ratio:
        """Return the ratio of two functions, compared in each round.

        (Their minimum times may come from moments when the machine ran at different speeds.)
        """
        found = [a / b for a, b in zip(self.samples[name], self.samples[to], strict=True)]
        low, median, high = (
            statistics.quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
        )
        return Ratio(median, low, high)


def interleaved(
    functions: Mapping[str, Function],
    seconds: float = 0.3,
    *,
    contexts: Mapping[str, Context] | None = None,
    pause: float = 0.0,
    turn: float = SHORTEST,
) -> Timings:
    """Time functions for some seconds each, in turn.

    Every other round is reversed, as each function finds the caches of the previous one. A function
    runs for at least `turn` seconds in a round: one that usually runs in a loop, such as a training
    step, is measured as it runs there.

    `contexts` are entered once for all calls of a round. `pause` is slept before each function of a
    round, and the function called once unmeasured: the threads of a library spin for a while after
    its calls, and would take the cores from the next function.
    """
    enter = {name: (contexts or {}).get(name, nullcontext) for name in functions}
    once = {}
    for name, function in functions.items():
        with enter[name]():
            for _ in range(3):
                function()
            start = time.perf_counter()
            for _ in range(3):
                function()
            once[name] = (time.perf_counter() - start) / 3
    rounds = max(5, min(100, int(seconds / max(turn, *once.values()))))
    loops = {name: max(1, int(max(seconds / rounds, turn) / t)) for name, t in once.items()}
    samples: dict[str, list[float]] = {name: [] for name in functions}
    gc.collect()
    for i in range(rounds):
        for name in reversed(functions) if i % 2 else functions:
            function, count = functions[name], loops[name]
            with enter[name]():
                if pause:
                    time.sleep(pause)
                    function()
                start = time.perf_counter()
                for _ in range(count):
                    function()
                samples[name].append((time.perf_counter() - start) / count * 1e6)
    return Timings(samples)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
