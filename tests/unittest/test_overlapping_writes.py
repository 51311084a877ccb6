"""Compiled writes whose new values come from the same memory, with XLA as users have it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


ALL = [
    *[("float32", 1, part, 4, around) for part in range(4) for around in ("alone", "among")],
    ("float32", 2, 0, 1, "alone"),
    ("float32", 2, 0, 1, "among"),
    ("float64", 1, 0, 5, "alone"),
    ("float64", 2, 1, 3, "among"),
    ("int64", 1, 1, 5, "among"),
    ("int64", 2, 2, 3, "alone"),
    ("complex64", 1, 2, 9, "among"),
]
ALWAYS = {("int64", 2, 2, 3, "alone"), ("complex64", 1, 2, 9, "among")}
"""What is run before each change; XLA is another one only where its version changes."""


@pytest.mark.parametrize(
    ("dtype", "axes", "part", "parts", "around"),
    [case if case in ALWAYS else pytest.param(*case, marks=pytest.mark.slow) for case in ALL],
)
def test_producers_and_writes_equal_numpy(dtype, axes, part, parts, around):
    check("overlapping_writes.py", dtype, *map(str, (axes, part, parts)), around)


def test_writes_of_single_elements_equal_numpy():
    check("overlapping_elements.py")


def check(program, *arguments):
    """Run a program with XLA as users have it, which prints how many results are wrong."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, str(PROGRAMS / program), *arguments],
        capture_output=True,
        text=True,
        timeout=550,
        env=environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.splitlines()[-1].endswith(" 0 wrong"), ran.stdout
