"""Changes of npcompat's own objects, which compiled programs look at.

Blocks, optimizers and parameters count here each attribute that is set. So a program that depends on
some of them looks at these only when the count is another one.
"""

from pathlib import Path
from typing import Any, ClassVar, Protocol

count = [0]
"""Number of changes so far, in a list that others read in place."""
_PACKAGE = Path(__file__).parents[2]
_OWNED = tuple(
    [
        str(_PACKAGE / name)
        for name in ("gluon", "optimizer", "lr_scheduler.py", "amp", "initializer")
    ]
)


class Tracked(Protocol):
    """Object whose attributes decide on what a traced function computes."""

    _untracked: ClassVar[frozenset[str]]
    _registries: ClassVar[tuple[str, ...]]


def note() -> None:
    """Count a change."""
    count[0] += 1


def is_tracked_class(kind: type) -> bool:
    """Return True for classes whose instances count their changes."""
    return hasattr(kind, "_untracked")


def is_tracked(value: Any) -> bool:
    """Return True for objects that count their changes."""
    return hasattr(type(value), "_untracked")


def is_owned(filename: str) -> bool:
    """Return True for npcompat's files in which such objects are used."""
    return filename.startswith(_OWNED)


__all__ = ["Tracked", "count", "is_owned", "is_tracked", "is_tracked_class", "note"]
