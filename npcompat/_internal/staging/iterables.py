"""Iterables of staged loops: ranges, arrays, and enumerate, zip and reversed of these."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.dispatch.symbolic_number import (
    SymbolicNumber,
    affine_form,
    interval,
    payload_of,
)
from npcompat._internal.staging import items

Count = int | SymbolicNumber


class Rounds(NamedTuple):
    """Rounds of a loop: their number, and the item of each, by a traced payload or by an int."""

    total: Count
    at_payload: Callable[[Any], Any]
    at: Callable[[int], Any]

    def after(self, first: int) -> "Rounds":
        """Return the rounds without the first ones."""
        total: Any = self.total
        return Rounds(
            total - first,
            lambda k: self.at_payload(numbers.computed("add", int, k, first)),
            lambda k: self.at(k + first),
        )


class SymbolicRange:
    """Range with symbolic bounds and a constant step."""

    def __init__(self, *bounds: Any) -> None:
        self.start, self.stop = (0, *bounds)[-2:] if len(bounds) < 2 else bounds[:2]
        self.step = bounds[2] if len(bounds) > 2 else 1
        if type(self.step) is not int or not self.step:
            refuse("a range whose step is not known; use a while loop")

    def __iter__(self, *_: Any) -> Iterator[Any]:
        refuse("a range of a length that is not known yet is used outside of a for loop")

    __len__ = __contains__ = __getitem__ = __iter__

    @property
    def count(self) -> Count:
        """Number of items."""
        step = self.step
        span: Any = self.stop - self.start if step > 0 else self.start - self.stop
        count = span if abs(step) == 1 else (span + (abs(step) - 1)) // abs(step)
        if not isinstance(count, SymbolicNumber):
            return int(max(count, 0))
        if count.low >= 0:
            return count
        payload = numbers.computed("maximum", int, count.payload, 0)
        return SymbolicNumber(payload, int, 0, max(count.high, 0))

    def rounds(self) -> Rounds:
        """Return the rounds of a loop over the range."""
        count = self.count

        def at_payload(k: Any) -> SymbolicNumber:
            number = index(k, self.start, self.step, count, self.stop)
            if self.step > 0:
                number.high = min(number.high, interval(self.stop)[1] - 1)
            else:
                number.low = max(number.low, interval(self.stop)[0] + 1)
            return number

        return Rounds(count, at_payload, lambda k: self.start + k * self.step)


def index(k: Any, start: Any, step: int, count: Count, stop: Any = None) -> SymbolicNumber:
    """Return the number `start + k * step`, whose interval follows from 0 <= k < count, and which
    lies between start and stop.
    """
    low, high = interval(start)
    span = (interval(count)[1] - 1) * step
    at = numbers.computed("mul", int, k, step) if step != 1 else k
    payload = numbers.computed("add", int, at, payload_of(start))
    found = SymbolicNumber(
        payload, int, low + min(span, 0), high + max(span, 0) if span > 0 else high
    )
    if stop is not None:
        ends = affine_form(start), affine_form(stop - (1 if step > 0 else -1))
        found.limit(*(ends if step > 0 else ends[::-1]))
    return found


class LoopIterator:
    """Iterator that a loop may stage, as long as nothing has been taken from it."""

    def __init__(self, *over: Any) -> None:
        self.over = over
        self._left: Iterator[Any] | None = None

    def python(self) -> Iterator[Any]:
        """Return Python's iterator."""
        raise NotImplementedError

    def rounds(self) -> Rounds | None:
        """Return the rounds of a loop over all items, or None if it can't be staged."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._left is None:
            self._left = self.python()
        return next(self._left)

    @property
    def is_fresh(self) -> bool:
        """True if nothing has been taken from it."""
        return self._left is None

    def take(self, whole: bool) -> None:
        """Leave the items to a loop: all of them, or until it ends early."""
        for over in self.over:
            if isinstance(over, LoopIterator):
                over.take(whole)
        self._left = iter(()) if whole else _lost(self)


def _lost(iterator: LoopIterator) -> Iterator[Any]:
    refuse(
        f"{iterator.python.__qualname__.partition('.')[0].lower()}: the iterator is used again "
        "after a loop over it that may have ended early; make a new one for each loop"
    )
    yield


class Enumerated(LoopIterator):
    """Iterator `enumerate(over, start)` of a loop that may be staged."""

    def __init__(self, over: Any, start: int = 0) -> None:
        super().__init__(over)
        self.start = start

    def python(self) -> Iterator[Any]:
        """Return Python's iterator."""
        return enumerate(self.over[0], self.start)

    def rounds(self) -> Rounds | None:
        """Return the rounds of a loop over all items, or None if it can't be staged."""
        return _enumerated(rounds_of(self.over[0]), self.start)


class Zipped(LoopIterator):
    """Iterator `zip(*over)` of a loop that may be staged."""

    def python(self) -> Iterator[Any]:
        """Return Python's iterator."""
        return zip(*self.over, strict=False)

    def rounds(self) -> Rounds | None:
        """Return the rounds of a loop over all items, or None if it can't be staged."""
        return _of_zip(self)


class Reversed(LoopIterator):
    """Iterator `reversed(over)` of a loop that may be staged."""

    def python(self) -> Iterator[Any]:
        """Return Python's iterator."""
        return iter(reversed(self.over[0]))

    def rounds(self) -> Rounds | None:
        """Return the rounds of a loop over all items, or None if it can't be staged."""
        return _reversed(rounds_of(self.over[0]))


def rounds_of(iterable: Any) -> Rounds | None:
    """Return the rounds of a loop over an iterable that can be staged; None for others."""
    if isinstance(iterable, Rounds):
        return iterable
    if isinstance(iterable, SymbolicRange):
        return iterable.rounds()
    if isinstance(iterable, range):
        count = len(iterable)
        return Rounds(
            count,
            lambda k: index(k, iterable.start, iterable.step, count, iterable.stop),
            iterable.__getitem__,
        )
    if type(iterable) is late_bound.ndarray:
        return _of_array(iterable)
    if isinstance(iterable, LoopIterator) and iterable.is_fresh:
        return iterable.rounds()
    return None


def _enumerated(rounds: Rounds | None, start: int) -> Rounds | None:
    if rounds is None:
        return None
    total = rounds.total
    return Rounds(
        total,
        lambda k: (index(k, start, 1, total), rounds.at_payload(k)),
        lambda k: (k + start, rounds.at(k)),
    )


def _reversed(rounds: Rounds | None) -> Rounds | None:
    if rounds is None or type(rounds.total) is not int:
        return None
    last = rounds.total - 1
    return Rounds(
        rounds.total,
        lambda k: rounds.at_payload(numbers.computed("sub", int, last, k)),
        lambda k: rounds.at(last - k),
    )


def _of_array(array: Handle) -> Rounds | None:
    payload = handles.read(array).payload
    if not array.shape or not language.is_tracer(payload) or isinstance(payload, language.Unknown):
        return None
    count = array.shape[0]

    def at_payload(k: Any) -> Any:
        return items.getitem(array, SymbolicNumber(numbers.weak(int, k), int, 0, count - 1))

    return Rounds(count, at_payload, lambda k: array[k])  # type: ignore[index]


def _of_zip(iterable: Zipped) -> Rounds | None:
    found = [rounds_of(over) for over in iterable.over]
    inner = [r for r in found if r is not None]
    if not inner or len(inner) < len(found) or any([type(r.total) is not int for r in inner]):
        return None
    return Rounds(
        min([int(r.total) for r in inner]),
        lambda k: tuple([r.at_payload(k) for r in inner]),
        lambda k: tuple([r.at(k) for r in inner]),
    )


__all__ = [
    "Count",
    "Enumerated",
    "LoopIterator",
    "Reversed",
    "Rounds",
    "SymbolicRange",
    "Zipped",
    "rounds_of",
]
