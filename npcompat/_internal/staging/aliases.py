"""Aliasing of arrays between variables, detected by reference counts."""

import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core import modes
from npcompat._internal.core.handle import extra
from npcompat._internal.dispatch import late_bound
from npcompat._internal.staging.carried import MaybeBound
from npcompat._internal.staging.containers import class_of, is_container, items_of, made_of
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


def stand_for_shared(proxies: Sequence[Any], shared: Sequence[bool]) -> None:
    """Note which arrays of a round stand for ones that have other names."""
    trace: Any = modes.current().trace
    standing = trace.notes.setdefault(_STANDING, {})
    for proxy, flag in zip(proxies, shared, strict=False):  # blank ones stand for nothing
        if flag:
            standing[id(proxy)] = weakref.ref(proxy)


def readonly_of(value: Any) -> list[bool | str]:
    """Return for each array in a value whether it is read-only, or the reason."""
    return [a._extra is not None and a._extra.readonly for a in arrays_in(value)]


def selected_of(value: Any) -> list[str]:
    """Return for each array in a value why it is read-only if data have selected it, else ''."""
    return [reason if type(reason) is str else "" for reason in readonly_of(value)]


def arrays_in(value: Any) -> list[Any]:
    """Return the writeable arrays in a value."""
    if is_container(value):
        return [h for item in items_of(value) for h in arrays_in(item)]
    if type(value) is MaybeBound:
        return arrays_in(value.value)
    return [value] if type(value) is late_bound.ndarray else []


def with_arrays(value: Any, others: Iterator[Any]) -> Any:
    """Return a value with other arrays in place of those in `arrays_in`, unless they are None."""
    if is_container(value):
        items = [with_arrays(item, others) for item in items_of(value)]
        return made_of(class_of(value), items)
    if type(value) is MaybeBound:
        return MaybeBound(value.name, with_arrays(value.value, others), value.bound)
    other = next(others) if type(value) is late_bound.ndarray else None
    return value if other is None else other


def shared_arrays(container: Sequence[Any], i: int) -> list[bool]:
    """Return for each array in an item True if it, or a container that it is in, has other names."""
    kind = type(container[i])
    if kind is late_bound.ndarray:
        return [is_shared(container, i)]
    if not is_container(container[i]) and kind is not MaybeBound:
        return []
    outer = is_shared(container, i)
    items = [container[i].value] if kind is MaybeBound else items_of(container[i])
    with holding(items):
        found = [flag for j in range(len(items)) for flag in shared_arrays(items, j)]
    return [outer or flag for flag in found]


def has_shared_list(container: Sequence[Any], i: int) -> bool:
    """Return True if an item is a list or dict that has other names, or contains one."""
    kind = type(container[i])
    if kind in (list, dict) and _references(container, i) > _NONE + 1:
        return True
    if kind is not MaybeBound and not is_container(container[i]):
        return False
    items = [container[i].value] if kind is MaybeBound else items_of(container[i])
    with holding(items):
        return any([has_shared_list(items, j) for j in range(len(items))])


def refuse_shared_lists(container: Sequence[Any], i: int, name: str) -> None:
    """Refuse to carry a list or dict that has other names, which would not see what becomes of it."""
    if has_shared_list(container, i):
        refuse(
            f"{name} is a list or dict that has another name, too, or holds one, and a loop or "
            "branch binds it anew; use a tuple"
        )


def become_read_only(merged: Any, container: Sequence[Any], i: int) -> None:
    """Make arrays that data select from old and new ones read-only, where the old one is shared, or
    was itself selected from a shared one.

    A write would have to reach the old array only if it was selected.
    """
    shared, before = shared_arrays(container, i), selected_of(container[i])
    if not any(shared) and not any(before):
        return
    now = _reason()
    reasons = [reason or (now if flag else "") for reason, flag in zip(before, shared, strict=True)]
    made = arrays_in(merged)
    alike = len(made) == len(reasons)
    tie(made, reasons if alike else [next(filter(None, reasons))] * len(made))
    trace: Any = modes.current().trace
    for old, flag, reason in zip(arrays_in(container[i]), shared, reasons, strict=True):
        if flag:
            trace.refuse_writes(old, reason)


def refusals(trace: Any) -> list[tuple[Any, str]]:
    """Return the arrays that a run of a body or arm has made read-only, and why.

    Where a variable leaves the run that may be one of them, they stay read-only after it.
    """
    return [(array, array._extra.readonly) for array in trace.refused]


def become_one_of(merged: Any, named: Sequence[Any]) -> None:
    """Make arrays that data select, and those with other names that they may be, read-only.

    A write of the one would have to reach the other only if it was selected.
    """
    made = arrays_in(merged)
    tie(made, [_reason()] * len(made))
    trace: Any = modes.current().trace
    while trace.outer is not None:
        trace = trace.outer
    for array in named:
        trace.refuse_writes(array, _reason())


def _reason() -> str:
    return (
        f"{user_location()}: this array is written, and data, which are not known while the "
        "function is being compiled, have decided before whether it is a new array, or one "
        "that has another name, too, which would see the write; use a copy of it"
    )


def tie(arrays: Sequence[Any], reasons: Sequence[bool | str]) -> None:
    """Make arrays read-only, each for its reason, if it has one."""
    for array, reason in zip(arrays, reasons, strict=False):
        if reason:
            extra(array).readonly = reason


__all__ = [
    "arrays_in",
    "become_one_of",
    "become_read_only",
    "holding",
    "is_shared",
    "readonly_of",
    "refusals",
    "refuse_shared_lists",
    "selected_of",
    "shared_arrays",
    "stand_for_shared",
    "tie",
    "with_arrays",
]
