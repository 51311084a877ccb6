"""Profile of the time and memory of operators: `with npx.profile() as found: ...`.

The profile is an observer. It waits for the results of each operation, so that an operation's time
is its own.
"""

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax.monitoring import Spans, on_compile
from npcompat._internal.core import modes
from npcompat._internal.core.compile_log import type_name
from npcompat._internal.core.handle import Value
from npcompat._internal.core.observer import Observer, Run
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.dispatch import backends
from npcompat._internal.support import atomic_file
from npcompat._internal.support.errors import user_call
from npcompat._internal.support.text_table import amount, duration, table


@dataclass(frozen=True, slots=True)
class Call:
    """Call of an operator, of a compiled function, or of the program of a gradient.

    Times are in seconds: `start` counts from the begin of the profile; `seconds` is the duration
    without `compiling`. `types` are those of the operands. `bytes` is the memory of the results,
    less that of donated operands. `live` is the memory, after the call, of all arrays made in the
    profile. `where` is 'host' or 'xla'; `location` is the user's line, and `call` the function that
    was called there.
    """

    name: str
    types: tuple[str, ...]
    start: float
    seconds: float
    compiling: float
    bytes: int
    live: int
    where: str
    call: str
    location: str


class Profile(Observer):
    """Calls in a profile; prints as a table, and can be saved as a trace.

    `calls` are in the order in which they ended. `compilations` has the name, start and end of each
    compilation.
    """

    def __init__(self, compiled: bool) -> None:
        super().__init__(modes.current().observer)
        self.needs_every_op = not compiled
        self.calls: list[Call] = []
        self.compilations: list[tuple[str, float, float]] = []
        self._begin, self._thread = time.time(), threading.get_native_id()
        self._memory = _Memory()

    @property
    def peak(self) -> int:
        """Maximum memory in bytes of the arrays made in the profile, at one time."""
        return max([c.live for c in self.calls], default=0)

    # --- measuring

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator, and measure it."""
        return self._measured(op.name, [v.payload for v in operands], run, _payloads)

    def program(self, name: str, payloads: Sequence[Any], run: Run) -> Any:
        """Run a program, and measure it."""
        return self._measured(name, payloads, run, lambda results: results)

    def write(self, op: Op | None, target: Any, payloads: Sequence[Any], run: Run) -> Any:
        """Write into an array on the host, and measure it."""
        name = "assignment" if op is None else f"{op.name} in place"
        return self._measured(name, [target, *payloads], run, lambda nothing: ())

    def compiled(self, name: str, spans: Spans) -> None:
        """Record the time of a compilation."""
        if self._thread == threading.get_native_id():
            self.compilations += [
                (short_name(name), start - self._begin, end - self._begin) for start, end in spans
            ]

    def _measured(
        self, name: str, operands: Sequence[Any], run: Run, payloads: Callable[[Any], Sequence[Any]]
    ) -> Any:
        if modes.current().trace is not None:
            return run()  # the operation becomes a part of a program
        arrays = [p for p in operands if type(p) in _ARRAYS]
        known, start = len(self.compilations), time.time() - self._begin
        result = run()
        made = payloads(result)
        for payload in made:
            if type(payload) in backends.ON_DEVICES:
                payload.block_until_ready()
        end = time.time() - self._begin
        compiling = sum(
            [max(0.0, stop - max(begin, start)) for _, begin, stop in self.compilations[known:]]
        )
        size = self._memory.changed(arrays, made)
        where = "xla" if any([type(p) in backends.ON_DEVICES for p in (*arrays, *made)]) else "host"
        types = tuple(map(type_name, arrays))
        location, codes = user_call()
        seconds = max(end - start - compiling, 0.0)
        self.calls.append(
            Call(
                short_name(name),
                types,
                start,
                seconds,
                compiling,
                size,
                self._memory.live,
                where,
                codes[-1].co_name,
                location,
            )
        )
        return result

    # --- output

    def __str__(self) -> str:
        if not self.calls:
            return "nothing was called"
        groups: dict[str, list[Call]] = {}
        for call in self.calls:
            groups.setdefault(call.name, []).append(call)
        total = sum([c.seconds for c in self.calls]) or 1.0
        rows = []
        for name, calls in sorted(
            groups.items(), key=lambda group: -sum([c.seconds for c in group[1]])
        ):
            seconds, compiling = sum([c.seconds for c in calls]), sum([c.compiling for c in calls])
            memory = amount(sum([max(c.bytes, 0) for c in calls]))
            share = f"{100 * seconds / total:.1f} %"
            times = duration(seconds), share, duration(seconds / len(calls))
            rows.append(
                (name, str(len(calls)), *times, duration(compiling) if compiling else "", memory)
            )
        header = ("operator", "calls", "time", "share", "each", "compiling", "memory")
        compiling = sum([end - start for _, start, end in self.compilations])
        below = (
            f"{duration(total)} in {len(self.calls)} calls, {duration(compiling)} compiling, "
            f"at most {amount(self.peak)} at a time"
        )
        return f"{table(header, rows, right=range(1, len(header)))}\n\n{below}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace in Chrome's format, which chrome://tracing and ui.perfetto.dev show.

        Each call and each compilation is a slice; the memory of arrays is a counter. The file is
        written whole or not at all.
        """
        ids = {"pid": os.getpid(), "tid": self._thread}
        events: list[dict[str, Any]] = [
            {"name": "process_name", "ph": "M", "args": {"name": "npcompat"}}
        ]
        for c in self.calls:
            length = c.seconds + c.compiling
            details = {"types": c.types, "line": c.location, "call": c.call, "bytes": c.bytes}
            events.append(
                {
                    "name": c.name,
                    "cat": c.where,
                    "ph": "X",
                    "ts": 1e6 * c.start,
                    "dur": 1e6 * length,
                    "args": details,
                }
            )
            events.append(
                {
                    "name": "memory",
                    "ph": "C",
                    "ts": 1e6 * (c.start + length),
                    "args": {"bytes": c.live},
                }
            )
        for name, start, end in self.compilations:
            events.append(
                {
                    "name": f"compiling {name}",
                    "cat": "compilation",
                    "ph": "X",
                    "ts": 1e6 * start,
                    "dur": 1e6 * (end - start),
                }
            )
        ordered = sorted([{**e, **ids} for e in events], key=lambda e: e.get("ts", 0.0))
        atomic_file.write(
            path, json.dumps({"traceEvents": ordered, "displayTimeUnit": "ms"}).encode()
        )


class _Memory:
    """Memory of the arrays made in a profile that are still alive.

    Weak references to payloads report when they are freed.
    """

    def __init__(self) -> None:
        self.live = 0
        self._held: dict[int, tuple[Any, int]] = {}

    def changed(self, operands: Sequence[Any], results: Sequence[Any]) -> int:
        """Record the results and donated operands of a call; return the change in bytes."""
        donated = [o for o in operands if type(o) is xla.Array and o.is_deleted()]
        for operand in donated:
            self._drop(id(operand))
        made = [
            r
            for r in results
            if id(r) not in self._held
            and (type(r) in backends.ON_DEVICES or not isinstance(r.base, onp.ndarray))
        ]
        for result in made:
            key = id(result)
            self._held[key] = weakref.ref(result, partial(self._drop, key)), _nbytes(result)
            self.live += _nbytes(result)
        return sum(map(_nbytes, made)) - sum(map(_nbytes, donated))

    def _drop(self, key: int, reference: Any = None) -> None:
        self.live -= self._held.pop(key, (None, 0))[1]


_ARRAYS = (onp.ndarray, *backends.ON_DEVICES)


def _payloads(result: Any) -> list[Any]:
    """Return the payloads of an operator's results that are arrays."""
    values = result if type(result) is tuple else (result,)
    return [v.payload for v in values if type(v.payload) in _ARRAYS]


def _nbytes(array: Any) -> int:
    return int(array.size * onp.dtype(array.dtype).itemsize)


@contextmanager
def profile(compiled: bool = True) -> Iterator[Profile]:
    """Measure time and memory of operators, compiled functions and gradients inside the context.

    Each call waits for its results, so that its time is its own: XLA overlaps no other work.

    Parameters
    ----------
    compiled : bool
        If True, each compiled function runs as one program; if False, operator by operator, which
        shows its parts.

    Yields
    ------
    Profile
        Prints as a table of operators, the slowest first. `calls` has each call,
        `peak` the maximum of the memory; `save(path)` writes a trace for chrome://tracing.

    Examples
    --------
    >>> a = np.ones((100, 100))
    >>> with npx.profile() as found:
    ...     b = (a @ a + 1).sum()
    >>> [(call.name, call.types, call.bytes) for call in found.calls]
    [('matmul', ('float32[100,100]', 'float32[100,100]'), 40000),
     ('add', ('float32[100,100]',), 40000), ('sum', ('float32[100,100]',), 4)]
    """
    made = Profile(compiled)
    with modes.changed(observer=made), on_compile(made.compiled):
        yield made


__all__ = ["Call", "Profile", "profile"]
