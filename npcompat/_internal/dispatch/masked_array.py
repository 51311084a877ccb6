"""What a boolean mask selects while a function is compiled, when nobody knows how much that is:
`a[m] += v`, `a[m].sum()`.

The elements stay where they are, in an array of full shape with the mask beside it. Operators that
go element by element compute whole arrays; reductions over what was selected get the mask as their
`where`; writing through the same mask chooses. Where a mask has one axis, operators that treat what
lies along it one by one compute whole arrays, too, and those that add up products along it get
zeros for what is not selected. What is not selected holds the first element that is, so that
nothing is computed there, or differentiated, that is not computed elsewhere, too. Everything else
asks for the length, and is refused.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jaxpr import row_independence as rows
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import REGISTRY, Attrs, Op, normalized_axes, operator
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.support.errors import TracedValueError, user_location


class Length(TracedNumber):
    """How many elements a mask selects: a length that only equals itself, and a number to compute
    with.
    """

    __slots__ = ("mask", "ordered")
    stands_for_length = True

    def __init__(self, mask: Any, ordered: bool) -> None:
        self.mask, self.ordered = mask, ordered

    @property
    def payload(self) -> Any:
        """The number."""
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


class MaskedPayload(xla.Unknown):
    """The payload of `a[..., m, ...]`: the values in full shape, of which `mask` selects; its axes
    begin at `axis`.

    `place` is the user's line that made it; `ordered` says that the first ones are selected, so
    that each keeps its place.
    """

    __slots__ = ("axis", "dtype", "mask", "ordered", "place", "rank", "shape", "trailing", "values")

    def __init__(self, values: Value, mask: Value, trailing: int, ordered: bool = False) -> None:
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
        """What the same mask selects of other values; without `trailing`, they have the same axes
        from it on.
        """
        return _adopted(
            MaskedPayload(
                values, self.mask, self.trailing if trailing is None else trailing, self.ordered
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
"""What a selection is called, and what can be done instead of what was asked for: of a mask, and of
the first elements.
"""


def _refused(what: str, ordered: bool, place: str = "") -> TracedValueError:
    """The error for what depends on how much is selected, which `{}` in the text stands for."""
    name, advice = _PADDED if ordered else _MASKED
    return TracedValueError(
        f"{place or user_location()}: {what.format(name)} while the function is being compiled, "
        f"but depends on data. {advice}"
    )


def refuse(payload: Any, what: str) -> None:
    """Raise TracedValueError if a payload is what a mask selects."""
    if type(payload) is MaskedPayload:
        raise _refused(f"{what} {{}} is asked for", payload.ordered, payload.place)


@operator(
    "_npi_spread_selected", pattern="opaque", rule=lambda types, attrs: ([None, None], types[0])
)
def _spread(xp: Any, a: Any, mask: Any, *, axis: int) -> Any:
    """An array in which everything that a mask does not select is the first element that it does.

    Parameters
    ----------
    mask : array of bool
        Which elements of the axes from `axis` on.
    axis : int
        Where the axes of the mask begin.
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


def select(a: Value, mask: Value, axis: int, ordered: bool = False) -> Value:
    """`a[..., mask, ...]`, the axes of the mask beginning at `axis`; it is `ordered` if it selects
    the first ones.
    """
    if type(a.payload) is MaskedPayload or type(mask.payload) is MaskedPayload:
        return _again(a, mask, axis)
    trailing = len(a.payload.shape) - axis - len(mask.payload.shape)
    return _adopted(MaskedPayload(run(_spread, [a, mask], (axis,)), mask, trailing, ordered))


def _again(a: Value, mask: Value, axis: int) -> Value:
    """What one mask selects of what another selected."""
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
    both = run(REGISTRY["_npi_logical_and"], [outer.mask, inner.values])
    return _adopted(
        MaskedPayload(run(_spread, [outer.values, both], (axis,)), both, outer.trailing)
    )


def written(value: Value, mask: Value, axis: int) -> Value:
    """What is written through a mask, in full shape, if that mask selected it; else as it is."""
    found = value.payload
    if type(found) is not MaskedPayload:
        return value
    if found.axis != axis or not _same(found.mask, mask):
        raise _refused("{} is written through another boolean mask", found.ordered)
    return found.values


def apply(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator some of whose operands are what a mask selects."""
    chosen = [v.payload for v in values if type(v.payload) is MaskedPayload]
    if not all([_same(chosen[0].mask, other.mask) for other in chosen]):
        raise _refused(
            "elements that two boolean masks select are put together (keep a mask in a variable "
            "to use it twice)",
            False,
        )
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


def _alike(one: MaskedPayload, other: MaskedPayload) -> bool:
    return one.trailing == other.trailing and _same(one.mask, other.mask)


def _same(one: Value, other: Value) -> bool:
    """Whether two masks are one, or computed in the same way from the same arrays."""
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


def _whole(op: Op, value: Value, like: MaskedPayload) -> Value:
    """An operand for operators on whole arrays: it has one axis where the mask has several, if any,
    of length 1.
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
    operands = [_whole(op, v, like) for v in values]
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
    operands = [_whole(op, v, a) for v in values]
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
    """Run an operator on whole arrays that treats what lies along the axis of a mask one by one, or
    adds up products along it.
    """
    axes = [v.payload.axis if type(v.payload) is MaskedPayload else None for v in values]
    whole = [v.payload.values if type(v.payload) is MaskedPayload else v for v in values]

    def sized(length: int) -> Any:
        return xla.function(op, _sized(attrs, like, length))

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
    """What an operator gave of whole arrays: the same mask selects along the axes of the results,
    where there are some.
    """
    results = (result,) if op.outputs == 1 else result
    made = [
        r if axis is None else like.alike(r, len(r.payload.shape) - axis - 1)
        for r, axis in zip(results, axes, strict=True)
    ]
    return made[0] if op.outputs == 1 else tuple(made)


def lengths(attrs: Any) -> list[Length]:
    """What stands for a length in attributes."""
    if type(attrs) is tuple:
        return [found for a in attrs for found in lengths(a)]
    return [attrs] if type(attrs) is Length else []


def made(op: Op, values: Sequence[Value], attrs: Attrs) -> Any:
    """Run an operator that is asked for as many elements as a mask selects, on operands that it has
    no part in.
    """
    length = lengths(attrs)[0]
    if len(length.mask.shape) > 1:
        raise _refused("the length of {} is asked for", length.ordered)
    mask = Value(length.mask)
    return _row_by_row(op, values, attrs, MaskedPayload(mask, mask, 0, length.ordered))


def _sized(attr: Any, like: MaskedPayload, length: int) -> Any:
    """Attributes in which a length stands for how many elements a mask selects."""
    if type(attr) is tuple:
        return tuple([_sized(a, like, length) for a in attr])
    return length if type(attr) is Length and attr.mask is like.mask.payload else attr


def _zeroed(a: MaskedPayload) -> Value:
    """The values, with zeros for what is not selected."""
    zero = onp.zeros((), a.dtype)
    zeroed: Value = run(
        REGISTRY["_npi_where"], [_column(a.mask, a.trailing), a.values, Value(zero)]
    )
    return zeroed


def _column(mask: Value, trailing: int) -> Value:
    """A mask with axes of length 1 behind its own."""
    if not trailing:
        return mask
    column: Value = run(
        REGISTRY["_npi_reshape"], [mask], ((*mask.payload.shape, *(1,) * trailing),)
    )
    return column


def _where_selected(op: Op, values: Sequence[Value], attrs: Attrs, like: MaskedPayload) -> Any:
    """Run an operator that can leave out elements of its first operand, the only one that is
    selected.
    """
    whole = [like.values, *values[1:], _column(like.mask, like.trailing)]
    axes = [like.axis, *[None] * len(values[1:]), 0]
    try:
        found = rows.as_long(
            lambda length: xla.function(op, attrs), [v.payload for v in whole], axes
        )
    except rows.RowsMixedError:
        raise _not_this(op, like) from None
    result = run(op, whole, attrs)
    results = (result,) if op.outputs == 1 else result
    # Elements that were left out have become what no other is: zero, or infinite.
    again = [
        r if axis is None else run(_spread, [r, like.mask], (axis,))
        for r, axis in zip(results, found, strict=True)
    ]
    return _made(op, again[0] if op.outputs == 1 else tuple(again), found, like)


def head(value: Value, grad: Value) -> tuple[Value, Value]:
    """A head of a graph and its gradient, which is zero for what is not selected."""
    if type(grad.payload) is not MaskedPayload or not _alike(value.payload, grad.payload):
        raise _refused(
            "a head gradient of {}, but not of the same elements, is asked for",
            value.payload.ordered,
        )
    return value.payload.values, _zeroed(grad.payload)


def _axes_of(a: MaskedPayload, axis: int) -> range:
    """The axes of the whole array that an axis of the selection stands for."""
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
    "apply",
    "head",
    "lengths",
    "made",
    "refuse",
    "select",
    "written",
]
