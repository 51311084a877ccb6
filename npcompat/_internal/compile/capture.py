"""Capture a Python function as one operator: what it reads and writes outside becomes operands and
results.

The function runs once, on proxies of its arguments, while a `Trace` looks on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile.trace import OUTSIDE, CapturedTypeError, Trace, on_xla
from npcompat._internal.core import dtypes, modes, program_lock
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch.handles import traced_now, wrap


@dataclass(frozen=True, eq=False, slots=True)
class Captured:
    """A traced function: the operator `f(*reads, *arguments)`, whose results `split` tells apart.

    `reads` and `written` are the handles from outside that the function reads and writes, but for
    those that it leaves with what depends on nothing, which are `recomputable`, each with what
    makes that; `changed` says which arguments it writes; `result` is what the function returned beside its
    outputs; `types` are shape and dtype of all the operator's results.

    XLA gives the buffer of a donated operand to the first result of its type. So what is
    overwritten comes first, in the order of the operands: of `written` the `given` that are read,
    too, then the changed arguments.
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
    dependence: Callable[[], list[frozenset[int]]]
    jaxpr: Any

    def split(
        self, results: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any]]:
        """The outputs, the changed arguments, what is written (in the order of `written`), and the
        flags.
        """
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
    """Results that replace arrays, laid out as these; on a mesh, if anything that is read lies on
    one: where nobody says it, XLA chooses, at each run anew.
    """
    mesh = next((s for v in read if (s := sharding.spread(v.payload)) is not None), None)
    if mesh is None:
        return list(new)
    whole = sharding.replicated(mesh)
    return [
        trace.adopt(
            Value(sharding.pinned(v.payload, sharding.spread(o.payload) or whole), v.node, v.index)
        )
        for v, o in zip(new, old, strict=True)
    ]


Body = Callable[[list[Any], Trace], tuple[Sequence[Value], Any]]


def capture(
    name: str,
    function: Body,
    arguments: Sequence[Value],
    reason: str = "",
    track_recomputable: bool = False,
) -> Captured:
    """Trace a function on proxies of the arguments.

    `function(proxies, trace)` returns the values to output and whatever its caller wants to know
    besides. Who says `track_recomputable` looks after the handles that are left with what depends
    on nothing; else they are written as any other.
    """
    mode = modes.current()
    trace = Trace(mode.trace, mode.recording)
    found: dict[str, Any] = {}

    def body(*tracers: Any) -> list[Any]:
        proxies = []
        for tracer, argument in zip(tracers, arguments, strict=True):
            proxies.append(
                wrap(trace.adopt(Value(tracer, None if argument.node is None else OUTSIDE)))
            )
        starts = [p._value for p in proxies]
        with modes.changed(trace=trace):
            outputs, found["result"] = function(proxies, trace)
        changed = [
            i
            for i, (p, start) in enumerate(zip(proxies, starts, strict=True))
            if p._value.payload is not start.payload
        ]
        written = {id(h): h for h in trace.written()}
        found["anew"] = trace.find_recomputable(written.values()) if track_recomputable else []
        for handle, _ in found["anew"]:
            del written[id(handle)]
        for handle in trace.replaced(written.values()):
            trace.capture(handle, trace.before[id(handle)][1])
        given = [h for h in trace.captured if written.pop(id(h), None) is not None]
        rest = list(written.values())
        before = [
            *[h._value for h in given],
            *[proxies[i]._value for i in changed],
            *[h._value for h in rest],
        ]
        if sharding.several[0]:
            olds = [trace.before[id(h)][1] for h in given]
            olds += [*[arguments[i] for i in changed], *[trace.before[id(h)][1] for h in rest]]
            before = _pinned(
                trace, before, olds, [*arguments, *map(_outside(trace), trace.captured)]
            )
        values = [*before, *outputs]
        found.update(changed=changed, written=given + rest, given=len(given), outputs=len(outputs))
        found["groups"] = trace.groups(values)
        carries = [v.node is not None for v in values]
        flags = [tracing.any_true(trace.flags)] if trace.flags else []
        found["carries"] = tuple(carries + [False] * len(flags))
        return [*[on_xla(v.payload) for v in values], *flags]

    with program_lock.held:
        traced_now.append(trace)
        try:
            jaxpr = tracing.trace(body, [tracing.abstract(v.payload) for v in arguments])
        finally:
            trace.restore()
            traced_now.remove(trace)
    program = tracing.program_function(jaxpr, trace.constants)
    reads, total = len(trace.captured), len(jaxpr.out_avals)
    types = [(c.shape, dtypes.canonical(c.dtype)) for c in trace.constants]

    def compute(xp: Any, *arrays: Any) -> Any:
        if [(a.shape, a.dtype) for a in arrays[:reads]] != types:
            raise CapturedTypeError(name)
        out = program(arrays[:reads], arrays[reads:])
        return out[0] if total == 1 else tuple(out)

    op = Op(
        name,
        compute,
        ("arrays",),
        variadic=True,
        outputs=total,
        kernels={"jax": compute},
        differentiable_outputs=found["carries"],
        separate_outputs=trace.separates_outputs
        and not tracing.contains_loop(jaxpr, ("scan", "while")),
        reason=reason,
        groups=found["groups"],
        loops=tuple(trace.notes.get("loops", ())),
        prefers_xla=True,
    )
    return Captured(
        op,
        trace.captured,
        found["written"],
        found["anew"],
        found["given"],
        found["changed"],
        found["outputs"],
        found["result"],
        trace.errors,
        tracing.output_types(jaxpr),
        partial(tracing.dependence, jaxpr, trace.constants),
        jaxpr,
    )
