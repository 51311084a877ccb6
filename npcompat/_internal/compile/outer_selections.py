"""Selections of an outer trace, which an inner one reads and writes: `z[mask]` in a loop or branch.

An inner trace has arrays as inputs and outputs. So it reads a selection as two of them, its array in
full shape and its mask, through handles of their own, which the outer trace keeps. A write in place
is one of the array; `write_back` hands it on to the selection.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from npcompat._internal.core.handle import Handle, Value, bump_version
from npcompat._internal.dispatch import masked_array, writes
from npcompat._internal.dispatch.handles import wrap


@dataclass(eq=False, slots=True)
class Spread:
    """Selection that inner traces read: its handle, its array, and the handle by which that is read."""

    selection: Handle
    array: Value
    whole: Handle


@dataclass(eq=False, slots=True)
class Selections:
    """State of a trace: selections of the outer trace that it reads, and its own that inner ones read.

    - `read`: those of the outer trace.
    - `masks`: by id of a mask of an outer trace, that mask as read here; `first_masks` is the inverse.
    - `spread`, `wholes`: own selections that inner traces read, by id of their handle and of `whole`.
    - `handles`: by id of a mask, the handle by which inner traces read it.
    """

    read: list[Spread] = field(default_factory=list)
    masks: dict[int, Value] = field(default_factory=dict)
    first_masks: dict[int, Value] = field(default_factory=dict)
    spread: dict[int, Spread] = field(default_factory=dict)
    wholes: dict[int, Spread] = field(default_factory=dict)
    handles: dict[int, Handle] = field(default_factory=dict)

    def references_to(self, key: int) -> int:
        """Return the number of references to the handle with this id."""
        return sum([id(s.selection) == key for s in self.wholes.values()])

    def whole_of(self, selection: Handle) -> int | None:
        """Return the id of the handle by which inner traces read a selection's array; None if none
        does.
        """
        found = self.spread.get(id(selection))
        return None if found is None else id(found.whole)

    def read_by(self, wholes: Iterable[Handle]) -> list[Handle]:
        """Return the selections whose arrays are read by these handles."""
        return [s.selection for h in wholes if (s := self.wholes.get(id(h))) is not None]


def read(trace: Any, handle: Handle, value: Value) -> Value:
    """Return the value of an outer trace's selection in an inner trace."""
    outer, above, mine = value.payload, trace.outer.selections, trace.selections
    spread = above.spread.get(id(handle))
    if spread is None or spread.array is not outer.values:
        spread = Spread(handle, outer.values, wrap(outer.values))
        above.spread[id(handle)] = above.wholes[id(spread.whole)] = spread
    first = _first_mask(trace.outer, outer.mask)
    if id(first) not in above.handles:
        above.handles[id(first)] = wrap(above.masks.get(id(first), outer.mask))
    trace.touch(handle, value)
    mask = trace.read(above.handles[id(first)])
    mine.masks[id(first)], mine.first_masks[id(mask)] = mask, first
    array = trace.read(spread.whole)
    inside: Value = trace.adopt(
        Value(masked_array.MaskedPayload(array, mask, outer.trailing, outer.ordered))
    )
    mine.read.append(spread)
    trace.lifted[id(handle)] = handle._value = inside
    bump_version(handle)
    return inside


def _first_mask(trace: Any, mask: Value) -> Value:
    """Return a mask in the trace that made it, for one that inner traces have read."""
    while trace is not None:
        mask = trace.selections.first_masks.get(id(mask), mask)
        trace = trace.outer
    return mask


def spread_writes(trace: Any) -> None:
    """Turn writes of an outer trace's selections into writes of their arrays in full shape."""
    for spread in trace.selections.read:
        handle = spread.selection
        now, before = handle._value, trace.lifted[id(handle)]
        if now is before:
            continue
        if type(now.payload) is not masked_array.MaskedPayload or not trace.same(
            now.payload.mask.payload, before.payload.mask.payload
        ):
            masked_array.refuse(before.payload, "a write by other positions than all of")
        spread.whole._value = now.payload.values
        handle._value = before


def write_back(trace: Any, handle: Handle, value: Value) -> None:
    """Write a result of a program that an inner trace made into a handle that it wrote."""
    writes.write_back(handle, value)
    spread = trace.selections.wholes.get(id(handle))
    if spread is not None:
        selection = trace.read(spread.selection)
        writes.write_back(spread.selection, selection.payload.alike(value))


__all__ = ["Selections", "Spread", "read", "spread_writes", "write_back"]
