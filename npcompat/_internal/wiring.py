"""Wiring of the rooms: the only module that fills in what lower rooms need of upper ones.

Lower rooms don't import upper ones. They read the classes and functions that they need of these
from `dispatch/late_bound.py`. The C fast path reads them from the table that `fast_path.connect`
fills.
"""

import opcode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.autograd import tape
from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin import registry
from npcompat._internal.compile import guards, plain_arguments, program, trace
from npcompat._internal.core import (
    changes,
    dtypes,
    graph_node,
    handle,
    modes,
    op,
    program_cache,
    program_lock,
    retained_outputs,
)
from npcompat._internal.core.index_spec import FULL, INTEGER, NEWAXIS, SLICE
from npcompat._internal.dispatch import (
    apply,
    backends,
    borrowed_buffers,
    handles,
    late_bound,
    numpy_errors,
    pending_errors,
    placement,
    precision_warning,
    subclasses,
    writes,
)
from npcompat._internal.indexing import host as host_indexing
from npcompat._internal.indexing import lens
from npcompat._internal.native import fast_path
from npcompat._internal.staging import branches, calls, number_or_scalar, runtime


def connect_core() -> None:
    """Fill in the core's part; called once, before public functions are declared."""
    backend = modes.current().backend
    registry.check(backend, f"NPCOMPAT_BACKEND={backend!r}")
    late_bound.class_of_results = subclasses.results
    late_bound.recorder = tape.record
    late_bound.converted = calls.for_trace
    calls.runtime.append(runtime)
    number_or_scalar.expression.append(branches.expression)
    fast_path.late_bound_export.append(precision_warning.exported)
    _connect_fast_path()


def connect_arrays(
    array: type[handle.Handle],
    scalar: type[handle.Handle],
    host_scalars: tuple[type[handle.Handle] | None, ...],
    overridden: Callable[..., Any],
) -> None:
    """Fill in the classes of arrays; `npcompat.numpy` calls it once, when it is imported.

    Parameters
    ----------
    array, scalar : type
        Public classes of arrays and of scalars.
    host_scalars : tuple
        Classes of scalars that derive from NumPy's, by NumPy's type numbers; None for numbers
        without one.
    overridden : callable
        Function that asks operands of other classes for a result (`__array_ufunc__`).
    """
    late_bound.ndarray, late_bound.scalar = array, scalar
    late_bound.host_scalars = host_scalars
    late_bound.scalars = frozenset((scalar, *filter(None, host_scalars)))
    late_bound.overridden = overridden
    late_bound.ordinary.update((array, *late_bound.scalars))
    fast_path.connect(array=array, scalar=scalar, host_scalars=host_scalars)


def connect_symbols(
    symbol: type[handle.Handle],
    payload: type,
    build: Callable[[op.Op, Sequence[Any], op.Attrs], Any],
    stream: Sequence[Any],
) -> None:
    """Fill in the classes of symbols; `npcompat.symbol` calls it once, when it is imported.

    Parameters
    ----------
    symbol, payload : type
        Public class of symbols, and the class of their payloads.
    build : callable
        Function that adds a call of an operator to a graph.
    stream : sequence
        Payloads that stand for the key and the counter of the default random stream.
    """
    late_bound.symbol, late_bound.symbolic = symbol, payload
    late_bound.build, late_bound.stream = build, stream
    late_bound.ordinary.add(symbol)


def _connect_fast_path() -> None:
    fast_path.connect(
        # classes, whose slots C reads by their offsets
        value=handle.Value,
        view=handle.View,
        extra=handle.Extra,
        op=op.Op,
        node=graph_node.Node,
        state=retained_outputs.RetainedOutputs,
        traced=program.Program,
        guards=guards.Guards,
        lens=lens.Lens,
        key_lens=host_indexing.Indexed,
        xla_array=backends.XLA_ARRAY,
        mode=modes.Mode,
        # the running mode
        mode_variable=modes._MODE,
        default_mode=modes._process_default,
        # compiled functions
        changes=changes.count,
        program_lock=program_lock.lock,
        transfer_to_xla=placement.transfer_to_xla,
        no_cached_run=plain_arguments.NO_CACHED_RUN,
        captured_type_error=trace.CapturedTypeError,
        # operators
        slow_path=apply.apply_slow_path,
        numpy_function=apply.numpy_function,
        raise_failed=apply.raise_failed,
        call_errors=numpy_errors.CALL_ERRORS,
        # borrowed buffers
        borrowed_value=handle.BorrowedValue,
        export=borrowed_buffers.export,
        release_buffer=borrowed_buffers.release_buffer,
        warn_of_precision=precision_warning.warn_of_precision,
        # error flags of programs, checked at the next read
        pending=pending_errors.pending,
        raise_pending=pending_errors.raise_pending,
        expect=pending_errors.expect,
        main_thread=pending_errors.main_thread,
        check_pending=pending_errors.check_pending,
        program_cache=program_cache.ProgramCache,
        xla_programs=program_cache.position(program_cache.FORWARD, xla.name),
        host_programs=program_cache.position(program_cache.FORWARD, host.name),
        donating_programs=program_cache.position(program_cache.DONATING, xla.name),
        keep=dtypes.keep,
        on_devices=dtypes.on_devices,
        on_host=placement.host_or_xla,
        no_value=onp._NoValue,
        binary_op=opcode.opmap["BINARY_OP"],
        # XLA
        xla_scalar=xla.scalar,
        x64_scopes=placement.x64_scopes,
        exit_x64_scope=language.exit_x64_scope,
        config=xla.config,
        several=sharding.several,
        on_one_device=sharding.SingleDeviceSharding,
        block_on_cpu_mesh=sharding.block_on_cpu_mesh,
        # reading, writing and keys
        read=handles.read,
        updating=writes.updating,
        first=writes._FIRST,
        index_get=lens.index_get,
        index_put=lens._index_put,
        index_look=lens._look_at_index,
        whole_axis=(FULL,),
        no_axis=(INTEGER,),
        new_axis=(NEWAXIS,),
        slice_kind=SLICE,
        # the tape
        clock=handle.clock,
        later=graph_node.LATER,
        sequence=graph_node.sequence,
    )


__all__ = ["connect_arrays", "connect_core", "connect_symbols"]
