"""Program of one kind of call of a compiled function, and its replay.

What the function read outside is an operand of the program, and what it wrote a result. Results
that overwrite arrays stay with the program (`RetainedOutputs`), which gives their buffers away at
its next run.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile.call_arguments import Call, Outputs, Own, Static, describe, path
from npcompat._internal.compile.capture import capture
from npcompat._internal.compile.guards import ATTRIBUTE, Guard, Watch
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.handle import BorrowedValue, Handle, Value, root_of
from npcompat._internal.core.retained_outputs import RetainedOutputs
from npcompat._internal.dispatch import (
    backends,
    execution,
    late_bound,
    memory_layout,
    ownership,
    writes,
)
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch.backends import engine_of
from npcompat._internal.dispatch.calls import programs_on_xla
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.pending_errors import expect
from npcompat._internal.dispatch.placement import on_host, transfer_to_xla
from npcompat._internal.support.interrupts import uninterrupted

NO_CACHED_RUN: Any = object()
_lock = program_lock.lock


def is_plain(a: Any) -> bool:
    """Return True for an array in C order that is neither a view nor a variable, and may be
    written.
    """
    if type(a) is not late_bound.ndarray or a._view is not None or type(a._value) is not Value:
        return False
    rare = a._extra
    if rare is not None and (
        rare.readonly or rare.leaf is not None or rare.grad_handle is not None
    ):
        return False
    payload = a._value.payload
    if type(payload) is onp.ndarray:
        return payload.flags.c_contiguous
    return type(payload) in backends.ON_DEVICES and (
        rare is None or rare.layout is None or rare.layout.flags.c_contiguous
    )


def _of_variables(handles: Sequence[Handle]) -> list[Guard]:
    """Guards of whether captured arrays are variables, and of where their gradients go."""
    found: list[Guard] = []
    for handle in handles:
        rare = handle._extra
        if rare is None:
            found.append((ATTRIBUTE, handle, "_extra", None))
        else:
            found.append((ATTRIBUTE, rare, "leaf", rare.leaf))
            found.append((ATTRIBUTE, rare, "grad_handle", rare.grad_handle))
    return found


def _type(handle: Handle) -> tuple[tuple[int, ...], Any]:
    payload = _handles.read(handle).payload
    return payload.shape, payload.dtype


class Program:
    """One traced call: its operator, what it reads and writes, and how its results are put
    together.

    Hot path: `replay` without recording works on payloads, and makes values only of what it writes
    and returns.
    """

    __slots__ = (
        "alone", "captured", "checked", "donated", "given", "guards", "key", "nodes", "numpy_dtypes", "op", "outputs",
        "places", "programs", "pure", "read_only", "reads", "state", "touched", "training",
        "uses", "writes",
    )  # fmt: skip

    def __init__(
        self, function: Callable[..., Any], name: str, call: Call, reason: str, converts: bool
    ) -> None:
        def body(inputs: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
            seen = call.proxies(inputs)
            args, kwargs = call.arguments(seen)
            traced = function
            if converts:
                traced = late_bound.converted(function, static)
            else:
                trace.notes["loops of python"] = True
            with call.uses:
                return describe(traced(*args, **kwargs), trace, inputs, seen)

        static = [leaf.value if type(leaf) is Static else leaf for leaf in call.leaves]
        watch = Watch(function, [x for x in static if not isinstance(x, Handle)], name)
        inputs = [_handles.read(h) for h in call.inputs]
        found = self.captured = watch.run(
            lambda: capture(name, body, inputs, reason, track_recomputable=True)
        )
        self.uses = call.uses
        self.reads = found.reads
        self.outputs: Outputs = found.result
        self.nodes = [h._value.node is not None for h in found.reads]
        self.writes = [*found.written, *[h for h, _ in found.recomputable]]
        self.touched = {id(h) for h in (*found.reads, *self.writes)}
        # What is overwritten by a value of its type is given to the program: captured arrays and
        # arguments.
        _, changed, written, _ = found.split(found.types)
        overwritten = [*zip(found.written[: found.given], written, strict=False)]
        overwritten += [
            (call.inputs[i], after) for i, after in zip(found.changed, changed, strict=True)
        ]
        types = {id(h): after for h, after in overwritten}
        operands = [*found.reads, *call.inputs]
        self.given = [id(h) in types for h in operands]
        self.state: RetainedOutputs | None = None
        self.alone = None if found.changed or found.errors else self.outputs.kind
        self.pure = bool(call.inputs) and not (
            found.reads or self.writes or found.changed or found.errors
        )
        self.read_only = [h for h in found.reads if id(h) not in types]
        at = {id(h): i for i, h in enumerate([*found.written, *self.read_only])}
        self.places = [at[id(h)] for h in found.reads]
        self.donated = frozenset(
            [i for i, h in enumerate(operands) if id(h) in types and types[id(h)] == _type(h)]
        )
        self.op = found.op
        self.guards = watch.guards(_of_variables([*found.reads, *self.writes]))
        self.checked = bool(self.guards.always)
        self.training, self.numpy_dtypes = modes.current().training, modes.current().numpy_dtypes
        self.programs, self.key = programs_on_xla(found.op, self.donated, self.numpy_dtypes)

    def fits(self, recording: bool) -> bool:
        """Return True if captured arrays are differentiated as when the function was traced."""
        return not recording or [h._value.node is not None for h in self.reads] == self.nodes

    def own_arrays(self, call: Call) -> Own:
        """Arguments that the function also captures, if one of the two is written: they can't be
        told apart.
        """
        if not self.touched or not (self.captured.changed or self.writes) or call.kept:
            return ()
        touched = self.touched
        return tuple(
            [
                (i, id(root_of(h)), path(h))
                for i, h in enumerate(call.handles)
                if id(root_of(h)) in touched
            ]
        )

    def finish_or_rerun(
        self, results: Any, args: tuple[Any, ...], types: tuple[Any, ...], mode: modes.Mode
    ) -> Any:
        """Finish what C has run, or run it here; `NO_CACHED_RUN` where neither can be."""
        if results is None:
            return self.rerun(args, types, mode)
        return self.finished(results, args, args)

    def rerun(self, args: tuple[Any, ...], types: tuple[Any, ...], mode: modes.Mode) -> Any:
        """The result for plain arrays of the types of an earlier call, if nothing else was written
        meanwhile; else `NO_CACHED_RUN`.

        What most calls are is recognised before anything is taken apart. Arrays that one program
        made share the object that is their type, so that it need not be compared.
        """
        if (
            len(args) != len(types)
            or mode.training != self.training
            or mode.numpy_dtypes != self.numpy_dtypes
        ):
            return NO_CACHED_RUN
        inputs = []
        for a, known in zip(args, types, strict=False):
            if not is_plain(a):
                return NO_CACHED_RUN
            payload = a._value.payload
            if type(payload) not in backends.ON_DEVICES:
                payload = transfer_to_xla(payload, mode, self.op.name)
            if payload.aval is not known:
                return NO_CACHED_RUN
            inputs.append(payload)
        if not self.pure:
            operands = None if self.state is None else self.state.operands(inputs)
            if operands is None:
                return NO_CACHED_RUN
            inputs = operands
        with uninterrupted:
            return self.finished(execution.execute(self.op, inputs, self.donated), args, args)

    def replay(self, call: Call) -> Any:
        """Run the program, write what it writes, and put its results together."""
        mode = modes.current()
        if self.pure:
            return self._recorded(call) if mode.recording else self._on_handles(call, mode)
        if not _lock.acquire(False):
            with program_lock.held:
                return self._replayed(call, mode)
        try:
            return self._replayed(call, mode)
        finally:
            _lock.release()

    def _replayed(self, call: Call, mode: modes.Mode) -> Any:
        """Run the program on what its last run left, or on what the handles hold."""
        if mode.recording:
            return self._recorded(call)
        operands = None
        if self.state is not None and not self.captured.changed:
            operands = self.state.operands([_handles.read(h).payload for h in call.inputs])
        if operands is None:
            return self._on_handles(call, mode)
        with uninterrupted:
            results = execution.execute(self.op, operands, self.donated)
            return self.finished(results, call.inputs, call.handles, call.number_leaves)

    def compile(self, call: Call) -> None:
        """Have XLA compile what was traced."""
        mode = modes.current()
        values = [*[h._value for h in self.reads], *[_handles.read(h) for h in call.inputs]]
        if _moves_state(mode):
            _stay_on_xla(values[: len(self.reads)], mode, self.op.name)
        execution.compile_ahead(self.op, [v.payload for v in values], self.donated)

    def finished(
        self,
        results: Sequence[Any],
        handles: Sequence[Handle],
        arguments: Sequence[Handle],
        leaves: Sequence[Any] = (),
    ) -> Any:
        """Keep what was written by a run on what an earlier one wrote, and put the results
        together.
        """
        found = self.captured
        outputs, _, written, flags = found.split(results)
        if self.state is not None:
            self.state.keep(_laid_out(found.written, written))
        if flags:
            expect(flags[0], found.errors)
        return self.outputs.build([Value(p) for p in outputs], handles, arguments, leaves)

    def _on_handles(self, call: Call, mode: modes.Mode) -> Any:
        """Run the program on what the handles hold."""
        self._check_writeable()
        found = self.captured
        if self.state is not None:
            self.state.materialize()
        values = [h._value for h in self.reads]
        if _moves_state(mode):
            _stay_on_xla(values, mode, found.op.name)
        values += map(_argument, call.inputs)
        payloads = [v.payload for v in values]
        with uninterrupted:
            if self.donated:
                ownership.release(values, payloads, self.given)
            results = execution.execute(self.op, payloads, self.donated)
            outputs, changed, written, flags = found.split(results)
            if any([type(h._value) is BorrowedValue for h in self.writes]):
                self.state = None
                self._write_through(written, results, mode)
            else:
                self.state = RetainedOutputs(
                    found.written,
                    _laid_out(found.written, written),
                    found.given,
                    _beside(results, found.recomputable, mode),
                    self.read_only,
                    self.places,
                    type(results[0]) if results else None,
                )
            for i, payload in zip(found.changed, changed, strict=True):
                writes.write(call.inputs[i], Value(payload))
        if flags:
            expect(flags[0], found.errors)
        return self.outputs.build(
            [Value(p) for p in outputs], call.inputs, call.handles, call.number_leaves
        )

    def _write_through(
        self, written: Sequence[Any], results: Sequence[Any], mode: modes.Mode
    ) -> None:
        """Write what a run wrote where it is: others look into the memory of some arrays."""
        for handle, payload in zip(self.captured.written, written, strict=True):
            writes.write(handle, Value(payload))
        for handle, make in _beside(results, self.captured.recomputable, mode):
            writes.write(handle, Value(make()))

    def _recorded(self, call: Call) -> Any:
        """Run the program as one operation of a graph."""
        self._check_writeable()
        found = self.captured
        values = [_handles.read(h) for h in self.reads]
        values += map(_argument, call.inputs)
        results = execution.run(self.op, values)
        outputs, changed, written, flags = found.split(
            (results,) if found.op.outputs == 1 else results
        )
        for handle, value in zip(found.written, written, strict=True):
            writes.write(handle, value)
        for i, value in zip(found.changed, changed, strict=True):
            writes.write(call.inputs[i], value)
        if flags:
            expect(flags[0].payload, found.errors)
        return self.outputs.build(outputs, call.inputs, call.handles, call.number_leaves)

    def _check_writeable(self) -> None:
        for handle in self.writes:
            if handle._extra is not None and handle._extra.readonly:
                raise ValueError("assignment destination is read-only")


def _laid_out(handles: Sequence[Handle], payloads: Sequence[Any]) -> Sequence[Any]:
    """Lay results that overwrite arrays out in the memory order of these."""
    if not payloads or type(payloads[0]) is not onp.ndarray:
        return payloads
    return [
        p if in_c_order(h) else memory_layout.copied(p, _handles.layout(h))
        for h, p in zip(handles, payloads, strict=True)
    ]


def _beside(
    results: Sequence[Any], recomputable: list[tuple[Handle, Callable[[], Any]]], mode: modes.Mode
) -> list[tuple[Handle, Callable[[], Any]]]:
    """Return functions that make values of nothing on the device of the results; without results,
    where new arrays go.
    """
    if not recomputable or (type(results[0]) is onp.ndarray if results else on_host(mode)):
        return recomputable
    if results:  # a result itself would be held
        send = partial(
            backends.backend_of(results[0]).asarray, device=backends.device_of(results[0])
        )
    else:
        send = partial(backends.placed, mode=mode)
    return [(handle, partial(_on_device, make, send)) for handle, make in recomputable]


def _on_device(make: Callable[[], Any], send: Callable[[Any], Any]) -> Any:
    """Make a value on the host, and send it where it goes."""
    with tracing.eagerly():
        return send(make())


def _moves_state(mode: modes.Mode) -> bool:
    """Return True where what a compiled function reads moves to where it runs, for good."""
    return mode.backend == "auto" or engine_of(mode) is not None


def _argument(handle: Handle) -> Value:
    """The value of an argument; that of a view is one that it does not keep, so that its buffer may
    not be given away.
    """
    value = handle._value if handle._view is None else None
    if value is None or type(value) is BorrowedValue:
        value = _handles.read(handle)
        return Value(value.payload, value.node, value.index)
    return value


def _stay_on_xla(values: Sequence[Value], mode: modes.Mode, name: str) -> None:
    """Move what a compiled function reads from outside to XLA for good, so that it is not sent
    there at each call.
    """
    for value in values:
        if type(value) is BorrowedValue:
            continue
        if type(value.payload) is onp.ndarray:
            value.payload = transfer_to_xla(value.payload, mode, name)
        elif type(value.payload) is backends.XLA_ARRAY and engine_of(mode) is not None:
            array = backends.to_host(value.payload, True)
            value.payload = transfer_to_xla(array, mode, name)
