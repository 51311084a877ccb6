"""Borrowed buffers: memory of arrays shared with `numpy.asarray(a)`, `memoryview(a)`, DLPack and
`nditer`.

Values are immutable, but a borrower may write the memory at any time. Meanwhile the handle holds a
`BorrowedValue`. Reading the handle copies the buffer, so values saved for a gradient don't change;
writing the handle writes the buffer. So each side sees the other's writes.

Changes of the owner are under the lock of writes, so that threads which borrow parts of one array
share its buffer; a finalizer may release a buffer while the same thread borrows another.

An export keeps the array that owns the memory alive. When the last NumPy array or memoryview over
the memory is freed, the array owns the buffer again without a copy.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.handle import (
    BorrowedValue,
    Handle,
    Value,
    bump_version,
    extra,
    payload_now,
    root_of,
)
from npcompat._internal.dispatch import backends, handles, writes
from npcompat._internal.dispatch.placement import constant

Array = onp.ndarray[Any, Any]


def borrow_buffer(root: Handle, escaped: bool = True) -> BorrowedValue | None:
    """Borrow the host buffer of a root handle; the borrower may write it.

    Return None if the array is on XLA, or if writing it would have to be recorded.

    Parameters
    ----------
    escaped : bool
        True if the borrower may still write the buffer after its release.
    """
    with writes.lock_of_writes():
        if type(root._value) is not BorrowedValue:  # a name for it would count as another holder
            buffer = writes.buffer(root)
            if buffer is None:
                return None
            extra(root)
            root._value = BorrowedValue(buffer, root._value.node)
        value = root._value
        value.users += 1
        value.escaped |= escaped
        return value


def borrowed_array(buffer: Any, escaped: bool = False) -> Any:
    """Return a new array over foreign memory; each side sees the other's writes.

    Parameters
    ----------
    escaped : bool
        True if the foreign owner may still write the memory after `release_buffer`.
    """
    value = BorrowedValue(buffer)
    value.users, value.escaped = 1, escaped
    made = handles.wrap(value)
    extra(made)
    return made


def over_memory(array: Array) -> Any:
    """Return a new array that shares the memory of a NumPy array, on the host.

    It stays there whatever the placement: values on XLA could not see the writes of others. Memory
    of a `bytes` object never changes, so it becomes an ordinary value. While a function is
    compiled, the result is a read-only copy.
    """
    owner: Any = array.base
    while isinstance(owner, onp.ndarray | memoryview):
        owner = owner.base if isinstance(owner, onp.ndarray) else owner.obj
    traced = modes.current().trace is not None
    if type(owner) is bytes or traced:
        made = handles.wrap(constant(array if type(owner) is bytes else array.copy()))
    else:
        made = borrowed_array(array)
    if array.flags.writeable and not traced:
        return made
    made.setflags(write=False)
    return made[...]  # a view of a read-only array can't be made writeable


def release_buffer(root: Handle, borrowed: BorrowedValue) -> None:
    """Release a borrowed buffer; after the last borrower the array owns it again.

    The array gets a copy instead if a former borrower may still write the buffer.
    """
    # a finalizer may run in a thread for which the holder of the lock waits
    taken = writes.updating.acquire(timeout=program_lock.PATIENCE)
    try:
        borrowed.users -= 1
        if borrowed.users == 0 and root._value is borrowed:
            root._value = Value(
                borrowed.payload if borrowed.escaped else borrowed.buffer, borrowed.node
            )
            bump_version(root)
    finally:
        if taken:
            writes.updating.release()


class _Export:
    """Base object of exported NumPy arrays; when it is freed, the buffer is released."""

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

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # then the modules are empty, and nobody reads the array
            release_buffer(self._root, self._value)


def _exported(root: Handle, value: BorrowedValue) -> Array:
    """Return a NumPy array over a borrowed buffer, whose base releases it."""
    made = onp.asarray(_Export(root, value))
    return made if value.buffer.dtype == made.dtype else made.view(value.buffer.dtype)


def export(handle: Handle) -> Array:
    """Return the memory of an array as a NumPy array.

    It is writeable, and each side sees the other's writes, if the array is on the host, may be
    written, and its writes need not be recorded. Otherwise it is read-only and holds the elements
    of this moment.

    Raises
    ------
    TracedValueError
        While a function is compiled, if the elements are not known.
    """
    root = root_of(handle)
    borrowed = None if _is_recorded(root) or _is_undescribed(root) else borrow_buffer(root, False)
    if borrowed is None:
        if handle._view is not None and backends.XLA.is_on_one_cpu(payload_now(root._value)):
            # With the memory around a view, for those who stride over it.
            found = _viewed_part(handle, handles.to_host(root)).view()
        else:
            found = handles.to_host(handle).view()
        found.flags.writeable = False
        return found
    memory = _exported(root, borrowed)
    found = _viewed_part(handle, memory)
    if _is_readonly(handle):
        found = found.view()
        found.flags.writeable = False
    return found


def pinned(handle: Handle) -> Array | None:
    """Return a NumPy array over the memory of an array, which stays in place while the array lives.

    Return None for arrays on XLA, and for recorded or traced ones.
    """
    root = root_of(handle)
    borrowed = None if _is_recorded(root) or _is_undescribed(root) else borrow_buffer(root, False)
    if borrowed is None:
        return None
    found = _viewed_part(handle, borrowed.buffer.view())
    if _is_readonly(handle):
        found.flags.writeable = False
    return found


def _is_recorded(root: Handle) -> bool:
    """Return True if a write to an array would have to be recorded, or a trace is running."""
    mode, node = modes.current(), root._value.node
    leaf = None if root._extra is None else root._extra.leaf
    return mode.trace is not None or (node is not None and (mode.recording or node is not leaf))


def _is_undescribed(root: Handle) -> bool:
    """Return True for memory that no protocol describes.

    It holds texts of any length, or records with fields of Python objects.
    """
    dtype = payload_now(root._value).dtype
    return dtype.kind == "T" or (dtype.names is not None and dtype.hasobject)


def _viewed_part(handle: Handle, memory: Array) -> Array:
    """Return the part of a root's memory that a handle views."""
    view = handle._view
    if view is None:
        return memory
    found: Array = view.lens.on_host(_viewed_part(view.parent, memory))
    return found


def _is_readonly(handle: Handle) -> bool:
    return handle._extra is not None and bool(handle._extra.readonly)


__all__ = ["borrow_buffer", "borrowed_array", "export", "over_memory", "pinned", "release_buffer"]
