"""Sharing of arrays between variables, found by counting references."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from npcompat._internal.core.handle import extra
from npcompat._internal.dispatch import late_bound

_HOLDERS: ContextVar[tuple[Sequence[Any], ...]] = ContextVar("lists of staging", default=())


@contextmanager
def holding(*containers: Sequence[Any]) -> Iterator[None]:
    """A context in which lists hold arrays that are not to be counted."""
    token = _HOLDERS.set((*_HOLDERS.get(), *containers))
    try:
        yield
    finally:
        _HOLDERS.reset(token)


def _references(container: Sequence[Any], i: int) -> int:
    """References to an item of a list, but for those of lists that are held."""
    held = sum([x is container[i] for c in _HOLDERS.get() for x in c])
    return sys.getrefcount(container[i]) - held


def _calibrated() -> int:
    container = [object()]
    with holding(container):
        return _references(container, 0)


_NONE = _calibrated()
"""References of an item that nobody else has."""


def is_shared(container: Sequence[Any], i: int) -> bool:
    """Return True if somebody has an item of a held list but that list and one variable."""
    return _references(container, i) > _NONE + 1


def become_read_only(merged: Any, container: Sequence[Any], i: int) -> None:
    """Refuse writes to an array that is one of two, as data decide, if somebody else has the old
    one: who writes one of them would write both, or not.
    """
    old = container[i]
    if type(old) is not late_bound.ndarray or type(merged) is not late_bound.ndarray:
        return
    del old
    if is_shared(container, i):
        extra(merged).readonly = True
        extra(container[i]).readonly = True


__all__ = ["become_read_only", "holding", "is_shared"]
