"""Placement: the backend of a call, and where payloads and new values live."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin.backend import Plugin
from npcompat._internal.core import dtypes, modes, trace_notes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.handle import BorrowedValue, Handle, Value
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.dispatch import backends, late_bound
from npcompat._internal.dispatch.backends import ON_DEVICES, XLA_ARRAY, engine_of
from npcompat._internal.support.errors import LeakedTracerError

SCALARS = frozenset((bool, int, float, complex))
x64_scopes = language.x64_scopes


def place(op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode) -> Any:
    """Choose the backend of a call, and bring its payloads there in place; None for symbols."""
    found = _chosen(op, payloads, mode)
    if found is not None:
        _bring(op, payloads, attrs, mode, *found)
        return found[0]
    return None


def _chosen(op: Op, payloads: Sequence[Any], mode: modes.Mode) -> tuple[Any, bool] | None:
    """Return the backend of a call, and True if only the host has the dtypes; None for symbols.

    The arrays among the operands decide; without any, the placement of new arrays does.
    """
    backend: Any = None
    only_host = False
    for p in payloads:
        kind = type(p)
        if kind is XLA_ARRAY:
            backend = backend if type(backend) is Plugin else xla
        elif kind is EngineArray:
            if type(backend) is Plugin and backend is not p.backend:
                raise _mixed(op, backend, p.backend)
            backend = p.backend
        elif kind is onp.ndarray:
            backend = backend or host
            only_host = only_host or not dtypes.on_devices(p.dtype)
        elif kind in SCALARS:
            continue
        elif kind is late_bound.symbolic:
            return None
        elif language.is_tracer(p):
            raise LeakedTracerError(
                f"{op.name}: an operand was made inside a compiled function and kept after it had "
                "returned; "
                "return it from the function, or write it into an array that exists outside"
            )
    if only_host:
        return host, True
    if backend is None:
        backend = host if on_host(mode) else engine_of(mode) or xla
    if type(backend) is not Plugin and op.prefers_xla and is_auto(mode):
        backend = engine_of(mode) or xla
    elif backend is host and type(engine := engine_of(mode)) is Plugin and is_auto(mode):
        heavy = engine.is_heavy(op, payloads)
        backend = engine if heavy else host
    return backend, False


def _mixed(op: Op, one: Plugin, other: Plugin) -> TypeError:
    return TypeError(
        f"{short_name(op.name)}: operands are on two backends, {one.name} and {other.name}: move "
        "one of them, as by a.to_device(b.device)"
    )


def is_auto(mode: modes.Mode) -> bool:
    """Return True where small things are placed on the host, and others where they run best."""
    return mode.backend == "auto" or mode.backend.startswith("auto:")


def _bring(
    op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode, backend: Any, only_host: bool
) -> None:
    """Move payloads to a backend, in place; not all of them are there."""
    for i, p in enumerate(payloads):
        kind = type(p)
        if kind in ON_DEVICES:
            if only_host:
                payloads[i] = backends.to_host(p)
            elif backend is not backends.backend_of(p):
                payloads[i] = _sent(backends.to_host(p, True), mode, op.name, backend)
            continue
        if kind is int and not 0 <= p < 128 and op.rule is not dtypes.keep:
            payloads[i] = p = in_range(op, payloads, i, attrs)
            kind = type(p)
        if backend is xla:
            if kind in SCALARS:
                payloads[i] = xla.scalar(p)
            else:
                payloads[i] = _sent(p, mode, op.name, backend)
        elif type(backend) is Plugin:
            if kind not in SCALARS:
                payloads[i] = _sent(p, mode, op.name, backend)
        elif not isinstance(p, onp.ndarray | int | float | complex):
            payloads[i] = onp.asarray(p)


def in_range(op: Op, payloads: Sequence[Any], position: int, attrs: Attrs) -> Any:
    """Return a Python int operand, checked against the integer dtype that it will be cast to.

    Raise OverflowError if it does not fit: by NEP 50 it does not wrap around.
    """
    number = payloads[position]
    types = tuple([p.dtype if hasattr(p, "dtype") else type(p) for p in payloads])
    casts, out = op.rule(types, op.named(attrs))
    dtype = casts[position]
    if dtype is None or dtype.kind not in "iu":
        return (
            float(number)
            if dtype is not None and dtype.kind in "fc" and not -(2**63) <= number < 2**63
            else number
        )
    limits = onp.iinfo(dtype)
    if limits.min <= number <= limits.max:
        return number if -(2**63) <= number < 2**63 else onp.asarray(number, dtype)
    if out == onp.bool_:  # comparisons compare the numbers themselves, whatever the dtypes
        wide = onp.asarray(number)
        return wide if wide.dtype.kind in "iu" else onp.asarray(float(number))
    if len(payloads) == 1:  # no other operand asks for a dtype that it must fit into
        wide = onp.asarray(number)
        if dtypes.on_devices(wide.dtype) or on_host(modes.current()):
            return wide
    raise OverflowError(f"Python integer {number} out of bounds for {dtype}")


def on_host(mode: modes.Mode) -> bool:
    """Return True if new arrays are placed on the host: under `auto`, if the device is the CPU."""
    backend = mode.backend
    if backend == "auto":
        if mode.device is None:
            return xla.default_is_cpu()
        return bool(mode.device is xla.first_cpu())  # the host; XLA simulates all other CPU devices
    return backend == "numpy" or (is_auto(mode) and xla.default_is_cpu())


def host_or_xla(mode: modes.Mode) -> bool | None:
    """Return True if new arrays are placed on the host, False if on XLA, None if on a plug-in."""
    return None if engine_of(mode) is not None else on_host(mode)


def constant(array: onp.ndarray[Any, Any]) -> Value:
    """Return a value for a host array, placed where new arrays go in this context.

    The array must not be written afterwards. XLA gets a copy.
    """
    mode = modes.current()
    goes = dtypes.on_devices(array.dtype)
    stays = (
        goes and array.size <= MOST_KNOWN if mode.trace is not None else on_host(mode) or not goes
    )
    if mode.trace is not None:
        layout_of_new(mode)
    return new_value(array if stays else backends.placed(array, mode))


def laid_out_by_context(made: Any, mode: modes.Mode) -> Any:
    """Return a new array of a compiled function in the layout that the context names, if any."""
    layout = layout_of_new(mode)
    return made if layout is None else sharding.placed(made, layout)


def layout_of_new(mode: modes.Mode) -> Any:
    """Return the layout that the context of a compiled function names for new arrays, or None; its
    trace notes it.
    """
    if not sharding.several[0]:
        return None
    layout = mode.device if sharding.is_layout(mode.device) else None
    trace_notes.makes_arrays(layout)
    return layout


MOST_KNOWN = 4096
"""Elements up to which constants of a trace are computed on the host (constant folding).

So positions that the function computes are known when it is compiled, and Python may branch on
them.
"""


def value_on_same_device(payload: Any, array: onp.ndarray[Any, Any]) -> Value:
    """Return a value for a host array, placed on the device of a payload.

    The array must not be written afterwards.
    """
    if type(payload) is onp.ndarray:
        return new_value(array)
    return (
        new_value(backends.asarray_like(array, payload))
        if type(payload) in ON_DEVICES
        else constant(array)
    )


def transfer_to_xla(array: onp.ndarray[Any, Any], mode: modes.Mode, name: str) -> Any:
    """Copy a host array to XLA, or to the mode's plug-in, as an operand of the operator `name`."""
    return _sent(array, mode, name, engine_of(mode) or xla)


def moves_state(mode: modes.Mode) -> bool:
    """Return True where what a compiled function reads moves to where it runs, for good."""
    return mode.backend == "auto" or engine_of(mode) is not None


def keep_on_xla(values: Sequence[Value], mode: modes.Mode, name: str) -> None:
    """Move values to XLA for good, so that later calls of the operator `name` find them there."""
    for value in values:
        if type(value) is BorrowedValue:
            continue
        if type(value.payload) is onp.ndarray:
            value.payload = transfer_to_xla(value.payload, mode, name)
        elif type(value.payload) is backends.XLA_ARRAY and engine_of(mode) is not None:
            array = backends.to_host(value.payload, True)
            value.payload = transfer_to_xla(array, mode, name)


def keep_beside(kind: type, values: Sequence[Value], name: str) -> None:
    """Move values from the host to XLA for good, beside payloads of a class that lie there."""
    mode, one = modes.current(), not sharding.several[0]
    if kind in ON_DEVICES and one and mode.trace is None and moves_state(mode):
        keep_on_xla(values, mode, name)


def _sent(array: onp.ndarray[Any, Any], mode: modes.Mode, name: str, backend: Any) -> Any:
    """Copy a host array to a backend, and report the transfer to the audit."""
    if mode.audit is None:
        return backend.asarray(array, mode.device)
    return mode.audit.record_event(
        "transfer",
        f"operand of {short_name(name)}",
        array,
        partial(backend.asarray, array, mode.device),
        on_host(mode),
    )


def moved_to_default_device(value: Value) -> Value:
    """Return the value moved to where new arrays go in this context."""
    mode, payload = modes.current(), value.payload
    if mode.trace is not None or not dtypes.on_devices(onp.dtype(payload.dtype)):
        return value
    if mode.device is None and sharding.several[0] and sharding.spread(payload) is not None:
        return value
    if on_host(mode):
        return (
            value
            if type(payload) is onp.ndarray
            else Value(backends.to_host(payload, True), value.node, value.index)
        )
    if backends.backend_of(payload) is not (engine_of(mode) or xla):
        array = payload if type(payload) is onp.ndarray else backends.to_host(payload, True)
        return Value(backends.placed(array, mode), value.node, value.index)
    return (
        value
        if mode.device is None
        else Value(backends.moved(payload, mode.device), value.node, value.index)
    )


def new_value(payload: Any, node: Any = None, index: int = 0) -> Value:
    """Return a new value, which a running trace adopts as made in it."""
    value = Value(payload, node, index)
    trace = modes.current().trace
    return value if trace is None else trace.adopt(value)


def set_node(handle: Handle, node: Any) -> None:
    """Let the value of a root handle come from a node; memory that is borrowed stays its memory."""
    value = handle._value
    if type(value) is BorrowedValue:
        value.node, value.index = node, 0
    else:
        handle._value = new_value(value.payload, node)


def host_payload(value: Value) -> Any:
    """Return the payload as a NumPy array or a Python scalar; wait for XLA."""
    payload = value.payload
    return (
        payload
        if type(payload) is onp.ndarray or type(payload) in SCALARS
        else backends.to_host(payload, True)
    )
