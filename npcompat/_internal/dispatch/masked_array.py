"""Masked payloads: results of `a[mask]` in a compiled function, whose length is not known.

So `a[m] += v` and `a[m].sum()` work in a trace. The elements stay in an array of full shape with
the mask beside it:

- elementwise operators compute full arrays;
- reductions over the selected elements get the mask as their `where`;
- a write through the same mask keeps the unselected elements of its target;
- if the mask has one axis, operators that are independent along it compute full arrays, and sums of
  products along it get zeros at unselected positions;
- slices of one length, which are intervals, are moved to where one of them is (see `intervals`).

Everything else needs the length, and is refused. Unselected positions are filled with the first
selected element: they then produce no NaN, error or gradient that a selected position does not
produce anyway.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import row_independence as rows
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.index_spec import FULL
from npcompat._internal.core.op import REGISTRY, Attrs, Op, normalized_axes, operator
from npcompat._internal.dispatch import intervals
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.intervals import Interval
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.support.errors import TracedValueError, user_location


class Length(TracedNumber):
    """Number of elements that a mask selects, a traced number.

    As a length it equals only the `Length` of the same mask; a comparison with a number raises.
    """

    __slots__ = ("mask", "ordered")
    stands_for_length = True

    def __init__(self, mask: Any, ordered: bool) -> None:
        self.mask, self.ordered = mask, ordered

    @property
    def payload(self) -> Any:
        """The number of selected elements, a tracer."""
        return tracing.count(self.mask)

    def __eq__(self, other: object) -> bool:
        return (type(other) is Length and other.mask is self.mask) or TracedNumber.__eq__(
            self, other
        )

    def __hash__(self) -> int:
        return id(self.mask)

    def __repr__(self) -> str:
        return "?"

    def _unknown(self, *_: Any) -> Any:
        raise _refused("the length of {} is asked for", self.ordered)

    __bool__ = __neg__ = __index__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = (
        _unknown
    )


class Window(str):
    """Reason for which a slice of unknown bounds can't be written by a name of its own; it is the
    `readonly` of its handle.

    To NumPy the slice is a view. Here it holds values: those of `origin`, which `base`, a root
    handle, had then. After a write to `base`, `again` reads them anew.
    """

    __slots__ = ("again", "base", "origin")

    again: Callable[[], Value]
    base: Handle
    origin: Value


class MaskedPayload(language.Unknown):
    """Payload of `a[..., mask, ...]`: the values in full shape and the mask.

    The axes of the mask begin at `axis`, and `trailing` axes follow them. `place` is the user's
    line. `ordered` is True if the mask selects a prefix, as with `npx.jit(bucket=)`, so that no
    element moves. `interval` is what the mask of a slice selects, if that is known.
    """

    __slots__ = (
        "axis",
        "dtype",
        "interval",
        "mask",
        "ordered",
        "place",
        "rank",
        "shape",
        "trailing",
        "values",
    )

    def __init__(
        self,
        values: Value,
        mask: Value,
        trailing: int,
        ordered: bool = False,
        interval: Interval | None = None,
    ) -> None:
        self.interval = interval
        whole = values.payload.shape
        self.values, self.mask, self.trailing, self.place, self.ordered = (
            values,
            mask,
            trailing,
            user_location(),
            ordered,
        )
        self.rank = len(mask.payload.shape)
        self.axis = len(whole) - trailing - self.rank
        self.dtype = values.payload.dtype
        self.shape = (
            *whole[: self.axis],
            Length(mask.payload, ordered),
            *whole[self.axis + self.rank :],
        )

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def alike(self, values: Value, trailing: int | None = None) -> Value:
        """Return the selection of other values by the same mask.

        `trailing` is the number of their axes after the mask's, by default that of this payload.
        """
        return _adopted(
            MaskedPayload(
                values,
                self.mask,
                self.trailing if trailing is None else trailing,
                self.ordered,
                self.interval,
            )
        )


_MASKED = (
    "what a boolean mask selects",
    "Of `a[mask]` there are functions that go element by element, sums and other reductions, and "
    "writing through the same mask; "
    "np.count_nonzero(mask) is how many there are. Else use np.where(mask, a, other), or do it "
    "outside",
)
_PADDED = (
    "what bucket= pads",
    "Of such arrays there are functions that go element by element or row by row, sums and other "
    "reductions, and products that add up "
    "over rows. Else do it outside, or compile the function without bucket=",
)
"""Parts of the error message, the name of a selection and advice: of a mask, and of padding."""


def _refused(what: str, ordered: bool, place: str = "") -> TracedValueError:
    """Return the error for an operation that needs the length; `{}` stands for the selection."""
    name, advice = _PADDED if ordered else _MASKED
    return TracedValueError(
        f"{place or user_location()}: {what.format(name)} while the function is being compiled, "
        f"but depends on data. {advice}"
    )


def refuse(payload: Any, what: str) -> None:
    """Raise TracedValueError if a payload is a `MaskedPayload`."""
    if type(payload) is MaskedPayload:
        raise _refused(f"{what} {{}} is asked for", payload.ordered, payload.place)


@operator(
    "_npi_spread_selected", pattern="opaque", rule=lambda types, attrs: ([None, None], types[0])
)
def _spread(xp: Any, a: Any, mask: Any, *, axis: int) -> Any:
    """Replace all unselected elements of an array by the first selected one.

    Parameters
    ----------
    mask : array of bool
        True for selected elements of the axes from `axis` on.
    axis : int
        First of the axes that the mask covers.
    """
    if not mask.size:
        return a
    behind = a.shape[axis + mask.ndim :]
    first = xp.take(
        xp.reshape(a, (*a.shape[:axis], mask.size, *behind)), xp.argmax(xp.ravel(mask)), axis=axis
    )
    mask = xp.reshape(mask, mask.shape + (1,) * len(behind))
    return xp.where(
        mask,
        a,
        xp.stop_gradient(
            xp.reshape(first, (*a.shape[:axis], *(1,) * (mask.ndim - len(behind)), *behind))
        ),
    )


def select(
    a: Value, mask: Value, axis: int, ordered: bool = False, interval: Interval | None = None
) -> Value:
    """Return `a[..., mask, ...]`, where the axes of the mask begin at `axis`.

    `ordered` says that the mask selects a prefix, `interval` which positions a slice selects.
    """
    if type(a.payload) is MaskedPayload or type(mask.payload) is MaskedPayload:
        return _again(a, mask, axis)
    trailing = len(a.payload.shape) - axis - len(mask.payload.shape)
    mask = _known(mask)
    spread = run(_spread, [a, mask], (axis,))
    return _adopted(MaskedPayload(spread, mask, trailing, ordered, interval))


_MASKS, _FEW = "masks", 8


def _known(mask: Value) -> Value:
    """Return the one of the last masks that is the same as this one, so that lengths are equal."""
    trace = modes.current().trace
    assert trace is not None
    masks = trace.notes.setdefault(_MASKS, [])
    for found in reversed(masks):
        if trace.same(found.payload, mask.payload):
            return found  # type: ignore[no-any-return]
    masks.append(mask)
    del masks[:-_FEW]
    return mask


def _again(a: Value, mask: Value, axis: int) -> Value:
    """Select from a selection: `a[m][n]` with `n` computed from elements that `m` selects."""
    outer, inner = a.payload, mask.payload
    if (
        type(outer) is not MaskedPayload
        or type(inner) is not MaskedPayload
        or not _alike(outer, inner)
        or axis != outer.axis
        or inner.trailing
    ):
        raise _refused(
            "an element of {} is asked for",
            any([type(s) is MaskedPayload and s.ordered for s in (outer, inner)]),
        )
    both = _known(run(REGISTRY["_npi_logical_and"], [outer.mask, inner.values]))
    return _adopted(
        MaskedPayload(run(_spread, [outer.values, both], (axis,)), both, outer.trailing)
    )


_BESIDE = "the length of {}, beside arrays of another length, is asked for"


def together(shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the shape to which shapes are broadcast, of which some may have a `Length`.

    Beside a `Length` other arrays are 0-d, or have the same one; ValueError for those that don't
    fit, TracedValueError for those of which only a run knows.
    """
    found = {n for shape in shapes for n in shape if type(n) is Length}
    if not found:
        return onp.broadcast_shapes(*shapes)
    length = found.pop()
    others = [shape for shape in shapes if not any([type(n) is Length for n in shape])]
    if found or max(map(len, shapes)) > 1 or any([shape not in ((), (1,)) for shape in others]):
        raise _refused(_BESIDE, length.ordered)
    return (length,)


def fits(length: Any, wanted: Any) -> bool:
    """Return True if an axis can be broadcast to a length, either of which may be a `Length`.

    Raise TracedValueError if only a run knows.
    """
    if type(length) is not Length and type(wanted) is not Length:
        return length in (1, wanted)
    if type(length) is int and length == 1:
        return True
    if type(length) is type(wanted) and length == wanted:
        return True
    unknown = length if type(length) is Length else wanted
    raise _refused(_BESIDE, unknown.ordered)


def written(value: Value, mask: Value, axis: int) -> Value:
    """Return the value to be written through a mask, in full shape if it is a selection.

    Raise TracedValueError if another mask selected it.
    """
    found = value.payload
    if type(found) is not MaskedPayload:
        return value
    if found.axis != axis or not same(found.mask, mask):
        raise _refused("{} is written through another boolean mask", found.ordered)
    return found.values


def in_full(values: Sequence[Value]) -> tuple[list[Value], Value]:
    """Return operands in full shape, and the mask that selects their elements.

    Operands that are no selections are unchanged. Raise TracedValueError for several masks.
    """
    chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    if not all([same(chosen[0].mask, other.mask) for other in chosen]):
        raise _several_masks()
    whole = [v.payload.values if type(v.payload) is MaskedPayload else v for v in values]
    return whole, chosen[0].mask


def with_where(selection: Value) -> list[Value]:
    """Return a selection as operands of a reduction: the array in full shape, and its `where`."""
    found = selection.payload
    return [found.values, _column(found.mask, found.trailing)]


def _several_masks() -> TracedValueError:
    return _refused(
        "elements that two boolean masks select are put together (keep a mask in a variable to "
        "use it twice)",
        False,
    )


def apply(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator of which at least one operand is a `MaskedPayload`."""
    chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    if not all([same(chosen[0].mask, other.mask) for other in chosen]):
        values = [beside(v, chosen[0]) for v in values]
        chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    if op.name == "_npi_index_get" and (turned := _reversed(op, values, attrs)) is not None:
        return turned
    alike = all([a.trailing == chosen[0].trailing for a in chosen])
    if alike and op.pattern in ("elementwise", "broadcast") and "shape" not in op.attrs:
        found = _element_by_element(op, values, attrs, chosen[0])
        if found is not None:
            return found
    if (
        alike
        and op.pattern == "reduction"
        and "axis" in op.attrs
        and values[0].payload is chosen[0]
    ):
        return _reduced(op, values, op.named(attrs), chosen[0])
    if chosen[0].rank > 1:
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


def beside(value: Value, like: MaskedPayload) -> Value:
    """Return a selection by the mask of another one, if both are intervals of one length; values
    that are no selections unchanged. Raise TracedValueError for other masks.
    """
    own = value.payload
    if type(own) is not MaskedPayload or same(own.mask, like.mask):
        return value
    here, there = own.interval, like.interval
    if here is None or there is None or not here.is_as_long_as(there):
        raise _several_masks()
    if not own.values.payload.shape[own.axis]:
        raise _several_masks()
    size = like.mask.payload.shape[0]
    values = intervals.moved(own.values, own.axis, here, there, size)
    return like.alike(values, own.trailing)


def _reversed(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Return what a key selects that reverses an interval; None for other keys."""
    found = values[0].payload
    if type(found) is not MaskedPayload or found.interval is None:
        return None
    turned = intervals.reversing(attrs[0], found.axis)
    if turned is None:
        return None
    start, spec = turned
    result = found.alike(intervals.reversed_elements(found.values, found.axis, found.interval))
    if all([item[0] == FULL for item in spec]):
        return result
    rest = [v for i, v in enumerate(values) if i != start + 1]
    return run(op, [result, *rest[1:]], (spec,))


def _alike(one: MaskedPayload, other: MaskedPayload) -> bool:
    return one.trailing == other.trailing and same(one.mask, other.mask)


def same(one: Value, other: Value) -> bool:
    """True if two masks are the same value, or come from the same operators on the same arrays."""
    trace = modes.current().trace
    assert trace is not None
    return bool(trace.same(one.payload, other.payload))


def _not_this(op: Op, a: MaskedPayload) -> TracedValueError:
    return _refused(f"{op.name.split('_', 2)[2]} of {{}} is asked for", a.ordered)


def _adopted(found: MaskedPayload) -> Value:
    value = Value(found)
    trace = modes.current().trace
    assert trace is not None
    trace.adopt(value)
    return value


def _full_operand(op: Op, value: Value, like: MaskedPayload) -> Value:
    """Return an operand of a selection as an operand of the full array.

    A selection has one axis where the full array has those of the mask. So another operand must
    have length 1 along this axis, and is reshaped.
    """
    payload = value.payload
    if type(payload) is MaskedPayload:
        return payload.values
    shape = getattr(payload, "shape", ())
    at = len(shape) - 1 - like.trailing
    if at < 0:
        return value
    if shape[at] != 1:
        raise _not_this(op, like)
    whole: Value = run(
        REGISTRY["_npi_reshape"], [value], ((*shape[:at], *(1,) * like.rank, *shape[at + 1 :]),)
    )
    return whole


def _element_by_element(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    operands = [_full_operand(op, v, like) for v in values]
    result = run(op, operands, attrs)
    results = (result,) if op.outputs == 1 else result
    shape = onp.broadcast_shapes(*[getattr(v.payload, "shape", ()) for v in operands])
    if any([r.payload.shape != shape for r in results]):
        return None
    found = tuple([like.alike(r) for r in results])
    return found[0] if op.outputs == 1 else found


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
        return _adopted(MaskedPayload(result, a.mask, behind))
    mask = _column(a.mask, a.trailing)
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
    """
    axes = [v.payload.axis if type(v.payload) is MaskedPayload else None for v in values]
    whole = [v.payload.values if type(v.payload) is MaskedPayload else v for v in values]

    def sized(length: int) -> Any:
        return language.function(op, _sized(attrs, like, length))

    payloads = [v.payload for v in whole]
    try:
        found = rows.through(sized, payloads, axes, like.ordered)
    except rows.RowsMixedError:
        try:
            found = rows.through(sized, payloads, axes, like.ordered, zeros=True)
        except rows.RowsMixedError:
            raise _not_this(op, like) from None
        whole = [_zeroed(v.payload) if type(v.payload) is MaskedPayload else v for v in values]
    return _made(op, run(op, whole, _sized(attrs, like, like.mask.payload.shape[0])), found, like)


def _made(op: Op, result: Any, axes: Sequence[int | None], like: MaskedPayload) -> Any:
    """Wrap results on full arrays: those with an axis of the mask become selections by it."""
    results = (result,) if op.outputs == 1 else result
    made = [
        r if axis is None else like.alike(r, len(r.payload.shape) - axis - 1)
        for r, axis in zip(results, axes, strict=True)
    ]
    return made[0] if op.outputs == 1 else tuple(made)


def lengths(attrs: Any) -> list[Length]:
    """Return the `Length`s in the attributes."""
    if type(attrs) is tuple:
        return [found for a in attrs for found in lengths(a)]
    return [attrs] if type(attrs) is Length else []


def made(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator with a `Length` among its attributes, on operands that are no selections."""
    length = lengths(attrs)[0]
    if len(length.mask.shape) > 1:
        raise _refused("the length of {} is asked for", length.ordered)
    mask = Value(length.mask)
    return _row_by_row(op, values, attrs, MaskedPayload(mask, mask, 0, length.ordered))


def _sized(attr: Any, like: MaskedPayload, length: int) -> Any:
    """Replace the `Length` of this selection in the attributes by a number."""
    if type(attr) is tuple:
        return tuple([_sized(a, like, length) for a in attr])
    return length if type(attr) is Length and attr.mask is like.mask.payload else attr


def _zeroed(a: MaskedPayload) -> Value:
    """Return the full array with zeros at unselected positions."""
    zero = onp.zeros((), a.dtype)
    zeroed: Value = run(
        REGISTRY["_npi_where"], [_column(a.mask, a.trailing), a.values, Value(zero)]
    )
    return zeroed


def _column(mask: Value, trailing: int) -> Value:
    """Return a mask with `trailing` axes of length 1 appended."""
    if not trailing:
        return mask
    column: Value = run(
        REGISTRY["_npi_reshape"], [mask], ((*mask.payload.shape, *(1,) * trailing),)
    )
    return column


def _where_selected(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    """Run an operator whose last input is `where`, with the mask as `where`.

    Its first operand is the only selection.
    """
    whole = [like.values, *values[1:], _column(like.mask, like.trailing)]
    axes = [like.axis, *[None] * len(values[1:]), 0]
    try:
        found = rows.as_long(
            lambda length: language.function(op, attrs), [v.payload for v in whole], axes
        )
    except rows.RowsMixedError:
        raise _not_this(op, like) from None
    result = run(op, whole, attrs)
    results = (result,) if op.outputs == 1 else result
    # Left-out elements of the result may be zero or infinite where no selected one is.
    again = [
        r if axis is None else run(_spread, [r, like.mask], (axis,))
        for r, axis in zip(results, found, strict=True)
    ]
    return _made(op, again[0] if op.outputs == 1 else tuple(again), found, like)


def head(value: Value, grad: Value) -> tuple[Value, Value]:
    """Return a head of a graph in full shape and its gradient, which is zero where unselected."""
    if type(grad.payload) is not MaskedPayload or not _alike(value.payload, grad.payload):
        raise _refused(
            "a head gradient of {}, but not of the same elements, is asked for",
            value.payload.ordered,
        )
    return value.payload.values, _zeroed(grad.payload)


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


__all__ = [
    "Length",
    "MaskedPayload",
    "Window",
    "apply",
    "beside",
    "fits",
    "head",
    "in_full",
    "lengths",
    "made",
    "refuse",
    "same",
    "select",
    "together",
    "with_where",
    "written",
]
