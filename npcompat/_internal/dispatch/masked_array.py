"""Masked payloads: results of `a[mask]` in a compiled function, whose length is not known.

So `a[m] += v` and `a[m].sum()` work in a trace. The elements stay in an array of full shape with
the mask beside it:

- elementwise operators compute full arrays;
- reductions over the selected elements get the mask as their `where`;
- a write through the same mask keeps the unselected elements of its target;
- if the mask has one axis, operators that are independent along it compute full arrays, and sums of
  products along it get zeros at unselected positions;
- slices of one length, which are intervals, are moved to where one of them is (see `intervals`);
- what `a[i:, j:]` selects is a selection along the first axis, whose values are one along the
  second: operators run on the values, and so come to the inner one.

Everything else needs the length, and is refused. What is differentiated has the first selected
element at unselected positions, which then produce no NaN or gradient that a selected position does
not produce anyway.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import REGISTRY, operator
from npcompat._internal.dispatch import intervals
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.intervals import Interval
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
        raise refused("the length of {} is asked for", self.ordered)

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
    element moves. `interval` is what the mask of a slice selects, if that is known. The values may be
    a selection along an axis behind the mask's. Unselected positions may hold anything, unless the
    values are `filled`; `source` are the values as they were before.
    """

    __slots__ = (
        "axis",
        "dtype",
        "filled",
        "interval",
        "mask",
        "ordered",
        "place",
        "rank",
        "shape",
        "source",
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
        source: Value | None = None,
    ) -> None:
        self.interval = interval
        self.filled = source is not None or modes.differentiated()
        self.source = values if source is None else source
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
        If the values are a selection along an axis before the mask's, this one goes inside.
        """
        trailing = self.trailing if trailing is None else trailing
        inner = values.payload
        if type(inner) is MaskedPayload and inner.trailing > trailing:
            return inner.alike(self.alike(inner.values, trailing))
        return adopted(MaskedPayload(values, self.mask, trailing, self.ordered, self.interval))

    @property
    def whole(self) -> Any:
        """The payload of the values in full shape."""
        inner = self.values.payload
        return inner.whole if type(inner) is MaskedPayload else inner


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


def refused(what: str, ordered: bool, place: str = "") -> TracedValueError:
    """Return the error for an operation that needs the length; `{}` stands for the selection."""
    name, advice = _PADDED if ordered else _MASKED
    return TracedValueError(
        f"{place or user_location()}: {what.format(name)} while the function is being compiled, "
        f"but depends on data. {advice}"
    )


def refuse_nested(payload: Any) -> None:
    """Raise TracedValueError if a payload is a selection along two axes."""
    if type(payload) is MaskedPayload and type(payload.values.payload) is MaskedPayload:
        raise refused("{} along two axes is carried, or differentiated", payload.ordered)


def refuse(payload: Any, what: str) -> None:
    """Raise TracedValueError if a payload is a `MaskedPayload`."""
    if type(payload) is MaskedPayload:
        raise refused(f"{what} {{}} is asked for", payload.ordered, payload.place)


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
    if a.dtype.kind in "fcV":  # without a selected one, where no usual function has a pole
        first = xp.where(xp.any(mask), first, xp.full((), 0.5, a.dtype))
    mask = xp.reshape(mask, mask.shape + (1,) * len(behind))
    return xp.where(
        mask,
        a,
        xp.stop_gradient(
            xp.reshape(first, (*a.shape[:axis], *(1,) * (mask.ndim - len(behind)), *behind))
        ),
    )


def select(a: Value, mask: Value, axis: int, ordered: bool = False) -> Value:
    """Return `a[..., mask, ...]`, where the axes of the mask begin at `axis`.

    `ordered` says that the mask selects a prefix.
    """
    if type(a.payload) is MaskedPayload or type(mask.payload) is MaskedPayload:
        return _again(a, mask, axis)
    trailing = len(a.payload.shape) - axis - len(mask.payload.shape)
    return _selection(a, _known(mask), trailing, ordered)


def _selection(a: Value, mask: Value, trailing: int, ordered: bool = False) -> Value:
    """Return what a mask selects of an array, filled if it may be differentiated."""
    found = adopted(MaskedPayload(a, mask, trailing, ordered))
    found.payload.filled = False
    return filled(found) if modes.differentiated() else found


def filled(value: Value) -> Value:
    """Return a selection with the first selected element at all unselected positions."""
    a = value.payload
    if type(a) is not MaskedPayload or a.filled or type(a.values.payload) is MaskedPayload:
        return value
    values = spread(a.values, a.mask, a.axis)
    found = MaskedPayload(values, a.mask, a.trailing, a.ordered, a.interval, a.values)
    found.place = a.place
    return adopted(found)


def spread(a: Value, mask: Value, axis: int) -> Value:
    """Return an array in which the first selected element stands at all unselected positions."""
    found: Value = run(_spread, [a, mask], (axis,))
    return found


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
        raise refused(
            "an element of {} is asked for",
            any([type(s) is MaskedPayload and s.ordered for s in (outer, inner)]),
        )
    both = _known(run(REGISTRY["_npi_logical_and"], [outer.mask, inner.values]))
    return _selection(outer.source, both, outer.trailing)


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
        raise refused(_BESIDE, length.ordered)
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
    raise refused(_BESIDE, unknown.ordered)


def written(value: Value, mask: Value, axis: int) -> Value:
    """Return the value to be written through a mask, in full shape if it is a selection.

    Raise TracedValueError if another mask selected it.
    """
    found = value.payload
    if type(found) is not MaskedPayload:
        return value
    refuse_nested(found)
    if found.axis != axis or not same(found.mask, mask):
        raise refused("{} is written through another boolean mask", found.ordered)
    return found.values


def placed_in(value: Value, like: Value) -> Value:
    """Return the values of a selection in the full shape of another one, whose elements they replace.

    Raise TracedValueError if the two do not surely have one shape.
    """
    own, there = value.payload, like.payload
    if type(there) is not MaskedPayload:
        if type(own) is MaskedPayload:
            raise refused(_BESIDE, own.ordered)
        return value
    if type(own) is MaskedPayload and own.trailing == there.trailing:
        return placed_in(beside(value, there).payload.values, there.values)
    shape = getattr(own, "shape", ())
    at = len(shape) - 1 - there.trailing
    if at >= 0 and (type(shape[at]) is not int or shape[at] != 1):
        raise refused(_BESIDE, there.ordered)
    return placed_in(value, there.values)


def in_full(values: Sequence[Value]) -> tuple[list[Value], Value]:
    """Return operands in full shape, and the mask that selects their elements.

    Operands that are no selections are unchanged. Raise TracedValueError for several masks.
    """
    chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    for selection in chosen:
        refuse_nested(selection)
    if not all([same(chosen[0].mask, other.mask) for other in chosen]):
        raise several_masks()
    whole = [v.payload.values if type(v.payload) is MaskedPayload else v for v in values]
    return whole, chosen[0].mask


def with_where(selection: Value) -> list[Value]:
    """Return a selection as operands of a reduction: the array in full shape, and its `where`."""
    found = selection.payload
    refuse_nested(found)
    return [found.values, column(found.mask, found.trailing)]


def several_masks() -> TracedValueError:
    return refused(
        "elements that two boolean masks select are put together (keep a mask in a variable to "
        "use it twice)",
        False,
    )


def beside(value: Value, like: MaskedPayload) -> Value:
    """Return a selection by the mask of another one, if both are intervals of one length; values
    that are no selections unchanged. Raise TracedValueError for other masks.
    """
    own = value.payload
    if type(own) is not MaskedPayload or same(own.mask, like.mask):
        return value
    if is_apart(value, like):
        raise several_masks()
    size = like.mask.payload.shape[0]
    assert own.interval is not None and like.interval is not None  # else it is apart
    values = intervals.moved(own.values, own.axis, own.interval, like.interval, size)
    return like.alike(values, own.trailing)


def _alike(one: MaskedPayload, other: MaskedPayload) -> bool:
    return one.trailing == other.trailing and same(one.mask, other.mask)


def same(one: Value, other: Value) -> bool:
    """True if two masks are the same value, or come from the same operators on the same arrays."""
    trace = modes.current().trace
    assert trace is not None
    return bool(trace.same(one.payload, other.payload))


def adopted(found: MaskedPayload) -> Value:
    value = Value(found)
    trace = modes.current().trace
    assert trace is not None
    trace.adopt(value)
    return value


def is_apart(value: Value, like: MaskedPayload) -> bool:
    """Return True for a selection by other positions than another one's, or by another number."""
    own = value.payload
    if type(own) is not MaskedPayload or same(own.mask, like.mask):
        return False
    here, there = own.interval, like.interval
    known = here is not None and there is not None and here.is_as_long_as(there)
    return not known or not own.values.payload.shape[own.axis]


def lengths(attrs: Any) -> list[Length]:
    """Return the `Length`s in the attributes."""
    if type(attrs) is tuple:
        return [found for a in attrs for found in lengths(a)]
    return [attrs] if type(attrs) is Length else []


def zeroed(a: MaskedPayload) -> Value:
    """Return the full array with zeros at unselected positions."""
    zero = onp.zeros((), a.dtype)
    zeroed: Value = run(REGISTRY["_npi_where"], [column(a.mask, a.trailing), a.source, Value(zero)])
    return zeroed


def column(mask: Value, trailing: int) -> Value:
    """Return a mask with `trailing` axes of length 1 appended."""
    if not trailing:
        return mask
    column: Value = run(
        REGISTRY["_npi_reshape"], [mask], ((*mask.payload.shape, *(1,) * trailing),)
    )
    return column


def head(value: Value, grad: Value) -> tuple[Value, Value]:
    """Return a head of a graph in full shape and its gradient, which is zero where unselected."""
    refuse_nested(value.payload)
    if type(grad.payload) is not MaskedPayload or not _alike(value.payload, grad.payload):
        raise refused(
            "a head gradient of {}, but not of the same elements, is asked for",
            value.payload.ordered,
        )
    return value.payload.values, zeroed(grad.payload)


__all__ = [
    "Length",
    "MaskedPayload",
    "Window",
    "beside",
    "filled",
    "fits",
    "head",
    "in_full",
    "lengths",
    "placed_in",
    "refuse",
    "refuse_nested",
    "same",
    "select",
    "spread",
    "together",
    "with_where",
    "written",
]
