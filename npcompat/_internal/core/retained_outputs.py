"""Retained outputs: the arrays that a compiled program wrote, kept in one list for its next run.

Hot path. A training step reads and writes some dozens of arrays. Taking each from its handle, and
putting each back, costs more than a small step computes, and competes with XLA's threads. So their
payloads stay in one list, and the handles hold `RetainedValue`s, which refer to it. Other code that
writes a handle replaces its value; other code that keeps a value or a payload raises its reference
count. After either, the values are materialized into ordinary ones, and the program reads the
handles again.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from npcompat._internal.core import program_lock
from npcompat._internal.core.handle import (
    BorrowedValue,
    Handle,
    StoredHandle,
    Value,
    bump_version,
    clock,
    extra,
    root_of,
)

_slot: Any = Value.__dict__["payload"]
_count = sys.getrefcount


class RetainedValue(Value):
    """Value whose payload is in a `RetainedOutputs`; its slot holds that and the position."""

    __slots__ = ()

    def __init__(self, state: "RetainedOutputs", position: int, node: Any) -> None:
        _slot.__set__(self, (state, position))
        self.node, self.index = node, 0

    @property
    def payload(self) -> Any:
        """The payload, from the program's results; a run in another thread ends first."""
        return program_lock.run_held(_payload_of, self)

    @property
    def version(self) -> int:
        """Version of the program's last run."""
        version: int = _slot.__get__(self)[0].version
        return version


def _payload_of(value: Value) -> Any:
    """Return the payload of a retained value, which another thread may have materialized."""
    found = _slot.__get__(value)
    return found[0].payloads[found[1]] if type(value) is RetainedValue else found


class BusyValue(Value):
    """Value of an array whose buffer a running program overwrites; reads wait for its end."""

    __slots__ = ()

    def __init__(self, handle: Handle) -> None:
        before = handle._value
        _slot.__set__(self, (handle, before))
        self.node, self.index = before.node, before.index

    @property
    def payload(self) -> Any:
        """The payload after the run; in a callback of the program that of before it."""
        handle, before = _slot.__get__(self)
        with program_lock.held:
            now = handle._value
        return before.payload if now is self else now.payload

    def restore(self) -> None:
        """Give the array its value back, after a run that has failed."""
        handle, before = _slot.__get__(self)
        if handle._value is self:
            handle._value = before


class busy:
    """Context of a run that overwrites the buffers of arrays, which get new values after it."""

    __slots__ = ("_handles", "_values")

    def __init__(self, handles: Sequence[Handle]) -> None:
        self._handles: Sequence[Handle] = handles
        self._values: list[BusyValue] = []

    def __enter__(self) -> None:
        for handle in self._handles:
            self._values.append(BusyValue(handle))
            handle._value = self._values[-1]

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            for value in self._values:
                value.restore()


class LazyValue(Value):
    """Value whose payload is made by a function without operands when it is first read.

    Until then it takes no memory; afterwards it is an ordinary `Value`.
    """

    __slots__ = ()

    def __init__(self, make: Callable[[], Any]) -> None:
        _slot.__set__(self, (make,))
        self.node, self.index = None, 0

    @property
    def payload(self) -> Any:
        """The payload, made now unless another thread has just made it."""
        payload = _slot.__get__(self)
        if type(payload) is tuple:
            payload = payload[0]()
            _slot.__set__(self, payload)
            made: Any = self
            made.__class__ = Value
        return payload


def materialize(value: Value) -> None:
    """Turn a `RetainedValue` or a `LazyValue` into an ordinary `Value` with its payload."""
    if type(value) is LazyValue:
        value.payload  # noqa: B018
    elif type(value) is RetainedValue:
        with program_lock.held:
            if type(value) is RetainedValue:  # no other thread has done it meanwhile
                _take_out(value)


def _take_out(value: Value) -> None:
    """Take a value's payload out of the results of its program."""
    state, position = _slot.__get__(value)
    rare = state.handles[position]._extra
    if rare is not None and state.handles[position]._value is value:
        rare.version = state.version
    payload = state.payloads[position]
    state.values[position] = state.payloads[position] = None
    _slot.__set__(value, payload)
    kept: Any = value
    kept.__class__ = Value


def version_of(root: Handle) -> int:
    """Return the version of a root handle, which changes with every write."""
    value = root._value
    if type(value) is BorrowedValue:
        return next(clock)  # the borrower may have written it since
    return value.version if type(value) is RetainedValue else extra(root).version


def clear(gradient: Handle) -> None:
    """Note that a gradient is zero, and of no backward."""
    root = root_of(gradient)
    extra(root).blank = version_of(root)


class RetainedOutputs:
    """Handles that a program writes, and their payloads after its last run.

    The first `given` payloads are donated to the next run. Handles in `recomputable` get a
    `LazyValue` with their function. The program's captured operands are the handles at `places`
    among those written, followed by the handles in `read_only`; all payloads must be of the class
    `kind`.
    """

    __slots__ = (
        "given",
        "handles",
        "kind",
        "lazy_values",
        "payloads",
        "places",
        "read_only",
        "recomputable",
        "values",
        "version",
    )

    def __init__(
        self,
        handles: Sequence[Handle],
        payloads: Sequence[Any],
        given: int,
        recomputable: Sequence[tuple[Handle, Callable[[], Any]]] = (),
        read_only: Sequence[Handle] = (),
        places: Sequence[int] = (),
        kind: type | None = None,
    ) -> None:
        self.handles, self.given, self.read_only, self.places = (
            list(handles),
            given,
            list(read_only),
            list(places),
        )
        self.kind = kind
        self.recomputable, self.lazy_values = (
            [h for h, _ in recomputable],
            [LazyValue(make) for _, make in recomputable],
        )
        for handle, lazy in zip(self.recomputable, self.lazy_values, strict=True):
            handle._value = lazy
            bump_version(handle)
        self.values: list[Any] = []
        for i, handle in enumerate(handles):
            rare = handle._extra
            value = handle._value = RetainedValue(self, i, None if rare is None else rare.leaf)
            self.values.append(value)
        self.keep(payloads)

    def keep(self, payloads: Sequence[Any]) -> None:
        """Replace the payloads by the results of another run; the handles hold them from now on."""
        self.payloads = list(payloads)
        self.version = next(clock)

    def held(self) -> bool:
        """True if no other code has written a handle, or holds a value or a payload to be donated.

        No single reference count can be below its expected value, so comparing sums is enough.
        """
        values = self.values
        if [h._value for h in self.handles] != values or sum(
            map(_count, values)
        ) != _OF_VALUE * len(values):
            return False
        if self.recomputable and (
            [h._value for h in self.recomputable] != self.lazy_values
            or {*map(type, self.lazy_values)} != _LAZY
        ):
            return False
        return sum(map(_count, islice(self.payloads, self.given))) == _OF_PAYLOAD * self.given

    def operands(self, inputs: list[Any]) -> list[Any] | None:
        """Return the operands of the next run with these inputs, or None if handles must be read.

        They must be read if a handle was written, if other code holds a value, or if a payload is
        not of the class `kind`.
        """
        if not self.held():
            return None
        held = self.payloads + [h._value.payload for h in self.read_only]
        if {*map(type, held)} - {self.kind}:
            return None
        return [*[held[i] for i in self.places], *inputs]

    def materialize(self) -> None:
        """Materialize all values."""
        for value in self.values:
            if value is not None:
                materialize(value)


_LAZY = {LazyValue}


def _calibrate() -> tuple[int, int]:
    """Measure the reference counts of unshared values and payloads of a `RetainedOutputs`.

    The value is held by it and by one handle, the payload by it alone.
    """
    handle = StoredHandle()
    handle._extra = None
    state = RetainedOutputs([handle], [[]], 1)
    return sum(map(_count, state.values)), sum(map(_count, islice(state.payloads, 1)))


_OF_VALUE, _OF_PAYLOAD = _calibrate()
