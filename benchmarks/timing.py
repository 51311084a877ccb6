"""Times of functions, measured in turn within one run, so that what slows the machine slows them
all.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Function = Callable[[], object]
Context = Callable[[], AbstractContextManager[object]]
PAUSE = 0.03  # seconds for which threads of torch and of NumPy's BLAS go on looking for work
# seconds of a function in a round: in less, what the one before left in the caches decides
SHORTEST = 0.001
# seconds of a function as it runs in a loop: the first ten steps after a pause take up to a fifth
# longer
STEADY = 0.1


@dataclass(frozen=True)
class Ratio:
    """How many times as long one function takes as another: the median over the rounds, and the
    quartiles around it.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timings:
    """Times per call in microseconds, by function, one of each round."""

    samples: dict[str, list[float]]

    def __getitem__(self, name: str) -> float:
        """The least time of a function: whatever else the machine does only adds to it."""
        return min(self.samples[name])

    def ratio(self, name: str, to: str) -> Ratio:
        """A function against another, compared in each round.

        (The least times of two functions may come from moments when the machine ran at different
        speeds.)
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
    """Time functions for some seconds each, in turn; every other round goes backwards, as each
    finds the caches of the one before.

    A function's turn in a round has at least so many seconds: what is called in a loop all the
    time, as a training step is, is to be measured as it runs there.

    What runs in a mode is given it by `contexts`, entered once for all calls of a round. `pause` is
    slept before each function of a round, and the function called once unmeasured: the threads of a
    library whose calls have returned go on spinning for a while, and would take the cores from the
    next.
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
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
