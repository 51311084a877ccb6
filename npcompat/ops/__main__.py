"""What the declarations say, on the terminal: `python -m npcompat.ops cumsum`, `python -m npcompat.ops --list --level 1`."""

import argparse
import sys

import npcompat.gluon  # declares operators, too
from npcompat import ops
from npcompat._internal.errors import OperatorError
from npcompat._internal.op import PATTERNS
from npcompat.ops._manual import page

assert npcompat.gluon


def main() -> int:
    """Print pages or the list; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m npcompat.ops", description="Manual pages of the operators.")
    parser.add_argument("names", nargs="*", help="operators, such as cumsum or _npx_softmax")
    parser.add_argument("--list", action="store_true", help="list the operators")
    parser.add_argument("--level", type=int, choices=(1, 2), help="list those of a support level: 1 on all backends, 2 on one")
    parser.add_argument("--pattern", choices=PATTERNS, help="list those of a pattern")
    parser.add_argument("--backend", choices=("jax", "numpy"), help="list those that have a kernel on a backend")
    asked = parser.parse_args()
    if asked.list or not asked.names:
        for d in ops.list(pattern=asked.pattern, level=asked.level, backend=asked.backend):
            print(f"{d.name:40} {d.pattern:12} level {d.level}  {d.public or ''}")
    for name in asked.names:
        try:
            operator = ops.get(name if name.startswith("_") else f"_npi_{name}")
        except OperatorError:
            try:
                operator = ops.get(f"_npx_{name}")
            except OperatorError as error:
                print(error, file=sys.stderr)
                return 1
        print(page(operator.declaration))
    return 0


if __name__ == "__main__":
    sys.exit(main())
