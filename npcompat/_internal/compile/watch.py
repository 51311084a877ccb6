"""Watch over the trace of a function: each call of a user's function shows what it may read."""

import builtins
import os
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from npcompat._internal.compile import snapshots
from npcompat._internal.compile.attribute_guards import own_modules, state_of
from npcompat._internal.compile.guards import Guards, Seen, guards_of
from npcompat._internal.compile.names_in_code import builtins_in, names_of, names_of_getters
from npcompat._internal.compile.noted_state import NotedState, holds_no_state
from npcompat._internal.compile.snapshots import Guard
from npcompat._internal.compile.staged_runs import check_call
from npcompat._internal.core import changes
from npcompat._internal.core.handle import Handle
from npcompat._internal.native import fast_path
from npcompat._internal.source.conversion import original
from npcompat._internal.support.errors import CompileWarning, is_library, user_location

_Result = TypeVar("_Result")

_CALLERS = ("npcompat._internal.staging.calls",)
"""Modules that call functions for converted code of the user's."""
_IMPORT = "<frozen importlib._bootstrap>"
"""File of the functions that import modules, as frames name it."""
_ENVIRONMENT = frozenset(("environ", "getenv"))


class Watch:
    """Watch over the trace of a function, which collects the state that it may read."""

    def __init__(self, function: Callable[..., Any], static: Sequence[Any], name: str) -> None:
        self._name = name
        self._state = NotedState(name)
        self._seen = Seen(self._state, name, (function, *static), changes.count[0])
        self._asked: set[Any] = set()
        self._uncalled: dict[int, Any] = {}

    def guards(self, more: Sequence[Guard] = (), noted: Sequence[Guard] = ()) -> Guards:
        """Return the guards of the program on state reachable from the function and its modules.

        `more` changes only where changes are counted; `noted` are guards that the trace noted.
        """
        return guards_of(self._seen, more, noted)

    def run(self, trace: Callable[[], _Result]) -> _Result:
        """Run a trace, visit each call of a user's function, and warn of foreign random draws."""
        streams = self._state.streams
        streams += snapshots.streams()
        found: _Result = fast_path.profiled(
            trace, self.classify, self.visit, snapshots.OUTER_WORLD, self.note_outer_world
        )
        for _, state, before, what in streams:
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
        if not by_user or function in self._asked or _is_of_import(frame):
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
        if _is_of_import(frame):
            return
        code, names = frame.f_code, names_of(frame.f_code)
        if changes.is_owned(code.co_filename):
            mine = frame.f_locals.get("self")
            if mine is not None and changes.is_tracked(mine):
                self._state.note_owned(mine)
            return
        if _is_generated(frame):
            return
        check_call(frame)
        own = original(code)
        if own is None:
            return  # a converted part of a function that was visited itself
        code, names = own, names_of(own)
        names = self._note_read(code, names, frame.f_globals, frame.f_locals)
        if code.co_exceptiontable:
            self._note_missing(frame, names)
        while self._state.cached:  # their results were there, so that they were not called
            self._note_uncalled(self._state.cached.pop())

    def _note_read(
        self, code: types.CodeType, names: set[str], module: dict[str, Any], found: dict[str, Any]
    ) -> set[str]:
        """Note what code can read of its module's variables, and of its own; return the names."""
        hidden = builtins_in(code) - module.keys()
        if hidden:
            self._state.absent(module, module, {*hidden})
        named = [module[n] for n in names & module.keys()]
        names = names | names_of_getters([*found.values(), *named])
        self._seen.names |= names
        self._seen.codes.setdefault(code, []).append({n: found.get(n) for n in code.co_freevars})
        _, variables = self._seen.globals.setdefault(id(module), (module, {}))
        for name in names & module.keys():
            self._state.note(variables.setdefault(name, module[name]), names)
        for value in (*found.values(), *own_modules(names, module.get("__package__")).values()):
            self._state.note(value, names)
        if names & _ENVIRONMENT:
            self._state.note(os.environ, names)
        return names

    def _note_uncalled(self, function: Any) -> None:
        """Note what a function reads that a later call may call, and those that it names read."""
        if type(function) is not types.FunctionType or id(function) in self._uncalled:
            return
        code = original(function.__code__) or function.__code__
        if is_library(code.co_filename):
            return
        self._uncalled[id(function)] = function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found = {name: _content(cell) for name, cell in cells}
        module = function.__globals__
        names = self._note_read(code, names_of(code), module, found)
        for known in list(self._state.objects.values()):  # any may be its argument
            if state_of(known.value) is not None:
                self._state.note(known.value, names)
        for value in (*found.values(), *[module[n] for n in names & module.keys()]):
            self._note_uncalled(value)

    def _visit_result(self, frame: types.FrameType, result: Any) -> None:
        """Note what the caller of a user's function can read in its result."""
        if changes.is_owned(frame.f_code.co_filename) or holds_no_state(result):
            return
        if _is_of_import(frame):
            return
        if _is_generated(frame):
            return
        caller = frame.f_back
        while caller is not None and is_library(caller.f_code.co_filename):
            caller = caller.f_back
        if caller is None:
            return
        names = names_of(original(caller.f_code) or caller.f_code)
        for part in _without_arrays(result):
            self._state.note(part, names)

    def _note_missing(self, frame: types.FrameType, names: set[str]) -> None:
        """Note global variables that are not there, for a function that may catch NameError."""
        known = (frame.f_globals, vars(builtins), frame.f_locals)
        missing = {n for n in frame.f_code.co_names if not any([n in k for k in known])}
        if missing & names and {"NameError", "Exception", "BaseException"} & names:
            self._state.absent(frame.f_globals, frame.f_globals, missing)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


def _is_of_import(frame: types.FrameType) -> bool:
    """Return True for a call made by an import in the trace: of a finder, of a module's own code.

    What a module imported while tracing has read is read again by the next call, which is traced,
    too; and the finders of other tools are no part of the function.
    """
    caller = frame.f_back
    while caller is not None and caller.f_code is not Watch.run.__code__:
        if caller.f_code.co_filename == _IMPORT:
            return True
        caller = caller.f_back
    return False


def _is_generated(frame: types.FrameType) -> bool:
    """Return True for code that the standard library generates: of named tuples, and of the
    dataclasses of a library, which is in no file.
    """
    names = frame.f_globals
    if str(names.get("__name__", "")).startswith("namedtuple_"):
        return True
    file = names.get("__file__")
    return frame.f_code.co_filename.startswith("<") and isinstance(file, str) and is_library(file)


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


__all__ = ["Watch"]
