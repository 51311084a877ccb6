"""State of Python objects that functions may have read while they were traced, and its first values."""

import threading
import types
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.compile import snapshots
from npcompat._internal.compile.attribute_guards import (
    DYNAMIC,
    MISSING,
    attribute_guard,
    attributes,
    class_guard,
    found_in_class,
    is_of_library,
    lacks_nothing,
    may_be_hidden,
    state_of,
)
from npcompat._internal.compile.names_in_code import MUTATORS, asked_of
from npcompat._internal.compile.snapshots import ATTRIBUTE, CHECK, LACKS, MAPPING, Guard
from npcompat._internal.core import changes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.support.errors import CompileWarning, user_location

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_IMMUTABLE = frozenset((*_PLAIN, range, slice, onp.dtype))
_LARGEST = 10_000
"""Maximum number of items of a container into which guards descend; those of longer ones are only
compared by identity."""
_DEEPEST = 100
_MOST = 20_000
"""Maximum number of objects with guards: each is compared at each call."""

_OVERRIDDEN = ("forward", "hybrid_forward")
"""Methods of blocks that an instance may replace."""
ALL = "any attribute"
"""Key of the guard on all attributes of an object, also on attributes added later."""
ALL_NAMES = "all names"
"""Key of the guard on which attributes an object has."""


@dataclass(slots=True)
class Noted:
    """An object that a traced function may have read, with the guards on its state.

    The guard on all items of a container has the key None. `names` are those that were looked for,
    and `size` is the number of attributes and items then.
    """

    value: Any
    guards: dict[Any, Guard] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    size: int = -1


@dataclass(slots=True)
class Lacking:
    """Names that an object, or a module, may lack; `state` are its attributes."""

    value: Any
    state: dict[str, Any]
    names: set[str] = field(default_factory=set)


class NotedState:
    """State that a traced function may read, noted when a function was called that names it.

    Objects are known by id, and held, so that no other takes their place in memory. `classes` are
    the guards on classes, also of objects that the trace has made. `owned` are objects of
    npcompat's own classes with their attributes. `streams` and `iterators` are positions
    that a trace should leave alone. `cached` are functions whose results a cache has, which are
    still to be looked into.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.objects: dict[int, Noted] = {}
        self.classes: dict[int, dict[Any, Guard]] = {}
        self.lacking: dict[int, Lacking] = {}
        self.owned: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.streams: list[tuple[Any, Callable[[], Any], Any, str]] = []
        self.iterators: dict[int, Any] = {}
        self.cached: list[Any] = []
        self._warned: set[str] = set()

    def note(self, value: Any, names: set[str], depth: int = 0) -> None:
        """Note the first values of the items and attributes of an object.

        Functions may read on from what others have read, so that what is known is looked into
        again for names that are new.
        """
        if holds_no_state(value):
            return
        if depth > _DEEPEST:
            self._warn_of_unseen(f"objects that are nested more than {_DEEPEST} deep")
            return
        found = self.objects.get(id(value))
        is_known = found is not None
        if found is None:
            found = self._begun(value)
            if found is None:
                return
        size = _size(value)
        if found.size != size:  # it has other attributes or items than before
            found.size = size
            found.names.clear()
        new = names - found.names
        if is_known and not new:
            return
        found.names |= new
        guards = found.guards
        held = [g[3] for key, g in guards.items() if key is not None and key is not ALL]
        held += [g[3] for g in self._of_class(value).values()]
        if None in guards:
            for item in self._items(value):
                self.note(item, new, depth + 1)
            if state_of(value) is None:
                return
        held += self._note_attributes(value, new, found)
        every = {*found.names}
        for part in held:
            self.note(part, every, depth + 1)

    def _begun(self, value: Any) -> Noted | None:
        """Begin to note an object; return None if there are too many."""
        if len(self.objects) >= _MOST:
            self._warn_of_unseen(f"what is in more than {_MOST} objects")
            return None
        found = self.objects[id(value)] = Noted(value)
        whole = snapshots.contents(value)
        if whole is not None:
            found.guards[None] = whole
        if isinstance(value, snapshots.CACHE):
            self.cached.append(value.__wrapped__)
        stream = snapshots.stream(value)
        if stream is not None:
            self.streams.append(stream)
        at = snapshots.position(value)
        if at is not None:
            self.iterators[id(value)] = at
        return found

    def _items(self, container: Any) -> list[Any]:
        items = snapshots.items(container)
        if len(items) <= _LARGEST:
            return items
        if any([type(item) not in _IMMUTABLE for item in items]):
            kind = type(container).__name__
            self._warn_of_unseen(f"what is in the items of a {kind} of {len(items)}")
        return []

    def _note_attributes(self, value: Any, new: set[str], found: Noted) -> list[Any]:
        """Add guards on the attributes of an object with new names; return what was found there."""
        guards = found.guards
        if changes.is_tracked(value):
            self.note_owned(value)
        state = state_of(value)
        if new & DYNAMIC and state is not None:
            if not changes.is_tracked(value) and not isinstance(value, types.ModuleType | type):
                guards.setdefault(ALL, (MAPPING, state, ALL, dict(state)))
        if isinstance(value, types.SimpleNamespace) and state is not None:
            new = new | state.keys()  # all of which `==` and `repr` read, in C
            guards.setdefault(ALL_NAMES, snapshots.names(state))
        asked = asked_of(new)
        if asked:
            self._note_without(value, asked)
        held = []
        read = [*attributes(value, new)]
        if state is not None and not isinstance(value, types.ModuleType | type):
            self.absent(value, state, {n for n in read if may_be_hidden(value, n)} - state.keys())
        for name in read:
            guard = attribute_guard(value, name)
            if guard is not None and name not in guards:
                guards[name] = guard
                held.append(guard[3])
            guard = class_guard(value, name)
            if guard is not None:
                of_class = self._of_class(value)
                held.append(of_class.setdefault(name, guard)[3])
        if "super" in found.names:
            _add_inherited(value, found.names if "super" in new else new, self._of_class(value))
        return held

    def _of_class(self, value: Any) -> dict[Any, Guard]:
        """Return the guards on a class, or on that of an object."""
        kind = value if isinstance(value, type) else type(value)
        return self.classes.setdefault(id(kind), {})

    def _note_without(self, value: Any, names: set[str]) -> None:
        """Note attributes that an object lacks, for which code asks, or catches an error."""
        kind = value if isinstance(value, type) else type(value)
        missing = {n for n in names if found_in_class(kind, n)[1] is MISSING}
        if missing and not is_of_library(kind):
            text = f"class {kind.__name__} has an attribute that was not there before"
            new = (CHECK, _ClassLacks(kind), text, None)
            self._of_class(value).setdefault(LACKS, new)[1].names |= missing
        state = state_of(value)
        if state is None or isinstance(value, type) or lacks_nothing(value):
            return
        self.absent(value, state, missing - state.keys())

    def absent(self, value: Any, state: dict[str, Any], names: set[str]) -> None:
        """Note names that an object or the variables of a module lack."""
        if isinstance(value, threading.local):
            for name in names:
                text = f"attribute {name!r} was not there before"
                check = partial(_is_missing, value, name)
                self.objects[id(value)].guards[LACKS, name] = (CHECK, check, text, None)
            return
        self.lacking.setdefault(id(value), Lacking(value, state)).names |= names

    def note_owned(self, value: Any) -> None:
        """Note the attributes of an object of npcompat's own classes."""
        if id(value) not in self.owned:
            state = {k: v for k, v in vars(value).items() if k not in value._untracked}
            self.owned[id(value)] = value, state
            absent = [n for n in _OVERRIDDEN if n not in state and hasattr(value, n)]
            self.absent(value, vars(value), {*absent})
            for registry in value._registries:
                held = state.get(registry)
                if held is not None:
                    self.owned[id(held)] = held, dict(held)

    def _warn_of_unseen(self, what: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(
                CompileWarning(
                    f"{user_location()}: {self._name} may read {what}, whose changes compiled calls "
                    "don't see. Pass what it reads as an argument"
                ),
                stacklevel=2,
            )


class _ClassLacks:
    """Check that a user's class and its bases still lack names."""

    __slots__ = ("_attributes", "names")

    def __init__(self, kind: type) -> None:
        self._attributes = [vars(k) for k in kind.__mro__ if not is_of_library(k)]
        self.names = set[str]()

    def __call__(self) -> bool:
        return all([self.names.isdisjoint(attributes) for attributes in self._attributes])


def _is_missing(value: Any, name: str) -> bool:
    return not hasattr(value, name)


def _size(value: Any) -> int:
    """Return the number of attributes and items of an object."""
    items = len(value) if type(value) in (list, dict, set, deque) else 0
    return items + len(state_of(value) or ())


def _add_inherited(value: Any, names: set[str], guards: dict[Any, Guard]) -> None:
    """Add guards on what the base classes have under names, which `super()` finds."""
    for klass in type(value).__mro__[1:]:
        for name in names & vars(klass).keys() if not is_of_library(klass) else ():
            guards[name, klass] = (ATTRIBUTE, klass, name, getattr(klass, name))


def holds_no_state(value: Any) -> bool:
    """Return True for arrays, which are operands, and for what can't change or is only written."""
    kind = type(value)
    if kind is types.BuiltinFunctionType:
        owner = value.__self__
        return (
            owner is None
            or isinstance(owner, type | types.ModuleType)
            or value.__name__ in MUTATORS
        )
    return kind in _IMMUTABLE or isinstance(value, Handle | TracedNumber)


__all__ = ["ALL", "Lacking", "Noted", "NotedState", "holds_no_state"]
