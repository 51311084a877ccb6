"""Report which excluded tests pass by now: `python -m tests.interop.excluded [RULE ...]`.

A pattern of `exclusions.toml` all of whose tests pass on both backends is printed, to be struck
there. Without RULE all rules are looked at but `streams`, whose tests compare recorded draws.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.interop.plugin import exclusion_rules, matches

ROOT = Path(__file__).parents[2]
BACKENDS = "numpy", "jax"
SECONDS_PER_FILE = 1200


def pytest_of(file, backend, *options):
    """Run pytest on one of NumPy's test files; return what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "tests/interop/one_file.py", "-q", "--tb=no", *options],
        env={**os.environ, "NUMPYS_TEST_FILE": file, "NUMPYS_TEST_BACKEND": backend},
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS_PER_FILE,
        check=False,
    ).stdout


def tests_in(file):
    """All tests of a file, as "file::test"."""
    listed = pytest_of(file, "reference", "--collect-only", f"--interop-record={os.devnull}")
    return [f"{file}::{line.split('::', 1)[1]}" for line in listed.splitlines() if "::" in line]


def passing(file, backend, tests):
    """Those of the tests that pass on a backend."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "outcomes"
        only = json.dumps([test.split("::", 1)[1] for test in tests])
        pytest_of(file, backend, f"--interop-record={record}", f"--interop-only={only}")
        lines = record.read_text().splitlines() if record.exists() else []
    found = [json.loads(line) for line in lines]
    return {f["test"] for f in found if f["outcome"] == "passed"}


def main(rules):
    """Print the patterns whose tests all pass, by rule and file."""
    patterns = [
        (r, p) for r, p in exclusion_rules() if r in rules or (not rules and r != "streams")
    ]
    for file in sorted({pattern.split("::")[0] for _, pattern in patterns}):
        mine = [(rule, p) for rule, p in patterns if p.startswith(f"{file}::")]
        excluded = {t for t in tests_in(file) if any(matches(t, p) for _, p in mine)}
        if not excluded:
            print(f"{file}: no test of NumPy's {[p for _, p in mine]}", flush=True)
            continue
        passed = set.intersection(*[passing(file, b, sorted(excluded)) for b in BACKENDS])
        for rule, pattern in mine:
            tests = {test for test in excluded if matches(test, pattern)}
            if tests <= passed:
                print(f"{rule}: {pattern}: {len(tests)} pass", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.interop.excluded", description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="RULE")
    main(parser.parse_args().rules)
