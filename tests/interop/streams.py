"""Which of NumPy's tests compare draws with recorded numbers: `python -m tests.interop.streams
[FILE ...]`.

NumPy runs the test files of `random` on streams that begin elsewhere than they should: an assertion
that fails there compares with numbers of NumPy's stream. Then npcompat runs the tests that have
such assertions, which are noted when they fail, and ignored. What fails in them and nowhere else is
what the rule `streams` of `exclusions.toml` is for, and is printed as its patterns; what has
another fault is printed with it.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as onp

from tests.interop.measure import LOGS, REFERENCE, ROOT, Suite, numpys_files
from tests.interop.plugin import function_of
from tests.interop.rewriting import load

SHIFTS = (1, 40, 5432)
"""Numbers of draws by which streams are shifted. A test that compares few small numbers passes with
some of them.
"""
HASHED = "TypeError: object supporting the buffer API required"
"""Error of tests that hash a sample, where arrays are no buffers: it precedes their comparison of
hashes (see the rule `buffers`).
"""


# --- in the process that runs a file: it is given to pytest as a module of tests ------------------


def shift_streams(draws):
    """Let each of NumPy's streams begin so many draws later."""
    module = onp.random

    def shifted(kind):
        def begin(self, *args, **kwargs):
            kind.__init__(self, *args, **kwargs)
            self.random_raw(draws, output=False)

        return type(kind.__name__, (kind,), {"__init__": begin, "__module__": "numpy.random"})

    class MT19937(shifted(module.MT19937)):
        def _legacy_seeding(self, seed):
            super()._legacy_seeding(seed)
            self.random_raw(draws, output=False)

    class RandomState(module.RandomState):
        def __init__(self, seed=None):
            bits = seed if hasattr(seed, "random_raw") else MT19937()
            if bits is not seed:
                bits._legacy_seeding(seed)
            super().__init__(bits)

    for found in (MT19937, RandomState):
        found.__module__, found.__qualname__ = "numpy.random", found.__name__
        setattr(module, found.__name__, found)
    for name in ("PCG64", "PCG64DXSM", "Philox", "SFC64"):
        setattr(module, name, shifted(getattr(module, name)))
    default_rng, module.default_rng = (
        module.default_rng,
        lambda seed=None: default_rng(_begun(seed)),
    )
    module.set_bit_generator(MT19937())


def _begun(seed):
    return (
        seed
        if hasattr(seed, "random_raw") or hasattr(seed, "bit_generator")
        else onp.random.PCG64(seed)
    )


class Comparisons:
    """The assertions of a file: which failed, and which are ignored then (None: all), as [test,
    line].
    """

    def __init__(self, left_out=None):
        self.left_out, self.failed = left_out, []

    def __call__(self, line):
        return _Comparison(self, line)

    def rewritten(self, tree):
        """The source of a test file with each assertion in the context of a comparison."""
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(node, name, None)
                if isinstance(statements, list):
                    setattr(
                        node,
                        name,
                        [
                            self._watched(statement) if _asserts(statement) else statement
                            for statement in statements
                        ],
                    )
        return ast.fix_missing_locations(tree)

    @staticmethod
    def _watched(statement):
        context = ast.parse(f"compared({statement.lineno})", mode="eval").body
        return ast.copy_location(ast.With([ast.withitem(context)], [statement]), statement)


class _Comparison:
    def __init__(self, comparisons, line):
        self.comparisons, self.line = comparisons, line

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None or not issubclass(kind, AssertionError):
            return False
        place = [os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0].split("::", 1)[1], self.line]
        self.comparisons.failed.append(place)
        return self.comparisons.left_out is None or place in self.comparisons.left_out


def _asserts(statement):
    called = (
        statement.value.func
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        else None
    )
    return isinstance(statement, ast.Assert) or getattr(
        called, "attr", getattr(called, "id", "")
    ).startswith("assert_")


if "NUMPYS_TEST_STREAMS" in os.environ and __name__ != "__main__":
    asked = json.loads(os.environ["NUMPYS_TEST_STREAMS"])
    if asked["shift"]:
        shift_streams(asked["shift"])
    compared = Comparisons(asked["left_out"])
    globals().update(
        load(asked["file"], asked["backend"], compared.rewritten, {"compared": compared})
    )

    def teardown_module():
        """Hand over what failed."""
        Path(asked["failed"]).write_text(json.dumps(compared.failed))


# --- in the process that asks ---------------------------------------------------------------------


def run(file, backend, folder, shift=0, left_out=None):
    """Outcomes of a file's tests, by test, and the assertions that failed."""
    asked = {
        "file": file,
        "backend": backend,
        "shift": shift,
        "left_out": left_out,
        "failed": f"{folder}/failed.json",
    }
    environment = os.environ | {
        "NUMPYS_TEST_STREAMS": json.dumps(asked),
        "NPCOMPAT_DEFAULT_DTYPE": "numpy",
    }
    if backend != REFERENCE:
        environment["NPCOMPAT_BACKEND"] = backend
    record = Path(folder, "outcomes.jsonl")
    record.write_text("")
    options = [
        "-q",
        "-o",
        "addopts=--strict-markers",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--interop-record={record}",
    ]
    if left_out is not None:
        tests = sorted({test for test, _ in left_out})
        options += ["--interop-only", json.dumps(tests)]
    command = [sys.executable, "-m", "pytest", __file__, *options]
    with Path(folder, "output.txt").open("w") as output:
        subprocess.run(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False
        )
    records = [json.loads(line) for line in record.read_text().splitlines()]
    return {r["test"].split("::", 1)[1]: r for r in records}, json.loads(
        Path(folder, "failed.json").read_text()
    )


def of_streams(file, folder):
    """The assertions of a file that compare with numbers of NumPy's streams, as [test, line]; they
    are kept below `build/interop`.
    """
    kept = LOGS / "streams" / f"{file.replace('/', '.')}.json"
    if not kept.exists() or json.loads(kept.read_text())["numpy"] != onp.__version__:
        kept.parent.mkdir(parents=True, exist_ok=True)
        places = {
            tuple(place) for shift in SHIFTS for place in run(file, REFERENCE, folder, shift)[1]
        }
        kept.write_text(json.dumps({"numpy": onp.__version__, "places": sorted(places)}))
    return json.loads(kept.read_text())["places"]


def cases_by_function(tests, of):
    """The tests as patterns of `exclusions.toml`, where `of` are all tests of the file."""
    functions = defaultdict(set)
    for test in of:
        functions[function_of(test)].add(test)
    whole = {name for name, cases in functions.items() if cases <= tests}
    patterns = {name if functions[name] == {name} else f"{name}[[]*" for name in whole}
    return sorted(
        patterns
        | {
            test.replace("[", "?").replace("]", "?")
            for test in tests
            if function_of(test) not in whole
        }
    )


def main():
    """Print the patterns, and what fails for other reasons."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.interop.streams", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="part of the path of the files to look at (default: all of `random`)",
    )
    parser.add_argument("--backend", default="numpy", help="where npcompat runs (default: numpy)")
    options = parser.parse_args()
    for file in numpys_files():
        if not file.startswith("numpy/random/") or not any(
            part in file for part in options.files or [""]
        ):
            continue
        reference = Suite(file, REFERENCE)
        if reference.ended is None:
            reference.run(minutes=60)
        passing = {
            test.split("::", 1)[1]
            for test, outcome in reference.outcomes().items()
            if outcome == "passed"
        }
        if not passing:
            continue
        with tempfile.TemporaryDirectory() as folder:
            left_out = [place for place in of_streams(file, folder) if place[0] in passing]
            compared = {test for test, _ in left_out}
            outcomes, failed = (
                run(file, options.backend, folder, left_out=left_out) if compared else ({}, [])
            )
        passed = {test for test in compared if outcomes.get(test, {}).get("outcome") == "passed"}
        hashed = {test for test in compared if outcomes.get(test, {}).get("message") == HASHED}
        only_numbers = passed & {test for test, _ in failed} | hashed
        print(f'"{file}" = {json.dumps(cases_by_function(only_numbers, passing))}', flush=True)
        for test in sorted(compared - passed - hashed):
            print(f"#   {test}: {outcomes.get(test, {}).get('message', 'not reached')}")


if __name__ == "__main__":
    main()
