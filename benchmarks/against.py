"""Benchmarks of this checkout against another one: python -m benchmarks.against FOLDER [name ...].

A process for each of the two builds the same functions, npcompat's own of the other benchmarks; they
are timed in turn, so that a machine that runs slower for a while slows both. The other checkout
needs its C part: `python setup.py build_ext --inplace` there.
"""

import argparse
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.timing import Function

Rows = Iterator[tuple[str, Function]]
OWN = Path(__file__).resolve().parents[1]
TURN = 0.004  # seconds of a function in a round
LOOP = 20  # calls for which a backend is entered once
_WORKER = (
    "import sys; own, other, *names = sys.argv[1:]; sys.path.insert(0, other); import npcompat; "
    "sys.path[0] = own; from benchmarks import against; against.work(names)"
)


def dispatch() -> Rows:
    """Yield eager calls on the host and on XLA."""
    from benchmarks.calls import CALLS, bound, operands
    from npcompat import np, npx

    arrays = operands((8, 8))
    for backend in ("auto", "jax"):
        with npx.backend(backend):
            for source in CALLS:
                own = {key: np.array(value) for key, value in arrays.items()}
                call = bound(source, np, own, arrays["a"].copy())
                yield f"{backend}: {source}", _repeated(partial(npx.backend, backend), call)


def recording() -> Rows:
    """Yield calls that are recorded and walked back."""
    from benchmarks import calls
    from benchmarks.recording import LEFT_OUT, derived

    compared = {"auto": calls.libraries()["auto"]}
    for source, group in calls.CALLS.items():
        if group not in LEFT_OUT:
            found = derived(compared, source, (8, 8), backward=True)
            if "auto" in found:
                yield source, found["auto"]


def training() -> Rows:
    """Yield training steps of two small networks, eager, hybridized and as one program."""
    from benchmarks.models import MODELS
    from benchmarks.training_step import batch, initial, npcompats

    for name in ("MLP", "LeNet"):
        model = MODELS[name]
        x, y = batch(model)
        weights = initial(model)
        for mode in ("eager", "hybridized", "step"):
            yield f"{name}, {mode}", npcompats(model, mode, weights, x, y)


def compiled() -> Rows:
    """Yield calls of hybridized blocks and of compiled functions, with arrays on XLA and not."""
    from npcompat import gluon, np, npx

    class Scaled:
        """Callable with state."""

        rate = 2.0

        def __init__(self) -> None:
            self.weight = np.ones(8)

        def __call__(self, x: Any) -> Any:
            return x * self.weight * self.rate

    for backend in ("jax", "auto"):
        net = gluon.nn.HybridSequential()
        for _ in range(4):
            net.add(gluon.nn.Dense(16, in_units=16, activation="relu"))
        net.initialize()
        net.hybridize()
        with npx.backend(backend):
            x, y, batch = np.ones(8), np.ones(8), np.ones((8, 16))
        yield f"{backend}: block", partial(net, batch)
        yield f"{backend}: function of two arrays", partial(npx.jit(lambda u, v: u * v + 1), x, y)
        yield f"{backend}: method with state", partial(npx.jit(Scaled().__call__), x)


def programs() -> Rows:
    """Yield whole NumPy programs, eager and compiled."""
    from benchmarks.numpy_programs import CONTEXTS, PROGRAMS, ways

    for name, module in PROGRAMS.items():
        found = ways(name, "FULL")
        for way in ("auto", "jit") if getattr(module, "COMPILES", True) else ("auto",):
            yield f"{name}, {way}", _repeated(CONTEXTS[way], found[way], 1)


GROUPS = {
    function.__name__: function for function in (dispatch, recording, training, compiled, programs)
}


def _repeated(
    context: Callable[[], AbstractContextManager[Any]], call: Function, count: int = LOOP
) -> Function:
    def loop() -> None:
        with context():
            for _ in range(count):
                call()

    return loop


def work(names: list[str]) -> None:
    """Build the functions and print their names; then time those whose places are read."""
    warnings.simplefilter("ignore")  # of means of nothing, at each call
    table = [(name, row, function) for name in names for row, function in GROUPS[name]()]
    counts = [max(1, int(TURN / _seconds(function, 1))) for *_, function in table]
    print("\n".join(["functions:", *[f"{name}\t{row}" for name, row, _ in table], ""]), flush=True)
    for line in sys.stdin:
        print(_seconds(table[int(line)][2], counts[int(line)]), flush=True)


def _seconds(function: Function, count: int) -> float:
    function()  # caches that the other functions have filled
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


class Side:
    """Process that runs one of the two checkouts."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(OWN), str(folder.resolve()), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.rows: list[tuple[str, ...]] = []
        while self._read() != "functions:":
            pass
        while line := self._read():
            self.rows.append(tuple(line.split("\t")))

    def seconds(self, place: int) -> float:
        """Return the seconds that a call of one of the functions takes now."""
        assert self.process.stdin is not None
        print(place, file=self.process.stdin, flush=True)
        return float(self._read())

    def _read(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.process.args!r} has ended")
        return line.rstrip("\n")


def ratios(folder: Path, names: list[str], rounds: int) -> dict[tuple[str, ...], float]:
    """Return the time of each function relative to the other checkout's, median over the rounds."""
    samples: dict[tuple[str, ...], list[float]] = {}
    for half in range(2):  # with processes of their own: memory may lie better in one
        sides = [Side(folder, names), Side(OWN, names)]
        if sides[0].rows != sides[1].rows:
            raise SystemExit("the two checkouts have different functions")
        for turn in range(rounds // 2):
            for place, row in enumerate(sides[0].rows):
                first = (turn + half) % 2
                times = {side: sides[side].seconds(place) for side in (first, 1 - first)}
                samples.setdefault(row, []).append(times[1] / times[0])
        for side in sides:
            side.process.kill()
    return {row: statistics.median(found) for row, found in samples.items()}


def main() -> None:
    """Run the two processes; print the mean ratio of each group, and its largest ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the other checkout")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=12, help="default: 12")
    parser.add_argument("--largest", type=int, default=10, help="ratios to print (default: 10)")
    options = parser.parse_args()
    found = ratios(options.folder, options.names or list(GROUPS), options.rounds)
    for name in dict.fromkeys(name for name, _ in found):
        group = {row: ratio for (of, row), ratio in found.items() if of == name}
        mean = math.exp(statistics.fmean(map(math.log, group.values())))
        print(f"{name}: {mean:.3f} of the other checkout's time ({len(group)} functions)")
        for row, ratio in sorted(group.items(), key=lambda item: -item[1])[: options.largest]:
            print(f"  {ratio:.3f}  {row}")


if __name__ == "__main__":
    main()
