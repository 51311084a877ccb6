"""Memory of arrays that others look into: what `numpy.asarray(a)`, `memoryview(a)` and DLPack give,
and what an `nditer` yields.

Values are immutable, but such memory can be written by anybody while the array is in use. While that
lasts, the handle holds a `BorrowedValue`: reading it copies, writing the handle writes the buffer,
so that each side sees what the other wrote, and nothing that was saved for a gradient changes.

An export keeps the array that owns the memory alive. When the last NumPy array or memoryview that
looks into it goes, the array has its memory for itself again, without a copy.
"""

from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import (
    BorrowedValue,
    Handle,
    Value,
    bump_version,
    extra,
    payload_now,
    root_of,
)
from npcompat._internal.dispatch import handles, writes
from npcompat._internal.dispatch.placement import constant, on_host

Array = onp.ndarray[Any, Any]


def lend(root: Handle, escaped: bool = True) -> BorrowedValue | None:
    """Lend the buffer of an array that owns its memory.

    Return None if it is on XLA, or if writing it would have to be recorded.

    Parameters
    ----------
    escaped : bool
        True if who borrows it may keep and write it after giving it back.
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
    value.escaped |= escaped
    return value


def lent_array(buffer: Any, escaped: bool = False) -> Any:
    """Make an array over memory of somebody else, who may write it: each side sees the other's
    writes.

    Parameters
    ----------
    escaped : bool
        True if the memory is taken back, and may still be written then; see `lend`.
    """
    value = BorrowedValue(buffer)
    value.users, value.escaped = 1, escaped
    made = handles.wrap(value)
    extra(made)
    return made


def over_memory(array: Array) -> Any:
    """Make an array over memory that a NumPy array looks into.

    Bytes never change, so that their memory is shared as any value is. On XLA it is a copy.
    """
    owner: Any = array.base
    while isinstance(owner, onp.ndarray | memoryview):
        owner = owner.base if isinstance(owner, onp.ndarray) else owner.obj
    if not (on_host(modes.current()) or not dtypes.on_devices(array.dtype)):
        made = handles.wrap(constant(array.copy()))
    elif type(owner) is bytes:
        made = handles.wrap(Value(array))
    else:
        made = lent_array(array)
    if array.flags.writeable:
        return made
    made.setflags(write=False)
    return made[...]  # which can't be made writeable


def take_back(root: Handle, lent: BorrowedValue) -> None:
    """End what `lend` began: the array has its elements for itself again.

    It gets a copy if somebody may still write them where they were.
    """
    lent.users -= 1
    if lent.users == 0 and root._value is lent:
        root._value = Value(lent.payload if lent.escaped else lent.buffer, lent.node)
        bump_version(root)


class _Export:
    """Base of NumPy's arrays over the memory of an array; when it goes, the memory is taken
    back.
    """

    __slots__ = ("_root", "_value", "interface")

    def __init__(self, root: Handle, value: BorrowedValue) -> None:
        self._root, self._value = root, value
        buffer = value.buffer
        self.interface = {
            "shape": buffer.shape,
            "strides": buffer.strides,
            "typestr": "|O" if buffer.dtype.hasobject else f"|V{buffer.dtype.itemsize}",
            "data": (buffer.ctypes.data, False),
            "version": 3,
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.interface

    def __del__(self) -> None:
        take_back(self._root, self._value)


def _exported(root: Handle, value: BorrowedValue) -> Array:
    """NumPy array over a buffer that was lent, whose base takes it back."""
    made = onp.asarray(_Export(root, value))
    return made if value.buffer.dtype == made.dtype else made.view(value.buffer.dtype)


def export(handle: Handle) -> Array:
    """Return the memory of an array as a NumPy array.

    It is writeable, and each side sees the other's writes, if the array is on the host, may be
    written, and what is written to it need not be recorded. Else it is read-only: the elements as
    they are now.

    Raises
    ------
    TracedValueError
        While a function is compiled, if the elements are not known.
    """
    root = root_of(handle)
    lent = None if _is_recorded(root) or _has_fields_of_objects(root) else lend(root, False)
    if lent is None:
        found = handles.to_host(handle).view()
        found.flags.writeable = False
        return found
    memory = _exported(root, lent)
    found = _looked_at(handle, memory)
    if _is_readonly(handle):
        found = found.view()
        found.flags.writeable = False
    return found


def pinned(handle: Handle) -> Array | None:
    """Return the memory of an array, which stays where it is as long as the array lives.

    Return None where there is none: on XLA, and of what is recorded or traced.
    """
    root = root_of(handle)
    described = payload_now(root._value).dtype
    lent = None if _is_recorded(root) or described.kind in "mMV" else lend(root, False)
    if lent is None:
        return None
    found = _looked_at(handle, lent.buffer.view())
    if _is_readonly(handle):
        found.flags.writeable = False
    return found


def _is_recorded(root: Handle) -> bool:
    """Return True if what is written to an array would have to be recorded, or is traced."""
    mode, node = modes.current(), root._value.node
    leaf = None if root._extra is None else root._extra.leaf
    return mode.trace is not None or (node is not None and (mode.recording or node is not leaf))


def _has_fields_of_objects(root: Handle) -> bool:
    """Return True for records with fields of Python objects: no protocol describes their memory."""
    dtype = payload_now(root._value).dtype
    return bool(dtype.names is not None and dtype.hasobject)


def _looked_at(handle: Handle, memory: Array) -> Array:
    """Return the part of the memory of a root that a handle looks at."""
    view = handle._view
    if view is None:
        return memory
    found: Array = view.lens.on_host(_looked_at(view.parent, memory))
    return found


def _is_readonly(handle: Handle) -> bool:
    return handle._extra is not None and handle._extra.readonly


__all__ = ["export", "lend", "lent_array", "over_memory", "pinned", "take_back"]
