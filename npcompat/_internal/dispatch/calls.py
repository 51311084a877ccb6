"""Call the programs of operators, which are compiled or built at first use."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax.forks import check_threads
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import DONATING, FORWARD
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.dispatch import backends, late_bound
from npcompat._internal.dispatch.late_bound import symbols_exist
from npcompat._internal.dispatch.numpy_errors import CALL_ERRORS, explained
from npcompat._internal.dispatch.placement import SCALARS, x64_scopes


def programs_on_xla(
    op: Op, donate: Collection[int], numpy_dtypes: int
) -> tuple[dict[Any, Any], Any]:
    """Return the table and the key of the program of an operator without attributes on XLA."""
    if donate:
        return op.programs.table(DONATING, xla.name, numpy_dtypes), ((), donate)
    return op.programs.table(FORWARD, xla.name, numpy_dtypes), ()


def call(
    op: Op,
    payloads: Sequence[Any],
    attrs: Attrs,
    donate: Collection[int],
    backend: Any,
    mode: modes.Mode,
) -> Any:
    """Execute an operator on payloads of one backend."""
    if donate:
        programs = op.programs.table(DONATING, backend.name, mode.numpy_dtypes)
        key: Any = (attrs, donate)
    else:
        programs, key = op.programs.table(FORWARD, backend.name, mode.numpy_dtypes), attrs
    program = programs.get(key)
    if program is None:
        if symbols_exist() and symbols_in(
            attrs
        ):  # an attribute is the length of a symbol's axis: the call becomes part of a graph
            built = late_bound.build(op, payloads, attrs)
            return built.payload if op.outputs == 1 else [v.payload for v in built]
        if backend is not host and _asks_for_host(
            attrs
        ):  # not cached here, since the fast path takes all programs of this table for XLA's
            return call(op, [backends.to_host(p) for p in payloads], attrs, (), host, mode)
        if backend is xla:  # a child of a fork finds no programs of its parent
            check_threads()
        program = programs[key] = backend.forward(op, attrs, donate)
    try:
        made = program(*payloads)
        return sharding.block_on_cpu_mesh(made) if sharding.several[0] else made
    except CALL_ERRORS as error:
        if sharding.are_apart(error) and (
            together := sharding.on_common_mesh(payloads, op.layout or mode.device)
        ):
            return _called_together(op, program, together, attrs)
        raise explained(op, payloads, attrs, error) from error
    finally:
        if x64_scopes:
            language.exit_x64_scope()


def on_host_outside_trace(op: Op, payloads: Sequence[Any], attrs: Attrs, numpy_dtypes: int) -> Any:
    """Compute an operator on the host, outside the running trace."""
    programs = op.programs.table(FORWARD, host.name, numpy_dtypes)
    arrays = [p if type(p) in SCALARS else onp.asarray(p) for p in payloads]
    executing = modes.changed(trace=None, backend="numpy", numpy_dtypes=numpy_dtypes)
    with executing, onp.errstate(all="ignore"), tracing.eagerly():  # some kernels run on XLA
        if attrs not in programs:
            programs[attrs] = host.forward(op, attrs)
        return programs[attrs](*arrays)


def _called_together(op: Op, program: Any, payloads: Sequence[Any], attrs: Attrs) -> Any:
    """Call a program again on operands that were brought to one mesh."""
    try:
        return sharding.block_on_cpu_mesh(program(*payloads))
    except CALL_ERRORS as error:
        raise explained(op, payloads, attrs, error) from error


def _asks_for_host(attrs: Attrs) -> bool:
    """True if an attribute is a dtype that XLA lacks."""
    return any(
        [
            not dtypes.on_devices(a)
            if isinstance(a, onp.dtype)
            else type(a) is tuple and _asks_for_host(a)
            for a in attrs
        ]
    )
