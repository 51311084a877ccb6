"""Placement: the backend of a call, and where payloads and new values live."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.dispatch import late_bound
from npcompat._internal.support.errors import LeakedTracerError

XLA_ARRAY = xla.Array
SCALARS = frozenset((bool, int, float, complex))
x64_scopes = xla.x64_scopes


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
            backend = xla
        elif kind is onp.ndarray:
            backend = backend or host
            only_host = only_host or not dtypes.on_devices(p.dtype)
        elif kind in SCALARS:
            continue
        elif kind is late_bound.symbolic:
            return None
        elif xla.is_tracer(p):
            raise LeakedTracerError(
                f"{op.name}: an operand was made inside a compiled function and kept after it had "
                "returned; "
                "return it from the function, or write it into an array that exists outside"
            )
    if only_host:
        return host, True
    if backend is None:
        backend = host if on_host(mode) else xla
    return xla if op.prefers_xla and mode.backend == "auto" else backend, False


def _bring(
    op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode, backend: Any, only_host: bool
) -> None:
    """Move payloads to a backend, in place; not all of them are there."""
    for i, p in enumerate(payloads):
        kind = type(p)
        if kind is XLA_ARRAY:
            if only_host:
                payloads[i] = xla.to_host(p)
            continue
        if kind is int and not 0 <= p < 128 and op.rule is not dtypes.keep:
            payloads[i] = p = in_range(op, payloads, i, attrs)
            kind = type(p)
        if backend is xla:
            if kind in SCALARS:
                payloads[i] = xla.scalar(p)
            else:
                payloads[i] = transfer_to_xla(p, mode, op.name)
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
    if mode.backend == "auto":
        device = mode.device
        if device is None:
            return bool(xla.default_device().platform == "cpu")
        return bool(device is xla.first_cpu())  # the host; XLA simulates all other CPU devices
    return mode.backend == "numpy"


def constant(array: onp.ndarray[Any, Any]) -> Value:
    """Return a value for a host array, placed where new arrays go in this context.

    The array must not be written afterwards. XLA gets a copy.
    """
    mode = modes.current()
    goes = dtypes.on_devices(array.dtype)
    stays = (
        goes and array.size <= MOST_KNOWN if mode.trace is not None else on_host(mode) or not goes
    )
    return new_value(array if stays else xla.asarray(array, mode.device))


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
        new_value(xla.asarray(array, xla.device_of(payload)))
        if type(payload) is XLA_ARRAY
        else constant(array)
    )


def transfer_to_xla(array: onp.ndarray[Any, Any], mode: modes.Mode, name: str) -> Any:
    """Copy a host array to XLA as an operand of the operator `name`, and report it to the audit."""
    if mode.audit is None:
        return xla.asarray(array, mode.device)
    return mode.audit.record_event(
        "transfer",
        f"operand of {short_name(name)}",
        array,
        partial(xla.asarray, array, mode.device),
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
            else Value(xla.to_host(payload, True), value.node, value.index)
        )
    if type(payload) is onp.ndarray:
        return Value(xla.asarray(payload, mode.device), value.node, value.index)
    return (
        value
        if mode.device is None
        else Value(xla.moved(payload, mode.device), value.node, value.index)
    )


def new_value(payload: Any, node: Any = None, index: int = 0) -> Value:
    """Return a new value, which a running trace adopts as made in it."""
    value = Value(payload, node, index)
    trace = modes.current().trace
    return value if trace is None else trace.adopt(value)


def host_payload(value: Value) -> Any:
    """Return the payload as a NumPy array or a Python scalar; wait for XLA."""
    payload = value.payload
    return (
        payload
        if type(payload) is onp.ndarray or type(payload) in SCALARS
        else xla.to_host(payload, True)
    )
