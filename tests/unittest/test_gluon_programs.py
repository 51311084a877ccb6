"""The five programs of `examples/gluon_programs`: eager, hybridized and as one compiled step they
do the same.
"""

import subprocess
import sys
from pathlib import Path

import numpy as onp
import pytest

from examples.gluon_programs import PROGRAMS
from examples.gluon_programs.modes import MODES, Outcome, differences

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_a_program_does_the_same_in_all_modes(name):
    outcomes = {mode: PROGRAMS[name].train(mode, steps=4) for mode in MODES}
    assert [text for text in differences(outcomes, tolerance=2e-3)] == []
    losses = outcomes["eager"].losses
    assert len(losses) == 4 and len(set(losses)) == 4


def test_differences_are_found():
    def outcome(loss=1.0, weight=2.0, score=0.5, draw=0.25):
        return Outcome([3.0, loss], {"w": onp.array([weight, -1.0])}, score, draw)

    def found(other):
        return list(differences({"eager": outcome(), "jit": other}, 1e-3))

    assert found(outcome(loss=1.0005, weight=2.001, score=0.5004)) == []
    assert found(outcome(loss=1.002)) == ["step 2: the loss is 1 eager, 1.002 jit"]
    assert found(outcome(loss=float("nan"))) == ["step 2: the loss is 1 eager, nan jit"]
    assert found(outcome(weight=2.003)) == ["parameter w differs between eager and jit"]
    assert found(outcome(score=0.6)) == ["the score is 0.5 eager, 0.6 jit"]
    assert found(outcome(draw=0.2500001)) == ["the next random number is 0.25 eager, 0.2500001 jit"]
    renamed = outcome()
    renamed.parameters["v"] = renamed.parameters.pop("w")
    assert found(renamed) == ["parameters are ['w'] eager, ['v'] jit"]


def test_the_programs_run_alone():
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "examples.gluon_programs", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )

    done = run("linear regression", "--steps", "2")
    assert (
        done.returncode == 0
        and "all modes agree at every step" in done.stdout
        and "  compiled step" in done.stdout
    )
    refused = run("regression")
    assert (
        refused.returncode == 2
        and "there is no program regression; choose of linear regression, lenet" in refused.stderr
    )
