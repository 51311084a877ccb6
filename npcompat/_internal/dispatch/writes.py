"""Write handles: replace a value, write through lenses, update buffers in place."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import RLock
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.handle import (
    BorrowedValue,
    Handle,
    Value,
    bump_version,
    check_writeable,
    clock,
    payload_now,
)
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.dispatch import backends, late_bound, memory_layout
from npcompat._internal.dispatch.apply import _current_mode, _default_mode
from npcompat._internal.dispatch.backends import ON_DEVICES, XLA_ARRAY
from npcompat._internal.dispatch.detaching import detached
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import current_array, lens_operand, read
from npcompat._internal.dispatch.ownership import (
    _copied,
    _keeping_layout,
    _may_overwrite,
    _unshared,
)
from npcompat._internal.dispatch.placement import host_payload, new_value
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import (
    AutogradError,
    RefusedError,
    SymbolError,
    user_location,
)
from npcompat._internal.support.interrupts import uninterrupted


def write(handle: Handle, value: Value) -> None:
    """Replace the value of a handle; writing a view writes its base through the lens.

    The caller has cast and broadcast the value to the handle's dtype and shape.
    """
    check_writeable(handle)
    _replace(handle, value)


def write_back(handle: Handle, value: Value) -> None:
    """Replace the value of a handle by the result of a loop or branch that has written it; it may
    be read-only since.
    """
    refuse_history(handle, RefusedError)
    _replace(handle, value)


def _replace(handle: Handle, value: Value, keeps_place: bool = True) -> None:
    view, rare = handle._view, handle._extra
    if view is not None:
        put(view.parent, view.lens, value)
        return
    mode = modes.current()
    if mode.trace is not None:
        mode.trace.writing(handle)
    elif keeps_place and sharding.several[0]:
        value = _kept_where(handle, value)
    if mode.paused and (value.node is not None or mode.trace is not None):
        if mode.trace is not None and rare is not None and rare.leaf is not None:
            _refuse_variable(mode.trace)
        value = detached(value)
    if type(value.payload) is late_bound.symbolic and type(handle) is not late_bound.symbol:
        raise SymbolError(
            "a symbol can't be written into an array, which has values: write it into a symbol"
        )
    if rare is not None:
        bump_version(handle)
        if type(handle._value) is BorrowedValue and mode.trace is None:
            borrowed = handle._value
            if value.node is None and value.payload.shape == borrowed.buffer.shape:
                borrowed.buffer[...] = host_payload(value)
                return
            if not borrowed.escaped:
                raise BufferError(
                    "the array's memory is exported: something made by numpy.asarray(), "
                    "memoryview() or DLPack still shares it, and would not see "
                    + ("what is recorded here" if value.node is not None else "another shape")
                    + "; delete that first, or write into a copy"
                )
        if rare.leaf is not None and value.node is None and not mode.recording:
            value = new_value(value.payload, rare.leaf)
    if type(value.payload) is onp.ndarray:
        value = _laid_out_as(handle, value)
    elif type(handle._value.payload) is onp.ndarray:
        memory_layout.note(handle)
    handle._value = value if mode.trace is None else mode.trace.adopt(value)


def _kept_where(handle: Handle, value: Value) -> Value:
    """A value on the devices of the one that it replaces, laid out as that."""
    if type(handle._value) is BorrowedValue:
        return value
    before, payload = handle._value.payload, value.payload
    if type(before) is onp.ndarray:
        if type(payload) is not XLA_ARRAY or xla.device_of(payload) is xla.first_cpu():
            return value
        kept = onp.array(host_payload(value))
    elif type(before) is not XLA_ARRAY or before.shape != payload.shape:
        return value
    elif type(payload) is XLA_ARRAY:
        kept = sharding.kept_where(payload, before)
    elif xla.device_of(before) is not xla.first_cpu():
        kept = backends.asarray_like(payload, before)
    else:
        return value
    return value if kept is payload else Value(kept, value.node, value.index)


def relocate(handle: Handle, value: Value) -> None:
    """Replace what a handle means, and where it lies: on the devices of the new value."""
    check_writeable(handle)
    _replace(handle, value, keeps_place=False)


def _laid_out_as(handle: Handle, value: Value) -> Value:
    """Return a host value in the memory layout of the one that it replaces, which views refer to.

    The layout of a value on XLA, or of a tracer, is that of its stand-in, else C order.
    """
    payload, before = value.payload, handle._value.payload
    if type(before) is not onp.ndarray:
        before = None if handle._extra is None else handle._extra.layout
    if (
        payload.flags.c_contiguous
        if before is None
        else before.strides == payload.strides or before.shape != payload.shape
    ):
        return value
    laid_out = partial(memory_layout.copied, like=before)
    return Value(
        _copied("laid out in memory as what it replaces", payload, laid_out),
        value.node,
        value.index,
    )


def put(parent: Handle, lens: Any, value: Value) -> None:
    """Write a value, already broadcast and cast, into the part of a handle that a lens selects.

    The caller has checked that the view is writeable. Its base need not be: NumPy allows writing a
    view whose base was made read-only later.
    """
    with lock_of(parent):
        target = buffer(parent, value)
        if target is not None:
            assign(lens.on_host(target), ..., host_payload(value))
        else:
            update_part(
                parent,
                lens.put,
                [value, *map(lens_operand, lens.operands)],
                lens.attrs,
            )


_FIRST = (0,)
"""Operands that `update` donates."""


def assign(target: onp.ndarray[Any, Any], key: Any, new: Any) -> None:
    """Write into a host buffer, through the observer if there is one."""
    observer = modes.current().observer
    if observer is None:
        target[key] = new
    else:
        with modes.changed(observer=observer.outer):
            observer.write(None, target, (new,), partial(assign, target, key, new))


updating = RLock()
"""Lock held from reading a handle to replacing its value, or to the end of a write into its buffer,
so that threads can write parts of one array. The C part takes no lock: it writes only a buffer that
nothing else holds, and tells which ones (`written_elsewhere`).
"""
_UNLOCKED = nullcontext()
_IN_CALLBACK = program_lock.Held(updating)


def lock_of(handle: Handle) -> AbstractContextManager[Any]:
    """Return the lock for a write; none for Python objects, whose own code runs meanwhile."""
    payload = payload_now((handle if handle._view is None else handle._view.root)._value)
    if type(payload) is onp.ndarray and payload.dtype.hasobject:
        return _UNLOCKED
    return lock_of_writes()


def lock_of_writes() -> AbstractContextManager[Any]:
    """Return the lock for a write that runs no code of Python objects."""
    return _IN_CALLBACK if program_lock.is_in_callback() else updating


_PATIENCE = 60.0
"""Seconds to wait for a write of another thread, which ends by itself."""


def _wait_for_writes(root: Handle) -> None:
    """Wait until no other thread writes the buffer of a host handle; it would be lost in a copy."""
    if fast_path.native is None:
        return
    end = time.monotonic() + _PATIENCE
    while fast_path.native.written_elsewhere(root._value.payload):
        if time.monotonic() > end:
            raise RuntimeError(f"another thread has been writing this array for {_PATIENCE:.0f} s")
        time.sleep(0.00002)


def update(handle: Handle, op: Op, operands: Sequence[Value], attrs: Attrs = ()) -> None:
    """Replace the value of a handle by `op(handle, *operands)`, which has its shape and dtype.

    An unshared payload on XLA is donated: the program writes into its buffer.
    """
    with updating:
        if (
            handle._view is None
            and _may_overwrite(handle, operands)
            and type(handle._value.payload) in ON_DEVICES
        ):
            with uninterrupted:
                _replace(handle, run(op, [handle._value, *operands], attrs, _FIRST))
            return
        whole = read(handle)
        audit = modes.current().audit
        if audit is None or handle._view is not None or type(whole.payload) not in ON_DEVICES:
            _replace(handle, run(op, [whole, *operands], attrs))
        else:
            why = "held elsewhere, or recorded, when a part of it is written"
            _replace(
                handle,
                audit.record_event(
                    "copy", why, whole.payload, partial(run, op, [whole, *operands], attrs)
                ),
            )


def keeps_history(handle: Handle) -> bool:
    """Return True for recorded arrays while recording is paused: what is written there is constant,
    and the rest has the gradients that it had.
    """
    if not modes.current().paused:
        return False
    root = handle if handle._view is None else handle._view.root
    node, rare = root._value.node, root._extra
    return node is not None and (rare is None or node is not rare.leaf)


def refuse_history(handle: Handle, kind: type[Exception] = AutogradError) -> None:
    """Raise if a program has written an array of which a part should keep its history."""
    if keeps_history(handle):
        raise kind(
            f"{user_location()}: an array that was recorded is written by a loop, a branch or a "
            "compiled function while recording is paused, so that what it leaves alone would lose "
            "its gradient; pause within it, or write a copy of the array"
        )


def _refuse_variable(trace: Any) -> None:
    """Raise if the gradient of a variable would be lost: a trace that is differentiated as a whole
    knows only the value that it began with.
    """
    if trace.recorded_outside:
        raise RefusedError(
            f"{user_location()}: a variable is written while recording is paused in a compiled "
            "function that is recorded, so that its gradient would be lost; write it outside of "
            "the function, or compute with a new array in its place"
        )


def write_part(handle: Handle, op: Op, operands: Sequence[Value | None], attrs: Attrs = ()) -> None:
    """Write an array by an operator that leaves parts of it as they are.

    None among the operands stands for the value of the array.
    """
    check_writeable(handle)
    _replace_part(handle, op, operands, attrs)


def _replace_part(
    handle: Handle, op: Op, operands: Sequence[Value | None], attrs: Attrs = ()
) -> None:
    if not keeps_history(handle):
        _replace(handle, run(op, [read(handle) if v is None else v for v in operands], attrs))
        return
    constants = [None if v is None else detached(v) for v in operands]
    with modes.changed(recording=True):
        _replace(handle, run(op, [read(handle) if v is None else v for v in constants], attrs))


def update_part(handle: Handle, op: Op, operands: Sequence[Value], attrs: Attrs = ()) -> None:
    """Write a part of an array: `update` by an operator that leaves the other parts as they are."""
    if keeps_history(handle):
        with updating:
            _replace_part(handle, op, [None, *operands], attrs)
    else:
        update(handle, op, operands, attrs)


def buffer(handle: Handle, *operands: Value) -> Any:
    """Return the NumPy array of a host handle, to be written at once and not kept.

    The caller holds `lock_of(handle)` until it has written. The root's buffer is copied first if
    another value or array holds it. None if the values are on XLA, if the write must be recorded,
    traced or observed, if symbols would be written, and for scalars.
    """
    view = handle._view
    root = handle if view is None else view.root
    value = root._value
    borrowed = type(value) is BorrowedValue
    if root._immutable or (not borrowed and type(value.payload) is not onp.ndarray):
        return None
    mode = _current_mode(_default_mode[0])
    if not mode.is_default and (
        mode.trace is not None
        or ((observer := mode.observer) is not None and observer.needs_every_op)
    ):
        return None
    if operands:
        if any([type(v.payload) is late_bound.symbolic for v in operands]):
            return None
        if mode.recording and any([v.node is not None for v in operands]):
            return None
    if root._value.node is not None and (mode.recording or keeps_history(root)):
        return None
    if borrowed:
        return borrowed_view(handle)
    del value
    if root._value.payload.base is not None or not _unshared(root):
        _wait_for_writes(root)
    if root._value.payload.base is not None or not _unshared(root):
        root._value = Value(
            _copied("held elsewhere, when it is written", root._value.payload, _keeping_layout)
        )
    rare = root._extra
    if rare is not None:
        rare.version = next(clock)
    if not mode.recording:
        root._value.node, root._value.index = None if rare is None else rare.leaf, 0
    return root._value.payload if view is None else current_array(handle)


def borrowed_view(handle: Handle) -> onp.ndarray[Any, Any]:
    """Return the part of a borrowed buffer that a handle views, to be written."""
    if handle._view is not None:
        found: onp.ndarray[Any, Any] = handle._view.lens.on_host(borrowed_view(handle._view.parent))
        return found
    value: Any = handle._value
    bump_version(handle)
    buffer: onp.ndarray[Any, Any] = value.buffer
    return buffer


class writing:
    """Context with the buffer of a handle (see `buffer`); an error restores the tape node."""

    __slots__ = ("handle", "record")

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def _root(self) -> Handle:
        return self.handle if self.handle._view is None else self.handle._view.root

    def __enter__(self) -> Any:
        root = self._root()
        self.record = (
            root._value.node,
            root._value.index,
        )  # not the value itself, whose reference count must stay low, or `buffer` copies
        return buffer(self.handle)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            value = self._root()._value
            value.node, value.index = self.record
