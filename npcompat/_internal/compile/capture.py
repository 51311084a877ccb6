"""Capture of a Python function as one operator.

Outside arrays that it reads become operands, those that it writes become results. The function runs
once on proxies of its arguments, while a `Trace` records its reads and writes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.jax.namespace import is_tracer
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile.caught_errors import refused_if_caught
from npcompat._internal.compile.outer_selections import spread_writes
from npcompat._internal.compile.trace import OUTSIDE, CapturedTypeError, Trace, on_xla
from npcompat._internal.core import dtypes, modes, program_lock
from npcompat._internal.core.handle import Handle, Value, have_variable_views
from npcompat._internal.core.op import Op
from npcompat._internal.core.trace_notes import CAPTURED, COPIES, LAYOUT
from npcompat._internal.dispatch.handles import traced_now, wrap
from npcompat._internal.support.errors import RefusedError, user_location


@dataclass(frozen=True, eq=False, slots=True)
class Captured:
    """Traced function: the operator `f(*reads, *arguments)`, whose results `split` separates.

    - `reads`, `written`: handles from outside that the function reads, and writes.
    - `recomputable`: written handles that end with a constant value (e.g. zeroed gradients), each
      with a function that recreates it. They need no program output and are not in `written`.
    - `changed`: positions of the arguments that it writes.
    - `result`: the second item that the body returned.
    - `types`: shape and dtype of all results of the operator.

    XLA gives the buffer of a donated operand to the first result of its type. So overwritten values
    come first, in the order of the operands: the first `given` of `written`, which are read, too,
    then the changed arguments.
    """

    op: Op
    reads: list[Handle]
    written: list[Handle]
    recomputable: list[tuple[Handle, Callable[[], Any]]]
    given: int
    changed: list[int]
    outputs: int
    result: Any
    errors: list[tuple[type[Exception], str]]
    types: list[tuple[tuple[int, ...], Any]]
    jaxpr: Any

    def split(
        self, results: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Split results into outputs, changed arguments, written values, and error flags."""
        a = self.given
        b = a + len(self.changed)
        c = b + len(self.written) - a
        d = c + self.outputs
        written = results[:c] if a == b else [*results[:a], *results[b:c]]
        return results[c:d], results[a:b], written, results[d:]


def _outside(trace: Trace) -> Callable[[Handle], Value]:
    """The value that a handle has outside of the function that is traced."""
    return lambda handle: trace.before[id(handle)][1]


def _pinned(
    trace: Trace, new: Sequence[Value], old: Sequence[Value], read: Sequence[Value]
) -> list[Value]:
    """Results that replace arrays, laid out as these; on a mesh, if anything that is read or made
    lies on one: where nobody says it, XLA chooses, at each run anew.
    """
    mesh = next((s for v in read if (s := sharding.spread(v.payload)) is not None), None)
    mesh = mesh or trace.notes.get(LAYOUT)
    if mesh is None:
        return list(new)
    whole = sharding.replicated(mesh)
    return [
        trace.adopt(
            Value(
                sharding.pinned(_traced(v.payload), sharding.spread(o.payload) or whole),
                v.node,
                v.index,
            )
        )
        for v, o in zip(new, old, strict=True)
    ]


def _laid_out(payload: Any, trace: Trace) -> Any:
    """A result on XLA; a constant lies as the trace lays new arrays out, if it says so."""
    layout = trace.notes.get(LAYOUT)
    if layout is None or is_tracer(payload):
        return on_xla(payload)
    return sharding.placed(_traced(payload), layout)


def _traced(payload: Any) -> Any:
    """A result as a tracer, also one that is a constant."""
    return payload if is_tracer(payload) else tracing.lifted(on_xla(payload))


Body = Callable[[list[Any], Trace], tuple[Sequence[Value], Any]]


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """Facts about a function's run on proxies; most are those of `Captured`.

    `carries` is True for each result that depends on a recorded value; `groups` names the operators
    that can be fused.
    """

    written: list[Handle]
    recomputable: list[tuple[Handle, Callable[[], Any]]]
    given: int
    changed: list[int]
    outputs: int
    result: Any
    carries: tuple[bool, ...]
    groups: tuple[tuple[str, ...], ...]


def capture(
    name: str,
    function: Body,
    arguments: Sequence[Value],
    reason: str = "",
    track_recomputable: bool = False,
) -> Captured:
    """Trace a function on proxies of the arguments.

    `function(proxies, trace)` returns the values to output and `Captured.result`. A caller that
    sets `track_recomputable` must recreate the values of `Captured.recomputable` after each run;
    otherwise such handles are in `written`.
    """
    mode = modes.current()
    trace = Trace(mode.trace, mode.recording)
    runs: list[_Run] = []

    def body(*tracers: Any) -> list[Any]:
        with refused_if_caught():
            run, payloads = _run(function, trace, tracers, arguments, track_recomputable)
        runs.append(run)
        return payloads

    with program_lock.held:
        traced_now.append(trace)
        try:
            jaxpr = tracing.trace(body, [tracing.abstract(v.payload) for v in arguments])
        finally:
            trace.restore()
            traced_now.remove(trace)
    (run,) = runs
    if mode.recording and mode.trace is not None and have_variable_views(trace.captured):
        raise RefusedError(
            f"{user_location()}: {name} reads an array that has a view on which attach_grad was "
            "called: its gradient would be that of the whole array; call attach_grad on a copy of "
            "the view"
        )
    if mode.trace is not None:
        mode.trace.notes.setdefault(CAPTURED, []).extend((trace.captured, run.written))
    return Captured(
        _operator(name, trace, jaxpr, run, reason),
        trace.captured,
        run.written,
        run.recomputable,
        run.given,
        run.changed,
        run.outputs,
        run.result,
        trace.errors,
        tracing.output_types(jaxpr),
        jaxpr,
    )


def _refuse_lost_writes(trace: Trace) -> None:
    """Raise RefusedError if a copy was written that is a view of NumPy's."""
    for copy, value, where in trace.notes.get(COPIES, ()):
        if copy._value is not value:
            raise RefusedError(
                f"{where}: this part of an array is written by a name of its own. Its position is "
                "not known while the function is being compiled, and it is a copy where functions "
                "are not converted (without loops and branches, without source, loops='python'); "
                "write the array, `a[i] = new`, or take a copy"
            )


def _run(
    function: Body,
    trace: Trace,
    tracers: Sequence[Any],
    arguments: Sequence[Value],
    track_recomputable: bool,
) -> tuple[_Run, list[Any]]:
    """Run a function on proxies; return facts about the run, and the payloads of all results."""
    proxies = [
        wrap(trace.adopt(Value(tracer, None if argument.node is None else OUTSIDE)))
        for tracer, argument in zip(tracers, arguments, strict=True)
    ]
    starts = [p._value for p in proxies]
    with modes.changed(trace=trace):
        outputs, result = function(proxies, trace)
        spread_writes(trace)
    _refuse_lost_writes(trace)
    changed = [
        i
        for i, (p, start) in enumerate(zip(proxies, starts, strict=True))
        if p._value.payload is not start.payload
    ]
    written = {id(h): h for h in trace.written()}
    recomputable = trace.find_recomputable(written.values()) if track_recomputable else []
    for handle, _ in recomputable:
        del written[id(handle)]
    for handle in trace.replaced(written.values()):
        trace.capture(handle, trace.before[id(handle)][1])
    captured_written = [h for h in trace.captured if written.pop(id(h), None) is not None]
    rest = list(written.values())
    overwriting = [
        *[h._value for h in captured_written],
        *[proxies[i]._value for i in changed],
        *[h._value for h in rest],
    ]
    if sharding.several[0]:
        before = _outside(trace)
        old = [*map(before, captured_written), *[arguments[i] for i in changed], *map(before, rest)]
        read = [*arguments, *map(before, trace.captured)]
        overwriting = _pinned(trace, overwriting, old, read)
    values = [*overwriting, *outputs]
    flags = [tracing.any_true(trace.flags)] if trace.flags else []
    run = _Run(
        captured_written + rest,
        recomputable,
        len(captured_written),
        changed,
        len(outputs),
        result,
        (*[v.node is not None for v in values], *[False for _ in flags]),
        trace.groups(values),
    )
    return run, [*[_laid_out(v.payload, trace) for v in values], *flags]


def _operator(name: str, trace: Trace, jaxpr: Any, run: _Run, reason: str) -> Op:
    """Return the operator `f(*reads, *arguments)` of a traced function."""
    program = tracing.program_function(jaxpr, trace.constants)
    reads, total = len(trace.captured), len(jaxpr.out_avals)
    types = [(c.shape, dtypes.canonical(c.dtype)) for c in trace.constants]

    def compute(xp: Any, *arrays: Any) -> Any:
        if [(a.shape, a.dtype) for a in arrays[:reads]] != types:
            raise CapturedTypeError(name)
        out = program(arrays[:reads], arrays[reads:])
        return out[0] if total == 1 else tuple(out)

    return Op(
        name,
        compute,
        ("arrays",),
        variadic=True,
        outputs=total,
        kernels={"jax": compute},
        differentiable_outputs=run.carries,
        dependence=tracing.dependence(jaxpr, trace.constants),
        separate_outputs=trace.separates_outputs
        and not tracing.contains_loop(jaxpr, ("scan", "while")),
        reason=reason,
        groups=run.groups,
        loops=tuple(trace.notes.get("loops", ())),
        layout=trace.notes.get(LAYOUT),
        prefers_xla=True,
    )
