"""Run NumPy's own tests against npcompat: `python -m tests.interop [--update] [pytest's options]`.

`--update` rewrites `failing.txt` and `pass_counts.toml` from what the run finds. Look at the
difference before you commit it: a count that falls, or a test that is new in the list, is a
regression.
"""

import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "numpy_suite"


def main(arguments):
    """Run pytest on the suite; returns its exit status."""
    update = "--update" in arguments
    chosen = [a for a in arguments if a != "--update"]
    if not any("numpy_suite" in a for a in chosen):
        chosen.append(str(SUITE))
    chosen.append("--interop-slow")
    return pytest.main(
        [*(["--update-interop", "--tb=no", "-q", "-r", ""] if update else []), *chosen]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
