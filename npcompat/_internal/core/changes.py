"""Counter of attribute changes of blocks, optimizers and parameters.

A compiled program that depends on such objects compares this one number first. It checks its guards
on them only if the number has changed.
"""

from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Protocol

count = [0]
"""Number of changes so far; a list, because the C guards read the number in place."""
forms = [0]
"""Number of arrays so far that were given another shape, dtype or strides."""
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


def _counting(name: str) -> Any:
    method = getattr(dict, name)

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        note()
        return method(self, *args, **kwargs)

    return call


class CountedDict(dict[Any, Any]):
    """Dict whose changes are counted: the children of a block, from which programs may pop one."""

    __setitem__, __delitem__ = _counting("__setitem__"), _counting("__delitem__")
    __ior__, update, setdefault = map(_counting, ("__ior__", "update", "setdefault"))
    clear, pop, popitem = map(_counting, ("clear", "pop", "popitem"))


def note() -> None:
    """Count a change."""
    count[0] += 1


def note_form() -> None:
    """Count an array with another shape, dtype or strides."""
    forms[0] += 1
    note()


def is_tracked_class(kind: type) -> bool:
    """Return True for classes whose instances count their changes."""
    return hasattr(kind, "_untracked")


def is_tracked(value: Any) -> bool:
    """Return True for objects that count their changes."""
    return hasattr(type(value), "_untracked")


def is_owned(filename: str) -> bool:
    """Return True for npcompat's files in which such objects are used."""
    return filename.startswith(_OWNED)


__all__ = [
    "Counted",
    "CountedDict",
    "Tracked",
    "count",
    "forms",
    "is_owned",
    "is_tracked",
    "is_tracked_class",
    "note",
    "note_form",
]
