"""Creation of arrays by operators without operands (`zeros`, `arange`), on the host if possible."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.backends import engine_of
from npcompat._internal.dispatch.calls import call
from npcompat._internal.dispatch.late_bound import symbols_exist
from npcompat._internal.dispatch.placement import constant, on_host, x64_scopes
from npcompat._internal.support.call_counter import BoundedCounter


def created(op: Op, attrs: Attrs, mode: modes.Mode) -> Any:
    """Return the payload of an operator without operands, by a constructor or a cached program.

    None if there is neither, or if the mode names a device.
    """
    if mode.device is not None:
        return None
    here = on_host(mode)
    if here and op.numpy_constructor is not None:
        return op.numpy_constructor(*attrs)()
    engine = None if here else engine_of(mode)
    place = host.name if here else xla.name if engine is None else engine.name
    program = op.programs.table(FORWARD, place, mode.numpy_dtypes).get(attrs)
    if program is None:
        return None
    try:
        return program()
    finally:
        if x64_scopes:
            language.exit_x64_scope()


def _create(op: Op, attrs: Attrs, mode: modes.Mode) -> Any:
    """Run an operator without operands on the host, and place the result where new arrays go.

    On the host nothing is compiled for each new shape. After `_REPEATED` equal calls a program is
    cached: on XLA one of XLA's, if it gives the same bytes. A large array of one value that goes to
    XLA is made there at once, on a mesh in pieces.
    """
    if symbols_exist() and symbols_in(attrs):  # an attribute is the length of a symbol's axis
        return late_bound.build(op, (), attrs)
    if mode.trace is not None and mode.trace.knows_lengths(attrs):
        return mode.trace.run(op, (), (), attrs, mode)
    if op.outputs == 1 and (made := created(op, attrs, mode)) is not None:
        return Value(made)
    here, engine = on_host(mode), engine_of(mode)
    if (
        op.pattern == "elementwise"
        and not here
        and engine is None
        and (mode.device is None or sharding.is_layout(mode.device))
        and _is_large(op.named(attrs))
    ):
        _, dtype = op.rule((), op.named(attrs))
        onp.empty(
            op.named(attrs)["shape"], dtype
        )  # raises NumPy's error if it is too large, where XLA aborts; touches no memory
        if mode.device is not None:
            return Value(sharding.run_in_pieces(op, attrs, (), mode.device, mode.numpy_dtypes))
        return Value(call(op, (), attrs, (), xla, mode))
    program = host.forward(op, attrs)
    try:
        out = program()
    finally:
        if x64_scopes:
            language.exit_x64_scope()
    if (
        op.outputs == 1
        and mode.device is None
        and (here or engine is None)
        and _made.count((op, attrs, here, mode.numpy_dtypes)) == _REPEATED
    ):
        if here:
            op.programs.table(FORWARD, host.name, mode.numpy_dtypes)[attrs] = (
                out.copy().copy if out.nbytes <= _SMALL else program
            )
        elif dtypes.on_devices(out.dtype):
            made = call(op, (), attrs, (), xla, mode)
            if onp.asarray(made).tobytes() == out.tobytes():
                return Value(made)
            del op.programs.table(FORWARD, xla.name, mode.numpy_dtypes)[attrs]
    if op.outputs == 1:
        return constant(out)
    return tuple([constant(o) for o in out])


def made_of_numbers(op: Op, attrs: Attrs, payloads: Sequence[Any], mode: modes.Mode) -> Any:
    """Return what an operator makes of numbers alone on XLA: a new array, where the mode says."""
    if op.outputs == 1 and sharding.is_layout(mode.device):
        return sharding.run_in_pieces(op, attrs, payloads, mode.device, mode.numpy_dtypes)
    made = call(op, payloads, attrs, (), xla, mode)
    if op.outputs == 1:
        return xla.moved(made, mode.device)
    return tuple([xla.moved(out, mode.device) for out in made])


def _is_large(attrs: Mapping[str, Any]) -> bool:
    shape = attrs.get("shape")
    return type(shape) is tuple and math.prod(shape) >= _LARGE


_REPEATED = 16
_SMALL = 1024
"""Bytes up to which a repeatedly made array is copied from a kept one."""
_LARGE = 1 << 22
"""Elements from which a constant array is made on XLA: transferring it would take longer than
compiling a program, and the memory of two arrays.
"""
_made = BoundedCounter()
"""Counts of calls of operators without operands."""
