"""Operators without operands: make arrays of shapes and numbers, on the host where possible."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as onp

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
    """What NumPy's own function makes of no operands, or the program that is kept of an operator;
    None if there is none.
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
            xla.exit_x64_scope()


def _create(op: Op, attrs: Attrs, mode: modes.Mode) -> Any:
    """An operator without operands runs on the host, where nothing is compiled for each new shape;
    then it is placed.

    What is made again and again is made by a program that is kept; on XLA by one of its own, if
    that makes the same. A large array of one value is made where it goes, at once.
    """
    if symbols_exist() and symbols_in(attrs):  # a length is that of a symbol's axis
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
        and mode.device is None
        and _is_large(op.named(attrs))
    ):
        _, dtype = op.rule((), op.named(attrs))
        onp.empty(
            op.named(attrs)["shape"], dtype
        )  # NumPy's error where it is too large, for which XLA ends the process; no memory is touched
        return Value(call(op, (), attrs, (), xla, mode))
    program = host.forward(op, attrs)
    try:
        out = program()
    finally:
        if x64_scopes:
            xla.exit_x64_scope()
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


def _is_large(attrs: Mapping[str, Any]) -> bool:
    shape = attrs.get("shape")
    return type(shape) is tuple and math.prod(shape) >= _LARGE


_REPEATED = 16
_SMALL = 1024
"""Bytes up to which an array is copied that is made again and again."""
_LARGE = 1 << 22
"""Elements from which on arrays of one value take longer to be sent than a program to be compiled,
and room for two.
"""
_made = BoundedCounter()
"""What operators without operands made."""
