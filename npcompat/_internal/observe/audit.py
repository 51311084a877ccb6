"""Audit of hidden costs: `with npx.audit() as found: ...`.

An audit finds copies, casts, transfers, compilations, and reads that wait for values. Code with
such a cost looks for an audit in the mode, and hands it the work as a function. The audit looks up
the user's line, and measures the work. It finds casts as an observer of operators; JAX reports
compilations (`on_compile`).
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax.monitoring import Spans, on_compile
from npcompat._internal.core import modes
from npcompat._internal.core.compile_log import FIRST, Compilation, type_name
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.handle import Value
from npcompat._internal.core.observer import Observer, Run
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.dispatch.placement import on_host
from npcompat._internal.observe.value_readers import EXPLICIT, IMPLICIT, CodeSet
from npcompat._internal.support.errors import AuditError, user_call
from npcompat._internal.support.text_table import amount, duration, shortened, table

_T = TypeVar("_T")
KINDS = ("fallback", "sync", "copy", "cast", "transfer", "compilation")


@dataclass(frozen=True, slots=True)
class Event:
    """Hidden cost that an audit has found.

    `kind` is one of 'fallback', 'sync', 'copy', 'cast', 'transfer' and 'compilation'. `what`
    describes it; `call` is the function that was called in the user's line, `location`. `bytes` and
    `seconds` are the cost. `asked` is True if the line asks for it explicitly, as `x.item()` does,
    or the placement of arrays does.
    """

    kind: str
    what: str
    call: str
    location: str
    bytes: int = 0
    seconds: float = 0.0
    asked: bool = False

    def __str__(self) -> str:
        return (
            f"{self.location}: {self.kind} in {self.call}: {self.what} ({amount(self.bytes)}, "
            f"{duration(self.seconds)})"
        )


class Events(list[Event]):
    """List of events in order of time.

    It prints as a table in which equal events share a row.
    """

    def __str__(self) -> str:
        groups: dict[Any, list[Event]] = {}
        for event in self:
            groups.setdefault(
                (event.kind, event.location, event.call, event.what, event.asked), []
            ).append(event)
        rows = []
        for (kind, location, call, what, asked), events in sorted(
            groups.items(), key=lambda group: KINDS.index(group[0][0])
        ):
            size, seconds = sum([e.bytes for e in events]), sum([e.seconds for e in events])
            cost = amount(size) if size else "", duration(seconds) if seconds else ""
            rows.append(
                (
                    kind + (" (asked for)" if asked else ""),
                    str(len(events)),
                    *cost,
                    shortened(location),
                    call,
                    what,
                )
            )
        return (
            table(("kind", "times", "bytes", "time", "line", "call", "what"), rows, right=(1, 2, 3))
            if rows
            else "nothing was found"
        )


class Audit(Observer):
    """Observer that collects events.

    In strict mode it raises `AuditError` before an event that the user's line does not ask for.
    """

    def __init__(self, kinds: Collection[str], strict: bool) -> None:
        before = modes.current()
        super().__init__(before.observer)
        self._around, self._kinds, self._strict = before.audit, frozenset(kinds), strict
        self._logged: list[Compilation] = []
        self.events = Events()

    # --- events that are reported

    def record_event(
        self, kind: str, what: str, array: Any, make: Callable[[], _T], asked: bool = False
    ) -> _T:
        """Call `make`, which works on an array, and record it as an event."""
        place = _Place()
        return self._done(Event(kind, what, place.call, place.location, asked=asked), array, make)

    def record_read(self, array: Any, make: Callable[[], _T], moving: bool) -> _T:
        """Read the values of an array on XLA, and record it as an event.

        It is a transfer if the array moves to the host (`moving`), a sync if a function that reads
        values is running, else a fallback: a function that runs on the host.
        """
        place = _Place()
        if moving:
            event = Event(
                "transfer",
                "to the host",
                place.call,
                place.location,
                asked=on_host(modes.current()),
            )
        elif place.within(EXPLICIT) or place.within(IMPLICIT):
            asked = place.function in EXPLICIT
            event = Event("sync", "values are read", place.call, place.location, asked=asked)
        else:
            event = Event("fallback", "computed on the host", place.call, place.location)
        return self._done(event, array, make)

    def record_xla_fallback(self, name: str, operands: Sequence[Any], make: Callable[[], _T]) -> _T:
        """Run an operator on XLA that has no kernel on the host, and record it as a fallback."""
        place = _Place()
        arrays = [a for a in operands if isinstance(a, onp.ndarray | EngineArray)]
        event = Event(
            "fallback", f"{short_name(name)} is computed by XLA", place.call, place.location
        )
        return self._done(event, max(arrays, key=lambda a: a.nbytes), make) if arrays else make()

    def compiling(self, entry: Compilation) -> None:
        """Note a compilation that begins; the event, with its time, follows in `compiled`."""
        place = _Place()
        if not _makes_arrays(entry):
            self._check(Event("compilation", _described(entry), place.call, place.location))
        self._logged.append(entry)

    def compiled(self, name: str, seconds: float) -> None:
        """Record that a program was compiled.

        Some programs, such as those of gradients, are not in the compile log.
        """
        place = _Place()
        entry = next((e for e in self._logged if e.name == name), None)
        # Programs that make arrays are compiled after some equal calls, so no warm-up compiles them
        # all.
        asked = entry is not None and _makes_arrays(entry)
        what = f"{short_name(name)}, no operator" if entry is None else _described(entry)
        event = Event("compilation", what, place.call, place.location, 0, seconds, asked)
        if entry is not None:
            self._logged.remove(entry)
        elif not asked:
            self._check(event)
        self._keep(event)

    # --- events that are observed

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator; record the operands that it casts, and a transfer to another device."""
        payloads = [v.payload for v in operands]
        named = op.named(attrs)
        if op.name == "_npi_to_device":
            return self.record_event(
                "transfer", f"to {named['device']}", payloads[0], run, asked=True
            )
        if op.name == "_npi_fit":
            self._note_assignment(payloads[0], named["dtype"])
        self._note_casts(op, attrs, payloads)
        return run()

    def write(self, op: Op | None, target: Any, payloads: Sequence[Any], run: Run) -> Any:
        """Write into an array on the host, and record casts."""
        if op is None:
            self._note_assignment(payloads[0], target.dtype)
        else:
            self._note_casts(op, (), payloads)
        return run()

    def _note_assignment(self, new: Any, dtype: onp.dtype[Any]) -> None:
        if _is_array(new) and new.dtype != dtype:
            self._note_cast("assignment", new, dtype)

    def _note_casts(self, op: Op, attrs: Attrs, payloads: Sequence[Any]) -> None:
        if (
            not any(map(_is_array, payloads))
            or len({p.dtype for p in payloads if hasattr(p, "dtype")}) == 1
        ):
            return  # operands of one dtype are only cast if the function is defined so
        types = tuple([p.dtype if hasattr(p, "dtype") else type(p) for p in payloads])
        try:
            wanted, _ = op.rule(types, op.named(attrs))
        except (TypeError, ValueError):
            return  # the call is about to fail
        for payload, dtype in zip(payloads, wanted, strict=False):
            if dtype is not None and _is_array(payload) and payload.dtype != dtype:
                self._note_cast(short_name(op.name), payload, dtype)

    def _note_cast(self, name: str, array: Any, dtype: onp.dtype[Any]) -> None:
        place = _Place()
        event = Event(
            "cast",
            f"{name}: {type_name(array)} to {dtype}",
            place.call,
            place.location,
            _nbytes(array),
        )
        self._check(event, False)  # an outer audit observes casts itself
        self._keep(event, False)

    # --- recording

    def _done(self, event: Event, array: Any, make: Callable[[], _T]) -> _T:
        event = replace(event, what=f"{event.what}: {type_name(array)}", bytes=_nbytes(array))
        if not event.asked:
            self._check(event)
        start = time.perf_counter()
        result = make()
        self._keep(replace(event, seconds=time.perf_counter() - start))
        return result

    def _check(self, event: Event, around: bool = True) -> None:
        if self._strict and event.kind in self._kinds:
            raise AuditError(f"{event.location}: {event.kind} in {event.call}: {event.what}")
        if around and self._around is not None:
            self._around._check(event)

    def _keep(self, event: Event, around: bool = True) -> None:
        if event.kind in self._kinds:
            self.events.append(event)
        if around and self._around is not None:
            self._around._keep(event)


class _Place:
    """Line of the user's code, and the functions of npcompat that run below it."""

    def __init__(self) -> None:
        self.location, self._codes = user_call()
        self.function = self._codes[-1]
        self.call = self.function.co_name

    def within(self, functions: CodeSet) -> bool:
        """Return True if one of the functions is running."""
        return functions.holds_any(self._codes)


def _described(entry: Compilation) -> str:
    return f"{short_name(entry.name)}({', '.join(entry.types)}): {entry.reason}"


def _makes_arrays(entry: Compilation) -> bool:
    """Return True for the program of an operator without operands."""
    return not entry.types and entry.reason == FIRST


def _is_array(payload: Any) -> bool:
    """Return True if a payload has enough elements for a cast to cost something."""
    return (
        isinstance(payload, onp.ndarray | EngineArray) or xla.is_payload(payload)
    ) and payload.size > 1


def _nbytes(array: Any) -> int:
    return int(array.size * onp.dtype(array.dtype).itemsize)


def _record_compilation(name: str, spans: Spans) -> None:
    found = modes.current().audit
    if found is not None:
        found.compiled(name, sum([end - start for start, end in spans]))


@contextmanager
def audit(*kinds: str, strict: bool = False) -> Iterator[Events]:
    """Find hidden costs inside the context, such as copies and casts, with their lines.

    The kinds of events are:

    - `fallback`: the host computes with an array on XLA, for example if the shape of a result
      depends on values, or XLA with an array on the host;
    - `sync`: Python waits for values that it reads;
    - `copy`: an array that shares its memory with another one is written, so a copy is made;
    - `cast`: an operand is cast because another one has another dtype, or an assigned value because
      the array has;
    - `transfer`: an array is copied between the host and XLA, or between devices;
    - `compilation`: XLA compiles a program.

    Compiled functions stay compiled: casts in them are found while they are traced.

    Parameters
    ----------
    *kinds : str
        Kinds of events to look for; all, if none is given.
    strict : bool
        If True, raise at the first event, before it happens, unless the line asks for it. A line
        asks for a read by a function made for that (`x.item()`, `float(x)`, `print(x)`, but not
        `if x:`), and for a transfer by `x.to_device(d)`. Where new arrays are placed on the host,
        transfers between the host and XLA count as asked for, as both are one device.

    Yields
    ------
    list of Event
        Grows while the context runs; prints as a table. An event has `kind`, `what`, `call` (the
        function that was called), `location` (the user's line), `bytes`, `seconds` and `asked`.

    Raises
    ------
    AuditError
        In strict mode.

    Examples
    --------
    >>> with npx.backend("jax"), npx.audit("sync", "cast") as found:
    ...     a = np.arange(6) / np.ones(6)
    ...     if a.sum() > 3:
    ...         pass
    >>> [(event.kind, event.call, event.what) for event in found]
    [('cast', '__truediv__', 'divide: int64[6] to float32'),
     ('sync', '__bool__', 'values are read: bool[]')]
    """
    unknown = set(kinds) - set(KINDS)
    if unknown:
        raise ValueError(
            f"audit: unknown kind {min(unknown)!r}; expected some of {', '.join(KINDS)}"
        )
    made = Audit(kinds or KINDS, strict)
    with modes.changed(audit=made, observer=made), on_compile(_record_compilation):
        yield made.events


__all__ = ["KINDS", "Audit", "Event", "Events", "audit"]
