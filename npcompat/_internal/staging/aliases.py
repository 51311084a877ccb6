"""Aliasing of arrays between variables, detected by reference counts."""

import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.handle import extra
from npcompat._internal.dispatch import late_bound
from npcompat._internal.support.errors import user_location

_HOLDERS: ContextVar[tuple[Sequence[Any], ...]] = ContextVar("lists of staging", default=())


@contextmanager
def holding(*containers: Sequence[Any]) -> Iterator[None]:
    """Exclude the references that these lists hold from the counts inside the context."""
    token = _HOLDERS.set((*_HOLDERS.get(), *containers))
    try:
        yield
    finally:
        _HOLDERS.reset(token)


def _references(container: Sequence[Any], i: int) -> int:
    """Return the number of references to an item of a list, without those of `holding` lists and of
    traces.
    """
    held = sum([x is container[i] for c in _HOLDERS.get() for x in c])
    trace: Any = modes.current().trace
    while trace is not None:
        held += trace.references_to(id(container[i]))
        trace = trace.outer
    return sys.getrefcount(container[i]) - held


def _calibrated() -> int:
    container = [object()]
    with holding(container):
        return _references(container, 0)


_NONE = _calibrated()
"""Number of references to an item that only its list holds."""


def is_shared(container: Sequence[Any], i: int) -> bool:
    """Return True if more than its `holding` list and one variable refer to an item, or to what it
    stands for in a round.
    """
    if _references(container, i) > _NONE + 1:
        return True
    trace: Any = modes.current().trace
    while trace is not None:
        found = trace.notes.get(_STANDING, {}).get(id(container[i]))
        if found is not None and found() is container[i]:
            return True
        trace = trace.outer
    return False


_STANDING = "arrays of a round that stand for shared ones"


def stands_for_shared(proxy: Any, readonly: bool | str) -> None:
    """Note that an array of a round stands for one that has other names, and may be read-only."""
    trace: Any = modes.current().trace
    trace.notes.setdefault(_STANDING, {})[id(proxy)] = weakref.ref(proxy)
    if readonly:
        extra(proxy).readonly = readonly


def readonly_of(value: Any) -> bool | str:
    """Return whether an array is read-only, or the reason."""
    rare = value._extra if type(value) is late_bound.ndarray else None
    return False if rare is None else rare.readonly


def become_read_only(merged: Any, container: Sequence[Any], i: int) -> None:
    """Make an array that data select from an old and a new one read-only, if the old one is shared.

    A write would have to reach the old array only if it was selected.
    """
    old = container[i]
    if type(old) is not late_bound.ndarray or type(merged) is not late_bound.ndarray:
        return
    del old
    if is_shared(container, i):
        reason = (
            f"{user_location()}: this array is written, and data, which are not known while the "
            "function is being compiled, have decided before whether it is a new array, or one "
            "that has another name, too, which would see the write; use a copy of it"
        )
        extra(merged).readonly = reason
        trace: Any = modes.current().trace
        trace.refuse_writes(container[i], reason)


__all__ = ["become_read_only", "holding", "is_shared", "readonly_of", "stands_for_shared"]
