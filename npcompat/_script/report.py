"""Report of `python -m npcompat --audit`: what ran where, was lent, and could be compiled.

The report counts operators as an observer. What the program lends and calls it counts at the border,
whose functions it replaces for that.
"""

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as onp

from npcompat import npx
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.observer import Observer, Run
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.dispatch import backends
from npcompat._internal.support.text_table import amount, shortened, table
from npcompat._script import border, importer
from npcompat._script.packages import attribute
from npcompat._script.source import ACROSS, ASSIGNED, ITEM, KEY, is_programs

_CALLS, _OPERATORS = 10, 2
"""Fewest calls of a function, and operators in each, for which it is said to be called often."""
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass
class _Lent:
    """Arrays that were lent to one function of a package."""

    calls: int = 0
    arrays: int = 0
    bytes: int = 0


@dataclass
class _Called:
    """Calls of one function of the program, and operators within them."""

    calls: int = 0
    operators: int = 0


class Report(Observer):
    """Report of a program's run; prints as tables.

    `events` are the hidden costs that `npx.audit` finds.
    """

    def __init__(self, events: Sequence[Any]) -> None:
        super().__init__(modes.current().observer)
        self.events = events
        self._operators: Counter[str] = Counter()
        self._programs: Counter[str] = Counter()
        self._lent: dict[str, _Lent] = {}
        self._functions: dict[CodeType, _Called] = {}

    # --- what runs

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator, and count it where its results lie."""
        found = run()
        self._ran([v.payload for v in (found if isinstance(found, tuple) else (found,))])
        return found

    def write(self, op: Op | None, target: Any, payloads: Sequence[Any], run: Run) -> Any:
        """Write into an array on the host, and count it."""
        self._ran([target])
        return run()

    def program(self, name: str, payloads: Sequence[Any], run: Run) -> Any:
        """Run a program, and count it where its results lie."""
        found = run()
        self._programs.update(_places(found))
        return found

    def _ran(self, results: Sequence[Any]) -> None:
        if modes.current().trace is not None:
            return  # the operation becomes a part of a program
        self._operators.update(_places(results))
        running = set()
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            running.add(frame.f_code)
            frame = frame.f_back
        for code in running & self._functions.keys():
            self._functions[code].operators += 1

    # --- the border

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions of the border that count, by their names in converted source."""
        return {
            ACROSS: self._across,
            KEY: self._key,
            ITEM: self._item,
            ASSIGNED: self._assigned,
        }

    def _across(self, function: Any, reached: Any = None) -> Any:
        found = border.across(function, reached)
        if found is function:
            self._note_call(function)
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._note_lent(_name(function, reached), (args, kwargs))
            return found(*args, **kwargs)

        return call

    def _key(self, of: Any, given: Any) -> Any:
        found = border.key(of, given)
        if found is not given:
            self._note_lent(f"{_name(type(of))}, keys", given)
        return found

    def _item(self, of: Any, given: Any) -> Any:
        self._key(of, given)
        return border.item(of, given)

    def _assigned(self, of: Any) -> Any:
        return border.assigned(of, partial(self._as_attribute, of))

    def _as_attribute(self, of: Any, value: Any) -> Any:
        self._note_lent(f"{_name(type(of))}, attributes", value)
        return border.handed_over(value)

    def _note_call(self, function: Any) -> None:
        if type(function) is MethodType:
            function = function.__func__
        if type(function) is FunctionType and is_programs(function):
            self._functions.setdefault(function.__code__, _Called()).calls += 1

    def _note_lent(self, name: str, values: Any) -> None:
        arrays = list(_arrays(values))
        if arrays:
            entry = self._lent.setdefault(name, _Lent())
            entry.calls += 1
            entry.arrays += len(arrays)
            entry.bytes += sum([a.size * onp.dtype(a.dtype).itemsize for a in arrays])

    # --- output

    def __str__(self) -> str:
        sections = (
            ("hidden costs", str(self.events)),
            ("where operators and compiled programs ran", self._where()),
            ("lent to packages, as NumPy's arrays", self._lending()),
            (
                "called often by the program, and not compiled (`--jit NAME` was not tried)",
                self._candidates(),
            ),
        )
        return "\n\n".join([f"{title}:\n{text}" for title, text in sections])

    def _where(self) -> str:
        places = sorted(self._operators.keys() | self._programs.keys())
        rows = [(p, str(self._operators[p]), str(self._programs[p])) for p in places]
        header = ("where", "operators", "programs")
        return table(header, rows, right=(1, 2)) if rows else "nothing ran"

    def _lending(self) -> str:
        found = sorted(self._lent.items(), key=lambda item: -item[1].bytes)
        rows = [(str(e.calls), str(e.arrays), amount(e.bytes), name) for name, e in found]
        header = ("times", "arrays", "bytes", "to")
        return table(header, rows, right=(0, 1, 2)) if rows else "nothing was lent"

    def _candidates(self) -> str:
        rows = []
        for code, found in sorted(self._functions.items(), key=lambda item: -item[1].operators):
            if (
                found.calls >= _CALLS
                and found.operators >= _OPERATORS * found.calls
                and code.co_name.isidentifier()
                and not code.co_flags & _SUSPENDED
            ):
                line = shortened(f"{code.co_filename}:{code.co_firstlineno}")
                rows.append((str(found.calls), str(found.operators), line, code.co_name))
        header = ("times", "operators", "line", "function")
        return table(header, rows, right=(0, 1)) if rows else "no function was found"


def _places(payloads: Sequence[Any]) -> set[str]:
    """Names of the backends that hold payloads."""
    found = [backends.backend_of(p) for p in payloads]
    return {"xla" if f is backends.XLA else getattr(f, "name", "host") for f in found if f}


def _arrays(values: Any) -> Iterator[Any]:
    """Arrays among what is handed over."""
    if isinstance(values, Handle):
        yield values
    elif type(values) is slice:
        yield from _arrays((values.start, values.stop, values.step))
    elif type(values) in (list, tuple, dict):
        for value in values.values() if type(values) is dict else values:
            yield from _arrays(value)


def _name(function: Any, reached: Any = None) -> str:
    """Name of a callable of a package, such as `scipy.ndimage.gaussian_filter`."""
    name = attribute(function, "__qualname__") or type(function).__qualname__
    if isinstance(reached, ModuleType):
        return f"{reached.__name__}.{attribute(function, '__name__') or name}"
    of = attribute(function, "__self__")
    owner: Any = type(function if of is None else of)
    module = str(attribute(function, "__module__") or owner.__module__)
    public = [part for part in module.split(".") if not part.startswith("_") or part == module]
    return ".".join([*public, name])


@contextmanager
def reported() -> Iterator[Report]:
    """Count what a program does that runs in the context; it must be converted there."""
    with npx.audit() as events:
        found = Report(events)
        importer.bind({**importer.BOUND, **found.functions()})
        try:
            with modes.changed(observer=found):
                yield found
        finally:
            importer.bind()


__all__ = ["Report", "reported"]
