"""Slices whose bounds are not known, as intervals of an axis: reversed, or put where another is.

Selections stay where their elements are in the full array (see `masked_array`), so that only those
of the same positions go together. Of two intervals of equal length, one is moved to the other.
"""

from typing import Any, NamedTuple

from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.index_spec import FULL, NEWAXIS
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.execution import run


class Interval(NamedTuple):
    """Positions `[start, stop)` of an axis; `length` is the affine form of `stop - start`, None if a
    bound was clipped to the axis.
    """

    start: Any
    stop: Any
    length: Any

    def is_as_long_as(self, other: "Interval") -> bool:
        """Return True if both have the same number of elements in every round."""
        return self.length is not None and self.length == other.length


def reversed_elements(values: Value, axis: int, interval: Interval) -> Value:
    """Return an array in which the elements of an interval stand in reversed order."""
    size = values.payload.shape[axis]
    last = numbers.total(interval.start, interval.stop, -1)
    return _taken(values, axis, numbers.places(last, -1, size)) if size else values


def moved(values: Value, axis: int, interval: Interval, to: Interval, size: int) -> Value:
    """Return an array with an axis of this size, in which the elements of an interval stand where
    another one is; the axis has elements.
    """
    first = numbers.distance(to.start, interval.start)
    return _taken(values, axis, numbers.places(first, 1, size))


def _taken(values: Value, axis: int, places: Any) -> Value:
    trace = modes.current().trace
    assert trace is not None
    found: Value = run(REGISTRY["_npi_take"], [values, trace.adopt(Value(places))], (axis, "clip"))
    return found


def position(interval: Interval, at: int, size: int) -> tuple[Any, Any]:
    """Return the position in an axis of an element of an interval, negative ones counted from its
    end, and the flag that there is none.
    """
    found = numbers.total(interval.start if at >= 0 else interval.stop, at)
    missing = numbers.outside(found, interval.start, numbers.total(interval.stop, -1))
    return numbers.position(found, size, True, True, False), missing


def item_of(spec: Any, axis: int) -> tuple[int, int]:
    """Return the position among a key's items of that of an axis, and the number of starts before
    its own.
    """
    source = starts = 0
    for i, item in enumerate(spec):
        if item[0] == NEWAXIS:
            continue
        if source == axis:
            return i, starts
        source += 1
        starts += item[0] != FULL
    raise AssertionError("a key has an item for each axis")


__all__ = ["Interval", "item_of", "moved", "position", "reversed_elements"]
