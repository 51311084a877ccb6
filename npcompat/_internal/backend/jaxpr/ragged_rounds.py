"""Merge the rounds of a loop whose arrays differ in size into one round that serves for all.

Along an axis that is longer in one round than in another, an array is padded to a length that is
enough in all rounds. Its elements lie in a valid range, from an offset on, which is looked up by
the number of the round. Elements outside mean nothing; a reduction fills them with its identity
first. A slice is not moved: it becomes the whole axis with a valid range. So slices that grow or
shrink have one shape.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.primitives import (
    CALLS,
    ELEMENTWISE,
    RuleTable,
    called,
    family,
)

WASTE = 8
"""Maximum ratio of the elements that the merged rounds compute to those that the rounds have."""

Ints = tuple[int, ...]


class UnfitError(Exception):
    """Failure to merge rounds."""


@dataclass(frozen=True)
class ValidRange:
    """Range of an axis in which the elements lie, by round.

    Without offsets all elements are equal, and the axis has one of them.
    """

    offsets: Ints | None
    sizes: Ints


@dataclass(frozen=True)
class PaddedValue:
    """Array of one of the rounds, padded to one shape for all of them.

    `ranges` are the valid ranges by axis: None where the axis is as long in all rounds.
    """

    value: Any
    ranges: tuple[ValidRange | None, ...]

    @property
    def uniform(self) -> bool:
        return not any(self.ranges)


def merge_rounds(
    body: Sequence[JaxprEqn],
    rounds: Sequence[Sequence[JaxprEqn]],
    given: Sequence[tuple[Var, Any, tuple[ValidRange | None, ...]]],
    number: Var,
    known: dict[Var, Ints],
    results: Sequence[Var],
    same_shapes: Callable[[Sequence[JaxprEqn]], bool],
) -> ClosedJaxpr:
    """Return the jaxpr of one round that serves for all.

    Parameters
    ----------
    body : sequence of equations
        The first round; its variables are the inputs and what it computes.
    rounds : sequence of sequences of equations
        All rounds, whose equations differ only in shapes.
    given : sequence of (variable, type, ranges)
        The inputs.
    number : variable
        Input that is the number of the round.
    known : dict
        Inputs that are integers, by round.
    results : sequence of variables
        The results, which have the same shape in each round.
    same_shapes : callable
        Returns True if equations have the same shapes, too.

    Raises
    ------
    UnfitError
        If the rounds can't be merged.
    """

    def once(*values: Any) -> list[Any]:
        env = {
            v: PaddedValue(value, ranges)
            for (v, _, ranges), value in zip(given, values, strict=True)
        }
        interpreter = _Interpreter(env[number].value, len(rounds), known, same_shapes)
        interpreter.run(body, rounds, env)
        RULES.expect(interpreter.computed <= WASTE * interpreter.needed)
        return [_uniform(env[v]) for v in results]

    types = [
        jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
        for _, kind, _ in given
    ]
    with jax.enable_x64(True):
        return jax.make_jaxpr(once)(*types)


class _Interpreter:
    """Interpreter that computes the round of a given number from the equations of all rounds."""

    def __init__(
        self,
        number: Any,
        count: int,
        known: dict[Var, Ints],
        same_shapes: Callable[[Sequence[JaxprEqn]], bool],
    ) -> None:
        self.number, self.count, self.known, self.same_shapes = number, count, known, same_shapes
        self.computed = self.needed = 0
        self._found: dict[Ints, Any] = {}

    def run(
        self,
        body: Sequence[JaxprEqn],
        rounds: Sequence[Sequence[JaxprEqn]],
        env: dict[Var, PaddedValue],
    ) -> None:
        for i, eqn in enumerate(body):
            inputs = [_literal(a) if type(a) is Literal else env[a] for a in eqn.invars]
            each = [r[i] for r in rounds]
            if all([h.uniform for h in inputs]) and self.same_shapes(each):
                outs = _bind(eqn, [h.value for h in inputs], eqn.params)
            else:
                outs = RULES.of(eqn)(self, eqn, each, inputs)
                shapes = [shape_of(v) for e in each for v in e.outvars]
                self.needed += sum(map(math.prod, shapes))
                self.computed += self.count * sum([math.prod(h.value.shape) for h in outs])
            env.update(zip(eqn.outvars, outs, strict=True))

    def in_this_round(self, per_round: Ints) -> Any:
        """Integer of this round, from those of all rounds."""
        if len({*per_round}) == 1:
            return onp.int32(per_round[0])
        if per_round not in self._found:
            table = onp.array(per_round, "int32")
            self._found[per_round] = lax.dynamic_slice(
                table, (self.number,), (1,), allow_negative_indices=False
            ).reshape(())
        return self._found[per_round]

    def per_round(self, atom: Any) -> Ints:
        """Values of an integer in all rounds; fails if they are not known."""
        if type(atom) is Literal:
            return (int(atom.val),) * self.count
        RULES.expect(atom in self.known)
        return self.known[atom]

    def valid_mask(self, shape: Sequence[int], ranges: Sequence[ValidRange | None]) -> Any:
        """Mask of the elements of an array that lie in its valid ranges."""
        found = onp.bool_(True)
        for axis, valid in enumerate(ranges):
            if valid is not None and valid.offsets is not None:
                place = lax.broadcasted_iota("int32", shape, axis)
                ends = tuple([o + n for o, n in zip(valid.offsets, valid.sizes, strict=True)])
                if any(valid.offsets):
                    found = found & (place >= self.in_this_round(valid.offsets))
                if ends != (shape[axis],) * self.count:
                    found = found & (place < self.in_this_round(ends))
        return jnp.broadcast_to(found, shape)

    def shifted(
        self, array: PaddedValue, axis: int, wanted: ValidRange, extent: int
    ) -> PaddedValue:
        """Move the valid range along an axis, and give the axis another length."""
        valid, value = array.ranges[axis], array.value
        assert valid is not None and wanted.offsets is not None
        ranges = (*array.ranges[:axis], wanted, *array.ranges[axis + 1 :])
        had = value.shape[axis]
        if valid.offsets is None:
            shape = (*value.shape[:axis], extent, *value.shape[axis + 1 :])
            return PaddedValue(jnp.broadcast_to(value, shape), ranges)
        if valid == wanted and had == extent:
            return array
        shifts = tuple([o - w for o, w in zip(valid.offsets, wanted.offsets, strict=True)])
        low, high = max(0, -min(shifts)), max(0, max(shifts) + extent - had)
        edges = [(low, high, 0) if d == axis else (0, 0, 0) for d in range(value.ndim)]
        padded = lax.pad(value, jnp.zeros((), value.dtype), edges)
        starts = [
            self.in_this_round(tuple([s + low for s in shifts])) if d == axis else onp.int32(0)
            for d in range(value.ndim)
        ]
        spans = [extent if d == axis else n for d, n in enumerate(value.shape)]
        return PaddedValue(
            lax.dynamic_slice(padded, starts, spans, allow_negative_indices=False), ranges
        )

    def extended(self, array: PaddedValue, axes: Sequence[int]) -> PaddedValue:
        """Broadcast axes of equal elements to the largest length of any round."""
        for axis in axes:
            valid = array.ranges[axis]
            if valid is not None and valid.offsets is None:
                array = self.shifted(
                    array, axis, ValidRange((0,) * self.count, valid.sizes), max(valid.sizes)
                )
        return array

    def aligned(
        self, inputs: Sequence[PaddedValue], places: Sequence[Sequence[int]]
    ) -> list[PaddedValue]:
        """Give arrays the same valid ranges along axes that belong together.

        These are the k-th axes of `places`, which has a sequence for each array.
        """
        found = list(inputs)
        for axes in zip(*places, strict=True):
            ranges = [h.ranges[a] for h, a in zip(found, axes, strict=True)]
            with_offsets = [
                i for i, w in enumerate(ranges) if w is not None and w.offsets is not None
            ]
            if with_offsets:
                i = with_offsets[0]
                wanted, extent = ranges[i], found[i].value.shape[axes[i]]
                assert wanted is not None
                found = [
                    h if h.ranges[a] is None else self.shifted(h, a, wanted, extent)
                    for h, a in zip(found, axes, strict=True)
                ]
        return found

    def filled(self, array: PaddedValue, axes: Sequence[int], fill: Any) -> Any:
        """Fill what lies outside of the valid ranges along some axes."""
        array = self.extended(array, axes)
        ranges = [w if d in axes else None for d, w in enumerate(array.ranges)]
        if not any(ranges):
            return array.value
        value = array.value
        return jnp.where(
            self.valid_mask(value.shape, ranges), value, jnp.asarray(fill, value.dtype)
        )


def _literal(atom: Literal) -> PaddedValue:
    return PaddedValue(atom.val, (None,) * onp.ndim(atom.val))


def _uniform(array: PaddedValue) -> Any:
    RULES.expect(array.uniform)
    return array.value


def _bind(eqn: JaxprEqn, values: Sequence[Any], params: dict[str, Any]) -> list[PaddedValue]:
    with eqn.ctx.manager:
        outs = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(params))
    return [
        PaddedValue(o, (None,) * o.ndim)
        for o in (outs if eqn.primitive.multiple_results else [outs])
    ]


def _bind_one(
    eqn: JaxprEqn, values: Sequence[Any], ranges: Sequence[ValidRange | None], **params: Any
) -> list[PaddedValue]:
    (out,) = _bind(eqn, values, {**eqn.params, **params})
    return [replace(out, ranges=tuple(ranges))]


def shape_of(atom: Any) -> Ints:
    """Shape of a variable, or of a literal."""
    shape: Ints = atom.aval.shape
    return shape


def _lengths(atoms: Sequence[Any]) -> list[Ints]:
    """Lengths of each axis of an array, by round."""
    return [*zip(*map(shape_of, atoms), strict=True)]


def _varies(lengths: Sequence[int]) -> bool:
    return len({*lengths}) > 1


# --- rules ----------------------------------------------------------------------------------------

Rule = Callable[
    [_Interpreter, JaxprEqn, Sequence[JaxprEqn], Sequence[PaddedValue]], list[PaddedValue]
]
RULES: RuleTable[Rule] = RuleTable(UnfitError)
"""Rules that compute a primitive of padded values."""


@RULES.add(*ELEMENTWISE)
def _elementwise(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    arrays = [i for i, h in enumerate(inputs) if h.ranges]
    axes = range(len(inputs[arrays[0]].ranges))
    found = dict(
        zip(
            arrays,
            interpreter.aligned([inputs[i] for i in arrays], [axes for _ in arrays]),
            strict=True,
        )
    )
    ranges = [
        next((h.ranges[d] for h in found.values() if h.ranges[d] is not None), None) for d in axes
    ]
    return _bind_one(eqn, [found.get(i, h).value for i, h in enumerate(inputs)], ranges)


@RULES.add("optimization_barrier")
def _barrier(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    outs = _bind(eqn, [h.value for h in inputs], eqn.params)
    return [replace(o, ranges=h.ranges) for o, h in zip(outs, inputs, strict=True)]


@RULES.add(*CALLS)
def _call(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    inner = [*map(called, each)]
    first = getattr(inner[0], "jaxpr", inner[0])
    consts = [PaddedValue(c, (None,) * onp.ndim(c)) for c in getattr(inner[0], "consts", ())]
    env = dict(zip([*first.constvars, *first.invars], [*consts, *inputs], strict=True))
    interpreter.run(first.eqns, [getattr(j, "jaxpr", j).eqns for j in inner], env)
    return [_literal(a) if type(a) is Literal else env[a] for a in first.outvars]


@RULES.add("broadcast_in_dim")
def _broadcast(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    from_axis = {out: axis for axis, out in enumerate(eqn.params["broadcast_dimensions"])}
    shape, ranges = [], []
    for out, lengths in enumerate(_lengths([e.outvars[0] for e in each])):
        axis = from_axis.get(out)
        valid = None if axis is None else inputs[0].ranges[axis]
        if valid is None and _varies(lengths):
            valid = ValidRange(None, lengths)
        ranges.append(valid)
        shape.append(
            lengths[0] if valid is None else 1 if axis is None else inputs[0].value.shape[axis]
        )
    return _bind_one(eqn, [inputs[0].value], ranges, shape=tuple(shape))


@RULES.add("iota")
def _iota(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    shape, ranges = [], []
    for axis, lengths in enumerate(_lengths([e.outvars[0] for e in each])):
        along = axis == eqn.params["dimension"]
        ranges.append(
            ValidRange((0,) * interpreter.count if along else None, lengths)
            if _varies(lengths)
            else None
        )
        shape.append(1 if _varies(lengths) and not along else max(lengths))
    return _bind_one(eqn, [], ranges, shape=tuple(shape))


@RULES.add("reshape", "squeeze", "expand_dims")
def _reshape(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Axes with valid ranges stay as they are; those between them may be split and merged."""
    (array,) = inputs
    RULES.expect(eqn.primitive.name != "reshape" or eqn.params["dimensions"] is None)
    kept = [d for d, w in enumerate(array.ranges) if w is not None]
    lengths = _lengths([e.outvars[0] for e in each])
    made = [d for d, n in enumerate(lengths) if _varies(n)]
    RULES.expect(len(kept) == len(made))
    shape = [n[0] for n in lengths]
    ranges: list[ValidRange | None] = [None] * len(lengths)
    for axis, out in zip(kept, made, strict=True):
        valid = array.ranges[axis]
        assert valid is not None
        RULES.expect(valid.sizes == lengths[out])
        ranges[out], shape[out] = valid, array.value.shape[axis]
    for axis, out in zip([*kept, len(array.ranges)], [*made, len(lengths)], strict=True):
        RULES.expect(math.prod(array.value.shape[:axis]) == math.prod(shape[:out]))
    return [PaddedValue(array.value.reshape(shape), tuple(ranges))]


@RULES.add("transpose")
def _transpose(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    return _bind_one(
        eqn, [inputs[0].value], [inputs[0].ranges[d] for d in eqn.params["permutation"]]
    )


@RULES.add(*family("reduction"))
def _reduce(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    (array,) = inputs
    axes = eqn.params["axes"]
    value = interpreter.filled(array, axes, _identity(eqn, array))
    return _bind_one(eqn, [value], [w for d, w in enumerate(array.ranges) if d not in axes])


@RULES.add(*family("cumulative") - {"cumlogsumexp"})
def _accumulate(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    axis = eqn.params["axis"]
    array = interpreter.extended(inputs[0], [axis])
    return _bind_one(eqn, [interpreter.filled(array, [axis], _identity(eqn, array))], array.ranges)


@RULES.add(*family("arg_reduction"))
def _where_extreme(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    axes = eqn.params["axes"]
    RULES.expect(not any([inputs[0].ranges[d] for d in axes]))
    return _bind_one(
        eqn, [inputs[0].value], [w for d, w in enumerate(inputs[0].ranges) if d not in axes]
    )


@RULES.add("sort", "concatenate")
def _along(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Elements change places along one axis, which must be as long in each round."""
    along, axes = eqn.params["dimension"], range(len(inputs[0].ranges))
    RULES.expect(not any([h.ranges[along] for h in inputs]))
    found = interpreter.aligned(
        [interpreter.extended(h, axes) for h in inputs], [axes for _ in inputs]
    )
    return [
        replace(o, ranges=found[0].ranges) for o in _bind(eqn, [h.value for h in found], eqn.params)
    ]


@RULES.add("rev")
def _reverse(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    ranges = list(inputs[0].ranges)
    for axis in eqn.params["dimensions"]:
        valid, extent = ranges[axis], inputs[0].value.shape[axis]
        if valid is not None and valid.offsets is not None:
            offsets = tuple(
                [extent - o - n for o, n in zip(valid.offsets, valid.sizes, strict=True)]
            )
            ranges[axis] = replace(valid, offsets=offsets)
    return _bind_one(eqn, [inputs[0].value], ranges)


def _identity(eqn: JaxprEqn, array: PaddedValue) -> Any:
    """Identity element of a reduction."""
    name = eqn.primitive.name.removeprefix("reduce_").removeprefix("cum")
    dtype = array.value.dtype
    if name in ("sum", "or", "xor"):
        return 0
    if name in ("prod", "and"):
        return onp.array(1 if name == "prod" else -1).astype(dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        return -onp.inf if name == "max" else onp.inf
    RULES.expect(not jnp.issubdtype(dtype, jnp.complexfloating))
    bounds = (
        (False, True)
        if jnp.issubdtype(dtype, jnp.bool_)
        else (onp.iinfo(dtype).min, onp.iinfo(dtype).max)
    )
    return bounds[name == "min"]


@RULES.add("dot_general")
def _dot(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    contracted, batch = eqn.params["dimension_numbers"]
    extended = [interpreter.extended(h, axes) for h, axes in zip(inputs, contracted, strict=True)]
    extended = [interpreter.extended(h, axes) for h, axes in zip(extended, batch, strict=True)]
    found = interpreter.aligned(
        extended, [[*c, *b] for c, b in zip(contracted, batch, strict=True)]
    )
    values = [interpreter.filled(h, axes, 0) for h, axes in zip(found, contracted, strict=True)]
    ranges = [found[0].ranges[d] for d in batch[0]]
    for side, h in enumerate(found):
        ranges += [w for d, w in enumerate(h.ranges) if d not in (*contracted[side], *batch[side])]
    return _bind_one(eqn, values, ranges)


def _place(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    starts: Sequence[PaddedValue],
    whole: Any,
    sizes: Sequence[Ints],
) -> tuple[Any, Any, Any]:
    """Return the starts and lengths of a slice in an array, and its valid ranges.

    `sizes` has the slice's lengths by round. Along an axis where they differ, the slice becomes the
    whole axis with a valid range.
    """
    begin: list[Any] = []
    span: list[int] = []
    ranges: list[ValidRange | None] = []
    atoms = eqn.invars[len(eqn.invars) - len(starts) :]
    for start, atom, length, lengths in zip(starts, atoms, whole.shape, sizes, strict=True):
        if _varies(lengths):
            offsets = [
                max(0, min(o, length - n))
                for o, n in zip(interpreter.per_round(atom), lengths, strict=True)
            ]
            ranges.append(ValidRange(tuple(offsets), lengths))
            begin.append(onp.int32(0))
            span.append(length)
        else:
            ranges.append(None)
            begin.append(lax.convert_element_type(start.value, "int32"))
            span.append(lengths[0])
    return begin, span, ranges


@RULES.add("dynamic_slice")
def _dynamic_slice(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    whole, *starts = inputs
    value = _uniform(whole)
    begin, span, ranges = _place(
        interpreter, eqn, starts, value, _lengths([e.outvars[0] for e in each])
    )
    if tuple(span) != value.shape:
        value = lax.dynamic_slice(value, begin, span, allow_negative_indices=False)
    return [PaddedValue(value, tuple(ranges))]


@RULES.add("dynamic_update_slice")
def _dynamic_update(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    whole, new, *starts = inputs
    value = _uniform(whole)
    begin, span, ranges = _place(
        interpreter, eqn, starts, value, _lengths([e.invars[1] for e in each])
    )
    for axis, valid in enumerate(ranges):
        if valid is not None:
            new = interpreter.shifted(new, axis, valid, value.shape[axis])
    current = lax.dynamic_slice(value, begin, span, allow_negative_indices=False)
    written = jnp.where(interpreter.valid_mask(span, ranges), new.value, current)
    return [
        PaddedValue(
            lax.dynamic_update_slice(value, written, begin, allow_negative_indices=False),
            whole.ranges,
        )
    ]


@RULES.add("gather")
def _gather(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    source, at = inputs
    RULES.expect(
        not any([_varies(n) for n in zip(*[e.params["slice_sizes"] for e in each], strict=True)])
    )
    at = interpreter.extended(at, range(len(at.ranges)))
    rest = iter(at.ranges[:-1])
    offsets = eqn.params["dimension_numbers"].offset_dims
    ranges = [
        None if d in offsets else next(rest) for d in range(len(shape_of(each[0].outvars[0])))
    ]
    return _bind_one(eqn, [_uniform(source), at.value], ranges)


@RULES.add(*family("scatter"))
def _scatter(
    interpreter: _Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Updates outside of the valid ranges are dropped: their positions become -1."""
    target, at, new = inputs
    mode, drop = eqn.params["mode"], lax.GatherScatterMode.FILL_OR_DROP
    within = eqn.params["dimension_numbers"].update_window_dims
    RULES.expect(
        mode in (drop, lax.GatherScatterMode.PROMISE_IN_BOUNDS)
        and not any([new.ranges[d] for d in within])
    )
    axes = range(len(at.ranges) - 1)
    places = [d for d in range(len(new.ranges)) if d not in within]
    found, updates = interpreter.aligned(
        [interpreter.extended(at, axes), interpreter.extended(new, places)], [axes, places]
    )
    params = {"mode": drop, "unique_indices": False, "indices_are_sorted": False}
    return _bind_one(
        eqn,
        [_uniform(target), interpreter.filled(found, axes, -1), updates.value],
        target.ranges,
        **params,
    )


SHAPES = {
    "dynamic_slice": "slice_sizes",
    "broadcast_in_dim": "shape",
    "iota": "shape",
    "reshape": "new_sizes",
}
"""Parameter of an equation that holds the shape of its result."""

__all__ = ["RULES", "SHAPES", "WASTE", "PaddedValue", "UnfitError", "ValidRange", "merge_rounds"]
