"""Measurements that need a fresh process, which prints a figure as its last line."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def figure(arguments: Sequence[str], **environment: str) -> float:
    """Run Python with some arguments; return the number on its last line. Bytecode is cached."""
    return float(output(arguments, **environment).split()[-1])


def output(arguments: Sequence[str], limit: float | None = None, **environment: str) -> str:
    """Run Python with some arguments, for `limit` seconds at most; return what it prints."""
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
        timeout=limit,
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def in_turn(processes: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[float]]:
    """Return the figures of processes that are run in turn.

    A first round is not counted; it leaves their files cached.
    """
    samples: dict[str, list[float]] = {name: [] for name in processes}
    for _ in range(rounds + 1):
        for name, arguments in processes.items():
            samples[name].append(figure(arguments))
    return {name: found[1:] for name, found in samples.items()}
