"""npbench's programs, unmodified, under `npx.jit`: python -m benchmarks.npbench FOLDER [name ...].

FOLDER is a checkout of https://github.com/spcl/npbench. Each program has a process of its own, in
which its versions for NumPy, JAX and numba (where that is installed; the fastest of its versions)
are timed in turn with NumPy's under `npx.jit`. Arrays begin on the host, results are waited for,
and compared with NumPy's before anything is timed.
"""

import argparse
import importlib.util
import json
import linecache
import statistics
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from benchmarks.processes import output
from benchmarks.timing import geometric_mean

NUMBA = ("n", "np", "npr", "o", "op")  # endings of the files of numba's versions
TURN = 0.02  # seconds of a version in a round
LIMIT = 300  # seconds of a program


@dataclass(frozen=True)
class Version:
    """One version of a program, and how arrays come to it and its results are waited for.

    JAX's do not write their arguments, but return some of what they would write.
    """

    function: Callable[..., Any]
    given: Callable[[Any], Any] = numpy.copy
    wait: Callable[[Any], object] = id
    writes: bool = True


class Program:
    """Program of npbench: its files, its arguments, and which of them it writes."""

    def __init__(self, folder: Path, name: str, size: str) -> None:
        described = json.loads((folder / "bench_info" / f"{name}.json").read_text())["benchmark"]
        self.folder = folder / "npbench" / "benchmarks" / described["relative_path"]
        self.module, self.function = described["module_name"], described["func_name"]
        values = dict(described["parameters"][size])
        if begin := described.get("init"):
            made = getattr(self.loaded("", {}), begin["func_name"])(
                *[values[given] for given in begin["input_args"]]
            )
            names = begin["output_args"]
            values.update(zip(names, [made] if len(names) == 1 else made, strict=True))
        given = described["input_args"]
        self.arguments = [values[argument] for argument in given]
        self.written = [given.index(w) for w in described.get("output_args", []) if w in given]

    def loaded(self, ending: str, replaced: dict[str, str]) -> types.ModuleType:
        """Return the module of a version, with some texts of its source replaced."""
        path = self.folder / f"{self.module}{ending}.py"
        source = path.read_text()
        for old, new in replaced.items():
            source = source.replace(old, new)
        module = types.ModuleType(f"{self.module}{ending}_{len(replaced)}")
        module.__file__ = f"{path}_{len(replaced)}"
        # `inspect.getsource` finds the replaced source here
        lines = source.splitlines(keepends=True)
        linecache.cache[module.__file__] = (len(source), None, lines, module.__file__)
        sys.modules[module.__name__] = module
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        return module

    def versions(self) -> Iterator[tuple[str, Version]]:
        """Yield NumPy's version, the same under `npx.jit`, and those of JAX and numba."""
        yield "numpy", Version(getattr(self.loaded("_numpy", {}), self.function))
        yield "jit", self._npcompats()
        if (self.folder / f"{self.module}_jax.py").exists():
            yield "jax", self._jaxs()
        if importlib.util.find_spec("numba"):
            for ending in NUMBA:
                if (self.folder / f"{self.module}_numba_{ending}.py").exists():
                    module = self.loaded(f"_numba_{ending}", {})
                    if hasattr(module, self.function):  # one of cavity_flow has another name
                        yield f"numba {ending}", Version(getattr(module, self.function))

    def _npcompats(self) -> Version:
        import npcompat.numpy as np
        from npcompat import npx

        npx.set_np(dtype=True)
        module = self.loaded("_numpy", {"import numpy as np": "import npcompat.numpy as np"})
        return Version(npx.jit(getattr(module, self.function)), np.array, numpy.asarray)

    def _jaxs(self) -> Version:
        import jax

        jax.config.update("jax_enable_x64", True)
        function = getattr(self.loaded("_jax", {}), self.function)
        return Version(function, jax.numpy.array, jax.block_until_ready, writes=False)

    def call(self, version: Version) -> tuple[float, list[Any]]:
        """Call a version with arguments of its own; return its seconds and its results.

        The arrays that it wrote follow what it returned.
        """
        given = [version.given(a) if isinstance(a, numpy.ndarray) else a for a in self.arguments]
        start = time.perf_counter()
        results = _flat(version.function(*given))
        results += [given[i] for i in self.written if version.writes]
        for result in results:
            version.wait(result)
        return time.perf_counter() - start, results


def _flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [item for part in result for item in _flat(part)]
    return [] if result is None else [result]


def _check(results: Sequence[Any], expected: Sequence[Any], some: bool) -> None:
    """Raise ValueError if results are not NumPy's; `some` allows the first or last of them."""
    count = len(results)
    matches = [expected[:count], expected[len(expected) - count :]] if some else [expected]
    for match in matches:
        if len(match) == count and all(map(_is_close, results, match)):
            return
    raise ValueError("the results are not NumPy's")


def _is_close(result: Any, other: Any) -> bool:
    """Return True for equal results, by elements or, as npbench compares them, by their norm."""
    result, other = numpy.asarray(result), numpy.asarray(other)
    if result.shape != other.shape:
        return False
    if numpy.allclose(result, other, rtol=1e-4, atol=1e-5, equal_nan=True):
        return True
    difference = numpy.linalg.norm(numpy.ravel(result - other))
    return bool(difference < 1e-5 * numpy.linalg.norm(numpy.ravel(other)))


def measured(folder: Path, name: str, size: str, rounds: int) -> dict[str, Any]:
    """Time the versions of a program in turn.

    Return the milliseconds of each, the seconds of its first call, and what went wrong.
    """
    warnings.simplefilter("ignore")  # of the programs themselves, in each of their versions
    program = Program(folder, name, size)
    versions: dict[str, Version] = {}
    first: dict[str, float] = {}
    wrong: dict[str, str] = {}
    loops: dict[str, int] = {}
    expected: list[Any] = []
    for label, version in program.versions():
        try:
            first[label], results = program.call(version)
            expected = expected or [numpy.array(result) for result in results]
            _check(results, expected, some=not version.writes)
            seconds = min(program.call(version)[0] for _ in range(3))
        except Exception as error:  # of a version of npbench's own, or ours: the table says so
            wrong[label] = f"{type(error).__name__}: {error}"[:200]
        else:
            versions[label], loops[label] = version, max(1, min(50, int(TURN / seconds)))
    samples: dict[str, list[float]] = {label: [] for label in versions}
    for _ in range(rounds):
        for label, version in versions.items():
            calls = [program.call(version)[0] for _ in range(loops[label])]
            samples[label].append(statistics.median(calls))
    times = {label: statistics.median(found) * 1e3 for label, found in samples.items()}
    return {"name": name, "ms": times, "first": first, "wrong": wrong}


def row_of(folder: Path, name: str, size: str, rounds: int) -> dict[str, Any]:
    """Return what a process of its own measures of a program; of numba's versions the fastest."""
    arguments = ["-m", "benchmarks.npbench", str(folder), name, "--size", size]
    try:
        printed = output([*arguments, "--rounds", str(rounds), "--here"], LIMIT)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return {"name": name, "ms": {}, "first": {}, "wrong": {"all": str(error)[-300:]}}
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    row: dict[str, Any] = json.loads(lines[-1])
    numbas = [time for label, time in row["ms"].items() if label.startswith("numba")]
    row["ms"] = {label: t for label, t in row["ms"].items() if not label.startswith("numba")}
    return row if not numbas else row | {"ms": row["ms"] | {"numba": min(numbas)}}


COLUMNS = ("numpy", "jit", "jax", "numba")


def main() -> None:
    """Measure each program in a process, and print the table and the means of its ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a checkout of npbench")
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--size", default="S", choices=("S", "M", "L", "paper"))
    parser.add_argument("--rounds", type=int, default=9, help="default: 9")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.here:
        print(json.dumps(measured(folder, options.names[0], options.size, options.rounds)))
        return
    names = options.names or sorted(p.stem for p in (folder / "bench_info").glob("*.json"))
    print(f"{'ms, size ' + options.size:<26}" + "".join(f"{c:>11}" for c in (*COLUMNS, "first, s")))
    rows = []
    for name in names:
        row = row_of(folder, name, options.size, options.rounds)
        rows.append(row)
        times = [f"{row['ms'][c]:11.3f}" if c in row["ms"] else f"{'-':>11}" for c in COLUMNS]
        print(f"{name:<26}{''.join(times)}{row['first'].get('jit', 0):11.2f}", flush=True)
        for label, text in row["wrong"].items():
            print(f"    {label}: {text}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows))
    for column in ("numpy", "jax", "numba"):
        pairs = [row["ms"] for row in rows if {"jit", column} <= row["ms"].keys()]
        if pairs:
            mean = geometric_mean([ms["jit"] / ms[column] for ms in pairs])
            print(f"jit to {column}: {mean:.3f} (geometric mean of {len(pairs)})")


if __name__ == "__main__":
    main()
