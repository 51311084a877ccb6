"""Trace: one run of a Python function on tracers, which makes it functional.

The function runs once. A handle from outside that is read becomes an input of the program; one that
is written becomes an extra output. Arguments are proxies, so that an argument and the same array
captured by a closure are distinguished. The result is one operator, so a compiled function is
recorded, nested and differentiated like any other operator.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.autograd.tape import attach
from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.compile import outer_selections
from npcompat._internal.core import compile_log, dtypes, fusion_groups, modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.graph_node import Leaf
from npcompat._internal.core.handle import Handle, Value, bump_version, extra
from npcompat._internal.core.op import REGISTRY, Attrs, Op
from npcompat._internal.core.protocols import TraceLike
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.core.trace_notes import CAPTURED
from npcompat._internal.dispatch import (
    late_bound,
    masked_array,
    masked_operators,
    memory_layout,
)
from npcompat._internal.dispatch.calls import on_host_outside_trace
from npcompat._internal.dispatch.meshes import Sharding
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.dispatch.placement import (
    MOST_KNOWN,
    SCALARS,
    in_range,
    laid_out_by_context,
    layout_of_new,
)
from npcompat._internal.dispatch.traced_number import has_one_meaning
from npcompat._internal.support.errors import (
    LeakedTracerError,
    RefusedError,
    SymbolError,
    TracedValueError,
    user_location,
)

OUTSIDE = Leaf(None, "outside")
"""Node of values recorded before the trace began; backward inside the trace stops at it."""


class CapturedTypeError(Exception):
    """Error for a captured array whose shape or dtype has changed; the function is traced again."""


class Trace:
    """State of a function's trace; the dispatcher hands it operators instead of executing them."""

    def __init__(self, outer: TraceLike | None, recorded_outside: bool) -> None:
        self.outer = outer
        self.context = modes.current()  # that of the call for which the function is traced
        self.recorded_outside = recorded_outside
        self.captured: list[Handle] = []  # handles read from outside, in order
        self.constants: list[Any] = []  # the constant of each of them in the jaxpr
        self.before: dict[
            int, tuple[Handle, Value]
        ] = {}  # by id: every outside handle read or written, and its value before
        self.versions: dict[
            int, tuple[int, int] | None
        ] = {}  # by id: the version of each such handle before, and that at which it was cleared
        self.lifted: dict[int, Value] = {}  # by id: the first traced value of a captured handle
        self.born: dict[int, Value] = {}  # by id: values made here, kept alive so ids stay unique
        self.separates_outputs = False  # as `Op.separate_outputs`
        self.flags: list[Any] = []  # flags of errors that only a run of the program can detect
        self.errors: list[tuple[type[Exception], str]] = []
        self.calls: list[
            tuple[Op, Attrs, Sequence[Any], Sequence[Any]]
        ] = []  # operators that ran, with operands and results
        self._made: dict[int, Any] = {}  # by id of a result: the operator that made it
        self._looked_at = 0  # number of operators whose results are in it
        self.makers: dict[
            int, Callable[[], Any]
        ] = {}  # by id: functions that recompute constant payloads
        self.numbers: dict[
            int, Any
        ] = {}  # by id of the payload: traced numbers that are operands of operators
        self.selections = outer_selections.Selections()
        self.refused: list[Handle] = []  # handles from outside that are read-only in the trace
        self.notes: dict[Any, Any] = {}  # of staged loops and branches; see `staging/`

    # --- handles

    def adopt(self, value: Value) -> Value:
        """Note that the value belongs to this trace."""
        self.born[id(value)] = value
        return value

    def read(self, handle: Handle) -> Value:
        """Return a handle's value in the trace; a handle from outside becomes an input.

        A scalar on the host is a constant, as NumPy's scalars are.
        """
        if handle._extra is not None and type(handle._extra.readonly) is masked_array.Window:
            self._refresh(handle, handle._extra.readonly)
        value = handle._value
        if id(value) in self.born:
            return value
        if late_bound.is_host_scalar(handle):  # immutable, and guarded where it was found
            return self.adopt(Value(value.payload))
        if type(value.payload) is masked_array.MaskedPayload:
            return outer_selections.read(self, handle, value)
        if self.outer is None and language.is_tracer(value.payload):
            raise LeakedTracerError(
                f"{user_location()}: an array was made inside a compiled function, kept after it had "
                "returned, and is read now; make it before the function is called, and write into it"
            )
        memory_layout.note(handle)
        self.touch(handle, value)
        lifted = tracing.lifted(self.capture(handle, value))
        if type(value.payload) is EngineArray and not language.is_tracer(lifted):
            raise TracedValueError(
                f"{user_location()}: an array of the {value.payload.backend.name} backend is read "
                "inside a compiled function where JAX computes at once, as under "
                "jax.ensure_compile_time_eval(); its values are not known there: read it before, "
                "or make what depends on it outside of the compiled function"
            )
        inside = self.adopt(Value(lifted, self.node_inside(handle, value)))
        self.lifted[id(handle)] = inside
        handle._value = inside
        bump_version(handle)
        return inside

    def origin(self, root: Handle) -> Value:
        """Return the value of a root handle in the trace that made it, if others only read it."""
        value, trace = root._value, self
        while trace is not None:
            if trace.lifted.get(id(root)) is value:
                value = trace.before[id(root)][1]
            trace = trace.outer  # type: ignore[assignment]
        return value

    def _refresh(self, handle: Handle, window: masked_array.Window) -> None:
        """Read a slice whose bounds are not known anew, if its array was written."""
        now = self.origin(window.base)
        if now is window.origin:
            return
        if id(handle) in self.before or id(handle._value) not in self.born:
            raise RefusedError(
                f"{user_location()}: a slice whose bounds are not known is used in a loop or branch "
                "that has written its array; slice the array there"
            )
        handle._value, window.origin = window.again(), now
        bump_version(handle)  # views of it are read anew, too

    def references_to(self, key: int) -> int:
        """Return the number of references that the trace holds to the handle with this id."""
        lists = [self.captured, *self.notes.get(CAPTURED, ())]
        return (
            (key in self.before)
            + sum([id(h) == key for handles in lists for h in handles])
            + self.selections.references_to(key)
        )

    def capture(self, handle: Handle, value: Value) -> Any:
        """Make the outside value of a handle an input; return the constant for it in the jaxpr."""
        with tracing.eagerly():
            constant = tracing.distinct(_stand_in(value.payload), self.constants)
        self.captured.append(handle)
        self.constants.append(constant)
        return constant

    def node_inside(self, handle: Handle, outside: Value) -> Leaf | None:
        """Return the node of an outside handle's value in the trace."""
        leaf = None if handle._extra is None else handle._extra.leaf
        if outside.node is None or outside.node is leaf:
            return leaf
        return OUTSIDE

    def writing(self, handle: Handle) -> None:
        """Note that the handle is about to be written."""
        if id(handle._value) not in self.born and id(handle) not in self.before:
            if type(handle._value.payload) is masked_array.MaskedPayload:
                outer_selections.read(self, handle, handle._value)
            else:
                self.touch(handle, handle._value)

    def touch(self, handle: Handle, value: Value) -> None:
        """Note what an outside handle holds before the trace reads or writes it."""
        rare = handle._extra
        self.before[id(handle)] = (handle, value)
        self.versions[id(handle)] = None if rare is None else (version_of(handle), rare.blank)

    def written(self) -> list[Handle]:
        """Return the outside handles whose value was replaced."""
        return [
            h
            for key, (h, before) in self.before.items()
            if h._value is not self.lifted.get(key, before)
        ]

    def replaced(self, written: Iterable[Handle]) -> list[Handle]:
        """Return the handles that are written and not read whose buffer fits the new value.

        Gradients are examples. They are captured, too, so that the buffer can be donated.
        """
        if self.outer is not None or self.recorded_outside:
            return []
        pairs = [(h, self.before[id(h)][1], h._value) for h in written if id(h) not in self.lifted]
        return [
            h
            for h, old, new in pairs
            if old.node is None and _type(old.payload) == _type(new.payload)
        ]

    def find_recomputable(
        self, written: Iterable[Handle]
    ) -> list[tuple[Handle, Callable[[], Any]]]:
        """Return handles that end the trace with a constant value, paired with a function that
        recreates it.

        These need no program output. So gradients that a training step zeroes at its end take no
        memory.
        """
        if self.outer is not None or self.recorded_outside:
            return []
        found = [
            (h, self.factory(h._value))
            for h in written
            if id(h) not in self.lifted and (h._extra is None or h._extra.leaf is None)
        ]
        return [(h, make) for h, make in found if make is not None]

    def factory(self, value: Value) -> Callable[[], Any] | None:
        """Return a function that recomputes a value's payload if it is a constant, else None."""
        payload = value.payload
        return (
            partial(onp.copy, payload)
            if type(payload) is onp.ndarray
            else self.makers.get(id(payload))
        )

    def known(
        self, op: Op, payloads: Sequence[Any], attrs: Attrs, traced: Any, mode: modes.Mode
    ) -> Any:
        """Constant-fold an operator with NumPy, if all its operands are constants.

        Return `traced` unchanged if the result has more than MOST_KNOWN elements, or if NumPy gives
        another type.
        """
        if REGISTRY.get(op.name) is not op or op.prefers_xla or op.only_on_xla:
            return traced
        if any([isinstance(a, Sharding) for a in attrs]):
            return traced  # a constant has no layout
        outs = (traced,) if op.outputs == 1 else traced
        compute = partial(on_host_outside_trace, op, payloads, attrs, mode.numpy_dtypes)
        if any([math.prod(o.shape) > MOST_KNOWN for o in outs]):
            if op.outputs == 1 and SCALARS.issuperset(map(type, payloads)):
                self.makers[id(traced)] = compute
            return traced
        found = compute()
        same = all(
            [
                _type(one) == _type(other)
                for one, other in zip((found,) if op.outputs == 1 else found, outs, strict=True)
            ]
        )
        return found if same else traced

    def outside(self, handle: Handle) -> bool:
        """True if a root handle existed before the trace."""
        return id(handle) in self.before or id(handle._value) not in self.born

    def refuse_writes(self, handle: Handle, reason: str) -> None:
        """Make a handle read-only until the trace ends."""
        if not extra(handle).readonly:
            extra(handle).readonly = reason
            self.refused.append(handle)

    def restore(self) -> None:
        """Restore the value that every outside handle had before the trace."""
        for handle in self.refused:
            extra(handle).readonly = False
        for key, (handle, value) in self.before.items():
            handle._value = value
            version, rare = self.versions[key], handle._extra
            if version is None or rare is None:
                bump_version(handle)
            else:
                rare.version, rare.blank = version

    def expect(self, flag: Any, kind: type[Exception], message: str) -> None:
        """Make a condition an output of the program.

        If it holds in a run, the next read raises the error.
        """
        self.flags.append(flag)
        self.errors.append((kind, message))

    # --- running

    def run(
        self,
        op: Op,
        values: Sequence[Value],
        payloads: Sequence[Any],
        attrs: Attrs,
        mode: modes.Mode,
    ) -> Any:
        """Run an operator on tracers, so that its equations join the program being built."""
        if masked_array.MaskedPayload in set(map(type, payloads)):
            return masked_operators.apply(op, values, attrs)
        if masked_array.lengths(attrs):
            return masked_operators.made(op, values, attrs)
        if self.numbers:
            self._check_numbers(op, payloads, attrs)
        looked_at = op.rule is not dtypes.keep
        checked = [
            in_range(op, payloads, i, attrs)
            if looked_at and type(p) is int and not 0 <= p < 128
            else p
            for i, p in enumerate(payloads)
        ]
        payloads = [self.as_traced(p) for p in checked]
        self.separates_outputs |= op.separate_outputs
        mask = tuple([v.node is not None for v in values])
        recorded = mode.recording and op.differentiable and any(mask)
        try:
            if recorded:
                if self.recorded_outside:
                    out = language.function(op, attrs)(*payloads)
                    pullback = language.lazy_pullback(op, attrs, mask, payloads)
                else:
                    out, pullback = language.traced_forward_and_pullback(op, attrs, mask)(*payloads)
                result = attach(op, attrs, values, mask, pullback, out)
            else:
                out = language.function(op, attrs)(*payloads)
                if self.recorded_outside and not mode.recording:
                    out = language.stop_gradient(out)
                if not any(map(language.is_tracer, checked)):
                    if op.outputs == 1 and math.prod(out.shape) > MOST_KNOWN:
                        out = laid_out_by_context(out, mode)
                    elif not checked:
                        layout_of_new(mode)
                    out = self.known(op, checked, attrs, out, mode)
                result = Value(out) if op.outputs == 1 else tuple([Value(o) for o in out])
        except (TypeError, ValueError, IndexError) as error:
            raise explained(op, payloads, attrs, error) from error
        for value in (result,) if op.outputs == 1 else result:
            self.adopt(value)
        self.calls.append((op, attrs, checked, [out] if op.outputs == 1 else out))
        return result

    def _check_numbers(self, op: Op, payloads: Sequence[Any], attrs: Attrs) -> None:
        """Raise if the value of a traced number decides about an error, or may not fit a dtype."""
        found = [self.numbers.get(id(p)) for p in payloads]
        if any(found_one is not None for found_one in found):
            types, named = tuple(map(language.type_of, payloads)), op.named(attrs)
            casts, _ = op.rule(types, named)
            wanted = named.get("dtype")
            for number, dtype in zip(found, casts, strict=True):
                if number is not None:
                    number.check(op, dtype)
                    if dtype is None and isinstance(wanted, onp.dtype):
                        number.check_stored(wanted)
            if not has_one_meaning(op, types, found, named):
                several = [number for number in found if number is not None and number.may_be]
                several[0].refuse(f"an operand of {op.name.removeprefix('_npi_')}")

    def as_traced(self, payload: Any) -> Any:
        """Return a payload as an operand of equations; host arrays become constants."""
        if type(payload) is not onp.ndarray:
            return on_xla(payload)
        with tracing.eagerly():
            return on_xla(payload)

    def knows_lengths(self, attrs: Attrs) -> bool:
        """True if an attribute is the number of elements that a mask selects."""
        return bool(masked_array.lengths(attrs))

    def same(self, one: Any, other: Any) -> bool:
        """True if two payloads come from the same operators on the same arrays."""
        made = self._made
        for call in self.calls[self._looked_at :]:
            made.update({id(out): (call, i) for i, out in enumerate(call[3])})
        self._looked_at = len(self.calls)
        pairs, seen = [(one, other)], set[tuple[int, int]]()
        while pairs:
            a, b = pairs.pop()
            if a is b or (type(a) in SCALARS and type(a) is type(b) and a == b):
                continue
            (call, i), (again, j) = made.get(id(a), (None, 0)), made.get(id(b), (None, 0))
            if (
                call is None
                or again is None
                or i != j
                or call[:2] != again[:2]
                or len(call[2]) != len(again[2])
            ):
                return False
            if (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                pairs += zip(call[2], again[2], strict=True)
        return True

    def groups(self, results: Sequence[Value]) -> tuple[tuple[str, ...], ...]:
        """Return the names of the operators that can be fused, for the compile log."""
        calls = self.calls if compile_log.watched() else []
        made = {id(out): i for i, (*_, outs) in enumerate(calls) for out in outs}
        steps = [
            fusion_groups.Step(op.pattern, tuple([made[id(p)] for p in payloads if id(p) in made]))
            for op, _, payloads, _ in calls
        ]
        found = fusion_groups.groups(
            steps, [made[id(v.payload)] for v in results if id(v.payload) in made]
        )
        return tuple([tuple([calls[i][0].name.split("_", 2)[2] for i in group]) for group in found])


def _type(payload: Any) -> tuple[Any, Any]:
    return getattr(payload, "shape", None), getattr(payload, "dtype", None)


def on_xla(payload: Any) -> Any:
    """Return a payload for a trace: host arrays are copied to XLA, scalars stay unchanged."""
    if xla.is_payload(payload) or not hasattr(payload, "dtype"):
        return payload
    masked_array.refuse(payload, "to return, carry or hand on")
    if type(payload) is EngineArray:
        return xla.asarray(payload.backend.to_host(payload))
    if type(payload) is not onp.ndarray:
        raise SymbolError(
            f"{user_location()}: a symbol is used in a compiled function, whose arrays have "
            "values; bind its graph outside"
        )
    return xla.asarray(payload)


def _stand_in(payload: Any) -> Any:
    """Return the constant of the jaxpr for an array that it reads; zeros for a plug-in's array."""
    if type(payload) is EngineArray:
        return xla.asarray(onp.zeros(payload.shape, payload.dtype))
    return on_xla(payload)
