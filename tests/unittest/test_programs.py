"""Random programs on NumPy and in every mode; `python -m tests.programs` runs more of them.

Faults that were mended are put back, and must be found: that is what the machine is worth.
"""

import os
import random
import subprocess
import sys

import pytest

from tests.programs import machine
from tests.programs.mutations import MUTATIONS, mutated

pytestmark = pytest.mark.usefixtures("numpy_mode")
SOON = {
    "memory order of results",
    "order of broadcast arrays",
    "guards",
    "ufuncs where nothing is computed",
}


@pytest.mark.parametrize(
    ("mode", "count"),
    [("host", 300), ("xla", 40), ("compiled", 15), ("gradients", 8), ("state", 8)],
)
def test_programs_agree(mode, count):
    for number in range(count):
        failure = machine.attempt(mode, random.Random(f"tests {number}"))
        assert failure is None, f"\n{failure.text()}"


def command(*arguments):
    """Run the command with XLA as users have it."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    return subprocess.run(
        [sys.executable, "-m", "tests.programs", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment, "PYTHONPATH": os.getcwd()},
    )


def test_what_the_faults_replace_is_there():
    for name in MUTATIONS:
        with mutated(name):
            pass


@pytest.mark.parametrize(
    "name", [n if n in SOON else pytest.param(n, marks=pytest.mark.slow) for n in MUTATIONS]
)
@pytest.mark.timeout(3600)  # those of state are found after up to 425 programs, of 1 s each
def test_faults_that_are_put_back_are_found(name):
    mode, _ = MUTATIONS[name]
    if mode == "sharded":  # in a process with two devices
        found = command("--seed", "1", "--count", "300", "--mutation", name)
        assert f"{name}: found by program" in found.stdout, found.stdout + found.stderr
        return
    with mutated(name):
        for number in range(5000):
            if machine.attempt(mode, random.Random(f"1 {number}"), shrinks=False):
                return
    pytest.fail(f"{name}: not found by 5,000 programs")


def test_what_fails_is_shrunk_and_written_as_a_test():
    with mutated("memory order of results"):
        failure = next(
            f for n in range(500) if (f := machine.attempt("host", random.Random(f"1 {n}")))
        )
        written: dict = {}
        exec(failure.test(), written)
        assert len(failure.lines) <= 4
        with pytest.raises(AssertionError):
            written["test_program"]()
    written["test_program"]()


def test_the_command_runs_all_modes_with_xla_as_users_have_it():
    found = command("--seed", "3", "--count", "12")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "12 programs" in found.stdout and "'sharded': 2" in found.stdout
