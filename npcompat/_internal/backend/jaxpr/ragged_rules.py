"""Rules of primitives for ragged rounds: each computes a primitive of padded values."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal
from npcompat._internal.backend.jaxpr.primitives import (
    CALLS,
    ELEMENTWISE,
    called,
    family,
)
from npcompat._internal.backend.jaxpr.ragged_interpreter import Interpreter
from npcompat._internal.backend.jaxpr.ragged_values import (
    RULES,
    Ints,
    PaddedValue,
    ValidRange,
    _bind,
    _bind_one,
    _lengths,
    _literal,
    _uniform,
    _varies,
    shape_of,
)


@RULES.add(*ELEMENTWISE)
def _elementwise(
    interpreter: Interpreter,
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    outs = _bind(eqn, [h.value for h in inputs], eqn.params)
    return [replace(o, ranges=h.ranges) for o, h in zip(outs, inputs, strict=True)]


@RULES.add(*CALLS)
def _call(
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Reshape: axes with valid ranges are kept; those between them may be split and merged."""
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    return _bind_one(
        eqn, [inputs[0].value], [inputs[0].ranges[d] for d in eqn.params["permutation"]]
    )


@RULES.add(*family("reduction"))
def _reduce(
    interpreter: Interpreter,
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    axis = eqn.params["axis"]
    array = interpreter.extended(inputs[0], [axis])
    return _bind_one(eqn, [interpreter.filled(array, [axis], _identity(eqn, array))], array.ranges)


@RULES.add(*family("arg_reduction"))
def _where_extreme(
    interpreter: Interpreter,
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Sort or concatenate along an axis, which must have the same length in each round."""
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
    interpreter: Interpreter,
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
    """Return the identity element of a reduction."""
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
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
    interpreter: Interpreter,
    eqn: JaxprEqn,
    each: Sequence[JaxprEqn],
    inputs: Sequence[PaddedValue],
) -> list[PaddedValue]:
    """Scatter; updates outside the valid ranges get the position -1, so that XLA drops them."""
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


__all__ = ["SHAPES"]
