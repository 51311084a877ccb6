"""python -m benchmarks [name ...] [--seconds S] [--json FILE]: all benchmarks, or those named."""

import argparse
import json
from pathlib import Path

from benchmarks import dispatch, hybridized, import_time, inplace, recording, training_step

BENCHMARKS = {
    "dispatch": dispatch.run,
    "host": dispatch.run_on_host,
    "recording": recording.run,
    "inplace": inplace.run,
    "hybridized": hybridized.run,
    "step": training_step.run,
    "import": import_time.run,
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="which to run (default: all)")
    parser.add_argument("--seconds", type=float, default=0.3, help="time spent on each function that is measured")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    figures = {}
    for name in options.names or BENCHMARKS:
        print(f"--- {name}")
        figures[name] = BENCHMARKS[name](options.seconds)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
