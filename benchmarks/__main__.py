"""Run benchmarks: python -m benchmarks [name ...] [--seconds S] [--json FILE] [--compare OLD].

Without names, all of them.
"""

import argparse
from pathlib import Path
from typing import Any

from benchmarks import (
    devices,
    dispatch,
    first_call,
    gpu,
    hybridized,
    inplace,
    memory,
    numpy_programs,
    recording,
    start_up,
    training_step,
)
from benchmarks.report import compare, save

BENCHMARKS = {
    "dispatch": dispatch.run,
    "recording": recording.run,
    "programs": numpy_programs.run,
    "training": training_step.run,
    "hybridized": hybridized.run,
    "inplace": inplace.run,
    "memory": memory.run,
    "import": start_up.run,
    "first": first_call.run,
    "devices": devices.run,
    "gpu": gpu.run,
}


def main() -> None:
    """Run the benchmarks and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*BENCHMARKS, []], help="which to run (default: all)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=0.1,
        help="time spent on each function that is measured (default: 0.1)",
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="OLD",
        help="say what changed since the figures in this file",
    )
    options = parser.parse_args()
    if options.compare and not options.compare.exists():
        parser.error(f"--compare: there is no file {options.compare}")
    tables: dict[str, Any] = {}
    for name in options.names or BENCHMARKS:
        tables |= BENCHMARKS[name](options.seconds)
        if options.json:
            save(options.json, tables)  # after each, so that an interrupted run keeps its results
    if options.compare:
        compare(options.compare, tables)


if __name__ == "__main__":
    main()
