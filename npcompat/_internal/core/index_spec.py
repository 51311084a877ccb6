"""Specification of a basic key: its effect on each axis, without the start positions.

Start positions are operands of the operators that read and write, so that one program serves all
positions.
"""

from collections.abc import Sequence
from typing import Any

FULL, INTEGER, SLICE, NEWAXIS = range(4)


def host_index(starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    """Return the Python index of a specification with these start positions."""
    remaining = iter(starts)
    index: list[Any] = []
    for kind, *rest in spec:
        if kind == FULL:
            index.append(slice(None))
        elif kind == NEWAXIS:
            index.append(None)
        elif kind == INTEGER:
            index.append(int(next(remaining)))
        else:
            length, step = rest
            start = int(next(remaining))
            stop = start + length * step
            index.append(slice(start, None if stop < 0 else stop, step) if length else slice(0, 0))
    return tuple(index)


def indexed_shape(shape: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    """Return the shape of the part that a specification selects of an array of this shape."""
    out: list[Any] = []
    axis = 0
    for kind, *rest in spec:
        if kind == NEWAXIS:
            out.append(1)
            continue
        if kind == FULL:
            out.append(shape[axis])
        elif kind == SLICE:
            out.append(rest[0])
        axis += 1
    return tuple(out)
