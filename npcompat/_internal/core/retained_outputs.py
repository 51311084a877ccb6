"""What a compiled program wrote outside, kept among its results, where its next run takes it.

Hot path. A training step reads and writes some dozens of arrays. Taking each from its handle, and
putting each back, costs more than a small step computes, and competes with XLA's threads. So their
values stay in one list; the handles hold `RetainedValue`s, which look there. Whatever else writes a
handle replaces its value, and whatever else holds a value or a payload is seen by the reference
counts: then the values are settled, which makes them like any other, and the program takes
everything from the handles again.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from npcompat._internal.core.handle import (
    BorrowedValue,
    Handle,
    Value,
    bump_version,
    clock,
    extra,
    root_of,
)

_slot: Any = Value.__dict__["payload"]
_count = sys.getrefcount


class RetainedValue(Value):
    """A value whose payload is among the results of a program; its slot says where."""

    __slots__ = ()

    def __init__(self, state: "RetainedOutputs", position: int, node: Any) -> None:
        _slot.__set__(self, (state, position))
        self.node, self.index = node, 0

    @property
    def payload(self) -> Any:
        """The payload, from the program's results."""
        state, position = _slot.__get__(self)
        return state.payloads[position]

    @property
    def version(self) -> int:
        """When the program last ran."""
        version: int = _slot.__get__(self)[0].version
        return version


class LazyValue(Value):
    """A value that needs nothing to be made, and takes no memory until its payload is asked for;
    then it is one like any other.
    """

    __slots__ = ()

    def __init__(self, make: Callable[[], Any]) -> None:
        _slot.__set__(self, (make,))
        self.node, self.index = None, 0

    @property
    def payload(self) -> Any:
        """The payload, which is made now, unless another thread has just made it."""
        payload = _slot.__get__(self)
        if type(payload) is tuple:
            payload = payload[0]()
            _slot.__set__(self, payload)
            made: Any = self
            made.__class__ = Value
        return payload


def materialize(value: Value) -> None:
    """Make a value like any other, if a program keeps it, or has not made it yet."""
    if type(value) is LazyValue:
        value.payload  # noqa: B018
    elif type(value) is RetainedValue:
        state, position = _slot.__get__(value)
        payload = state.payloads[position]
        rare = state.handles[position]._extra
        if rare is not None and state.handles[position]._value is value:
            rare.version = state.version
        state.values[position] = state.payloads[position] = None
        kept: Any = value
        kept.__class__ = Value
        kept.payload = payload


def version_of(root: Handle) -> int:
    """A number that is another one whenever the handle was written."""
    value = root._value
    if type(value) is BorrowedValue:
        return next(clock)  # somebody else may have written it since
    return value.version if type(value) is RetainedValue else extra(root).version


def clear(gradient: Handle) -> None:
    """Note that a gradient is zero, and of no backward."""
    root = root_of(gradient)
    extra(root).blank = version_of(root)


class RetainedOutputs:
    """The handles that a program writes, and what they hold; the next run is given the buffers of
    the first `given`.

    Those in `recomputable` are left with what their functions make, when it is asked for. The
    program reads the handles at `places` among those it writes and, after them, those in `read_only`; payloads
    are of one class, the `kind`.
    """

    __slots__ = (
        "given",
        "handles",
        "kind",
        "payloads",
        "places",
        "read_only",
        "recomputable",
        "unmade",
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
        self.recomputable, self.unmade = (
            [h for h, _ in recomputable],
            [LazyValue(make) for _, make in recomputable],
        )
        for handle, unmade in zip(self.recomputable, self.unmade, strict=True):
            handle._value = unmade
            bump_version(handle)
        self.values: list[Any] = []
        for i, handle in enumerate(handles):
            rare = handle._extra
            value = handle._value = RetainedValue(self, i, None if rare is None else rare.leaf)
            self.values.append(value)
        self.keep(payloads)

    def keep(self, payloads: Sequence[Any]) -> None:
        """Let the handles hold the results of another run."""
        self.payloads = list(payloads)
        self.version = next(clock)

    def held(self) -> bool:
        """Whether each handle holds its value still, and nobody else does, nor what the next run is
        given, nor what is not made yet.

        Each count is at least what the state and the handle make it, so that the sums say it of
        all.
        """
        values = self.values
        if [h._value for h in self.handles] != values or sum(
            map(_count, values)
        ) != _OF_VALUE * len(values):
            return False
        if self.recomputable and (
            [h._value for h in self.recomputable] != self.unmade
            or {*map(type, self.unmade)} != _UNMADE
        ):
            return False
        return sum(map(_count, islice(self.payloads, self.given))) == _OF_PAYLOAD * self.given

    def operands(self, inputs: list[Any]) -> list[Any] | None:
        """What the program's next run is given, with these inputs; None if not each handle holds
        its value, or one is elsewhere.
        """
        if not self.held():
            return None
        held = self.payloads + [h._value.payload for h in self.read_only]
        if {*map(type, held)} - {self.kind}:
            return None
        return [*[held[i] for i in self.places], *inputs]

    def materialize(self) -> None:
        """Settle all values."""
        for value in self.values:
            if value is not None:
                materialize(value)


_UNMADE = {LazyValue}


def _calibrate() -> tuple[int, int]:
    """The counts of a value that a state and one handle hold, and of a payload that a state
    holds.
    """
    handle = Handle()
    handle._extra = None
    state = RetainedOutputs([handle], [[]], 1)
    return sum(map(_count, state.values)), sum(map(_count, islice(state.payloads, 1)))


_OF_VALUE, _OF_PAYLOAD = _calibrate()
