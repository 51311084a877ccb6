"""Operators on selections: they run on arrays in full shape, with the mask beside them."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import row_independence as rows
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.index_spec import FULL, SLICE
from npcompat._internal.core.op import REGISTRY, Attrs, Op, normalized_axes
from npcompat._internal.dispatch import intervals
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.masked_array import (
    Length,
    MaskedPayload,
    beside,
    column,
    filled,
    is_apart,
    lengths,
    refused,
    same,
    several_masks,
    spread,
    zeroed,
)
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.support.errors import TracedValueError, user_location


def apply(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator of which at least one operand is a `MaskedPayload`."""
    if modes.differentiated():
        values = list(map(filled, values))
    chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    if op.name in _INDEXED and (found := _indexed(op, values, attrs)) is not None:
        return found
    if op.pattern in ("elementwise", "broadcast") and "shape" not in op.attrs:
        first = max(chosen, key=lambda a: a.trailing)
        found = _element_by_element(op, values, attrs, first)
        if found is not None:
            return found
    alike = all([a.trailing == chosen[0].trailing for a in chosen])
    if (
        alike
        and op.pattern == "reduction"
        and "axis" in op.attrs
        and values[0].payload is chosen[0]
    ):
        return _reduced(op, values, op.named(attrs), chosen[0])
    if max([a.rank for a in chosen]) > 1:
        raise _not_this(op, chosen[0])
    if (
        op.inputs[-1:] == ("where",)
        and len(values) < len(op.inputs)
        and [values[0].payload] == chosen
    ):
        try:
            return _row_by_row(op, values, attrs, chosen[0])
        except TracedValueError:
            return _where_selected(op, values, attrs, chosen[0])
    return _row_by_row(op, values, attrs, chosen[0])


_INDEXED = {"_npi_index_get": 1, "_npi_index_put": 2}
"""Operators that read or write by a basic key, and the number of operands before its starts."""


def _indexed(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Read or write an element of an interval, or reverse it; None for keys that take it whole."""
    found, first = values[0].payload, _INDEXED[op.name]
    if type(found) is not MaskedPayload:
        return None
    (spec,) = attrs
    i, start = intervals.item_of(spec, found.axis)
    kind = spec[i][0]
    if kind == FULL:
        nested = type(found.values.payload) is MaskedPayload
        if not nested or any([item[0] not in (FULL, SLICE) for item in spec]):
            return None
        return found.alike(run(op, [found.values, *values[1:]], attrs))
    if found.interval is None or (kind == SLICE and op.name == "_npi_index_put"):
        raise refused("an element of {} is asked for", found.ordered)
    at = first + start
    if kind == SLICE:
        result = found.alike(intervals.reversed_elements(found.values, found.axis, found.interval))
        rest = [result, *values[1:at], *values[at + 1 :]]
        spec = (*spec[:i], (FULL,), *spec[i + 1 :])
        return result if all([item[0] == FULL for item in spec]) else run(op, rest, (spec,))
    number = values[at].payload
    place, missing = intervals.position(found.interval, number, found.mask.payload.shape[0])
    trace = modes.current().trace
    assert trace is not None
    message = f"index {number} is out of bounds for axis {found.axis} of a slice"
    trace.expect(missing, IndexError, f"{user_location()}: {message}")
    result = run(op, [found.values, *values[1:at], Value(place), *values[at + 1 :]], attrs)
    return result if op.name == "_npi_index_get" else found.alike(result)


def _not_this(op: Op, a: MaskedPayload) -> TracedValueError:
    return refused(f"{op.name.split('_', 2)[2]} of {{}} is asked for", a.ordered)


def _full_operand(op: Op, value: Value, like: MaskedPayload) -> Value:
    """Return an operand of a selection as an operand of the full array.

    A selection has one axis where the full array has those of the mask. So another operand must
    have length 1 along this axis, and is reshaped.
    """
    payload = value.payload
    if type(payload) is MaskedPayload and payload.trailing == like.trailing:
        whole: Value = beside(value, like).payload.values
        return whole
    shape = getattr(payload, "shape", ())
    at = len(shape) - 1 - like.trailing
    if at < 0:
        return value
    if type(shape[at]) is not int or shape[at] != 1:
        raise _not_this(op, like)
    if like.rank == 1:
        return value
    whole = run(
        REGISTRY["_npi_reshape"], [value], ((*shape[:at], *(1,) * like.rank, *shape[at + 1 :]),)
    )
    return whole


def _full_shape(payload: Any) -> tuple[int, ...]:
    """Return the shape of a payload, of a selection that of its values in full."""
    return getattr(payload.whole if type(payload) is MaskedPayload else payload, "shape", ())


def _element_by_element(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    operands = [_full_operand(op, v, like) for v in values]
    result = run(op, operands, attrs)
    results = (result,) if op.outputs == 1 else result
    shape = onp.broadcast_shapes(*[_full_shape(v.payload) for v in operands])
    if any([_full_shape(r.payload) != shape for r in results]):
        return None
    found = tuple([like.alike(r) for r in results])
    return found[0] if op.outputs == 1 else found


_SKIPPING = frozenset(("_npi_sum", "_npi_prod", "_npi_max", "_npi_min", "_npi_mean"))
"""Reductions of which neither a value nor a derivative depends on elements that `where` leaves out,
whatever they are.
"""


def _reduced(op: Op, values: Sequence[Value], options: dict[str, Any], a: MaskedPayload) -> Any:
    axes = normalized_axes(options["axis"], a.ndim)
    if a.rank == 1 and a.axis not in axes:
        return _row_by_row(op, values, tuple(options.values()), a)
    options["axis"] = tuple([n for axis in axes for n in _axes_of(a, axis)])
    keepdims = options.get("keepdims", False)
    operands = [_full_operand(op, v, a) for v in values]
    if a.axis not in axes:
        result = run(op, operands, tuple(options.values()))
        behind = a.trailing if keepdims else a.trailing - sum([axis > a.axis for axis in axes])
        return a.alike(result, behind)
    if op.name in _SKIPPING:
        operands[0] = a.source
    mask = column(a.mask, a.trailing)
    if op.identity is not None and options["initial"] is None:
        _expect_some(a.mask, str(explained(op, [onp.zeros(0)], op.bind(), ValueError(op.name))))
        options["initial"] = op.identity(a.dtype)
    if op.inputs[-1] == "where":
        where = operands[1:] or [mask]
        operands = [
            operands[0],
            run(REGISTRY["_npi_logical_and"], [where[0], mask]) if operands[1:] else mask,
        ]
    elif "given" in options:
        if "w" in options["given"]:
            operands[-1] = run(REGISTRY["_npi_logical_and"], [operands[-1], mask])
        else:
            options["given"] += "w"
            operands.append(mask)
    else:
        raise _not_this(op, a)
    result = run(op, operands, tuple(options.values()))
    if not keepdims or a.rank == 1:
        return result
    shape = result.payload.shape
    return run(
        REGISTRY["_npi_reshape"], [result], ((*shape[: a.axis], 1, *shape[a.axis + a.rank :]),)
    )


def _row_by_row(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    """Run an operator on full arrays that is independent along the mask's axis, or sums products
    along it.

    The axis is that of all operands whose mask is the same, or else of one of them alone: the
    others remain selections.
    """
    moved = [v if is_apart(v, like) else beside(v, like) for v in values]
    selected = [type(v.payload) is MaskedPayload and same(v.payload.mask, like.mask) for v in moved]
    found = _along(op, moved, attrs, like, selected)
    if found is None:
        alone = [v.payload is like for v in values]
        if alone != selected and not like.ordered:  # what bucket= pads is cut along one axis
            found = _along(op, values, attrs, like, alone)
    if found is None:
        if any([is_apart(v, like) for v in values]):
            raise several_masks()
        raise _not_this(op, like)
    return found


def _along(
    op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload, selected: Sequence[bool]
) -> Any:
    """Run an operator on the full arrays of some of its operands; None if it mixes their rows."""
    axes = [v.payload.axis if is_one else None for v, is_one in zip(values, selected, strict=True)]
    whole = [v.payload.values if is_one else v for v, is_one in zip(values, selected, strict=True)]

    def sized(length: int) -> Any:
        return language.function(op, _all_sized(_sized(attrs, like, length)))

    payloads = [v.payload.whole if type(v.payload) is MaskedPayload else v.payload for v in whole]
    try:
        found = rows.through(sized, payloads, axes, like.ordered)
    except rows.RowsMixedError:
        try:
            found = rows.through(sized, payloads, axes, like.ordered, zeros=True)
        except rows.RowsMixedError:
            return None
        whole = [
            zeroed(v.payload) if is_one else v for v, is_one in zip(values, selected, strict=True)
        ]
    return _made(op, run(op, whole, _sized(attrs, like, like.mask.payload.shape[0])), found, like)


def _all_sized(attrs: Any) -> Any:
    """Replace all `Length`s in attributes by those of their full axes."""
    if type(attrs) is tuple:
        return tuple(map(_all_sized, attrs))
    return attrs.mask.shape[0] if type(attrs) is Length else attrs


def _made(op: Op, result: Any, axes: Sequence[int | None], like: MaskedPayload) -> Any:
    """Wrap results on full arrays: those with an axis of the mask become selections by it."""
    results = (result,) if op.outputs == 1 else result
    made = [
        r if axis is None else like.alike(r, len(r.payload.shape) - axis - 1)
        for r, axis in zip(results, axes, strict=True)
    ]
    return made[0] if op.outputs == 1 else tuple(made)


def made(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator with a `Length` among its attributes, on operands that are no selections."""
    length = lengths(attrs)[0]
    if len(length.mask.shape) > 1:
        raise refused("the length of {} is asked for", length.ordered)
    mask = Value(length.mask)
    return _row_by_row(op, values, attrs, MaskedPayload(mask, mask, 0, length.ordered))


def _sized(attr: Any, like: MaskedPayload, length: int) -> Any:
    """Replace the `Length` of this selection in the attributes by a number."""
    if type(attr) is tuple:
        return tuple([_sized(a, like, length) for a in attr])
    return length if type(attr) is Length and attr.mask is like.mask.payload else attr


def _where_selected(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    """Run an operator whose last input is `where`, with the mask as `where`.

    Its first operand is the only selection.
    """
    whole = [like.values, *values[1:], column(like.mask, like.trailing)]
    axes = [like.axis, *[None] * len(values[1:]), 0]
    try:
        found = rows.as_long(
            lambda length: language.function(op, attrs),
            [v.payload.whole if type(v.payload) is MaskedPayload else v.payload for v in whole],
            axes,
        )
    except rows.RowsMixedError:
        raise _not_this(op, like) from None
    result = run(op, whole, attrs)
    results = (result,) if op.outputs == 1 else result
    # Left-out elements of the result may be zero or infinite where no selected one is.
    again = [
        r if axis is None else spread(r, like.mask, axis)
        for r, axis in zip(results, found, strict=True)
    ]
    return _made(op, again[0] if op.outputs == 1 else tuple(again), found, like)


def _axes_of(a: MaskedPayload, axis: int) -> range:
    """Return the axes of the full array that correspond to an axis of the selection."""
    if axis == a.axis:
        return range(axis, axis + a.rank)
    return range(axis, axis + 1) if axis < a.axis else range(axis + a.rank - 1, axis + a.rank)


def _expect_some(mask: Value, message: str) -> None:
    trace = modes.current().trace
    assert trace is not None
    some = run(REGISTRY["_npi_any"], [mask])
    trace.expect(run(REGISTRY["_npi_logical_not"], [some]).payload, ValueError, message)


__all__ = ["apply", "made"]
