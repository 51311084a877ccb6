"""Buffers that are lent to an iterator, which writes them while the arrays are in use.

Values are immutable, but what `nditer` yields looks into an array's memory. While that lasts, the
handle holds a `BorrowedValue` value: reading it copies, writing the handle writes the buffer, so that both
see what the other wrote.
"""

from typing import Any

from npcompat._internal.core.handle import BorrowedValue, Handle, Value, bump_version, extra
from npcompat._internal.dispatch import handles, writes


def lend(root: Handle) -> BorrowedValue | None:
    """Lend the buffer of an array that owns its memory; None if it is on XLA, or if writing it
    would have to be recorded.
    """
    value = root._value
    if type(value) is not BorrowedValue:
        buffer = writes.buffer(root)
        if buffer is None:
            return None
        value = BorrowedValue(buffer, root._value.node)
        extra(root)
        root._value = value
    value.users += 1
    return value


def lent_array(buffer: Any) -> Any:
    """A new array over memory of somebody who writes it, and who has to end that by `take_back`."""
    value = BorrowedValue(buffer)
    value.users = 1
    made = handles.wrap(value)
    extra(made)
    return made


def take_back(root: Handle, lent: BorrowedValue) -> None:
    """End what `lend` began: the array has its elements for itself again, which may still be
    written where they were.
    """
    lent.users -= 1
    if lent.users == 0 and root._value is lent:
        root._value = Value(lent.payload, lent.node)
        bump_version(root)


__all__ = ["lend", "lent_array", "take_back"]
