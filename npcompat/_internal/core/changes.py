"""Counter of attribute changes of blocks, optimizers and parameters.

A compiled program that depends on such objects compares this one number first. It checks its guards
on them only if the number has changed.
"""

from pathlib import Path
from typing import Any, ClassVar, Protocol

count = [0]
"""Number of changes so far; a list, because the C guards read the number in place."""
_PACKAGE = Path(__file__).parents[2]
_OWNED = tuple(
    [
        str(_PACKAGE / name)
        for name in ("gluon", "optimizer", "lr_scheduler.py", "amp", "initializer")
    ]
)


class Tracked(Protocol):
    """Object that a traced function may depend on: each attribute that is set is counted."""

    _untracked: ClassVar[frozenset[str]]
    _registries: ClassVar[tuple[str, ...]]


class Counted:
    """Base class of objects whose attribute changes are counted."""

    _untracked: ClassVar[frozenset[str]] = frozenset()
    _registries: ClassVar[tuple[str, ...]] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        note()

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        note()


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


__all__ = ["Counted", "Tracked", "count", "is_owned", "is_tracked", "is_tracked_class", "note"]
