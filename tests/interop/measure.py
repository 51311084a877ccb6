"""Measure how much of NumPy's own suite passes: `python -m tests.interop.measure [FILE ...]`.

All test files of `_core`, `lib`, `linalg`, `fft`, `random` and `polynomial` are run, or those with
a FILE in their path, each in a process of its own: on NumPy itself first ("reference"), then on
npcompat, on both backends. What has been run is kept below `build/interop` and not run again,
unless `--again` is given or NumPy is another version; so the run, which takes hours, can be
stopped, continued, and done file by file.

It is counted by test function, among the cases that NumPy itself passes: a function whose cases are
all excluded counts as excluded, any other by the share of its other cases that pass. A case that
was not reached is one that fails.

Where XLA compiles a program for each of thousands of cases, `--cases N` runs N of a function's
cases, spread evenly, which stand for the others.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as onp
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from tests.interop.plugin import exclusion_rules, function_of, matches, spread

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "build" / "interop"
REFERENCE = "reference"
GOALS = {"jax": 0.92, "numpy": 0.97}
MOST_EXCLUDED = 0.20
PARTS = ("_core", "lib", "linalg", "fft", "random", "polynomial")
SECONDS_PER_TEST = 120


# --- arithmetic -----------------------------------------------------------------------------------


@dataclass
class Tally:
    """Test functions: how many NumPy passes, how many are excluded by which rule, how many of the
    others pass.
    """

    functions: int = 0
    excluded: Counter = field(default_factory=Counter)
    passed: float = 0.0

    def __add__(self, other):
        return Tally(
            self.functions + other.functions,
            self.excluded + other.excluded,
            self.passed + other.passed,
        )

    @property
    def in_scope(self):
        return self.functions - self.excluded.total()

    @property
    def rate(self):
        """The share that passes of what is in scope; 1 where nothing is."""
        return self.passed / self.in_scope if self.in_scope else 1.0

    @property
    def share_excluded(self):
        return self.excluded.total() / self.functions if self.functions else 0.0


def tally(reference, outcomes, rules=(), most=None):
    """Count the functions of a file.

    Parameters
    ----------
    reference, outcomes : dict
        The outcome ("passed", "failed", ...) of each case, on NumPy and on npcompat.
    rules : sequence of (rule, pattern)
        What is excluded; the first pattern that matches counts.
    most : int, optional
        How many cases of a function were run.
    """
    cases, chosen = defaultdict(list), spread(reference, most)
    for test, outcome in reference.items():
        if outcome == "passed" and test in chosen:
            cases[function_of(test)].append(test)
    found = Tally(functions=len(cases))
    for tests in cases.values():
        excluded_by = [
            next((rule for rule, pattern in rules if matches(test, pattern)), None)
            for test in tests
        ]
        kept = [test for test, rule in zip(tests, excluded_by, strict=True) if rule is None]
        if kept:
            found.passed += sum(outcomes.get(test) == "passed" for test in kept) / len(kept)
        else:
            found.excluded[excluded_by[0]] += 1
    return found


# --- running --------------------------------------------------------------------------------------


@dataclass
class Suite:
    """One of NumPy's test files on one backend, and what is kept of its run."""

    file: str
    backend: str

    @property
    def log(self):
        return LOGS / self.backend / f"{self.file.replace('/', '.')}.jsonl"

    def lines(self):
        """Return the lines of the log; none if it is of another version of NumPy."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return lines if lines[0]["numpy"] == onp.__version__ else []

    @property
    def most(self):
        """Limit of cases per function in the recorded run, or None."""
        lines = self.lines()
        return lines[0].get("cases") if lines else None

    @property
    def ended(self):
        """Reason for which the run ended, or None if it is not done."""
        lines = self.lines()
        return lines[-1].get("ended") if lines else None

    def records(self):
        return [line for line in self.lines() if "test" in line]

    def outcomes(self):
        """The outcome of each case that was reached."""
        return {record["test"]: record["outcome"] for record in self.records()}

    def run(self, minutes, most=None):
        """Run the file, of its functions so many cases at most, in a process of its own, and stop
        it when its time is over.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text(
            json.dumps({"numpy": onp.__version__} | ({} if most is None else {"cases": most}))
            + "\n"
        )
        environment = os.environ | {
            "NUMPYS_TEST_FILE": self.file,
            "NUMPYS_TEST_BACKEND": self.backend,
            "NPCOMPAT_DEFAULT_DTYPE": "numpy",
            "NPY_AVAILABLE_MEM": "2 GB",  # tests that need more are not run
        }
        if self.backend != REFERENCE:
            environment["NPCOMPAT_BACKEND"] = self.backend  # in threads that tests start, too
        options = [
            "-q",
            "--tb=short",
            "-o",
            "addopts=--strict-markers",
            f"--timeout={SECONDS_PER_TEST}",
            f"--interop-record={self.log}",
        ]
        if most is not None:
            options.append(f"--interop-cases={most}")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "tests/interop/one_file.py",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *options,
        ]
        begun = time.monotonic()
        with (
            self.log.with_suffix(".txt").open("w") as output,
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            ) as process,
        ):
            try:
                ended = f"exit status {process.wait(minutes * 60)}"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                ended = f"stopped after {minutes} minutes"
        with self.log.open("a") as log:
            log.write(
                json.dumps({"ended": ended, "seconds": round(time.monotonic() - begun, 1)}) + "\n"
            )


def numpys_files():
    """All of NumPy's test files, as paths below `site-packages`."""
    package = Path(onp.__file__).parent
    return [
        str(path.relative_to(package.parent))
        for part in PARTS
        for path in sorted((package / part / "tests").glob("test_*.py"))
    ]


# --- showing --------------------------------------------------------------------------------------


def table_of(tallies, backends):
    """The table by file, with its totals; `tallies` by file and backend."""
    table = Table(title=f"NumPy {onp.__version__}'s own tests on npcompat, by test function")
    table.add_column("file", no_wrap=True)
    for column in (
        "functions",
        "excluded",
        "by rule",
        *(f"{backend} passes" for backend in backends),
    ):
        table.add_column(column, justify="right")
    totals = dict.fromkeys(backends, Tally())
    for file, found in tallies.items():
        whole = next(iter(found.values()))
        rules = ", ".join(f"{rule} {count}" for rule, count in whole.excluded.most_common())
        rates = [
            f"{found[b].rate:.1%}" if b in found and found[b].in_scope else "" for b in backends
        ]
        table.add_row(
            file.removeprefix("numpy/"),
            str(whole.functions),
            str(whole.excluded.total() or ""),
            rules,
            *rates,
        )
        totals = {b: totals[b] + found.get(b, Tally()) for b in backends}
    table.add_section()
    for backend, total in totals.items():
        goal = f"{total.rate:.2%} of {GOALS[backend]:.0%}"
        excluded = (
            f"{total.excluded.total()} ({total.share_excluded:.1%} of at most {MOST_EXCLUDED:.0%})"
        )
        table.add_row(
            f"total on {backend}",
            str(total.functions),
            excluded,
            "",
            *[goal if b == backend else "" for b in backends],
        )
    return table


def causes(suites, rules):
    """The messages of failures, and how many functions fail with each, most frequent first."""
    functions = defaultdict(set)
    for suite in suites:
        passed = {
            test
            for test, outcome in Suite(suite.file, REFERENCE).outcomes().items()
            if outcome == "passed"
        }
        for record in suite.records():
            test = record["test"]
            if (
                record["outcome"] != "passed"
                and test in passed
                and not any(matches(test, pattern) for _, pattern in rules)
            ):
                functions[record.get("message", record["outcome"])].add(function_of(test))
    return sorted(functions.items(), key=lambda pair: -len(pair[1]))


def main():
    """Run what has not been run, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.interop.measure", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="part of the path of the files to run (default: all)",
    )
    parser.add_argument(
        "--backend", choices=list(GOALS), action="append", help="where to run (default: both)"
    )
    parser.add_argument(
        "--minutes", type=float, default=60, help="for a file on a backend (default: 60)"
    )
    parser.add_argument(
        "--cases", type=int, metavar="N", help="of a function, on npcompat (default: all)"
    )
    parser.add_argument(
        "--again", action="store_true", help="run on npcompat also what has been run"
    )
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument(
        "--causes",
        type=int,
        metavar="N",
        default=0,
        help="print the N most frequent messages of failures, too",
    )
    options = parser.parse_args()
    files = [
        file
        for file in numpys_files()
        if not options.files or any(part in file for part in options.files)
    ]
    if not files:
        parser.error(f"NumPy has no test file with any of {options.files} in its path")
    backends = options.backend or list(GOALS)
    suites = [Suite(file, backend) for backend in backends for file in files]
    if not options.show:
        references = [Suite(file, REFERENCE) for file in files]
        done = [
            s.ended is not None and (s.backend == REFERENCE or not options.again)
            for s in (*references, *suites)
        ]
        todo = [s for s, is_done in zip((*references, *suites), done, strict=True) if not is_done]
        todo.sort(
            key=lambda suite: (suite.backend == "jax", files.index(suite.file))
        )  # what takes longest comes last
        with tqdm(todo, unit="file") as bar:
            for suite in bar:
                bar.set_description(f"{suite.file} on {suite.backend}")
                suite.run(options.minutes, None if suite.backend == REFERENCE else options.cases)
    rules = exclusion_rules()
    tallies = defaultdict(dict)
    for suite in suites:
        reference = Suite(suite.file, REFERENCE)
        if suite.ended is not None and reference.ended is not None:
            tallies[suite.file][suite.backend] = tally(
                reference.outcomes(), suite.outcomes(), rules, suite.most
            )
    console = Console()
    console.print(table_of(tallies, backends))
    for suite in suites:
        if suite.ended is not None and suite.ended not in ("exit status 0", "exit status 1"):
            console.print(
                f"{suite.file} on {suite.backend}: {suite.ended} (see {suite.log.with_suffix('.txt')})"
            )
    for message, functions in causes(suites, rules)[: options.causes]:
        console.print(
            f"{len(functions):4} {message}  ({sorted(functions)[0]})", markup=False, highlight=False
        )


if __name__ == "__main__":
    main()
