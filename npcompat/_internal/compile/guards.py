"""Guards: Python state that a traced function has read, compared before each use of its program.

Arrays are operands of a program. Attributes, items of containers, global and enclosed variables are
constants of it. While a function is traced, each call of a user's function shows the names that its
code uses, and the objects at hand. A guard is made for state that is reachable again from the
traced function and from the modules: its place, and its first value. A program whose guards fail is
not used, and the function is traced again.

Objects of npcompat's own classes (blocks, optimizers, parameters) count attribute changes
(`changes.note`). Their guards are only checked after such a change.
"""

import os
import sys
import types
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from npcompat._internal.compile import snapshots
from npcompat._internal.compile.attribute_guards import class_guard, own_modules, state_of
from npcompat._internal.compile.names_in_code import names_of, read_names
from npcompat._internal.compile.noted_state import ALL, NotedState, holds_no_state
from npcompat._internal.compile.snapshots import ATTRIBUTE, CHECK, ITEM, LACKS, MAPPING, Guard
from npcompat._internal.core import changes
from npcompat._internal.core.handle import Handle, form_of
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import CompileWarning, user_location

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
"""Attributes that tools replace which load modules again."""
_WRAPPERS = (staticmethod, classmethod, type(lru_cache(lambda: None)))


class Guards:
    """Guards of one program.

    `always` are checked before each use, `owned` (on npcompat's own objects) only after a change,
    and `forms` only after an array has been given another shape, dtype or strides.
    """

    __slots__ = ("_form_stamp", "_forms", "_owned", "always", "stamp")

    def __init__(
        self,
        always: Sequence[Guard],
        owned: Sequence[Guard],
        stamp: int,
        forms: Sequence[Guard] = (),
    ) -> None:
        self.always, self._owned, self.stamp = tuple(always), tuple(owned), stamp
        self._forms, self._form_stamp = tuple(forms), changes.forms[0]

    def hold(self) -> bool:
        """Return True if all guarded state equals that of the trace."""
        if self.stamp != changes.count[0]:
            if self._form_stamp != changes.forms[0]:
                if not fast_path.guards_hold(self._forms):
                    return False
                self._form_stamp = changes.forms[0]
            if not fast_path.guards_hold(self._owned):
                return False
            self.stamp = changes.count[0]
        return not self.always or fast_path.guards_hold(self.always)

    def broken(self) -> str:
        """Describe the first guard that fails, for the compile log."""
        for guard in (*self._forms, *self._owned, *self.always):
            if not fast_path.guards_hold((guard,)):
                return _described(guard)
        return "something that the function reads has changed"


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
    if kind == LACKS:
        name = next(n for n in before if n in container)
        return f"variable or attribute {name!r} was not there before"
    return f"a {type(container).__name__} that the function reads has other items"


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(slots=True)
class Seen:
    """Functions and state that a watch has seen during a trace.

    `names` are those that the code of visited functions uses. `codes` are these functions, with the
    enclosed variables at each call; `globals` the variables of their modules, with the first values
    of those that they use. `roots` are the traced function and its static arguments, `modules` the
    names of the modules that were imported before.
    """

    state: NotedState
    name: str
    roots: tuple[Any, ...]
    stamp: int
    modules: frozenset[str] = field(default_factory=lambda: frozenset(sys.modules))
    names: set[str] = field(default_factory=set)
    codes: dict[types.CodeType, list[dict[str, Any]]] = field(default_factory=dict)
    globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)


def guards_of(seen: Seen, more: Sequence[Guard] = (), noted: Sequence[Guard] = ()) -> Guards:
    """Return the guards on noted state that is reachable from the function and its modules.

    `more` changes only where changes are counted; `noted` are guards that the trace noted.
    """
    if not seen.codes and not seen.state.owned and not more and not noted:
        return Guards((), (), seen.stamp)
    reach = _Reach(seen)
    reach.follow()
    always, owned = reach.kept()
    return Guards([*always, *noted], [*owned, *more], seen.stamp, reach.forms)


class _Reach:
    """Walk from the traced function over what it may read to the guards on it."""

    def __init__(self, seen: Seen) -> None:
        self._seen, self._state = seen, seen.state
        self._always: dict[tuple[int, Any], Guard] = {}
        self._owned: dict[tuple[int, Any], Guard] = {}
        self._cell_names: dict[int, set[str]] = {}
        self._kinds: set[type] = set()
        self.forms: list[Guard] = []
        """Guards on the shapes, dtypes and strides of arrays."""

    def follow(self) -> None:
        """Collect the guards on all that is reachable."""
        reached: set[int] = set()
        waiting: deque[Any] = deque([*self._seen.roots, os.environ, *self._imported()])
        for block, _ in self._state.owned.values():  # npcompat calls their functions: no name leads
            waiting.extend(_functions_in(block))
        for variables, used in self._seen.globals.values():
            self._add_lacking(variables)
            for name, value in used.items():
                self._always[id(variables), name] = (ITEM, variables, name, value)
                waiting.append(value)
        while waiting:
            value = waiting.popleft()
            if id(value) in reached:
                continue
            if holds_no_state(value):
                if isinstance(value, Handle):
                    reached.add(id(value))
                    same = partial(_has_form, value, form_of(value))
                    text = "a captured array has another shape or dtype"
                    self.forms.append((CHECK, same, text, None))
                continue
            reached.add(id(value))
            self._add_lacking(value)
            self._check_iterator(value)
            waiting.extend(self._cached_in(value))
            waiting.extend(self._of_function(value))
            waiting.extend(self._methods_of(value))
            waiting.extend(self._add_noted(value))
            waiting.extend(self._add_noted_class(value if isinstance(value, type) else type(value)))
        self._add_owned()

    def _add_noted(self, value: Any) -> list[Any]:
        """Add the guards on an object; return what they lead to."""
        found = self._state.objects.get(id(value))
        if found is None:
            return []
        next_ones: list[Any] = []
        target = self._owned if changes.is_tracked(value) else self._always
        for key, guard in found.guards.items():
            (self._always if key is None else target)[id(value), key] = guard
            if key is ALL:
                next_ones += guard[3].values()
            elif key is not None:
                next_ones.append(guard[3])
            else:
                next_ones += snapshots.items(value)
        return next_ones

    def _add_noted_class(self, kind: type) -> list[Any]:
        """Add the guards on a class; return what they lead to."""
        if kind in self._kinds:
            return []
        self._kinds.add(kind)
        found = self._state.classes.get(id(kind), {})
        self._always.update({(id(kind), key): guard for key, guard in found.items()})
        return [guard[3] for guard in found.values()]

    def kept(self) -> tuple[list[Guard], list[Guard]]:
        """Return the guards to check before each use, and after changes: not those on logs."""
        logs = self._logs([*self._always.values(), *self._owned.values()])
        always = [g for g in self._always.values() if id(g) not in logs]
        owned = [g for g in self._owned.values() if id(g) not in logs]
        return [g for g in always if snapshots.can_fail(g)], owned

    def _imported(self) -> list[Any]:
        """Note and return the user's modules that the functions name, and may import themselves."""
        named = {n for code in self._seen.codes for n in names_of(code)}
        packages = {variables.get("__package__") for variables, _ in self._seen.globals.values()}
        own = [pair for package in packages for pair in own_modules(named, package).items()]
        for name, module in own:
            self._state.note(module, self._seen.names)
            self._always[id(sys.modules), name] = (ITEM, sys.modules, name, module)
            if module.__name__ not in self._seen.modules:
                text = f"module {module.__name__} was imported while the function was compiled"
                self._always[id(module), None] = (CHECK, _never, text, None)
        return [module for _, module in own]

    def _add_lacking(self, value: Any) -> None:
        found = self._state.lacking.get(id(value))
        if found is not None and found.names:
            target = self._owned if changes.is_tracked(value) else self._always
            target[id(value), LACKS] = (LACKS, found.state, None, dict.fromkeys(found.names))

    def _cached_in(self, value: Any) -> list[Any]:
        """Return the noted objects that an object holds, as it does the results of cached
        properties.
        """
        state = state_of(value)
        if state is None or isinstance(value, type | types.ModuleType):
            return []
        return [held for held in state.values() if id(held) in self._state.objects]

    def _check_iterator(self, value: Any) -> None:
        """Warn if the trace has advanced an iterator that was there before: calls of the program
        won't.
        """
        before = self._state.iterators.get(id(value))
        if before is not None and snapshots.position(value) != before:
            warnings.warn(
                CompileWarning(
                    f"{user_location()}: a {type(value).__name__} was advanced while {self._seen.name} "
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
        failing = [g for g in guards if not fast_path.guards_hold((g,))]
        if not failing:
            return set()
        names: dict[int, set[str]] = {}
        for kind, _, key, value in guards:
            if kind in (ITEM, ATTRIBUTE):
                names.setdefault(id(value), set()).add(key)
        for seen in self._seen.codes.values():
            for variables in seen:
                for name, value in variables.items():
                    names.setdefault(id(value), set()).add(name)
        read = [read_names(code) for code in self._seen.codes]
        noted = [n for n in self._state.objects.values() if None in n.guards]
        containers = {id(n.guards[None]): n.value for n in noted}
        within = {id(item) for c in containers.values() for item in snapshots.items(c)}
        logs = set()
        for guard in failing:
            kind, container, key, _ = guard
            container = containers.get(id(guard), container)
            if type(container) is types.CellType:
                free = {n for code in self._seen.codes for n in code.co_freevars}
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

    def _add_owned(self) -> None:
        """Add guards on attributes of npcompat's objects that the trace itself did not change."""
        owned = self._owned
        for value, state in self._state.owned.values():
            now = value if isinstance(value, dict) else vars(value)
            for name, before in state.items():
                if name in now and now[name] is before:
                    owned.setdefault((id(value), name), (ITEM, now, name, before))
            if isinstance(value, dict):
                owned[id(value), None] = (MAPPING, value, None, dict(state))

    def _methods_of(self, value: Any) -> list[types.FunctionType]:
        """Return the visited methods of a class, or of an object's, which syntax may have called,
        and guard that they stand there.
        """
        found = []
        for kind in (value if isinstance(value, type) else type(value)).__mro__:
            if str(kind.__module__).partition(".")[0] in ("builtins", "npcompat", "numpy"):
                continue
            for name, member in vars(kind).items():
                function: Any = member
                if isinstance(member, property):
                    function = member.fget
                elif isinstance(member, classmethod | staticmethod):
                    function = member.__func__
                if (
                    isinstance(function, types.FunctionType)
                    and function.__code__ in self._seen.codes
                ):
                    found.append(function)
                    if (guard := class_guard(kind, name)) is not None:
                        self._always.setdefault((id(kind), name), guard)
        return found

    def _of_function(self, value: Any) -> list[Any]:
        """Return the objects that a function refers to: its closure, defaults and bound instance.

        Cells of visited functions get guards, with their values at the first call.
        """
        found: list[Any] = []
        if isinstance(value, types.MethodType):
            found.append(value.__self__)
            value = value.__func__
        if type(value) is partial:
            given = value.keywords
            self._always[id(given), None] = (MAPPING, given, None, dict(given))
            return snapshots.items(value)
        if type(value) is property:
            return [value.fget]
        if type(value) in _WRAPPERS or type(value).__module__ == "npcompat._internal.compile.jit":
            return [value.__wrapped__]
        if not isinstance(value, types.FunctionType):
            return found
        found += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        seen = self._seen.codes.get(value.__code__, [])
        if seen:
            named = value.__kwdefaults__
            if named:
                self._always[id(named), None] = (MAPPING, named, None, dict(named))
            for name in _OF_FUNCTIONS:
                if getattr(value, name) is not None:
                    self._always[id(value), name] = (ATTRIBUTE, value, name, getattr(value, name))
        cells = value.__closure__ or ()
        for name, cell in zip(value.__code__.co_freevars, cells, strict=True):
            try:
                now = cell.cell_contents
            except ValueError:
                continue
            before = next((s[name] for s in seen if name in s), now)
            found.append(before)
            if value.__code__ in self._seen.codes:
                self._always[id(cell), None] = (ATTRIBUTE, cell, "cell_contents", before)
                self._cell_names.setdefault(id(cell), set()).add(name)
        return found


def _never() -> bool:
    return False


def _has_form(array: Handle, before: tuple[Any, int]) -> bool:
    view, form = form_of(array)
    return view is before[0] and form == before[1]


def _functions_in(block: Any) -> list[Any]:
    """Return a block, and the functions that it holds, as `HybridLambda` and hooks do."""
    if isinstance(block, dict):
        return [block]
    held = [*vars(block).values()]
    held += [v for registry in held if isinstance(registry, dict) for v in registry.values()]
    return [
        block,
        *[v for v in held if isinstance(v, types.FunctionType | types.MethodType | partial)],
    ]


__all__ = ["Guard", "Guards", "Seen", "guards_of"]
