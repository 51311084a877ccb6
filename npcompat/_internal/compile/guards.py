"""Guards: Python state that a traced function has read, compared before each use of its program.

Arrays are operands of a program. Attributes, items of containers, global and enclosed variables are
constants of it. While a function is traced, each call of a user's function shows the names that its
code uses, and the objects at hand. A guard is made for state that is reachable again from the
traced function and from the modules: its place, and its first value. A program whose guards fail is
not used, and the function is traced again.

Objects of npcompat's own classes (blocks, optimizers, parameters) count attribute changes
(`changes.note`). Their guards are only checked after such a change.
"""

import builtins
import os
import sys
import types
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as onp

from npcompat._internal.compile import snapshots
from npcompat._internal.compile.attribute_guards import (
    DYNAMIC,
    MISSING,
    attribute_guard,
    attributes,
    class_guard,
    found_in_class,
    is_library_class,
    is_library_module,
    is_of_library,
    state_of,
)
from npcompat._internal.compile.names_in_code import ASKED, names_of, names_of_getters, read_names
from npcompat._internal.compile.snapshots import ATTRIBUTE, CHECK, ITEM, MAPPING, Guard
from npcompat._internal.compile.staged_runs import check_call
from npcompat._internal.core import changes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.native import fast_path
from npcompat._internal.source.conversion import original
from npcompat._internal.support.errors import CompileWarning, is_library, user_location

_Result = TypeVar("_Result")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_IMMUTABLE = frozenset((*_PLAIN, range, slice, onp.dtype, types.BuiltinFunctionType))
_LARGEST = 10_000
"""Maximum number of items of a container into which guards descend; those of longer ones are only
compared by identity."""
_DEEPEST = 100
_MOST = 20_000
"""Maximum number of objects with guards: each is compared at each call."""

_CALLERS = ("npcompat._internal.staging.calls",)
"""Modules that call functions for converted code of the user's."""
_GENERATED = ("namedtuple_", "npcompat.")
"""Modules of code that the standard library generates, as of npcompat's own dataclasses."""
_ENVIRONMENT = frozenset(("environ", "getenv"))
_OVERRIDDEN = ("forward", "hybrid_forward")
"""Methods of blocks that an instance may replace."""
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
"""Attributes that tools replace which load modules again."""
_WRAPPERS = (staticmethod, classmethod, type(lru_cache(lambda: None)))


class Guards:
    """Guards of one program.

    `always` are checked before each use, `owned` (on npcompat's own objects) only after a change.
    """

    __slots__ = ("_owned", "always", "stamp")

    def __init__(self, always: Sequence[Guard], owned: Sequence[Guard], stamp: int) -> None:
        self.always, self._owned, self.stamp = tuple(always), tuple(owned), stamp

    def hold(self) -> bool:
        """Return True if all guarded state equals that of the trace."""
        if self.stamp != changes.count[0]:
            if not fast_path.guards_hold(self._owned):
                return False
            self.stamp = changes.count[0]
        return not self.always or fast_path.guards_hold(self.always)

    def broken(self) -> str:
        """Describe the first guard that fails, for the compile log."""
        for guard in (*self._owned, *self.always):
            if not fast_path.guards_hold((guard,)):
                return _described(guard)
        return "something that the function reads has changed"


_LACKED = "a variable or attribute was not there when the function was compiled"
_ALL = "any attribute"
"""Key of the guard on all attributes of an object, also on attributes added later."""


def _described(guard: Guard) -> str:
    kind, container, key, before = guard
    if kind == CHECK:
        return str(key)
    if kind in (ITEM, ATTRIBUTE):
        found = (
            container.get(key, "nothing") if kind == ITEM else getattr(container, key, "nothing")
        )
        where = f"variable or attribute {key!r}" if kind == ITEM else f"attribute {key!r}"
        return f"{where}: {_short(before)} became {_short(found)}"
    return f"a {type(container).__name__} that the function reads has other items"


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


class Watch:
    """Watch over the trace of a function, which collects the state that it may read."""

    def __init__(self, function: Callable[..., Any], static: Sequence[Any], name: str) -> None:
        self._function, self._static, self._name = function, static, name
        self._names: set[str] = set()
        self._edges: dict[int, tuple[Any, dict[Any, Guard], set[str]]] = {}
        self._codes: dict[types.CodeType, list[dict[str, Any]]] = {}
        self._sizes: dict[int, int] = {}
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._owned: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._streams: list[tuple[Any, Callable[[], Any], Any, str]] = []
        self._iterators: dict[int, Any] = {}
        self._asked: set[Any] = set()
        self._cell_names: dict[int, set[str]] = {}
        self._owned_without: dict[int, tuple[Any, set[str]]] = {}
        self._lacking: dict[int, tuple[Any, set[str], dict[str, Any]]] = {}
        self._stamp = changes.count[0]

    # --- while the function is traced

    def run(self, trace: Callable[[], _Result]) -> _Result:
        """Run a trace, visit each call of a user's function, and warn of foreign random draws."""
        self._streams += snapshots.streams()
        found: _Result = fast_path.profiled(
            trace, self.classify, self.visit, snapshots.OUTER_WORLD, self.note_outer_world
        )
        for _, state, before, what in self._streams:
            if not snapshots.same_state(state(), before):
                warnings.warn(
                    CompileWarning(
                        f"{user_location()}: {what} was drawn from while {self._name} was "
                        "compiled; its compiled calls use the same numbers again. Draw them with "
                        "np.random, which goes on in compiled functions, or pass them as arguments"
                    ),
                    stacklevel=2,
                )
        return found

    def classify(self, code: types.CodeType) -> bool:
        """Return True if calls of a function are visited: a user's, or one of an owned file."""
        return not is_library(code.co_filename) or changes.is_owned(code.co_filename)

    def note_outer_world(self, frame: types.FrameType, function: Any) -> None:
        """Warn of a function that asks a clock, a file or the user, called by a user's function."""
        by_user = frame.f_globals.get("__name__") in _CALLERS or not is_library(
            frame.f_code.co_filename
        )
        if not by_user or function in self._asked:
            return
        self._asked.add(function)
        module = "time." if function.__module__ == "time" else ""
        warnings.warn(
            CompileWarning(
                f"{user_location()}: {module}{function.__qualname__} was called while {self._name} "
                "was compiled; its compiled calls use the same value again. Pass what it gives as "
                "an argument"
            ),
            stacklevel=2,
        )

    def visit(self, frame: types.FrameType, *returned: Any) -> None:
        """Note the state that a user's function can read, at its call, and what it returns."""
        if returned:
            self._visit_result(frame, returned[0])
            return
        code, names = frame.f_code, names_of(frame.f_code)
        if changes.is_owned(code.co_filename):
            mine = frame.f_locals.get("self")
            if mine is not None and changes.is_tracked(mine):
                self._note_owned(mine)
            return
        if str(frame.f_globals.get("__name__", "")).startswith(_GENERATED):
            return
        check_call(frame)
        own = original(code)
        if own is None:
            return  # a converted part of a function that was visited itself
        code, names = own, names_of(own)
        found = frame.f_locals
        names = names | names_of_getters([*found.values()])
        self._names |= names
        self._codes.setdefault(code, []).append({n: found.get(n) for n in code.co_freevars})
        _, variables = self._globals.setdefault(id(frame.f_globals), (frame.f_globals, {}))
        for name in names & frame.f_globals.keys():
            self._note(variables.setdefault(name, frame.f_globals[name]), names, 0)
        for value in found.values():
            self._note(value, names, 0)
        if code.co_exceptiontable:
            self._note_missing(frame, names)
            for value in [*found.values(), *[frame.f_globals.get(n) for n in names]]:
                self._note_without(value, names)
        if names & _ENVIRONMENT:
            self._note(os.environ, names, 0)

    def _visit_result(self, frame: types.FrameType, result: Any) -> None:
        """Note what the caller of a user's function can read in its result."""
        if changes.is_owned(frame.f_code.co_filename) or _holds_no_state(result):
            return
        if str(frame.f_globals.get("__name__", "")).startswith(_GENERATED):
            return
        caller = frame.f_back
        while caller is not None and is_library(caller.f_code.co_filename):
            caller = caller.f_back
        if caller is None:
            return
        names = names_of(original(caller.f_code) or caller.f_code)
        for part in _without_arrays(result):
            self._note(part, names, 0)

    def _note_missing(self, frame: types.FrameType, names: set[str]) -> None:
        """Note global variables that are not there, for a function that may catch NameError."""
        known = (frame.f_globals, vars(builtins), frame.f_locals)
        missing = {n for n in frame.f_code.co_names if not any([n in k for k in known])}
        if missing & names and {"NameError", "Exception", "BaseException"} & names:
            self._absent(frame.f_globals, frame.f_globals, missing)

    def _note_without(self, value: Any, names: set[str]) -> None:
        """Note attributes that an object lacks, for a function that may catch AttributeError."""
        state = None if _holds_no_state(value) else state_of(value)
        if state is not None and not is_library_class(type(value)) and not isinstance(value, type):
            kind = type(value)
            there = {n for n in names if n in state or found_in_class(kind, n)[1] is not MISSING}
            self._absent(value, state, names - there)

    def _absent(self, value: Any, state: dict[str, Any], names: set[str]) -> None:
        _, lacked, _ = self._lacking.setdefault(id(value), (value, set(), state))
        lacked |= names

    def _note(self, value: Any, names: set[str], depth: int) -> None:
        """Note the first values of the items and attributes of an object.

        Functions may read on from what others have read, so that what is known is looked into
        again for names that are new.
        """
        if _holds_no_state(value):
            return
        if depth > _DEEPEST:
            self._warn_of_unseen(f"objects that are nested more than {_DEEPEST} deep")
            return
        is_known = id(value) in self._edges
        if not is_known and not self._is_noted(value):
            return
        _, guards, seen = self._edges[id(value)]
        size = _size(value)
        if self._sizes.get(id(value)) != size:  # it has other attributes or items than before
            self._sizes[id(value)] = size
            seen.clear()
        new = names - seen
        if is_known and not new:
            return
        seen |= new
        held = [g[3] for key, g in guards.items() if key is not None and key is not _ALL]
        if None in guards:
            for item in self._items(value):
                self._note(item, new, depth + 1)
            if state_of(value) is None:
                return
        if changes.is_tracked(value):
            self._note_owned(value)
        state = state_of(value)
        if new & DYNAMIC and state is not None:
            if not changes.is_tracked(value) and not isinstance(value, types.ModuleType | type):
                guards.setdefault(_ALL, (MAPPING, state, _ALL, dict(state)))
        asked = {name.removeprefix(ASKED) for name in new if name.startswith(ASKED)}
        if asked:
            self._note_without(value, asked)
        for name in attributes(value, new):
            held += self._note_attribute(value, name, guards)
        if "super" in seen:
            _add_inherited(value, seen if "super" in new else new, guards)
        every = {*seen}
        for part in held:
            self._note(part, every, depth + 1)

    def _is_noted(self, value: Any) -> bool:
        """Begin to note an object; return False if there are too many."""
        if len(self._edges) >= _MOST:
            self._warn_of_unseen(f"what is in more than {_MOST} objects")
            return False
        guards: dict[Any, Guard] = {}
        self._edges[id(value)] = value, guards, set()
        whole = snapshots.contents(value)
        if whole is not None:
            guards[None] = whole
        found = snapshots.stream(value)
        if found is not None:
            self._streams.append(found)
        at = snapshots.position(value)
        if at is not None:
            self._iterators[id(value)] = at
        return True

    def _items(self, container: Any) -> list[Any]:
        items = snapshots.items(container)
        if len(items) <= _LARGEST:
            return items
        if any([type(item) not in _IMMUTABLE for item in items]):
            kind = type(container).__name__
            self._warn_of_unseen(f"what is in the items of a {kind} of {len(items)}")
        return []

    def _note_attribute(self, value: Any, name: str, guards: dict[Any, Guard]) -> list[Any]:
        """Add the guards on an attribute; return what was found there."""
        held = []
        for key, guard in (
            (name, attribute_guard(value, name)),
            (f"{name} of the class", class_guard(value, name)),
        ):
            if guard is not None and key not in guards:
                guards[key] = guard
                held.append(guard[3])
        return held

    def _warn_of_unseen(self, what: str) -> None:
        if what not in self._asked:
            self._asked.add(what)
            warnings.warn(
                CompileWarning(
                    f"{user_location()}: {self._name} may read {what}, whose changes compiled calls "
                    "don't see. Pass what it reads as an argument"
                ),
                stacklevel=2,
            )

    def _note_owned(self, value: Any) -> None:
        if id(value) not in self._owned:
            state = {k: v for k, v in vars(value).items() if k not in value._untracked}
            self._owned[id(value)] = value, state
            absent = [n for n in _OVERRIDDEN if n not in state and hasattr(value, n)]
            if absent:
                self._owned_without[id(value)] = value, {*absent}
            for registry in value._registries:
                held = state.get(registry)
                if held is not None:
                    self._owned[id(held)] = held, dict(held)

    # --- after the trace

    def guards(self, more: Sequence[Guard] = (), noted: Sequence[Guard] = ()) -> Guards:
        """Return the guards of the program on state reachable from the function and its modules.

        `more` changes only where changes are counted; `noted` are guards that the trace noted.
        """
        if not self._codes and not self._owned and not more and not noted:
            return Guards((), (), self._stamp)
        always: dict[tuple[int, Any], Guard] = {}
        owned: dict[tuple[int, Any], Guard] = {}
        reached: set[int] = set()
        waiting: deque[Any] = deque([self._function, *self._static, os.environ])
        waiting.extend(self._imported())
        for block, _ in self._owned.values():  # npcompat calls their functions: no name leads there
            waiting.extend(_functions_in(block))
        for variables, used in self._globals.values():
            self._add_lacking(variables, always)
            for name, value in used.items():
                always[id(variables), name] = (ITEM, variables, name, value)
                waiting.append(value)
        while waiting:
            value = waiting.popleft()
            if id(value) in reached or _holds_no_state(value):
                continue
            reached.add(id(value))
            self._add_lacking(value, always)
            waiting.extend(self._cached_in(value))
            self._check_iterator(value)
            waiting.extend(self._of_function(value, always))
            waiting.extend(self._methods_of(value))
            _, edges, _ = self._edges.get(id(value), (None, {}, None))
            target = owned if changes.is_tracked(value) else always
            for key, guard in edges.items():
                if isinstance(guard[1], type):
                    always[id(guard[1]), guard[2]] = guard  # once for all instances
                else:
                    (always if key is None else target)[id(value), key] = guard
                if key is _ALL:
                    waiting.extend(guard[3].values())
                elif key is not None:
                    waiting.append(guard[3])
                else:
                    waiting.extend(snapshots.items(value))
        self._add_owned(owned)
        logs = self._logs([*always.values(), *owned.values()])
        kept = [g for g in always.values() if id(g) not in logs and not snapshots.is_frozen(g)]
        others = [g for g in owned.values() if id(g) not in logs]
        return Guards([*kept, *noted], [*others, *more], self._stamp)

    def _imported(self) -> list[Any]:
        """Note and return the user's modules that the functions name, and may import themselves."""
        names = {n for code in self._codes for n in names_of(code)}
        found = [sys.modules[name] for name in names & sys.modules.keys()]
        own = [m for m in found if not is_library_module(m)]
        for module in own:
            self._note(module, self._names, 0)
        return own

    def _add_lacking(self, value: Any, always: dict[tuple[int, Any], Guard]) -> None:
        _, names, state = self._lacking.get(id(value), (None, set[str](), {}))
        missing = {n for n in names if n not in state}
        if missing:
            always[id(value), _LACKED] = (
                CHECK,
                partial(state.keys().isdisjoint, missing),
                _LACKED,
                None,
            )

    def _cached_in(self, value: Any) -> list[Any]:
        """Return the noted objects that an object holds, as it does the results of cached
        properties.
        """
        state = state_of(value)
        if state is None or isinstance(value, type | types.ModuleType):
            return []
        return [held for held in state.values() if id(held) in self._edges]

    def _check_iterator(self, value: Any) -> None:
        """Warn if the trace has advanced an iterator that was there before: calls of the program
        won't.
        """
        before = self._iterators.get(id(value))
        if before is not None and snapshots.position(value) != before:
            warnings.warn(
                CompileWarning(
                    f"{user_location()}: a {type(value).__name__} was advanced while {self._name} "
                    "was compiled; its compiled calls use the same items again. Pass what it gives "
                    "as an argument"
                ),
                stacklevel=2,
            )

    def _logs(self, guards: list[Guard]) -> set[int]:
        """Return the ids of the guards on state that the function writes and never reads.

        Statements such as `calls.append(1)` and `count += 1` don't affect the result. State that is
        also read keeps its guard, so that each call with another value is traced.
        """
        names: dict[int, set[str]] = {}
        for kind, _, key, value in guards:
            if kind in (ITEM, ATTRIBUTE):
                names.setdefault(id(value), set()).add(key)
        for seen in self._codes.values():
            for variables in seen:
                for name, value in variables.items():
                    names.setdefault(id(value), set()).add(name)
        read = [read_names(code) for code in self._codes]
        containers = {id(found[None]): c for c, found, _ in self._edges.values() if None in found}
        within = {id(item) for c in containers.values() for item in snapshots.items(c)}
        logs = set()
        for guard in guards:
            if fast_path.guards_hold((guard,)):
                continue
            kind, container, key, _ = guard
            container = containers.get(id(guard), container)
            if type(container) is types.CellType:
                free = {n for code in self._codes for n in code.co_freevars}
                own = free & self._cells(container)
            elif kind in (ITEM, ATTRIBUTE):
                own = {key}
            else:  # a container that another one holds may be read through that
                own = set() if id(container) in within else names.get(id(container), set())
            if own and all([r is not None and r.isdisjoint(own) for r in read]):
                logs.add(id(guard))
        return logs

    def _cells(self, cell: types.CellType) -> set[str]:
        return self._cell_names.get(id(cell), set())

    def _add_owned(self, owned: dict[tuple[int, Any], Guard]) -> None:
        """Add guards on attributes of npcompat's objects that the trace itself did not change."""
        for value, state in self._owned.values():
            now = value if type(value) is dict else vars(value)
            for name, before in state.items():
                if name in now and now[name] is before:
                    owned.setdefault((id(value), name), (ITEM, now, name, before))
            if type(value) is dict:
                owned[id(value), None] = (MAPPING, value, None, dict(state))
        for value, absent in self._owned_without.values():
            check = partial(vars(value).keys().isdisjoint, absent)
            text = f"a method of a {type(value).__name__} was replaced"
            owned[id(value), _LACKED] = (CHECK, check, text, None)

    def _methods_of(self, value: Any) -> list[types.FunctionType]:
        """Return the visited methods of a class, or of an object's, which syntax may have called."""
        found = []
        for kind in (value if isinstance(value, type) else type(value)).__mro__:
            if str(kind.__module__).partition(".")[0] in ("builtins", "npcompat", "numpy"):
                continue
            for member in vars(kind).values():
                function: Any = member
                if isinstance(member, property):
                    function = member.fget
                elif isinstance(member, classmethod | staticmethod):
                    function = member.__func__
                if isinstance(function, types.FunctionType) and function.__code__ in self._codes:
                    found.append(function)
        return found

    def _of_function(self, value: Any, always: dict[tuple[int, Any], Guard]) -> list[Any]:
        """Return the objects that a function refers to: its closure, defaults and bound instance.

        Cells of visited functions get guards, with their values at the first call.
        """
        found: list[Any] = []
        if isinstance(value, types.MethodType):
            found.append(value.__self__)
            value = value.__func__
        if type(value) is partial:
            given = value.keywords
            always[id(given), None] = (MAPPING, given, None, dict(given))
            return [value.func, *value.args, *given.values()]
        if type(value) is property:
            return [value.fget]
        if type(value) in _WRAPPERS or type(value).__module__ == "npcompat._internal.compile.jit":
            return [value.__wrapped__]
        if not isinstance(value, types.FunctionType):
            return found
        found += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        seen = self._codes.get(value.__code__, [])
        if seen:
            named = value.__kwdefaults__
            if named:
                always[id(named), None] = (MAPPING, named, None, dict(named))
            for name in _OF_FUNCTIONS:
                if getattr(value, name) is not None:
                    always[id(value), name] = (ATTRIBUTE, value, name, getattr(value, name))
        cells = value.__closure__ or ()
        for name, cell in zip(value.__code__.co_freevars, cells, strict=True):
            try:
                now = cell.cell_contents
            except ValueError:
                continue
            before = next((s[name] for s in seen if name in s), now)
            found.append(before)
            if value.__code__ in self._codes:
                always[id(cell), None] = (ATTRIBUTE, cell, "cell_contents", before)
                self._cell_names.setdefault(id(cell), set()).add(name)
        return found


def _without_arrays(result: Any) -> list[Any]:
    """Return a result, or what a tuple or list of it holds beside arrays.

    Guards hold what they look into, and an array in a container has a name more.
    """
    if type(result) is tuple:
        return [part for item in result for part in _without_arrays(item)]
    if type(result) in (list, dict):
        items = result if type(result) is list else result.values()
        return [] if any([isinstance(item, Handle) for item in items]) else [result]
    return [result]


def _size(value: Any) -> int:
    """Return the number of attributes and items of an object."""
    items = len(value) if type(value) in (list, dict, set, deque) else 0
    return items + len(state_of(value) or ())


def _add_inherited(value: Any, names: set[str], guards: dict[Any, Guard]) -> None:
    """Add guards on what the base classes have under names, which `super()` finds."""
    for klass in type(value).__mro__[1:]:
        for name in names & vars(klass).keys() if not is_of_library(klass) else ():
            guards[name, klass] = (ATTRIBUTE, klass, name, getattr(klass, name))


def _holds_no_state(value: Any) -> bool:
    return type(value) in _IMMUTABLE or isinstance(value, Handle | TracedNumber)


def _functions_in(block: Any) -> list[Any]:
    """Return a block, and the functions that it holds, as `HybridLambda` and hooks do."""
    if type(block) is dict:
        return [block]
    held = [*vars(block).values()]
    held += [v for registry in held if isinstance(registry, dict) for v in registry.values()]
    return [
        block,
        *[v for v in held if isinstance(v, types.FunctionType | types.MethodType | partial)],
    ]


__all__ = ["Guard", "Guards", "Watch"]
