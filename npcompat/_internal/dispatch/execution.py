"""Run operators on values: choose the backend, execute, record.

Hot path, below handles and above the backends.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin.backend import Plugin
from npcompat._internal.core import modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import DONATING, FORWARD
from npcompat._internal.dispatch import late_bound, ownership
from npcompat._internal.dispatch.backends import XLA_ARRAY
from npcompat._internal.dispatch.calls import call, programs_on_xla
from npcompat._internal.dispatch.creation import _create, made_of_numbers
from npcompat._internal.dispatch.placement import SCALARS, host_payload, on_host, place
from npcompat._internal.native import fast_path

_ALL_XLA = {XLA_ARRAY}
_ALL_HOST = {onp.ndarray}
_ALL_ENGINE = {EngineArray}
LENDS = fast_path.align_memory()
"""True if compiled functions read large host arrays in place; else they copy them."""


def run(op: Op, values: Sequence[Value], attrs: Attrs = (), donate: Collection[int] = ()) -> Any:
    """Apply an operator to values: choose the backend, execute, record if recording.

    The buffers of the operands in `donate` are donated: the program may write its results into
    them. Return a `Value`, or a tuple of values if the operator has several outputs.
    """
    mode = modes.current()
    if mode.observer is not None:
        return _observed(op, values, attrs, donate, mode)
    payloads = [v.payload for v in values]
    if mode.trace is not None:
        return mode.trace.run(op, values, payloads, attrs, mode)
    if not payloads:
        return _create(op, attrs, mode)
    backend = _backend_of(op, payloads, attrs, mode)
    if backend is None:
        return late_bound.build(op, payloads, attrs)
    if mode.checks_fp_errors and backend is xla:
        _report(op, values, attrs, mode)
    if mode.recording and op.differentiable:
        for v in values:
            if v.node is not None:
                return late_bound.recorder(op, values, payloads, attrs, backend, mode)
    if mode.device is not None and backend is xla and _are_numbers(values):
        out = made_of_numbers(op, attrs, payloads, mode)
    else:
        out = call(op, payloads, attrs, donate, backend, mode)
    if op.outputs == 1:
        return Value(out)
    return tuple([Value(o) for o in out])


def _are_numbers(values: Sequence[Value]) -> bool:
    return all([type(v.payload) in SCALARS for v in values])


def _observed(
    op: Op, values: Sequence[Value], attrs: Attrs, donate: Collection[int], mode: modes.Mode
) -> Any:
    """Apply an operator through the observer; its own operations go to the outer observer."""
    observer: Any = mode.observer
    donated = () if observer.needs_every_op else donate  # the observer may read the operands
    with modes.changed(observer=observer.outer):
        return observer.operator(op, values, attrs, partial(run, op, values, attrs, donated))


def _report(op: Op, values: Sequence[Value], attrs: Attrs, mode: modes.Mode) -> None:
    """Run an XLA operator on the host as well, where NumPy reports floating-point errors."""
    if not op.only_on_xla:
        payloads = [host_payload(v) for v in values]
        if place(op, payloads, attrs, mode._replace(backend="numpy")) is host:
            call(op, payloads, attrs, (), host, mode)


def execute(op: Op, payloads: list[Any], donate: Collection[int]) -> Sequence[Any]:
    """Run an operator without attributes on payloads, neither recorded nor traced.

    Return the payloads of its outputs.
    """
    mode = modes.current()
    if mode.observer is not None:
        with modes.changed(observer=mode.observer.outer):
            observed: Sequence[Any] = mode.observer.program(
                op.name, payloads, partial(execute, op, payloads, donate)
            )
        return observed
    if not payloads and sharding.is_layout(place := op.layout or mode.device):
        return sharding.on_mesh(call(op, (), (), (), xla, mode), place)
    if not payloads:
        out = _create(op, (), mode)
        return [out.payload] if op.outputs == 1 else [v.payload for v in out]
    if LENDS and onp.ndarray in map(type, payloads):
        lend(op, payloads, donate)
    out = call(op, payloads, (), donate, _backend_of(op, payloads, (), mode), mode)
    return (out,) if op.outputs == 1 else out


def lend(op: Op, payloads: list[Any], donate: Collection[int]) -> None:
    """Lend the large host arrays among the payloads of a program to XLA, in place."""
    if not (LENDS and any([type(p) is onp.ndarray and p.nbytes >= xla.LARGE for p in payloads])):
        return
    mode = modes.current()
    if op.prefers_xla and mode.backend == "auto" and mode.trace is None and on_host(mode):
        ownership.lend(payloads, donate, mode.device)


def compile_ahead(op: Op, payloads: list[Any], donate: Collection[int]) -> None:
    """Compile the program that `execute` would run for such payloads on XLA."""
    mode = modes.current()
    if not payloads:
        return  # operators without operands run on the host
    backend = _backend_of(op, payloads, (), mode)
    if type(backend) is Plugin:
        table = op.programs.table(DONATING if donate else FORWARD, backend.name, mode.numpy_dtypes)
        key: Any = ((), donate) if donate else ()
        if key not in table:
            table[key] = backend.forward(op, (), donate)
        backend.compile_ahead(table[key], payloads)
        return
    if backend is host:  # the host has no kernels for traced functions; XLA runs them
        payloads, donate = (
            [xla.asarray(p) if type(p) is onp.ndarray else xla.scalar(p) for p in payloads],
            (),
        )
    programs, key = programs_on_xla(op, donate, mode.numpy_dtypes)
    if key not in programs:
        programs[key] = xla.forward(op, (), donate)
    xla.compile_ahead(programs[key], payloads)


def _backend_of(op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode) -> Any:
    kinds = set(map(type, payloads))
    if kinds == _ALL_XLA:
        return xla
    if kinds == _ALL_HOST and not op.prefers_xla:
        return host
    if kinds == _ALL_ENGINE:
        engine = payloads[0].backend
        if len(payloads) == 1 or all([p.backend is engine for p in payloads]):
            return engine
    return place(op, payloads, attrs, mode)
