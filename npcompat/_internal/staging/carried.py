"""Values of variables that a loop carries from round to round, or that a branch binds.

A value is flattened into a form, its static structure, and traced payloads. Values of equal forms
are interchangeable.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal.backend.jax import control_flow as control
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import handles, late_bound, masked_array
from npcompat._internal.dispatch.memory_layout import lay_out
from npcompat._internal.dispatch.result_layout import axes_in_memory, empty_in
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber, expect, symbolic
from npcompat._internal.staging import context
from npcompat._internal.staging.containers import (
    class_of,
    is_container,
    items_of,
    made_of,
    name_of,
)
from npcompat._internal.staging.number_or_scalar import NumberOrScalar, can_be_either, describe
from npcompat._internal.support.errors import RefusedError


class ChangedTypeError(RefusedError):
    """Error for a variable whose type changes in a round of a loop, which must run before it."""


def is_window(handle: Handle) -> bool:
    """Return True for a slice whose bounds are not known."""
    return handle._extra is not None and type(handle._extra.readonly) is masked_array.Window


class Form(NamedTuple):
    """Form of a value: `kind` is "array", "scalar", "selection", "number", "either", "container",
    "plain" or "maybe".

    `type` is shape and dtype of an array, those of a selection's array in full shape and of its
    mask, the class of a number, class and keys of a container, class and dtype of what is either a
    number or a scalar, or a plain object. `parts` are the forms of a container's items, or the form
    of a variable that may be bound.
    `axes` are those of an array as they lie in memory, the slowest first, if that is not C order.
    """

    kind: str
    type: Any = None
    parts: tuple["Form", ...] = ()
    axes: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.kind in ("array", "scalar"):
            shape, dtype = self.type
            order = f" with its axes in the order {self.axes} in memory" if self.axes else ""
            return (
                f"{'an array' if self.kind == 'array' else 'a scalar'} {dtype}{list(shape)}{order}"
            )
        if self.kind == "selection":
            shape, dtype = self.type.array
            return f"what a boolean mask selects of an array {dtype}{list(shape)}"
        if self.kind == "number":
            return f"{'an' if self.type is int else 'a'} {self.type.__name__} of Python's"
        if self.kind == "either":
            return describe(*self.type)
        if self.kind == "container":
            parts = [*map(str, self.parts[:8]), *["..."][: len(self.parts) > 8]]
            return f"a {name_of(self.type)} of ({', '.join(parts)})"
        if self.kind == "maybe":
            return f"{self.parts[0]}, or not bound"
        return f"a {type(self.type.value).__name__}"


class Selection(NamedTuple):
    """Type of what a boolean mask selects: shape and dtype of the array in full shape and of the
    mask, and the number of axes behind those of the mask; see `dispatch/masked_array.py`.
    """

    array: tuple[tuple[int, ...], Any]
    mask: tuple[tuple[int, ...], Any]
    trailing: int
    ordered: bool


class Plain:
    """Object that is the same in all rounds, compared by `same_object`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Plain and same_object(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def same_object(a: Any, b: Any) -> bool:
    """Return True for the same object, and for equal immutable values of one class."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in (int, float, bool, str, bytes, complex):
        return bool(a == b) and str(a) == str(b)
    if isinstance(a, tuple) and is_container(a):
        return len(a) == len(b) and all(map(same_object, a, b))
    return type(a) is Unbound


class Unbound:
    """Value of a variable before it is bound."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class MaybeBound:
    """Value of a variable that is bound only if a traced flag is set."""

    __slots__ = ("bound", "name", "value")

    def __init__(self, name: str, value: Any, bound: Any) -> None:
        self.name, self.value, self.bound = name, value, bound


def unbound_error(name: str) -> UnboundLocalError:
    """Return Python's error for a variable that is not bound."""
    return UnboundLocalError(
        f"cannot access local variable {name!r} where it is not associated with a value"
    )


def load(value: Any) -> Any:
    """Return the value of a variable; raise, or let the program raise, if it is not bound."""
    if type(value) is Unbound:
        _note_unbound(value.name)
        raise unbound_error(value.name)
    if type(value) is MaybeBound:
        _note_unbound(value.name)
        expect(numbers.negation(value.bound), UnboundLocalError, str(unbound_error(value.name)))
        return value.value
    return value


_UNBOUND = "names used unbound"


def _note_unbound(name: str) -> None:
    if context.current() is not None:
        context.outermost().notes.setdefault(_UNBOUND, set()).add(name)


def is_used_unbound(name: str) -> bool:
    """Return True if a variable of this name was used where it was not surely bound."""
    return name in context.outermost().notes.get(_UNBOUND, ())


def returned(value: Any, always: bool) -> Any:
    """Return the result of a function with returns inside loops and branches."""
    if type(value) is Unbound:
        return None
    if type(value) is MaybeBound:
        if value.value is None:
            return None
        if not always:
            refuse(
                f"the function returns {form_of(value.value)} or None, as data decide; return the "
                "same kind of value everywhere"
            )
        return value.value
    return value


_NUMBERS = (bool, int, float)


def flatten(value: Any, name: str) -> tuple[Form, list[Value]]:
    """Flatten the value of a variable into its form and its payloads."""
    value = symbolic(value)
    if isinstance(value, SymbolicNumber):
        return Form("number", value.kind), [_strong(value.kind, value.payload)]
    if type(value) in _NUMBERS:
        if type(value) is int and not -(2**63) <= value < 2**63:
            refuse(f"{name!r} is an int of more than 64 bits, which a loop can't carry")
        return Form("number", type(value)), [_strong(type(value), value)]
    if isinstance(value, NumberOrScalar):
        number = _strong(value.number.kind, value.number.payload)
        return Form("either", value.may_be), [
            number,
            handles.read(value.scalar),
            Value(value.flag),
        ]
    if isinstance(value, Handle):
        return _flatten_array(value, name)
    if isinstance(value, onp.generic) and dtypes.on_devices(value.dtype):
        return Form("scalar", ((), value.dtype)), [Value(numbers.element(value, value.dtype))]
    if is_container(value):
        found = [flatten(v, name) for v in items_of(value)]
        return Form("container", class_of(value), tuple([f for f, _ in found])), [
            v for _, values in found for v in values
        ]
    if type(value) is MaybeBound:
        form, values = flatten(value.value, name)
        return Form("maybe", None, (form,)), [Value(value.bound), *values]
    return Form("plain", Plain(value)), []


def flatten_as(value: Any, name: str, form: Form | None) -> tuple[Form, list[Value]]:
    """Flatten the value of a variable, and convert it to a form that is wider, unless that is None."""
    own, values = flatten(value, name)
    if form is None or form == own:
        return own, values
    given = converted(own, form, iter(values))
    return form, [v if isinstance(v, Value) else Value(v) for v in given]


def _strong(kind: type, payload: Any) -> Value:
    """Return a number as an operand with a dtype of 64 bits."""
    return Value(numbers.element(payload, onp.dtype(kind)))


def _flatten_array(handle: Handle, name: str) -> tuple[Form, list[Value]]:
    if type(handle) is not late_bound.ndarray and type(handle) not in late_bound.scalars:
        refuse(f"{name!r} is a {type(handle).__name__}, which a loop or branch can't carry")
    if handle._view is not None or is_window(handle):
        refuse(
            f"{name!r} is a view that is used in a later round, or after the loop or branch; "
            "use a copy"
        )
    value = handles.read(handle)
    payload = value.payload
    if type(payload) is masked_array.MaskedPayload:
        masked_array.refuse_nested(payload)
        parts = [payload.values, payload.mask]
        array, mask = [(tuple(p.payload.shape), onp.dtype(p.payload.dtype)) for p in parts]
        return Form("selection", Selection(array, mask, payload.trailing, payload.ordered)), parts
    kind = "scalar" if type(handle) in late_bound.scalars else "array"
    form = Form(kind, (tuple(payload.shape), onp.dtype(payload.dtype)), (), axes_in_memory(handle))
    return form, [value]


def holders(value: Any, count: int) -> list[int | None]:
    """Return the ids of the arrays that hold the `count` payloads of a value, in their order; None
    for the payloads of numbers and flags.
    """
    if is_container(value):
        return [
            h for item in items_of(value) for h in holders(item, len(flatten(item, "an item")[1]))
        ]
    if type(value) is MaybeBound:
        return [None, *holders(value.value, count - 1)]
    if mask_of(value) is not None:
        trace: Any = modes.current().trace
        return [trace.selections.whole_of(value), None]
    return [id(value) if isinstance(value, Handle) else None] * count


def form_of(value: Any) -> Form:
    """Return the form of a value."""
    return flatten(value, "a value")[0]


def together(
    form: Form,
    payloads: Iterator[Any],
    name: str,
    bounds: tuple[float, float] | None = None,
    mask: Value | None = None,
) -> Any:
    """Rebuild a value of a form from the next payloads or Values.

    A selection takes `mask`, if given, in place of its own, which is equal.
    """
    if form.kind == "plain":
        return form.type.value
    if form.kind == "container":
        return made_of(form.type, [together(part, payloads, name) for part in form.parts])
    if form.kind == "maybe":
        bound = payload_of(next(payloads))
        return MaybeBound(name, together(form.parts[0], payloads, name), bound)
    found = next(payloads)
    if form.kind == "either":
        number = SymbolicNumber(numbers.weak(form.type[0], payload_of(found)), form.type[0])
        scalar = handles.wrap_scalar(_adopted(next(payloads)))
        return NumberOrScalar(name, number, scalar, payload_of(next(payloads)))
    if form.kind == "number":
        payload = numbers.weak(form.type, payload_of(found))
        limits = bounds if bounds is not None and form.type is int else ()
        return SymbolicNumber(payload, form.type, *limits)
    if form.kind == "selection":
        own = _adopted(next(payloads))
        found = masked_array.MaskedPayload(
            _adopted(found), mask or own, form.type.trailing, form.type.ordered
        )
    value = _adopted(found)
    if form.kind == "scalar":
        return handles.wrap_scalar(value)
    made = handles.wrap(value)
    if form.axes:
        lay_out(made, empty_in(form.axes, *form.type))
    return made


def _adopted(found: Any) -> Value:
    """Return a Value; a payload as one that the running trace has adopted."""
    if isinstance(found, Value):
        return found
    trace = modes.current().trace
    assert trace is not None
    return trace.adopt(Value(found))


def payload_of(x: Any) -> Any:
    """Return the payload of a Value; payloads unchanged."""
    return x.payload if isinstance(x, Value) else x


def types_of(form: Form) -> list[tuple[tuple[int, ...], Any]]:
    """Return the shape and dtype of each payload of a form."""
    if form.kind == "plain":
        return []
    if form.kind == "number":
        return [((), onp.dtype(form.type))]
    if form.kind in ("array", "scalar"):
        return [form.type]
    if form.kind == "either":
        kind, dtype = form.type
        return [((), onp.dtype(kind)), ((), dtype), ((), onp.dtype(bool))]
    if form.kind == "selection":
        return [form.type.array, form.type.mask]
    own = [((), onp.dtype(bool))] if form.kind == "maybe" else []
    return own + [t for part in form.parts for t in types_of(part)]


def joined(one: Form, other: Form, promotes: bool = False) -> Form | None:
    """Return the form to which values of two forms can be converted; None if there is none.

    With `promotes=True`, a number and a scalar or a 0-d array join to the latter, and an int and a
    float to a float: the first round of a loop may change a variable in this way.
    Arrays in other orders join to one in C order.
    """
    if one == other:
        return one
    if one.kind == other.kind == "array" and one.type == other.type:
        return Form("array", one.type)
    if one.kind == "maybe" or other.kind == "maybe":
        parts = [f.parts[0] if f.kind == "maybe" else f for f in (one, other)]
        found = joined(parts[0], parts[1], promotes)
        return None if found is None else Form("maybe", None, (found,))
    alike = one.kind == other.kind == "container" and one.type == other.type
    if alike and len(one.parts) == len(other.parts):
        items = [joined(a, b, promotes) for a, b in zip(one.parts, other.parts, strict=True)]
        if None in items:
            return None
        return Form("container", one.type, tuple([i for i in items if i is not None]))
    kinds = {one.kind, other.kind}
    if kinds == {"array", "scalar"} and one.type == other.type:
        return one if one.kind == "array" else other
    if promotes and kinds == {"number", "scalar"}:
        return one if one.kind == "scalar" else other
    if promotes and kinds == {"number", "array"}:
        found = one if one.kind == "array" else other
        return found if found.type[0] == () else None
    if promotes and kinds == {"number"} and {one.type, other.type} == {int, float}:
        return Form("number", float)
    if kinds <= {"number", "scalar", "either"} and len(kinds) == 2:
        return _either(one, other)
    return None


def _either(one: Form, other: Form) -> Form | None:
    """Return the form of what is a number or a scalar, as data decide."""
    if "either" in (one.kind, other.kind):
        form, part = (one, other) if one.kind == "either" else (other, one)
        same = part.type == form.type[0] if part.kind == "number" else part.type[1] == form.type[1]
        return form if same else None
    number, scalar = (one, other) if one.kind == "number" else (other, one)
    kind, dtype = number.type, scalar.type[1]
    return Form("either", (kind, dtype)) if can_be_either(kind, dtype) else None


def converted(form: Form, target: Form, payloads: Iterator[Any]) -> list[Any]:
    """Convert the payloads of a form to those of a target form, to which it can be `joined`."""
    if target.kind == "maybe":
        if form.kind != "maybe":
            return [control.constant(True), *converted(form, target.parts[0], payloads)]
        return [next(payloads), *converted(form.parts[0], target.parts[0], payloads)]
    if form.kind == "container":
        pairs = zip(form.parts, target.parts, strict=True)
        return [p for f, t in pairs for p in converted(f, t, payloads)]
    if form.kind == "plain":
        return []
    if target.kind == "either" and form.kind != "either":
        own, other = next(payloads), blank(target)
        if form.kind == "number":
            return [own, other[1], control.constant(False)]
        return [other[0], own, control.constant(True)]
    return [control.of_type(next(payloads), shape, dtype) for shape, dtype in types_of(target)]


def blank(target: Form) -> list[Any]:
    """Return zero payloads of a form for a variable that is not bound."""
    return [control.of_type(0, shape, dtype) for shape, dtype in types_of(target)]


def inexact(form: Form) -> list[bool]:
    """Return True or False for each payload of a form: True if it may be differentiated."""
    return [onp.dtype(dtype).kind in "fcV" for _, dtype in types_of(form)]


def values_of(found: Sequence[Value]) -> list[Value]:
    """Return the values in a list, after the running trace has adopted them."""
    trace = modes.current().trace
    assert trace is not None
    for value in found:
        trace.adopt(value)
    return list(found)


def mask_of(value: Any) -> Value | None:
    """Return the mask of a selection, in the running trace; None for other values."""
    if type(value) is not late_bound.ndarray or value._view is not None:
        return None
    held = value._value  # reading it would make an input of any array
    if type(held) is not Value or type(held.payload) is not masked_array.MaskedPayload:
        return None
    mask: Value = handles.read(value).payload.mask
    return mask


class SharedMasks:
    """Rebuilds variables; selections that `groups` says are by the same mask share it."""

    __slots__ = ("_groups", "_masks")

    def __init__(self, groups: Mapping[int, Any]) -> None:
        self._groups, self._masks = groups, dict[Any, Any]()

    def together(
        self,
        i: int,
        form: Form,
        payloads: Iterator[Any],
        name: str,
        bounds: tuple[float, float] | None = None,
    ) -> Any:
        """Rebuild the variable at a position from the next payloads or Values."""
        group = self._groups.get(i, ~i)
        made = together(form, payloads, name, bounds, self._masks.get(group))
        if form.kind == "selection":
            self._masks.setdefault(group, mask_of(made))
        return made


def groups_of(values: Sequence[Any]) -> dict[int, int]:
    """Return for each selection the first one that the same mask selects, both by their positions.

    Lengths are equal only where masks are the same, so those that were the same stay so.
    """
    masks = {i: m for i, v in enumerate(values) if (m := mask_of(v)) is not None}
    return {
        i: next(j for j, other in masks.items() if masked_array.same(other, mask))
        for i, mask in masks.items()
    }


__all__ = [
    "ChangedTypeError",
    "Form",
    "MaybeBound",
    "Plain",
    "Selection",
    "SharedMasks",
    "Unbound",
    "blank",
    "converted",
    "flatten",
    "flatten_as",
    "form_of",
    "groups_of",
    "holders",
    "inexact",
    "is_used_unbound",
    "is_window",
    "joined",
    "load",
    "mask_of",
    "payload_of",
    "returned",
    "same_object",
    "together",
    "types_of",
    "unbound_error",
    "values_of",
]
