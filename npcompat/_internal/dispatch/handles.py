"""Handles and their values: wrap a value in a handle, read the value of a handle.

Hot path: payload classes are compared with `type(p) is`, modes are read once.
"""

import sys
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import (
    BorrowedValue,
    Extra,
    Handle,
    Value,
    View,
    extra,
    payload_now,
)
from npcompat._internal.core.op import Op
from npcompat._internal.core.protocols import TraceLike
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.dispatch import backends, late_bound, memory_layout
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.pending_errors import pending, raise_pending
from npcompat._internal.dispatch.placement import new_value
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import (
    InferenceError,
    LeakedTracerError,
    TracedValueError,
    user_location,
)

_new = object.__new__
_current_mode, _default_mode = modes._MODE.get, modes._process_default


def wrap(value: Value) -> Any:
    """Return a new handle that holds the value."""
    handle = _new(
        late_bound.ndarray if type(value.payload) is not late_bound.symbolic else late_bound.symbol
    )
    handle._value, handle._view, handle._extra = value, None, None
    return handle


def wrap_scalar(value: Value) -> Any:
    """Return a new scalar: a handle that is never written and is no view.

    On the host it is of a class that derives from NumPy's, unless it is recorded or belongs to a
    trace: NumPy would take it for a number.
    """
    payload = value.payload
    if type(payload) is onp.ndarray and value.node is None and modes.current().trace is None:
        if fast_path.host_scalar is not None:
            return fast_path.host_scalar(payload)
        if payload.dtype == bool:
            return payload[()]
        number = payload.dtype.num if payload.dtype.isnative else len(late_bound.host_scalars)
        if number < len(late_bound.host_scalars) and late_bound.host_scalars[number] is not None:
            return late_bound.host_scalars[number].of_value(value)
    handle = _new(late_bound.scalar)
    handle._value, handle._view, handle._extra = value, None, None
    return handle


def wrap_result(op: Op, value: Value) -> Any:
    """Return a new handle for a result of the operator: a scalar where NumPy returns one."""
    payload = value.payload
    if not op.scalars or type(payload) is late_bound.symbolic or payload.shape:
        return wrap(value)
    return (
        wrap_scalar(value) if dtypes.on_devices(payload.dtype) else payload[()]
    )  # objects, strings and dates: the element itself


def as_scalar(array: Any) -> Any:
    """Return an array without axes as a scalar, as many NumPy functions do; others unchanged."""
    if (
        type(array) is not late_bound.ndarray or array.shape
    ):  # symbols are never scalars, nor are instances of subclasses
        return array
    value = read(array)
    return wrap_scalar(value) if dtypes.on_devices(value.payload.dtype) else value.payload[()]


def read(handle: Handle) -> Value:
    """Return the current value of a handle: its own, or that of its base through the lens.

    In a trace, an array from outside becomes an input of the program. A bool of NumPy's, which
    operators give on the host, is its own value.
    """
    try:
        view = handle._view
    except AttributeError:
        if not isinstance(handle, onp.bool_):
            raise
        return Value(onp.asarray(handle))
    if view is None:
        trace = _current_mode(_default_mode[0]).trace
        if trace is None:
            value = handle._value
            if type(value) is BorrowedValue:  # a copy of the elements at this moment
                return Value(value.payload, value.node, value.index)
            return value if not traced_now else _untraced(handle, value)
        return trace.read(handle)
    if view.depth == 1:
        return _through(handle, view, read(view.parent))
    chain = [handle]
    while (above := chain[-1]._view) is not None:
        chain.append(above.parent)
    value = read(chain.pop())
    while chain:
        looking = chain.pop()
        assert looking._view is not None
        value = _through(looking, looking._view, value)
    return value


traced_now: list[TraceLike] = []
"""Running traces of all threads: arrays that they read hold tracers."""


def _untraced(handle: Handle, value: Value) -> Value:
    """Return the value that a handle has outside the traces of other threads."""
    if language.is_tracer(value.payload):
        for trace in list(traced_now):
            _, before = trace.before.get(id(handle), (handle, value))
            if not language.is_tracer(before.payload):
                return before
    return value


def _through(handle: Handle, view: View, parent: Value) -> Value:
    """Return the value of a view, given that of its parent."""
    version = version_of(view.root)
    cached = view.cached
    if (
        cached is not None
        and view.version == version
        and (parent.node is None if cached.node is None else not cached.node.released)
    ):
        return cached
    lens = view.lens
    if type(parent.payload) is onp.ndarray and not dtypes.on_devices(parent.payload.dtype):
        return Value(lens.on_host(parent.payload))  # no operator selects fields of records
    value: Value = run(lens.get, [parent, *map(lens_operand, lens.operands)], lens.attrs)
    if handle._extra is not None and handle._extra.leaf is not None:
        value = new_value(value.payload, handle._extra.leaf)
    # NumPy views are not cached: they cost nothing, and would hold a reference to the buffer
    if value.node is not None or type(value.payload) is not onp.ndarray:
        view.cached, view.version = value, version
    return value


def current_array(handle: Handle) -> Any:
    """Return the live NumPy array of a handle on the host, to be used at once and not kept.

    It is the root's buffer or a view of it, so it sees later writes. None if the values are on XLA,
    or if a trace is running, which must see each read.
    """
    lenses = []
    while (view := handle._view) is not None:
        lenses.append(view.lens)
        handle = view.parent
    found = payload_now(handle._value)
    if type(found) is not onp.ndarray or modes.current().trace is not None:
        return None
    while lenses:
        found = lenses.pop().on_host(found)
    return found


def lens_operand(position: Any) -> Value:
    """Return the value of an operand of a lens: an int, an array, or a traced number."""
    if type(position) is int:
        return Value(position)
    return read(position) if isinstance(position, Handle) else operand(position)


def operand(number: TracedNumber) -> Value:
    """Return the value of a traced number, and note in the trace that it is used as an operand."""
    value, trace = number.as_operand(), modes.current().trace
    if trace is not None and hasattr(type(number), "check"):
        trace.numbers[id(value.payload)] = number
    return value


def is_known(handle: Handle) -> bool:
    """True if the values can be read now.

    In a trace only constants can: values that depend on nothing from outside.
    """
    return modes.current().trace is None or type(read(handle).payload) is onp.ndarray


def to_host(handle: Handle) -> onp.ndarray[Any, Any]:
    """Return the values as a NumPy array that must not be written.

    Wait for XLA, and raise pending errors of compiled programs.
    """
    payload = read(handle).payload
    if type(payload) is onp.ndarray:
        return payload
    if language.is_tracer(payload):
        raise traced_value_error()
    array = backends.to_host(payload)
    if pending:
        raise_pending()
    return array


def check_reader(handle: Handle) -> None:
    """Raise TypeError if a function of npcompat's converts a recorded number to one of Python's.

    A parameter that is a number has no derivative. What the user converts is the user's decision.
    """
    mode = modes.current()
    if not mode.recording or mode.trace is not None or read(handle).node is None:
        return
    if sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] == "npcompat":
        raise TypeError(
            f"{user_location()}: a recorded array is given for a parameter that is a number, which "
            "has no derivative; give float(x), or x.detach()"
        )


def traced_value_error() -> Exception:
    """Return the error for Python code that reads a value while its function is being compiled."""
    if modes.current().trace is None:
        return LeakedTracerError(
            "this array was made inside a compiled function and kept after it had returned; "
            "return it from the function, or write it into an array that exists outside"
        )
    return TracedValueError(
        f"{user_location()}: the value of an array is asked for while the function is being "
        "compiled, when it is not known "
        "yet. Where Python branches or loops on it, use npx.cond, npx.while_loop or npx.foreach; "
        "where a number is "
        "printed or converted, do that outside of the compiled function"
    )


def layout(handle: Handle) -> onp.ndarray[Any, Any]:
    """Return a NumPy array with the handle's shape, dtype, strides and sharing, not its elements.

    NumPy answers all questions about memory from it: strides, flags, whether a reshape is a view,
    whether two arrays share memory. On the host it is the array itself, on XLA a stand-in.
    """
    found: onp.ndarray[Any, Any] | None = current_array(handle)
    if found is not None:
        return found
    if type(handle) is late_bound.symbol:
        payload = read(handle).payload
        if any([type(n) is not int for n in payload.shape]):
            raise InferenceError(
                f"the lengths of symbol {payload.node.name!r} are {payload.type!r}, but all of "
                "them are needed here"
            )
        return onp.empty(payload.shape, payload.dtype)
    rare: Extra = extra(handle)
    if rare.layout is None:
        view = handle._view
        if view is None:
            payload = payload_now(handle._value)
            known = type(payload) is onp.ndarray  # a constant of a trace
            rare.layout = (
                memory_layout.stand_in(payload)
                if known
                else onp.empty(payload.shape, payload.dtype)
            )
        else:
            rare.layout = view.lens.on_host(layout(view.parent))
    return rare.layout
