"""What can be measured once in a process only: fresh processes print a figure as their last line."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def figure(arguments: Sequence[str], **environment: str) -> float:
    """The number that Python, run with some arguments, prints last; bytecode is compiled and kept."""
    variables = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    } | environment
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=variables,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def in_turn(processes: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[float]]:
    """The figures of some processes, run in turn a number of times after one that is not counted
    and leaves its files cached.
    """
    samples: dict[str, list[float]] = {name: [] for name in processes}
    for _ in range(rounds + 1):
        for name, arguments in processes.items():
            samples[name].append(figure(arguments))
    return {name: found[1:] for name, found in samples.items()}
