"""Snapshots of mutable Python objects, with which guards compare them: containers, buffers, arrays
of NumPy's, context variables; and the positions of iterators and random streams, which a trace
should leave alone.
"""

import gc
import io
import operator
import os
import random
import time
import types
import warnings
import weakref
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any

import numpy as onp

from npcompat._internal.native import fast_path

ITEM, SEQUENCE, MAPPING, ATTRIBUTE, CHECK, LACKS = range(6)
"""Kinds of guards: an item of a dict, all items of a list or a dict, an attribute, a predicate, keys
that a dict lacks."""

Guard = tuple[int, Any, Any, Any]
"""Kind, object, key, and the value that was found there."""

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_MAPPINGS = (
    types.MappingProxyType,
    UserDict,
    ChainMap,
    OrderedDict,
    type(os.environ),
    weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary,
)
_LISTED = (*_VIEWS, *_MAPPINGS, UserList, ContextVar)
"""Containers of the standard library whose items are listed to compare them."""
_BOUND = (types.BuiltinMethodType, types.MethodWrapperType)
CACHE = type(lru_cache(lambda: None))
"""Class of functions with a cache of `functools`."""
_HOLDERS = (weakref.ref, CACHE, partial, *_BOUND)
"""Objects that hold others, and are the same ones as long as they do."""
_NOTHING: Any = object()


def contents(value: Any) -> Guard | None:
    """Return the guard on all items of a container; None for other objects."""
    if isinstance(value, list):
        return (SEQUENCE, value, None, tuple(list.__iter__(value)))  # the class may have another
    if isinstance(value, dict) and not isinstance(value, OrderedDict):
        return (MAPPING, value, None, dict(dict.items(value)))
    if isinstance(value, weakref.ref):
        lives = value() is not None
        return (CHECK, lambda: (value() is not None) == lives, "a weak reference is dead", None)
    if isinstance(value, weakref.WeakKeyDictionary | weakref.WeakValueDictionary):
        pairs = _weakly(value)
        return (
            CHECK,
            lambda: _weakly(value) == pairs,
            f"a {type(value).__name__} has other items",
            None,
        )
    if isinstance(value, CACHE):
        return (CHECK, _Results(value), "a cache of functools has other results", None)
    if isinstance(value, (tuple, frozenset, *_HOLDERS)):
        return (CHECK, _always, f"a {type(value).__name__}", None)
    if isinstance(value, weakref.WeakSet):
        held = {*map(id, value)}
        return (CHECK, lambda: {*map(id, value)} == held, "a WeakSet has other items", None)
    if isinstance(value, set):
        return (CHECK, _same_set(value), "a set has other items", None)
    if isinstance(value, deque):
        return (CHECK, partial(_has_items, value, tuple(value)), "a deque has other items", None)
    if isinstance(value, _LISTED):
        same = partial(_lists, value, tuple(_listed(value)))
        return (CHECK, same, f"a {type(value).__name__} has other items", None)
    if isinstance(value, onp.ndarray):
        return (CHECK, _same_array(value), "an array of NumPy's has other elements", None)
    data = _memory(value)
    if data is not None:
        check = partial(_holds_memory, value, data)
        return (CHECK, check, f"the memory of a {type(value).__name__} has changed", None)
    return None


def can_fail(guard: Guard) -> bool:
    """Return True for guards to check; asked once, after the trace."""
    check = guard[1]
    if type(check) in (_Results, _Names):
        return bool(check.note_after())
    return check is not _always


def names(state: dict[str, Any]) -> Guard:
    """Return the guard on which attributes an object has, given its attributes."""
    return (CHECK, _Names(state), "an object has other attributes", None)


class _Names:
    """Check that an object has the attributes that it had before a trace, which may have added some."""

    __slots__ = ("_before", "_state")

    def __init__(self, state: dict[str, Any]) -> None:
        self._state, self._before = state, {*state}

    def note_after(self) -> bool:
        """Return True if the trace has left the attributes as they were."""
        return self()

    def __call__(self) -> bool:
        return self._state.keys() == self._before


def items(value: Any) -> list[Any]:
    """Return the items of a container, into which guards descend."""
    if isinstance(value, dict):
        keys = [key for key in dict.keys(value) if type(key) is not str]
        return [*dict.values(value), *keys]
    if isinstance(value, list):
        return [*list.__iter__(value)]
    if isinstance(value, tuple | set | frozenset | deque | weakref.WeakSet):
        return [*value]
    if isinstance(value, _HOLDERS):
        return _held(value)
    if type(value) is onp.ndarray and value.dtype.hasobject:
        return [*value.flat]
    return _listed(value)[1::2] if isinstance(value, _LISTED) else []


def _held(value: Any) -> list[Any]:
    """Return what a weak reference refers to, a method of Python's is bound to, a partial function
    is given, or what a cache of `functools` remembers.
    """
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, _BOUND):
        return [value.__self__]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    return _results(value)


def _results(cache: Any) -> list[Any]:
    """Return what a cache of `functools` remembers, and the function itself if it is bounded."""
    held = [h for h in gc.get_referents(cache) if h is not cache.__dict__]
    if not cache.cache_info().currsize:
        return []
    if cache.cache_parameters()["maxsize"] is None:
        return [result for found in held if type(found) is dict for result in found.values()]
    return [h for h in held if type(h) is not dict or not h or not all(map(_is_link, h.values()))]


class _Results:
    """Check that a cache of `functools` holds the results that a trace has found there.

    It fails where the trace itself has put in results that can change: later calls find them.
    """

    __slots__ = ("_after", "_before", "_cache", "_made")

    def __init__(self, cache: Any) -> None:
        self._cache, self._before = cache, {*map(id, _results(cache))}
        self._after: dict[int, Any] = {}
        self._made = False

    def note_after(self) -> bool:
        """Note the results after the trace; return True if there is one that can change."""
        self._after = {id(r): r for r in _results(self._cache) if _may_change(r)}
        self._made = not self._before.issuperset(self._after)
        return bool(self._after)

    def __call__(self) -> bool:
        return not self._made and self._after.keys() <= {*map(id, _results(self._cache))}


_UNCHANGING = (bool, int, float, complex, str, bytes, type(None), type, types.FunctionType)


def _may_change(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_may_change, value))
    return type(value) is not object and not isinstance(value, _UNCHANGING) and not _is_link(value)


def _is_link(value: Any) -> bool:
    """Return True for an entry of a bounded cache, which refers to its results itself, too."""
    return type(value).__name__ == "_lru_list_elem"


def _listed(value: Any) -> list[Any]:
    """Return keys and items in turn; a list has no keys, a context variable one item."""
    pairs: Any = [(None, item) for item in value] if isinstance(value, UserList) else ()
    if isinstance(value, ContextVar):
        pairs = [(None, value.get(_NOTHING))]
    elif isinstance(value, _MAPPINGS):
        pairs = value.items()
    elif type(value) in _VIEWS:
        pairs = value if type(value) is _VIEWS[2] else [(None, item) for item in value]
    return [x for pair in pairs for x in pair]


def _has_items(value: Any, before: tuple[Any, ...]) -> bool:
    return fast_path.guards_hold(((SEQUENCE, [*value], None, before),))


def _same_set(members: set[Any]) -> Callable[[], bool]:
    """Return the check that a set has the same members: True is not 1, nor 0.0 -0.0."""
    copy, kinds = set(members), {*map(type, members)}
    if len(kinds) < 2 and kinds.isdisjoint((float, complex, tuple, frozenset)):
        return lambda: members == copy and {*map(type, members)} == kinds
    exact = {*map(_exact, members)}
    return lambda: {*map(_exact, members)} == exact


def _exact(member: Any) -> Any:
    """Return something that tells a member from equal ones of other classes, and from other zeros."""
    if isinstance(member, tuple | frozenset):
        return type(member), type(member)(map(_exact, member))
    return type(member), repr(member) if isinstance(member, float | complex) else member


def _weakly(value: Any) -> list[tuple[int, int]]:
    """Return the identities of the items of a weak dict, which a guard must not keep alive."""
    return [(id(key), id(item)) for key, item in value.items()]


def _lists(value: Any, before: Sequence[Any]) -> bool:
    return fast_path.guards_hold(((SEQUENCE, _listed(value), None, before),))


def _memory(value: Any) -> bytes | None:
    """Return the bytes of an object whose memory Python can look at, as of `array` and `ctypes`."""
    if isinstance(value, bytes):
        return None
    try:
        return memoryview(value).tobytes()
    except (TypeError, ValueError, BufferError):
        return None


def _holds_memory(value: Any, before: bytes) -> bool:
    return _memory(value) == before


def _always() -> bool:
    return True


def _same_array(array: onp.ndarray[Any, Any]) -> Callable[[], bool]:
    copy = array.copy()

    def same() -> bool:
        if array.shape != copy.shape or array.dtype != copy.dtype:
            return False
        if array.dtype.hasobject:
            return all([a is b for a, b in zip(array.flat, copy.flat, strict=True)])
        return array.tobytes() == copy.tobytes()

    return same


OUTER_WORLD = frozenset(
    (
        time.time,
        time.time_ns,
        time.monotonic,
        time.monotonic_ns,
        time.perf_counter,
        time.perf_counter_ns,
        time.process_time,
        datetime.now,
        datetime.utcnow,
        date.today,
        os.urandom,
        open,
        input,
    )
)
"""Functions whose results change by themselves: clocks, files, the user."""


# --- streams and iterators ------------------------------------------------------------------------


def streams() -> list[tuple[Any, Callable[[], Any], Any, str]]:
    """Return the global random streams: each with its state as a function, and now, and its name."""
    return [
        (random, random.getstate, random.getstate(), "Python's random"),
        (onp.random, _numpys_state, _numpys_state(), "NumPy's random"),
    ]


def stream(value: Any) -> tuple[Any, Callable[[], Any], Any, str] | None:
    """Return the same of an object that is a random stream of Python or NumPy, else None."""
    if value is getattr(random.random, "__self__", None):  # among the global ones
        return None
    if isinstance(value, random.Random):
        return (value, value.getstate, value.getstate(), "a random.Random")
    if not isinstance(value, onp.random.Generator | onp.random.RandomState):
        return None
    bits: Any = getattr(value, "_bit_generator", None)
    if not isinstance(bits, onp.random.BitGenerator):  # npcompat's, whose draws go on
        return None
    if isinstance(value, onp.random.Generator):
        return (value, lambda: bits.state, bits.state, "a Generator of NumPy's")
    if isinstance(value, onp.random.RandomState):
        state = partial(value.get_state, legacy=False)
        return (value, state, state(), "a RandomState of NumPy's")
    return None


def _numpys_state() -> Any:
    return onp.random.get_state(legacy=False)


def same_state(one: Any, other: Any) -> bool:
    """Return True if two states of a stream are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all([same_state(one[k], other[k]) for k in one])
    return onp.array_equal(one, other) if isinstance(one, onp.ndarray) else bool(one == other)


def position(iterator: Any, depth: int = 0) -> Any:
    """Return something that changes when an iterator is advanced; None if nothing is known."""
    if isinstance(iterator, types.GeneratorType):
        frame = iterator.gi_frame
        return "ended" if frame is None else (frame.f_lasti, _Same(frame.f_locals.values()))
    if isinstance(iterator, io.IOBase):
        try:
            return None if iterator.writable() else iterator.tell()
        except (OSError, ValueError):  # a pipe, or closed
            return None
    if type(iterator).__module__ not in ("builtins", "itertools"):
        return None
    if not hasattr(iterator, "__next__") or depth > 3:
        return None
    left = operator.length_hint(iterator, -1)
    if left >= 0:
        return left
    text = repr(iterator)
    if " object at " not in text:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            parts: Any = iterator.__reduce__()
    except (TypeError, AttributeError):
        return None
    flat = [x for part in parts[1:] for x in (part if type(part) is tuple else (part,))]
    return [x if type(x) in (int, bool) else position(x, depth + 1) for x in flat]


class _Same:
    """Objects that equal others if they are the same ones; it holds them, so that no other takes
    their place in memory.
    """

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = [*held]

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is _Same
            and len(self._held) == len(other._held)
            and all([a is b for a, b in zip(self._held, other._held, strict=True)])
        )

    __hash__ = None  # type: ignore[assignment]


__all__ = [
    "ATTRIBUTE",
    "CACHE",
    "CHECK",
    "ITEM",
    "LACKS",
    "MAPPING",
    "OUTER_WORLD",
    "SEQUENCE",
    "Guard",
    "can_fail",
    "contents",
    "items",
    "names",
    "position",
    "same_state",
    "stream",
    "streams",
]
