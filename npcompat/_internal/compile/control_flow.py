"""Branches and loops on traced values (`npx.cond`, `foreach`, `while_loop`) as operators.

Each body is captured like a compiled function. Outside arrays that it reads become operands of the
operator, those that it writes become outputs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import control_flow as control
from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import loop_bodies
from npcompat._internal.compile.capture import Captured, capture
from npcompat._internal.compile.caught_errors import noted
from npcompat._internal.compile.trace import Trace, on_xla
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import (
    array_like,
    execution,
    handles,
    late_bound,
    masked_array,
    writes,
)
from npcompat._internal.support.errors import user_location

Python = Callable[..., Any]


def _flat(result: Any) -> tuple[list[Any], Any]:
    """Return the arrays of a result, and its structure; numbers become arrays."""
    leaves, tree = language.flatten(result)
    return [
        leaf if isinstance(leaf, Handle) else array_like.array_of(array_like.host_array(leaf))
        for leaf in leaves
    ], tree


def _are_scalars(arrays: Sequence[Any]) -> list[bool]:
    return [type(a) in late_bound.scalars for a in arrays]


def _signature(captured: Captured) -> list[str]:
    return [f"{dtype}{list(shape)}" for shape, dtype in captured.split(captured.types)[0]]


def _entering(handle: Handle, what: str) -> Value:
    """Return the value of an operand of a loop; raise if it is a `MaskedPayload`."""
    value = handles.read(handle)
    masked_array.refuse(value.payload, what)
    if type(value.payload) is onp.ndarray:  # JAX would lower a host array without 64 bits
        return Value(on_xla(value.payload), value.node, value.index)
    return value


def _finish(
    results: Sequence[Value], scalars: Sequence[bool], written: Sequence[Handle], errors: Any
) -> list[Any]:
    """Write the outside arrays that bodies wrote, keep their error flags, and wrap the outputs."""
    outputs = len(scalars)
    for handle, value in zip(written, results[outputs : outputs + len(written)], strict=True):
        writes.write_back(handle, value)
    trace = modes.current().trace
    if errors and trace is not None:
        flags = results[outputs + len(written)].payload
        for i, (kind, message) in enumerate(errors):
            trace.expect(flags[i], kind, message)
    return [
        handles.wrap_scalar(v) if scalar else handles.wrap(v)
        for v, scalar in zip(results, scalars, strict=False)
    ]


def _run(op: Op, values: Sequence[Value]) -> Sequence[Value]:
    result = execution.run(op, values)
    return (result,) if op.outputs == 1 else result


def branch(predicate: Handle, then: Python, otherwise: Python) -> Any:
    """Compute `then()` if the predicate holds, else `otherwise()`, in a trace."""

    def body(function: Python) -> Callable[[list[Any], Trace], tuple[Sequence[Value], Any]]:
        def traced(_: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
            arrays, tree = _flat(function())
            return [handles.read(a) for a in arrays], (tree, _are_scalars(arrays))

        return traced

    with noted():
        found = [
            capture(f"cond_{name}", body(f), [])
            for name, f in (("then", then), ("else", otherwise))
        ]
    first, second = found
    outputs = first.outputs
    (tree, scalars), (other_tree, other_scalars) = first.result, second.result
    if tree != other_tree or _signature(first) != _signature(second):
        raise ValueError(
            f"{user_location()}: npx.cond: both branches must return the same structure, shapes "
            "and dtypes; got "
            f"{_signature(first)} and {_signature(second)}"
        )
    reads = list({id(h): h for c in found for h in c.reads}.values())
    written = list({id(h): h for c in found for h in c.written}.values())
    operands = list({id(h): h for h in (*reads, *written)}.values())
    position = {id(h): i for i, h in enumerate(operands)}
    errors = [e for c in found for e in c.errors]
    total = outputs + len(written) + bool(errors)

    def run(which: int) -> Callable[..., Any]:
        captured = found[which]
        compute = language.function(captured.op, ())

        def arm(*arrays: Any) -> Any:
            out = compute(*[arrays[position[id(h)]] for h in captured.reads])
            outs, _, after, flagged = captured.split(
                (out,) if captured.op.outputs == 1 else tuple(out)
            )
            new = dict(zip(map(id, captured.written), after, strict=True))
            result = [*outs, *[new.get(id(h), arrays[position[id(h)]]) for h in written]]
            if errors:
                flags = [
                    flagged[0] if c is captured else control.no_flags(len(c.errors))
                    for c in found
                    if c.errors
                ]
                result.append(control.joined_flags(flags))
            return tuple(result)

        return arm

    def compute(xp: Any, condition: Any, *arrays: Any) -> Any:
        out = control.conditional(condition, (run(0), run(1)), arrays)
        return out[0] if total == 1 else out

    parts = [c.split(c.op.differentiable_outputs or (True,) * c.op.outputs) for c in found]
    carries = [any(pair) for pair in zip(*[p[0] for p in parts], strict=True)]
    for h in written:
        after = [dict(zip(map(id, c.written), p[2], strict=True)) for c, p in zip(found, parts)]
        carries.append(any([a.get(id(h), h._value.node is not None) for a in after]))
    carries += [False] * bool(errors)
    op = Op(
        "_npx_cond",
        compute,
        ("arrays",),
        variadic=True,
        outputs=total,
        differentiable_outputs=tuple(carries),
    )
    results = _run(op, [handles.read(predicate), *[handles.read(h) for h in operands]])
    scalars = [a and b for a, b in zip(scalars, other_scalars, strict=True)]
    return language.unflatten(tree, _finish(results, scalars, written, errors))


def recomputed(function: Python, name: str) -> Any:
    """Compute `function()` in a trace, with rematerialization.

    Its derivative keeps no residuals, and computes the function again.
    """

    def traced(_: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
        arrays, tree = _flat(function())
        return [handles.read(a) for a in arrays], (tree, _are_scalars(arrays))

    found = capture(name, traced, [])
    tree, scalars = found.result
    compute = control.recomputing(language.function(found.op, ()))
    op = Op(
        name,
        lambda xp, *arrays: compute(*arrays),
        ("arrays",),
        variadic=True,
        outputs=found.op.outputs,
        differentiable_outputs=found.op.differentiable_outputs,
    )
    outputs, _, written, flags = found.split(_run(op, [handles.read(h) for h in found.reads]))
    return language.unflatten(
        tree, _finish([*outputs, *written, *flags], scalars, found.written, found.errors)
    )


def _is_differentiated(trace: Any) -> bool:
    """Return True if a trace, or one around it, may be differentiated as a whole."""
    while trace is not None:
        if trace.recorded_outside:
            return True
        trace = trace.outer
    return False


class _Loop:
    """Body of a loop, traced once on proxies of a slice of the data and of the states."""

    def __init__(
        self,
        name: str,
        body: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, Any, Any]],
        data: Sequence[Value],
        states: list[Any],
    ) -> None:
        self.states = states

        def traced(proxies: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
            active, out, new = body(proxies[: len(data)], proxies[len(data) :])
            outs, out_tree = _flat(out)
            after, state_tree = _flat(new)
            extra = [] if active is None else [active]
            arrays = [*extra, *outs, *after]
            return [handles.read(a) for a in arrays], (
                len(outs),
                out_tree,
                len(after),
                state_tree,
                _are_scalars(after),
            )

        values = [_entering(s, "to begin a loop with") for s in states]
        mode = modes.current()
        nodes = [v.node is not None for v in (*data, *values)]
        differentiated = mode.recording or any(nodes) or _is_differentiated(mode.trace)
        with loop_bodies.body(not differentiated):
            self.captured = capture(name, traced, [*data, *values])
        self.outs, self.out_tree, count, self.state_tree, scalars = self.captured.result
        self.scalars = [*[False] * self.outs, *scalars]  # outputs are stacked
        self.leading = self.captured.outputs - self.outs - count
        if count != len(states):
            raise ValueError(f"{name}: the body got {len(states)} states and returned {count}")
        found = self.captured.split(self.captured.types)[0][self.leading + self.outs :]
        for i, (value, after) in enumerate(zip(values, found, strict=True)):
            if (value.payload.shape, value.payload.dtype) != after:
                raise ValueError(
                    f"{name}: state {i}: expected "
                    f"{value.payload.dtype}{list(value.payload.shape)}, as it began, got "
                    f"{after[1]}{list(after[0])} from the body"
                )
        # Outside arrays that the body writes are carried, too; those that it only reads are
        # constants of the loop.
        written = {id(h) for h in self.captured.written}
        self.written = self.captured.written
        self.fixed = [h for h in self.captured.reads if id(h) not in written]
        self.compute = language.function(self.captured.op, ())

        self.carries = self._carries([*data, *values], len(data), len(states))

    def _carries(self, given: Sequence[Value], data: int, states: int) -> tuple[bool, ...]:
        """Return which outputs, states and written arrays depend on differentiated inputs.

        A state that begins as a constant may depend on them after the first round, so this iterates
        to a fixed point.
        """
        found = self.captured
        of_captured = found.op.differentiable_outputs or (True,) * found.op.outputs
        outs, _, written, _ = found.split(of_captured)
        now = [*outs[self.leading :], *written]
        reads = {id(h): i for i, h in enumerate(found.reads)}
        first = len(found.reads) + data
        # the position of the input of the next round that each state and written array becomes
        feeds = [*range(first, first + states), *[reads.get(id(h)) for h in found.written]]
        entered = [*[h._value.node is not None for h in found.reads]]
        entered += [v.node is not None for v in given]
        assert found.op.dependence is not None
        after, _, changed, _ = found.split(found.op.dependence())
        by = [*after[self.leading :], *changed]
        live = {i for i, e in enumerate(entered) if e}
        while True:
            new = {
                place
                for carries, place in zip(now[self.outs :], feeds, strict=True)
                if carries and place is not None and place not in live
            }
            if not new:
                return tuple(now)
            live |= new
            now = [c or bool(d & live) for c, d in zip(now, by, strict=True)]

    def step(
        self,
        fixed: Sequence[Any],
        data: Sequence[Any],
        states: Sequence[Any],
        written: Sequence[Any],
    ) -> tuple[Any, ...]:
        """Run one step; return (leading condition, outputs, states, written arrays, flags)."""
        by_id = dict(zip(map(id, self.fixed), fixed, strict=True)) | dict(
            zip(map(id, self.written), written, strict=True)
        )
        out = self.compute(*[by_id[id(h)] for h in self.captured.reads], *data, *states)
        outs, _, after, flags = self.captured.split(
            (out,) if self.captured.op.outputs == 1 else tuple(out)
        )
        a, b = self.leading, self.leading + self.outs
        return outs[:a], outs[a:b], outs[b:], tuple(after), flags


def foreach(
    body: Python, data: Sequence[Handle], states: list[Any]
) -> tuple[list[Any], Any, list[Any], Any]:
    """Run `out, states = body(slice, states)` over the leading axis, in a trace.

    Return outputs and their structure, states and their structure.
    """
    values = [_entering(d, "to loop over") for d in data]
    slices = [Value(control.abstract_slice(v.payload), v.node) for v in values]
    loop = _Loop("_npx_foreach", lambda d, s: (None, *body(d, s)), slices, states)
    errors = loop.captured.errors
    counts = (len(loop.fixed), len(values), len(states), len(loop.written))
    total = loop.outs + counts[2] + counts[3] + bool(errors)

    def compute(xp: Any, *arrays: Any) -> Any:
        fixed, rest = arrays[: counts[0]], arrays[counts[0] :]
        sliced, rest = rest[: counts[1]], rest[counts[1] :]

        def step(carry: Any, piece: Any) -> Any:
            _, outs, after, written, flags = loop.step(fixed, piece, carry[0], carry[1])
            return (after, written), (outs, flags)

        (after, written), (outs, flags) = control.scan(
            step, (rest[: counts[2]], rest[counts[2] :]), sliced
        )
        result = (*outs, *after, *written, *[control.any_over_steps(f) for f in flags])
        return result[0] if total == 1 else result

    carries = loop.carries + (False,) * bool(errors)
    op = Op(
        "_npx_foreach",
        compute,
        ("arrays",),
        variadic=True,
        outputs=total,
        differentiable_outputs=carries,
    )
    operands = [
        *map(handles.read, loop.fixed),
        *values,
        *map(handles.read, states),
        *map(handles.read, loop.written),
    ]
    made = _finish(_run(op, operands), loop.scalars, loop.written, errors)
    return made[: loop.outs], loop.out_tree, made[loop.outs :], loop.state_tree


def outputs_of_none(
    name: str, body: Python, states: list[Any]
) -> tuple[list[tuple[tuple[int, ...], Any]], Any]:
    """Return shapes and dtypes of the outputs that a step would have, and their structure."""

    def traced(_: Sequence[Any], current: Sequence[Any]) -> tuple[Any, Any, Any]:
        out, new = body(current)
        return None, out, language.flatten(new)[0]

    loop = _Loop(name, traced, [], states)
    return list(loop.captured.split(loop.captured.types)[0][: loop.outs]), loop.out_tree


def while_loop(
    condition: Python, body: Python, states: list[Any], limit: int | None
) -> tuple[list[Any], Any, list[Any], Any]:
    """Run `out, states = body(states)` while a condition holds, at most `limit` times, in a trace.

    Outputs are stacked to length `limit`, with zeros after the last step.
    """

    def traced(_: Sequence[Any], current: Sequence[Any]) -> tuple[Any, Any, Any]:
        out, new = body(current)
        after, _ = _flat(new)
        return condition(after), out, new

    with noted():
        loop = _Loop("_npx_while_loop", traced, [], states)
    if loop.outs and limit is None:
        raise ValueError(
            "npx.while_loop: max_iterations is needed in a compiled function whose body returns "
            "outputs"
        )
    errors = loop.captured.errors
    counts = (len(loop.fixed), len(states), len(loop.written))
    total = loop.outs + counts[1] + counts[2] + bool(errors)

    def compute(xp: Any, first: Any, *arrays: Any) -> Any:
        fixed, begin, written = (
            arrays[: counts[0]],
            arrays[counts[0] : counts[0] + counts[1]],
            arrays[counts[0] + counts[1] :],
        )
        active = control.truth(first)

        def step(carry: Any) -> Any:
            _, states_now, written_now, flags_now = carry
            (going,), outs, after, written_after, flags = loop.step(
                fixed, (), states_now, written_now
            )
            return (
                control.truth(going),
                after,
                written_after,
                tuple(f | g for f, g in zip(flags_now, flags, strict=True)),
            ), outs

        carry = (
            active,
            tuple(begin),
            tuple(written),
            tuple([control.no_flags(len(errors))] if errors else []),
        )
        if limit is None:
            carry = control.while_loop(lambda c: c[0], lambda c: step(c)[0], carry)
            outs: tuple[Any, ...] = ()
        else:
            blank = control.zeros_of(lambda: step(carry)[1])

            def guarded(c: Any, _: Any) -> Any:
                return control.conditional(c[0], (step, lambda same: (same, blank)), (c,))

            carry, outs = control.scan(guarded, carry, None, limit)
        result = (*outs, *carry[1], *carry[2], *carry[3])
        return result[0] if total == 1 else result

    carries = loop.carries + (False,) * bool(errors)
    op = Op(
        "_npx_while_loop",
        compute,
        ("arrays",),
        variadic=True,
        outputs=total,
        differentiable_outputs=carries,
    )
    begin, _ = _flat(condition(states))
    operands = [
        handles.read(begin[0]),
        *map(handles.read, loop.fixed),
        *map(handles.read, states),
        *map(handles.read, loop.written),
    ]
    made = _finish(_run(op, operands), loop.scalars, loop.written, errors)
    return made[: loop.outs], loop.out_tree, made[loop.outs :], loop.state_tree
