"""Compiled functions: `npx.jit` and `hybridize`. One trace for each kind of call, replayed as one
program.

A call is looked up by the types of its arrays, its static arguments, the way arrays alias, and the
modes. Where only numbers differ from a call before, they are operands from then on, unless the
function asks for their values. What the trace found outside is read and written again at each
replay; buffers of what is overwritten are given to the program.
"""

import functools
import operator as python
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile import recompilation
from npcompat._internal.compile.call_arguments import Call, Outputs, Own, Static, describe, path
from npcompat._internal.compile.guards import ATTRIBUTE, Guard, Watch
from npcompat._internal.compile.trace import CapturedTypeError, Trace, capture
from npcompat._internal.core import changes, modes, program_lock
from npcompat._internal.core.handle import Handle, Value, root_of
from npcompat._internal.core.retained_outputs import State
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import execution, late_bound, memory_layout, ownership, writes
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch.calls import programs_on_xla
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.pending_errors import expect
from npcompat._internal.dispatch.placement import on_host, sent
from npcompat._internal.native import fast_path
from npcompat._internal.support import gc_pause

_MISSED: Any = object()
_lock = program_lock.lock
_changes = changes.count
_RECENT = 4
_VARIANTS = 8
"""Programs that are kept of one kind of call, for state that goes to and fro."""
_current_mode, _default_mode = modes._MODE.get, modes._process_default


class Compiled:
    """A function that is traced once for each kind of call, and then runs as one compiled program.

    Parameters
    ----------
    function : callable
        Over arrays, nested containers of arrays, and static arguments.
    name : str, optional
        Its name in the compile log.
    static_argnums, static_argnames : sequence
        Arguments that are taken as a whole as part of the program; they must be hashable. What is
        no array is part of the program anyway, but for numbers that change: see `_changed_numbers`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        static_argnums: Sequence[int] = (),
        static_argnames: Sequence[str] = (),
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.static_argnums, self.static_argnames = (
            frozenset(static_argnums),
            frozenset(static_argnames),
        )
        self._programs: dict[Any, _Program] = {}
        self._recent: list[
            tuple[_Program, tuple[Any, ...]]
        ] = []  # what calls of nothing but plain arrays ran: see `_Program.again`
        self._variants: dict[Any, list[_Program]] = {}  # programs whose guards did not hold
        self._latest: Any = None
        self._operands: dict[
            Any, frozenset[int]
        ] = {}  # numbers that changed, by the structure of the arguments: operands since then
        self._asked: dict[Any, frozenset[int]] = {}  # those whose values the function asks for
        self._misses = recompilation.Misses(self.name)
        functools.update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = _current_mode(_default_mode[0])
        if mode.trace is not None or ((observer := mode.observer) is not None and observer.apart):
            # the equations join the program being built, or are observed one by one
            return self.function(*args, **kwargs)
        if not kwargs and not mode.recording:
            # A recent program for plain arrays of the types of an earlier call, unless something
            # else wrote its arrays meanwhile, or another thread traces or runs such a program.
            for recent, types in self._recent:
                if (recent.checked or recent.guards.stamp != _changes[0]) and (
                    not recent.guards.hold()
                ):
                    continue
                if recent.pure:
                    results = fast_path.again(recent, args, types)
                    if results is not None and type(results) is not tuple:
                        return results
                    result = recent.rerun(results, args, types, mode)
                elif _lock.acquire(False):
                    try:
                        results = fast_path.again(recent, args, types)
                        if results is not None and type(results) is not tuple:
                            return results
                        result = recent.rerun(results, args, types, mode)
                    except CapturedTypeError:
                        break  # the general way says what became of it
                    finally:
                        _lock.release()
                else:
                    break
                if result is not _MISSED:
                    return result
        return self._looked_up(args, kwargs, mode)

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any], mode: modes.Mode) -> Any:
        """The result of the program for a call, which is traced if there is none."""
        call = Call(self._marked(args), self._named(kwargs), mode.recording, self._operands)
        key, program = self._found(call, mode)
        changed = ""
        if program is None and (numbers := self._changed_numbers(key, call)):
            changed = f"{recompilation.reason(key, self._latest)[0]}; an operand from now on"
            self._operands[call.tree] = self._operands.get(call.tree, frozenset()) | numbers
            call = call.again(mode.recording, self._operands)
            key, program = self._found(call, mode)
        if call.numbers and program is not None and not program.uses.hold(call.leaves):
            call = call.again(mode.recording)
            key, program = self._found(call, mode)
        if program is not None and not program.guards.hold():
            program, why = self._variant(key, program)
        else:
            why = "", ""
        if program is not None and program.fits(mode.recording):
            plain = not (kwargs or mode.recording or call.kept or program.captured.changed)
            if plain and _are_plain(args):
                types = [_to_xla(a._value.payload, mode, self.name).aval for a in args]
                self._note(program, tuple(types))
            try:
                return program.replay(call)
            except CapturedTypeError:
                why = "a captured array has another shape or dtype", "captured"
        elif changed:
            why = changed, ""
        elif why[0]:
            pass
        elif program is None:
            why = recompilation.reason(key, self._latest)
        else:
            why = "a captured array is differentiated now, or no longer", "mode"
        with program_lock.held:
            with gc_pause.gc_paused():
                program, call = self._traced(key, call, why, mode)
            return program.replay(call)

    def _variant(self, key: Any, program: "_Program") -> tuple["_Program | None", tuple[str, str]]:
        """Another program for the same call, whose guards hold; else why it has to be traced."""
        others = self._variants.setdefault(key, [])
        why = f"{program.guards.broken()} since the function was compiled", "guard"
        found = next((p for p in others if p.guards.hold()), None)
        if program not in others:
            others.insert(0, program)
            del others[_VARIANTS:]
        if found is not None:
            self._programs[key] = found
        return found, why

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the program for a kind of call, without making the call: its first one finds the
        program then.

        Parameters
        ----------
        *args, **kwargs
            As in a call; in place of an array, its type may be given, an `ops.TensorType` without
            unknown dimensions.

        Raises
        ------
        NotImplementedError
            While recording, or while another function is being compiled.

        Examples
        --------
        >>> f = npx.jit(lambda x, k: x * k)
        >>> f.compile(ops.TensorType((2, 3), "float32"), 2)
        >>> with npx.compile_log() as log:
        ...     y = f(np.ones((2, 3)), 2)
        >>> log
        []
        """
        mode = modes.current()
        if mode.recording or mode.trace is not None:
            when = (
                "while recording" if mode.recording else "while another function is being compiled"
            )
            raise NotImplementedError(
                f"compile() {when}: compile a function that records itself, outside"
            )
        leaves, tree = xla.flatten((args, kwargs))
        args, kwargs = xla.unflatten(
            tree, [_stand_in(leaf) if type(leaf) is TensorType else leaf for leaf in leaves]
        )
        call = Call(self._marked(args), self._named(kwargs), False, self._operands)
        key, program = self._found(call, mode)
        with gc_pause.gc_paused():
            if program is None:
                program, call = self._traced(
                    key, call, ("compiled ahead of the first call", ""), mode
                )
            program.compile(call)

    def _found(self, call: "Call", mode: modes.Mode) -> tuple[Any, "_Program | None"]:
        """The key of the program for a call, and the program, if there is one."""
        key: tuple[Any, ...] = (call.key, mode.recording, mode.training, mode.numpy_dtypes)
        program = self._programs.get(key)
        if program is not None:
            own = program.own_arrays(call)
            if own:
                key = (*key, own)
                call.keep(own)
                program = self._programs.get(key)
        return key, program

    def _changed_numbers(self, key: Any, call: "Call") -> frozenset[int]:
        """Numbers by which alone a call differs from one before: they become operands of one
        program for all their values.
        """
        known = self._asked.get(call.tree, frozenset()) | call.marked()
        return next(
            (
                found
                for before in reversed(self._programs)
                if (found := recompilation.numbers(key, before) - known)
            ),
            frozenset(),
        )

    def _traced(
        self, key: Any, call: "Call", why: tuple[str, str], mode: modes.Mode
    ) -> tuple["_Program", "Call"]:
        """The program for a call, made now, and the call: numbers whose values the function asks
        for are part of the program.
        """
        tree, before = call.tree, (dict(self._asked), dict(self._operands))
        while True:
            try:
                program = self._compiled(key, call, why[0])
            except (
                TypeError
            ):  # what asks for the value of a number is one, and what an operand does not do
                if not call.numbers:
                    self._asked, self._operands = before  # it is not because of numbers
                    raise
                asked = frozenset(call.uses.asked) or frozenset(
                    [leaf for leaf, _ in call.numbers.values()]
                )
                self._asked[tree] = self._asked.get(tree, frozenset()) | asked
                self._operands[tree] -= asked
                call = call.again(mode.recording, self._operands)
            else:
                self._misses.note(*why)
                if program.uses.hold(call.leaves):
                    return program, call
                call = call.again(mode.recording)  # which raises what is the matter
            key, found = self._found(call, mode)
            if found is not None:
                return found, call
            why = recompilation.reason(key, self._latest)

    def latest_inputs(self) -> list[tuple[tuple[int, ...], Any]]:
        """Shape and dtype of each array among the arguments of the call that was compiled last;
        none if nothing was.
        """
        if self._latest is None:
            return []
        _, places, entries, _ = self._latest[0]
        return [
            entries[place][:2]
            for place in places
            if place is not None and entries[place][0] is not None
        ]

    def clear(self) -> None:
        """Forget the compiled programs."""
        self._programs.clear()
        self._variants.clear()
        self._recent.clear()

    def _compiled(self, key: Any, call: "Call", reason: str) -> "_Program":
        program = _Program(self, call, reason)
        own = program.own_arrays(call)
        # an argument is also captured, and one of the two is written: it is traced as the one array
        # that it is
        if own:
            self._programs[key] = program
            key = (*key, own)
            call.keep(own)
            program = _Program(self, call, reason)
        self._programs[key] = program
        self._latest = key
        return program

    def _note(self, program: "_Program", types: tuple[Any, ...]) -> None:
        """Remember what a call ran, and the objects that are the types of its arrays, once."""
        if not any(
            [p is program and all(map(python.is_, known, types)) for p, known in self._recent]
        ):
            self._recent.insert(0, (program, types))
            del self._recent[_RECENT:]

    def _marked(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.static_argnums:
            return args
        return tuple([Static(a) if i in self.static_argnums else a for i, a in enumerate(args)])

    def _named(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        if not self.static_argnames or not kwargs:
            return kwargs
        return {k: Static(v) if k in self.static_argnames else v for k, v in kwargs.items()}


def _stand_in(kind: TensorType) -> Any:
    """An array of a type, whose elements mean nothing."""
    if not kind.known:
        raise TypeError(f"compile: expected types of which nothing is unknown, got {kind!r}")
    return _handles.wrap(Value(onp.empty(kind.shape, kind.dtype)))


def _is_plain(a: Any) -> bool:
    """Whether an argument is an array in C order, neither a view nor a variable, and may be
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
    return type(payload) is xla.Array and (
        rare is None or rare.layout is None or rare.layout.flags.c_contiguous
    )


def _to_xla(payload: Any, mode: modes.Mode, name: str) -> Any:
    return payload if type(payload) is xla.Array else sent(payload, mode, name)


def _are_plain(args: tuple[Any, ...]) -> bool:
    return all(map(_is_plain, args)) and len({*map(id, args)}) == len(args)


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


class _Program:
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

    def __init__(self, compiled: Compiled, call: Call, reason: str) -> None:
        def body(inputs: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
            seen = call.proxies(inputs)
            args, kwargs = call.arguments(seen)
            with call.uses:
                return describe(compiled.function(*args, **kwargs), trace, inputs, seen)

        static = [leaf.value if type(leaf) is Static else leaf for leaf in call.leaves]
        watch = Watch(
            compiled.function, [x for x in static if not isinstance(x, Handle)], compiled.name
        )
        inputs = [_handles.read(h) for h in call.inputs]
        found = self.captured = watch.run(
            lambda: capture(compiled.name, body, inputs, reason, makes_anew=True)
        )
        self.uses = call.uses
        self.reads = found.reads
        self.outputs: Outputs = found.result
        self.nodes = [h._value.node is not None for h in found.reads]
        self.writes = [*found.written, *[h for h, _ in found.anew]]
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
        self.state: State | None = None
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
        """Whether what is captured is differentiated as it was when the function was traced."""
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

    def rerun(
        self, results: Any, args: tuple[Any, ...], types: tuple[Any, ...], mode: modes.Mode
    ) -> Any:
        """Finish what C has run, or run it here; `_MISSED` where neither can be."""
        if results is None:
            return self.again(args, types, mode)
        return self.finished(results, args, args)

    def again(self, args: tuple[Any, ...], types: tuple[Any, ...], mode: modes.Mode) -> Any:
        """The result for plain arrays of the types of an earlier call, if nothing else was written
        meanwhile; else `_MISSED`.

        What most calls are is recognised before anything is taken apart. Arrays that one program
        made share the object that is their type, so that it need not be compared.
        """
        if (
            len(args) != len(types)
            or mode.training != self.training
            or mode.numpy_dtypes != self.numpy_dtypes
        ):
            return _MISSED
        inputs = []
        for a, known in zip(args, types, strict=False):
            if not _is_plain(a):
                return _MISSED
            payload = a._value.payload
            if type(payload) is not xla.Array:
                payload = sent(payload, mode, self.op.name)
            if payload.aval is not known:
                return _MISSED
            inputs.append(payload)
        if not self.pure:
            operands = None if self.state is None else self.state.operands(inputs)
            if operands is None:
                return _MISSED
            inputs = operands
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
        results = execution.execute(self.op, operands, self.donated)
        return self.finished(results, call.inputs, call.handles, call.told)

    def compile(self, call: Call) -> None:
        """Have XLA compile what was traced."""
        mode = modes.current()
        values = [*[h._value for h in self.reads], *[_handles.read(h) for h in call.inputs]]
        if mode.backend == "auto":
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
            self.state.settle()
        values = [h._value for h in self.reads]
        if mode.backend == "auto":
            _stay_on_xla(values, mode, found.op.name)
        values += [h._value if h._view is None else _apart(_handles.read(h)) for h in call.inputs]
        payloads = [v.payload for v in values]
        if self.donated:
            ownership.release(values, payloads, self.given)
        results = execution.execute(self.op, payloads, self.donated)
        outputs, changed, written, flags = found.split(results)
        self.state = State(
            found.written,
            _laid_out(found.written, written),
            found.given,
            _beside(results, found.anew, mode),
            self.read_only,
            self.places,
            type(results[0]) if results else None,
        )
        for i, payload in zip(found.changed, changed, strict=True):
            writes.write(call.inputs[i], Value(payload))
        if flags:
            expect(flags[0], found.errors)
        return self.outputs.build([Value(p) for p in outputs], call.inputs, call.handles, call.told)

    def _recorded(self, call: Call) -> Any:
        """Run the program as one operation of a graph."""
        self._check_writeable()
        found = self.captured
        values = [_handles.read(h) for h in self.reads]
        values += [h._value if h._view is None else _apart(_handles.read(h)) for h in call.inputs]
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
        return self.outputs.build(outputs, call.inputs, call.handles, call.told)

    def _check_writeable(self) -> None:
        for handle in self.writes:
            if handle._extra is not None and handle._extra.readonly:
                raise ValueError("assignment destination is read-only")


def _laid_out(handles: Sequence[Handle], payloads: Sequence[Any]) -> Sequence[Any]:
    """What a program wrote, in the memory order of the arrays that hold it."""
    if not payloads or type(payloads[0]) is not onp.ndarray:
        return payloads
    return [
        p if in_c_order(h) else memory_layout.copied(p, _handles.layout(h))
        for h, p in zip(handles, payloads, strict=True)
    ]


def _beside(
    results: Sequence[Any], anew: list[tuple[Handle, Callable[[], Any]]], mode: modes.Mode
) -> list[tuple[Handle, Callable[[], Any]]]:
    """What makes values of nothing where the results are; where there are none, where new arrays
    go.
    """
    if not anew or (type(results[0]) is onp.ndarray if results else on_host(mode)):
        return anew
    device = xla.device_of(results[0]) if results else None
    return [(handle, partial(_on_xla, make, device)) for handle, make in anew]


def _on_xla(make: Callable[[], Any], device: Any) -> Any:
    """What is made on the host, sent to XLA."""
    with tracing.eagerly():
        return xla.asarray(make(), device)


def _apart(value: Value) -> Value:
    """The value as one that no view keeps, whose buffer may not be given away."""
    return Value(value.payload, value.node, value.index)


def _stay_on_xla(values: Sequence[Value], mode: modes.Mode, name: str) -> None:
    """Move what a compiled function reads from outside to XLA for good, so that it is not sent
    there at each call.
    """
    for value in values:
        if type(value.payload) is onp.ndarray:
            value.payload = sent(value.payload, mode, name)


__all__ = ["Compiled"]
