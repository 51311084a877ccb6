"""npcompat's arrays as operands of SciPy's sparse arrays, which ask whether an operand is NumPy's.

Else they take a 0-d array for a matrix, whose shape does not fit, or compute in another format.
"""

import importlib
from collections.abc import Iterator
from typing import Any

from npcompat._libraries.replacing import replace

METHODS = (
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__truediv__",
    "__rtruediv__",
    "__pow__",
    "__setitem__",
    "divide",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "setdefault",
)
"""Methods that ask, in whichever class defines them."""


def _classes(kind: Any) -> Iterator[Any]:
    yield kind
    for other in kind.__subclasses__():
        yield from _classes(other)


_library = importlib.import_module("scipy.sparse")
_common = {
    c
    for kind in (_library.sparray, _library.spmatrix)
    for made in _classes(kind)
    for c in made.__mro__
    if c.__module__.startswith("scipy.sparse.")
}
for _class in sorted(_common, key=lambda c: c.__qualname__):
    for _name in METHODS:
        if _name in vars(_class):
            replace(_class.__module__, f"{_class.__qualname__}.{_name}")

__all__: list[str] = []
