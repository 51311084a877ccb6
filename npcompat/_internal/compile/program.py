"""Program of one kind of call of a compiled function, and its replay.

Outside arrays that the function reads are operands of the program, those that it writes are
results. Results that overwrite arrays stay with the program (`RetainedOutputs`), and are donated to
its next run.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile.call_arguments import Call, Outputs, Own, Static, describe, path
from npcompat._internal.compile.capture import capture
from npcompat._internal.compile.plain_arguments import NO_CACHED_RUN, is_plain
from npcompat._internal.compile.snapshots import ATTRIBUTE, Guard
from npcompat._internal.compile.trace import CapturedTypeError, Trace
from npcompat._internal.compile.watch import Watch
from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.graph_node import Leaf
from npcompat._internal.core.handle import BorrowedValue, Handle, Value, has_history, root_of
from npcompat._internal.core.op import Op
from npcompat._internal.core.retained_outputs import RetainedOutputs, busy, materialize
from npcompat._internal.core.trace_notes import AT_END, COUNTED, DIFFERENTIATES, GUARDS, LAYOUT
from npcompat._internal.dispatch import (
    backends,
    execution,
    late_bound,
    memory_layout,
    ownership,
    writes,
)
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch.calls import programs_on_xla
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.pending_errors import expect, raise_pending
from npcompat._internal.dispatch.placement import (
    keep_on_xla,
    moves_state,
    on_host,
    transfer_to_xla,
)
from npcompat._internal.random import stream
from npcompat._internal.support.errors import CompileWarning, RefusedError, user_location
from npcompat._internal.support.interrupts import uninterrupted

_LARGE = backends.XLA.LARGE


_programs: "WeakValueDictionary[int, Program]" = WeakValueDictionary()
"""Programs by the identity of their operators."""


def program_of(op: Op) -> "Program | None":
    """Return the program whose operator this is, if it is still there."""
    found = _programs.get(id(op))
    return found if found is not None and found.op is op else None


def _of_variables(handles: Sequence[Handle]) -> list[Guard]:
    """Return guards on captured arrays: that they are variables or not, and on their gradients."""
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


def _warn_of_changed(name: str, given: tuple[Any, Any], now: tuple[Any, Any]) -> None:
    """Warn of lists and dicts among the arguments that a traced function has changed."""
    (before, tree), (after, other) = given, now
    if tree == other and all([a is b for a, b in zip(before, after, strict=True)]):
        return
    warnings.warn(
        CompileWarning(
            f"{user_location()}: {name} changes a list or dict that it is given; compiled calls get "
            "copies, so that the caller's stays as it was. Return what changes, or write into arrays"
        ),
        stacklevel=2,
    )


class Program:
    """Program of a traced call: its operator, captured handles, and the structure of its result.

    Hot path: `replay` without recording works on payloads, and makes values only for the arrays
    that it writes and returns.
    """

    __slots__ = (
        "__weakref__",
        "alone",
        "captured",
        "differentiates",
        "donated",
        "errors",
        "form",
        "function",
        "given",
        "guards",
        "histories",
        "key",
        "layout_of_new",
        "layouts",
        "nodes",
        "numpy_dtypes",
        "only_checks",
        "op",
        "outputs",
        "places",
        "programs",
        "pure",
        "read_histories",
        "read_only",
        "reads",
        "state",
        "touched",
        "training",
        "uses",
        "writes",
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
            given = language.flatten((args, kwargs))
            with call.uses:
                described = describe(traced(*args, **kwargs), trace, inputs, seen)
            _warn_of_changed(name, given, language.flatten((args, kwargs)))
            for look in trace.notes.get(AT_END, ()):
                look()
            notes.update(trace.notes)
            return described

        notes: dict[Any, Any] = {}

        static = [leaf.value if type(leaf) is Static else leaf for leaf in call.leaves]
        watch = Watch(function, [x for x in static if not isinstance(x, Handle)], name)
        inputs = [*map(_input, call.inputs)]
        if moves_streams := sharding.several[0] and modes.current().trace is None:
            stream.release_all()
        found = self.captured = watch.run(
            lambda: capture(name, body, inputs, reason, track_recomputable=True)
        )
        self.uses = call.uses
        self.reads = found.reads
        self.outputs: Outputs = found.result
        self.nodes = [h._value.node is not None for h in found.reads]
        self.layouts: list[Any] = []
        self.layout_of_new = notes.get(LAYOUT)
        if moves_streams:
            stream.bring_along(found.reads, inputs)
        if sharding.several[0]:
            self.layouts = _move_to_common_mesh(
                [h._value for h in found.reads], inputs, self.layout_of_new
            )
        self.writes = [*found.written, *[h for h, _ in found.recomputable]]
        self.touched = {id(h) for h in (*found.reads, *self.writes)}
        # Captured arrays and arguments that are overwritten by a value of their type are donated.
        _, changed, written, _ = found.split(found.types)
        overwritten = [*zip(found.written[: found.given], written, strict=False)]
        overwritten += [
            (call.inputs[i], after) for i, after in zip(found.changed, changed, strict=True)
        ]
        for handle, after in overwritten:
            if handle._view is not None and tuple(after[0]) != handle.shape:
                raise RefusedError(
                    f"{user_location()}: {name} sets the shape of an array that is a view; compiled "
                    "calls can set that of an array with memory of its own only; use reshape"
                )
        types = {id(h): after for h, after in overwritten}
        operands = [*found.reads, *call.inputs]
        self.given = [id(h) in types for h in operands]
        self.state: RetainedOutputs | None = None
        self.errors = found.errors or None
        # No later read would raise what it checks: that is read at once.
        self.only_checks = bool(found.errors) and not (
            found.outputs or found.changed or self.writes
        )
        self.alone = None if found.changed else self.outputs.kind
        self.pure = bool(call.inputs) and not (
            found.reads or self.writes or found.changed or found.errors
        )
        self.read_only = [h for h in found.reads if id(h) not in types]
        at = {id(h): i for i, h in enumerate([*found.written, *self.read_only])}
        self.places = [at[id(h)] for h in found.reads]
        self.donated = frozenset(
            [i for i, h in enumerate(operands) if id(h) in types and types[id(h)] == _type(h)]
        )
        self.op, self.function, self.form = found.op, function, call.without_arrays()
        _programs[id(found.op)] = self
        self.guards = watch.guards(
            [*_of_variables([*found.reads, *self.writes]), *notes.get(COUNTED, ())],
            notes.get(GUARDS, ()),
        )
        self.differentiates = bool(notes.get(DIFFERENTIATES))
        self.histories = call.histories()
        self.read_histories = [*map(has_history, self.reads)]
        self.training, self.numpy_dtypes = modes.current().training, modes.current().numpy_dtypes
        self.programs, self.key = programs_on_xla(found.op, self.donated, self.numpy_dtypes)

    def fits(self, recording: bool) -> bool:
        """Return False if other captured arrays have nodes than in the trace, where that matters."""
        if self.differentiates and [*map(has_history, self.reads)] != self.read_histories:
            return False
        return not recording or [h._value.node is not None for h in self.reads] == self.nodes

    def own_arrays(self, call: Call) -> Own:
        """Return the arguments that the function also captures, if one of the two is written.

        A proxy for such an argument would be wrong: a write must be seen through both.
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

    def rerun(self, args: tuple[Any, ...], types: tuple[Any, ...], mode: modes.Mode) -> Any:
        """Run the program on plain arrays whose avals are the objects of an earlier call.

        Return `NO_CACHED_RUN` if the types or the modes differ, or if captured arrays were written
        meanwhile. So the most frequent calls are not flattened. Types are compared by identity:
        arrays that one program made share one aval.
        """
        if (
            len(args) != len(types)
            or mode.training != self.training
            or mode.numpy_dtypes != self.numpy_dtypes
        ):
            return NO_CACHED_RUN
        if not all(map(is_plain, args)):
            return NO_CACHED_RUN
        if self.differentiates and any(map(has_history, (*args, *self.read_only))):
            return NO_CACHED_RUN
        inputs = [a._value.payload for a in args]
        for i, known in enumerate(types):
            if type(inputs[i]) not in backends.ON_DEVICES:
                if inputs[i].nbytes >= _LARGE:
                    execution.lend(self.op, inputs, self.donated)
                if type(inputs[i]) is onp.ndarray and mode.backend == "numpy":
                    return NO_CACHED_RUN  # it stays on the host
                if type(inputs[i]) is onp.ndarray:
                    inputs[i] = transfer_to_xla(inputs[i], mode, self.op.name)
            if inputs[i].aval is not known:
                return NO_CACHED_RUN
        if not self.pure:
            operands = None if self.state is None else _retained(self.state, inputs)
            if operands is None:
                return NO_CACHED_RUN
            inputs = operands
        with uninterrupted:
            return self.finished(execution.execute(self.op, inputs, self.donated), args, args)

    def replay(self, call: Call) -> Any:
        """Run the program for a call, write outside arrays, and return the function's result."""
        mode = modes.current()
        if self.pure:
            return (
                self._recorded(call.inputs, call.handles, call.number_leaves)
                if mode.recording
                else self._on_handles(call, mode)
            )
        return program_lock.run_held(self._replayed, call, mode)

    def _replayed(self, call: Call, mode: modes.Mode) -> Any:
        """Run the program on its retained outputs if these are current, else on the handles."""
        if mode.recording:
            return self._recorded(call.inputs, call.handles, call.number_leaves)
        operands = None
        if self.state is not None and not self.captured.changed:
            operands = _retained(self.state, [_handles.read(h).payload for h in call.inputs])
        if operands is None:
            return self._on_handles(call, mode)
        with uninterrupted:
            results = execution.execute(self.op, operands, self.donated)
            return self.finished(results, call.inputs, call.handles, call.number_leaves)

    def compile(self, call: Call) -> None:
        """Compile the traced program with XLA, without running it."""
        mode = modes.current()
        values = [*[h._value for h in self.reads], *[_handles.read(h) for h in call.inputs]]
        if moves_state(mode):
            keep_on_xla(values[: len(self.reads)], mode, self.op.name)
        execution.compile_ahead(self.op, [v.payload for v in values], self.donated)

    def finished(
        self,
        results: Sequence[Any],
        handles: Sequence[Handle],
        arguments: Sequence[Handle],
        leaves: Sequence[Any] = (),
    ) -> Any:
        """Retain the written outputs of a run, and return the function's result."""
        found = self.captured
        outputs, _, written, flags = found.split(results)
        if self.state is not None:
            self.state.keep(_laid_out(found.written, written))
        if flags:
            self._expect(flags[0])
        return self.outputs.build([Value(p) for p in outputs], handles, arguments, leaves)

    def _on_handles(self, call: Call, mode: modes.Mode) -> Any:
        """Run the program on the values of the handles."""
        self._check_writes(call.inputs)
        found = self.captured
        if self.state is not None:
            self.state.materialize()
        arguments = [*map(_argument, call.inputs)]
        stays = True
        if sharding.several[0] and mode.trace is None:
            stays = stream.bring_along(self.reads, arguments)
        values = [h._value for h in self.reads]
        if moves_state(mode):
            keep_on_xla(values, mode, found.op.name)
        if (
            sharding.several[0]
            and _move_to_common_mesh(values, arguments, self.layout_of_new) != self.layouts
        ):
            raise CapturedTypeError(found.op.name)
        values += arguments
        del arguments
        payloads = [v.payload for v in values]
        with uninterrupted:
            if self.donated:
                ownership.release(values, payloads, self.given)
            borrowed = any([type(h._value) is BorrowedValue for h in self.writes])
            with busy(found.written[: found.given] if stays and not borrowed else ()):
                results = execution.execute(self.op, payloads, self.donated)
            outputs, changed, written, flags = found.split(results)
            if not stays or borrowed:
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
            self._expect(flags[0])
        return self.outputs.build(
            [Value(p) for p in outputs], call.inputs, call.handles, call.number_leaves
        )

    def _write_through(
        self, written: Sequence[Any], results: Sequence[Any], mode: modes.Mode
    ) -> None:
        """Write the results of a run into the handles, of which some have borrowed buffers."""
        for handle, payload in zip(self.captured.written, written, strict=True):
            writes.write(handle, Value(payload))
        for handle, make in _beside(results, self.captured.recomputable, mode):
            writes.write(handle, Value(make()))

    def replay_recorded(self, args: Sequence[Handle]) -> Any:
        """Run the program on plain arrays as one recorded operation."""
        if self.pure:
            return self._recorded(args, args)
        return program_lock.run_held(self._recorded, args, args)

    def _recorded(
        self, inputs: Sequence[Handle], handles: Sequence[Handle], leaves: Sequence[Any] = ()
    ) -> Any:
        """Run the program as one recorded operation, so that the tape gets one node."""
        self._check_writes(inputs)
        found = self.captured
        arguments = [*map(_argument, inputs)]
        if sharding.several[0] and modes.current().trace is None:
            stream.bring_along(self.reads, arguments)
        values = [*[_handles.read(h) for h in self.reads], *arguments]
        results = execution.run(self.op, values)
        outputs, changed, written, flags = found.split(
            (results,) if found.op.outputs == 1 else results
        )
        for handle, value in zip(found.written, written, strict=True):
            writes.write(handle, value)
        for i, value in zip(found.changed, changed, strict=True):
            writes.write(inputs[i], value)
        if flags:
            self._expect(flags[0].payload)
        return self.outputs.build(outputs, inputs, handles, leaves)

    def _expect(self, flags: Any) -> None:
        """Let the next read raise the first error that is flagged, or raise it now."""
        expect(flags, self.captured.errors)
        if self.only_checks and modes.current().trace is None:
            raise_pending()

    def _check_writes(self, inputs: Sequence[Handle]) -> None:
        """Raise if an array that the program writes is read-only, or has a history to keep."""
        if modes.current().paused:
            for handle in (*self.writes, *[inputs[i] for i in self.captured.changed]):
                writes.refuse_history(handle)
        for handle in self.writes:
            if handle._extra is not None and handle._extra.readonly:
                raise ValueError("assignment destination is read-only")


def _retained(state: RetainedOutputs, inputs: list[Any]) -> list[Any] | None:
    """Operands of a program with what it has retained; None if that is not current, or does not lie
    where the arguments do.
    """
    operands = state.operands(inputs)
    if operands is not None and sharding.several[0] and sharding.lie_apart(operands):
        return None
    return operands


def _move_to_common_mesh(
    values: Sequence[Value], arguments: Sequence[Value], layout: Any
) -> list[Any]:
    """Bring what a compiled function reads from outside to the mesh for good, if any of it, or an
    argument, or what it makes (`layout`) lies on one; returns how it lies, nothing if it is on one
    device.
    """
    if not values:
        return []
    found = [sharding.spread(v.payload) for v in values]
    mesh = next(filter(None, found), None)
    if mesh is None:
        mesh = next((s for v in arguments if (s := sharding.spread(v.payload)) is not None), None)
        mesh = mesh or layout
        if mesh is None:
            return []
    whole = sharding.replicated(mesh)
    for i, value in enumerate(values):
        if found[i] is None and type(value) is not BorrowedValue:
            materialize(value)
            value.payload, found[i] = sharding.placed(value.payload, whole), whole
            _move_gradient(value, whole)
    return [whole, *found]


def _move_gradient(value: Value, whole: Any) -> None:
    """Bring the gradient of a variable that is moved to the mesh, too: what follows may not use the
    variable, and then writes none.
    """
    if type(value.node) is not Leaf or value.node.grad is None:
        return
    grad = root_of(value.node.grad)._value
    if type(grad) is not BorrowedValue:
        materialize(grad)
        if sharding.spread(grad.payload) is None:
            grad.payload = sharding.placed(grad.payload, whole)


def _laid_out(handles: Sequence[Handle], payloads: Sequence[Any]) -> Sequence[Any]:
    """Copy host results that overwrite arrays into the memory layouts of these."""
    if not payloads or type(payloads[0]) is not onp.ndarray:
        return payloads
    return [
        p if in_c_order(h) else memory_layout.copied(p, _handles.layout(h))
        for h, p in zip(handles, payloads, strict=True)
    ]


def _beside(
    results: Sequence[Any], recomputable: list[tuple[Handle, Callable[[], Any]]], mode: modes.Mode
) -> list[tuple[Handle, Callable[[], Any]]]:
    """Return the recreating functions, made to place their values on the device of the results.

    Without results the values are placed where new arrays go.
    """
    if not recomputable or (type(results[0]) is onp.ndarray if results else on_host(mode)):
        return recomputable
    device = backends.device_of(results[0]) if results else None
    if sharding.is_layout(device):
        whole = sharding.replicated(device)
        places = [sharding.spread(handle._value.payload) or whole for handle, _ in recomputable]
        sends = [partial(backends.XLA.asarray, device=place) for place in places]
    elif results:  # a result itself would be held
        sends = [partial(backends.backend_of(results[0]).asarray, device=device)] * len(
            recomputable
        )
    else:
        sends = [partial(backends.placed, mode=mode)] * len(recomputable)
    return [
        (handle, partial(_on_device, make, send))
        for (handle, make), send in zip(recomputable, sends, strict=True)
    ]


def _on_device(make: Callable[[], Any], send: Callable[[Any], Any]) -> Any:
    """Make a value on the host, and send it to its device."""
    with tracing.eagerly():
        return send(make())


def _input(handle: Handle) -> Value:
    """Return the value of an argument to be traced; that of a view has a node if its root has."""
    value = _handles.read(handle)
    if value.node is None and handle._view is not None and has_history(handle):
        return Value(value.payload, root_of(handle)._value.node)
    return value


def _argument(handle: Handle) -> Value:
    """Return the value of an argument.

    For a view or a borrowed buffer it is a new value. Then the count of references shows that the
    argument does not own it, and its buffer is not donated.
    """
    value = handle._value if handle._view is None else None
    if value is None or type(value) is BorrowedValue:
        value = _handles.read(handle)
        return Value(value.payload, value.node, value.index)
    return value
