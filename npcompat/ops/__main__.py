"""Command line of the operators' manual.

`python -m npcompat.ops cumsum`, `--list --level 1`, `--write docs/operators`. `--numpy-names
docs/numpy_names.md` writes the status of every name of NumPy.
"""

import argparse
import sys

from npcompat import ops
from npcompat._internal.core.op import PATTERNS, PREFIXES, REGISTRY
from npcompat._internal.support import atomic_file
from npcompat._internal.support.errors import OperatorError
from npcompat.ops import _numpy_names
from npcompat.ops._declarations import LEVELS
from npcompat.ops._manual import page, write


def main() -> int:
    """Print pages or the list, or write the manual; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m npcompat.ops", description="Manual pages of the operators."
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="operators or functions, such as cumsum, _npx_softmax or np.random.beta",
    )
    parser.add_argument("--list", action="store_true", help="list the operators")
    levels = "; ".join(f"{level}: {meaning}" for level, meaning in LEVELS.items())
    parser.add_argument(
        "--level", type=int, choices=tuple(LEVELS), help=f"list those of a support level ({levels})"
    )
    parser.add_argument("--pattern", choices=PATTERNS, help="list those of a pattern")
    parser.add_argument(
        "--backend", choices=("jax", "numpy"), help="list those that have a kernel on a backend"
    )
    parser.add_argument("--write", metavar="FOLDER", help="write the manual into a folder")
    parser.add_argument(
        "--numpy-names", metavar="FILE", help="write the status of every name of NumPy into a file"
    )
    asked = parser.parse_args()
    if asked.numpy_names:
        atomic_file.write(asked.numpy_names, _numpy_names.page().encode())
        return 0
    if asked.write:
        print("\n".join(write(asked.write)) or "nothing has changed")
        return 0
    if asked.list or not asked.names:
        for d in ops.list(pattern=asked.pattern, level=asked.level, backend=asked.backend):
            print(f"{d.name:40} {d.pattern:12} level {d.level}  {d.public or ''}")
    for name in asked.names:
        try:
            print(page(_class_of(name).declaration))
        except OperatorError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


def _class_of(name: str) -> type[ops.Operator]:
    """Return the operator of a registered name, a name without prefix, or a public function."""
    names = [prefix + name for prefix in PREFIXES] + [
        d.name for d in ops.list() if d.public == name
    ]
    return ops.get(next((n for n in names if n in REGISTRY), name))


if __name__ == "__main__":
    sys.exit(main())
