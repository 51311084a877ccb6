"""`a[key]` and `a[key] = new` with symbolic numbers in the key."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import is_staged, refuse
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value, check_writeable, extra, root_of
from npcompat._internal.core.index_spec import FULL, INTEGER, SLICE
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch import array_like, handles, late_bound, masked_array, writes
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.intervals import Interval
from npcompat._internal.dispatch.symbolic_number import (
    INFINITE,
    SymbolicNumber,
    affine_form,
    expect,
    interval,
    symbolic,
)
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import lens
from npcompat._internal.indexing.basic import step_of
from npcompat._internal.indexing.parse import Kind, has_arrays, is_basic_but_for, parse
from npcompat._internal.staging import context
from npcompat._internal.staging.carried import is_window
from npcompat._internal.staging.number_or_scalar import NumberOrScalar
from npcompat._internal.support.errors import user_location


def is_traced_int(x: Any) -> bool:
    """Return True for a traced scalar of an integer dtype."""
    if isinstance(x, NumberOrScalar):
        return x.is_int
    return (
        type(x) in late_bound.scalars
        and x.dtype.kind in "iu"
        and context.current() is not None
        and language.is_tracer(handles.read(x).payload)
    )


def has_symbolic(key: Any) -> bool:
    """Return True for a key with a symbolic number in it."""
    if type(key) is tuple:
        return any(map(has_symbolic, key))
    if type(key) is slice:
        bounds = (key.start, key.stop, key.step)
        return any([isinstance(b, SymbolicNumber) or is_traced_int(b) for b in bounds])
    return isinstance(key, SymbolicNumber)


def _with_numbers(array: Any, key: Any) -> Any:
    """Return a key of an array with numbers for traced integer scalars, which select a view; an
    advanced key as it is.
    """
    if not isinstance(array, Handle):
        return key
    key = tuple(map(_joined_list, key)) if type(key) is tuple else _joined_list(key)
    if not is_basic_but_for(key, is_traced_int):
        return key
    if type(handles.read(array).payload) is masked_array.MaskedPayload:
        return key
    items = key if type(key) is tuple else (key,)
    found = tuple([number_of(i) if is_traced_int(i) else i for i in items])
    return found if type(key) is tuple else found[0]


def _joined_list(item: Any) -> Any:
    """Return a list of positions, of which some are traced numbers, as an array."""
    if type(item) is list and any([isinstance(i, TracedNumber | list) for i in item]):
        return array_like.joined(item)
    return item


def number_of(scalar: Any) -> SymbolicNumber:
    """Return a traced integer scalar as a symbolic number; equal computations give one number."""
    trace = context.running()
    either = isinstance(scalar, NumberOrScalar)
    payload = scalar.payload if either else handles.read(scalar).payload
    known = trace.notes.setdefault("numbers", [])
    for other, found in known:
        if other is payload or trace.same(other, payload):
            return found  # type: ignore[no-any-return]
    number, too_long = numbers.as_int(payload)
    if too_long is not None:
        expect(too_long, OverflowError, "an int of more than 63 bits in a compiled loop")
    info = onp.iinfo(onp.int64 if either else scalar.dtype)
    found = SymbolicNumber(number, int, info.min, min(info.max, 2**63 - 1))
    known.append((payload, found))
    return found


def _position(number: SymbolicNumber, size: int, axis: int) -> TracedNumber:
    """Return the position of a number in an axis; the program raises NumPy's error if it is
    outside.
    """
    number = number.as_number()
    low, high = number.low, number.high
    if number.kind is float:
        refuse("an array is indexed with a float")
    if high < -size or low >= size:
        raise IndexError(f"index {low} is out of bounds for axis {axis} with size {size}")
    notes = context.running().notes
    known = notes.get(("position", number.form, size))
    if known is not None:  # numbers that are equal in every round share a payload
        return TracedNumber(known)
    payload = number.payload
    below, above = low < -size, high >= size
    if below or above:
        message = f"index out of bounds for axis {axis} with size {size}"
        expect(numbers.outside(payload, -size, size - 1), IndexError, message)
    found = numbers.position(payload, size, below, above, low < 0)
    notes["position", number.form, size] = found
    return TracedNumber(found)


WINDOW = 64
"""Length of the window in which a slice of unknown length is read first, if its axis is longer."""
_WINDOWED: ContextVar[bool] = ContextVar("slices through windows", default=False)


@contextmanager
def windows() -> Iterator[None]:
    """Read slices of unknown length through windows inside the context.

    The trace's notes "too long" collect the flags of windows that are too short.
    """
    token = _WINDOWED.set(True)
    try:
        yield
    finally:
        _WINDOWED.reset(token)


class _Bound(NamedTuple):
    """Bound of a slice, clipped to its axis; bounds equal in every round have equal keys.

    `number` is the bound if that needs no clipping, else None.
    """

    payload: Any
    key: Any
    number: Any


def _bound(limit: Any, size: int, default: int) -> _Bound:
    if limit is None:
        return _Bound(default, default, default)
    if is_traced_int(limit):
        limit = number_of(limit)
    if not isinstance(limit, SymbolicNumber):
        found = slice(limit, None).indices(size)[0]
        return _Bound(found, found, found)
    number = limit.as_number()
    if number.kind is float:
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    negative, above = number.low < 0, number.high > size
    payload = numbers.bound(number.payload, size, negative, above)
    return _Bound(payload, (number.form, negative, above), None if negative or above else number)


def _interval(start: _Bound, stop: _Bound, moved: bool) -> Interval:
    """Return the positions between two bounds, counted from the first one if they are `moved`."""
    length = None
    if start.number is not None and stop.number is not None:
        length = affine_form(stop.number - start.number)
    if not moved:
        return Interval(start.payload, stop.payload, length)
    return Interval(0, numbers.distance(start.payload, stop.payload), length)


def _forwards(key: slice, size: int) -> tuple[slice, bool]:
    """Return a slice of step 1 that selects the same elements, and True if the key reverses them."""
    if key.step is None or (type(key.step) is int and key.step == 1):
        return key, False
    if type(key.step) is int and key.step == -1:
        ends: list[Any] = [number_of(n) if is_traced_int(n) else n for n in (key.start, key.stop)]
        if all([n is None or (interval(n)[0] >= 0 and interval(n)[1] < size) for n in ends]):
            last, before = ends
            stop = None if last is None else last + 1
            return slice(0 if before is None else before + 1, stop), True
    return refuse("a slice with a step, whose bounds are not known")


def _of_known_length(
    bounds: tuple[_Bound, _Bound], backwards: bool
) -> tuple[tuple[int, ...], Any] | None:
    """Return the specification and the start of a slice whose length is the same in every round;
    None for others.
    """
    start, stop = bounds
    length = _interval(*bounds, False).length
    if length is None or length[0]:
        return None
    count = max(length[1], 0)
    if not count:
        return (SLICE, 0, 1), 0
    step, first = (-1, numbers.total(stop.payload, -1)) if backwards else (1, start.payload)
    return (SLICE, count, step), TracedNumber(first)


def _mask(size: int, start: _Bound, stop: _Bound) -> Value:
    """Return the mask of the positions between two bounds; equal bounds share one."""
    trace = context.running()
    key = "mask", size, start.key, stop.key
    found = trace.notes.get(key)
    if found is None:
        mask = numbers.between(size, start.payload, stop.payload)
        found = trace.notes[key] = trace.adopt(Value(mask))
    return found  # type: ignore[no-any-return]


def _window(start: _Bound, stop: _Bound) -> Value:
    """Return the mask of the elements of a window that lie between two bounds."""
    trace = context.running()
    key = "window", start.key, stop.key
    found = trace.notes.get(key)
    if found is None:
        mask, too_long = numbers.window(WINDOW, start.payload, stop.payload)
        trace.notes.setdefault("too long", []).append(too_long)
        found = trace.notes[key] = trace.adopt(Value(mask))
    return found  # type: ignore[no-any-return]


class _Slice(NamedTuple):
    """Slice whose bounds are not known, of an axis of a view: its mask, and what that selects.

    If the mask is that of a window, `start` is the position of the window. If the slice has step
    -1, its elements are `reversed`.
    """

    axis: int
    mask: Value
    interval: Interval
    start: Any
    reversed: bool


class _Part(NamedTuple):
    """Part of an array that a key selects: a lens, and slices of axes of the view."""

    lens: lens.Lens
    slices: list[_Slice]
    is_element: bool

    @property
    def ndim(self) -> int:
        """Number of axes of the view."""
        return sum([kind[0] != INTEGER for kind in self.lens.attrs[0]])

    def turned(self, selection: Any) -> Any:
        """Return what the key selects in its order, or what is written there in the array's; it may
        have fewer axes.
        """
        steps = [slice(None)] * self.ndim
        for part in self.slices:
            if part.reversed:
                steps[part.axis] = slice(None, None, -1)
        steps = steps[self.ndim - selection.ndim :]
        return selection[tuple(steps)] if slice(None, None, -1) in steps else selection

    def view(self, array: Handle) -> Any:
        """Return the view without the mask."""
        if all([kind[0] == FULL for kind in self.lens.attrs[0]]):
            return array
        return lens.view(array, self.lens)


def _part(array: Handle, key: Any) -> _Part | None:
    """Return the part that a basic key selects; None for an advanced key."""
    shape = array.shape
    if has_arrays(key):
        return None
    parsed = parse(shape, key)
    spec: list[tuple[int, ...]] = []
    starts: list[Any] = []
    slices: list[_Slice] = []
    step: tuple[int, ...]
    for item in parsed.items:
        value = item.value
        if item.kind is Kind.SLICE and has_symbolic(value):
            size = shape[item.axis]
            value, backwards = _forwards(value, size)
            bounds = _bound(value.start, size, 0), _bound(value.stop, size, size)
            if (few := _of_known_length(bounds, backwards)) is not None:
                spec.append(few[0])
                starts.append(few[1])
                continue
            begin = None
            if size > WINDOW and any([type(b.key) is tuple and b.key[2] for b in bounds]):
                context.running().notes["wide"] = True
                begin = bounds[0].payload if _WINDOWED.get() else None
            mask = _mask(size, *bounds) if begin is None else _window(*bounds)
            at, between = (
                sum([s[0] != INTEGER for s in spec]),
                _interval(*bounds, begin is not None),
            )
            slices.append(_Slice(at, mask, between, begin, backwards))
            step, start = (FULL,), None
        elif isinstance(value, SymbolicNumber):
            if value.kind is bool:
                return None
            step, start = (INTEGER,), _position(value, shape[item.axis], item.axis)
        else:
            step, start = step_of(item, shape, key)
        spec.append(step)
        if step[0] in (INTEGER, SLICE):
            starts.append(start)
    return _Part(lens.index(tuple(starts), tuple(spec)), slices, parsed.is_element)


def _as_arrays(key: Any) -> Any:
    """Replace symbolic numbers in a key by scalars."""
    if type(key) is tuple:
        return tuple(map(_as_arrays, key))
    if isinstance(key, SymbolicNumber):
        dtype = onp.bool_ if key.kind is bool else onp.int64
        trace = context.running()
        return handles.wrap_scalar(trace.adopt(Value(numbers.element(key.payload, dtype))))
    if type(key) is slice and has_symbolic(key):
        refuse("a key with positions in an array, and a slice whose length is not known")
    return key


def getitem(array: Any, key: Any) -> Any:
    """Return `array[key]`."""
    key = _with_numbers(array, key)
    if not has_symbolic(key):
        if isinstance(array, defaultdict) and is_staged() and key not in array:
            refuse(f"the key {key!r} is put into a defaultdict")
        return array[key]
    if not isinstance(array, Handle):
        return _of_sequence(array, key)
    if type(handles.read(array).payload) is masked_array.MaskedPayload:
        refuse("an element of what has a length that is not known")
    part = _part(array, key)
    if part is None:
        return array[_as_arrays(key)]  # type: ignore[index]
    if not part.slices:
        if part.is_element:
            return apply(lens.index_get, (array, *part.lens.operands), part.lens.attrs)
        return lens.view(array, part.lens)
    found = _window_value(array, part)
    window = handles.wrap(found)
    reason = masked_array.Window(
        f"{user_location()}: a slice whose bounds are not known is written by a name of its own, "
        "which its array would have to see; write the array, `a[i:j] = new`"
    )
    reason.base = root_of(array)
    reason.origin = context.running().origin(reason.base)
    reason.again = partial(_window_value, array, part)
    extra(window).readonly = reason
    return part.turned(window)


def _window_value(array: Handle, part: _Part) -> Value:
    """Return the elements of a slice whose bounds are not known."""
    value = handles.read(part.view(array))
    for axis, mask, _, start, _ in part.slices:
        if start is not None:
            seen = numbers.through_window(value.payload, start, WINDOW, axis)
            value = context.running().adopt(Value(seen))
        if modes.differentiated():  # derivatives at unselected positions must be finite, too
            value = masked_array.spread(value, mask, axis)
    return _selected(value, part)


def _selected(value: Value, part: _Part) -> Value:
    """Return a selection of the values of a part's view: that along the first axis is outermost."""
    for axis, mask, positions, _, _ in reversed(part.slices):
        payload = masked_array.MaskedPayload(value, mask, part.ndim - axis - 1, interval=positions)
        value = context.running().adopt(Value(payload))
    return value


def _of_sequence(sequence: Any, key: Any) -> Any:
    """Return an element of a list or tuple of Python numbers, at a symbolic position."""
    kinds = set(map(type, sequence)) if type(sequence) in (list, tuple) else set()
    if isinstance(key, SymbolicNumber) and key.kind is int and kinds in ({int}, {float}):
        (kind,) = kinds
        if kind is float or all([-(2**63) <= n < 2**63 for n in sequence]):
            at = _position(key, len(sequence), 0).payload
            payload = numbers.looked_up(sequence, kind, at)
            bounds = (min(sequence), max(sequence)) if kind is int else (-INFINITE, INFINITE)
            return SymbolicNumber(payload, kind, *bounds)
    return refuse(
        f"an item of a {type(sequence).__name__} is asked for at a position that is not known; "
        "make it an array"
    )


def setitem(array: Any, key: Any, new: Any) -> None:
    """Write `array[key] = new`."""
    if not isinstance(array, Handle):
        if is_staged():
            refuse(f"an item of a {type(array).__name__} is set")
        array[key] = new
        return
    if isinstance(new, NumberOrScalar):
        integer = new.is_int and array.dtype.kind in "iu"
        new = number_of(new) if integer else new.element(array.dtype)
    if type(new) is SymbolicNumber:
        new = _element(new, array.dtype)
    key = _with_numbers(array, key)
    if not has_symbolic(key):
        array[key] = new  # type: ignore[index]
        return
    part = _part(array, key)
    if part is None:
        array[_as_arrays(key)] = new  # type: ignore[index]
    elif not part.slices:
        _write(array, part, new)
    elif any([part.start is not None for part in part.slices]):
        refuse("a slice is written through a window")
    else:
        if isinstance(new, Handle):
            new = part.turned(new)
        elif any([part.reversed for part in part.slices]) and onp.ndim(new):
            refuse("a list is written to a slice with a step")
        _write_slices(part.view(array), part, new)


def _write_slices(view: Handle, part: _Part, new: Any) -> None:
    """Write slices whose bounds are not known, through their masks."""
    first, mask = part.slices[0].axis, part.slices[0].mask
    for other in part.slices[1:]:
        between = view.shape[first + len(mask.payload.shape) : other.axis]
        mask = context.running().adopt(
            Value(numbers.outer_mask(mask.payload, other.mask.payload, between))
        )
    if isinstance(new, Handle) and new.shape:
        like = _selected(handles.read(view), part)
        whole = handles.wrap(masked_array.placed_in(handles.read(new), like))
        if whole.shape != view.shape:
            whole = apply(REGISTRY["_npi_broadcast_to"], (whole,), (view.shape,))
        trailing = part.ndim - first - len(mask.payload.shape)
        payload = masked_array.MaskedPayload(handles.read(whole), mask, trailing)
        new = handles.wrap(context.running().adopt(Value(payload)))
    view[(*[slice(None)] * first, handles.wrap(mask))] = new  # type: ignore[index]


def _write(array: Handle, part: _Part, new: Any) -> None:
    """Write a part of an array, unless the value is a view of that part, as after `a[i] += x`."""
    looking = new._view if isinstance(new, Handle) else None
    if looking is not None and looking.parent is array and _alike(looking.lens, part.lens):
        return
    if part.is_element and (type(new) in (list, tuple) or getattr(new, "ndim", None)):
        raise ValueError("setting an array element with a sequence.")
    if part.is_element and type(new) in (bool, int, float):
        check_writeable(array)
        if array.dtype.kind not in "iu":
            writes.put(array, part.lens, Value(new))
            return
    lens.view(array, part.lens)[...] = new


def _alike(one: Any, other: Any) -> bool:
    return one is other or (
        one.get is other.get
        and one.attrs == other.attrs
        and all([a is b for a, b in zip(one.operands, other.operands, strict=True)])
    )


def _element(number: SymbolicNumber, dtype: onp.dtype[Any]) -> Any:
    """Convert a symbolic number to a scalar of an array's dtype."""
    if dtype.kind in "iu":
        if number.kind is float:
            refuse("a float of Python's is written into an array of integers")
        number.expect_fits(dtype)
    trace = context.running()
    return handles.wrap_scalar(trace.adopt(Value(numbers.element(number.payload, dtype))))


def update_item(
    array: Any, key: Any, operation: Callable[[Any, Any], Any], value: Callable[[], Any]
) -> None:
    """Compute `array[key] op= value()`."""
    key = _with_numbers(array, key)
    old = getitem(array, key)
    if isinstance(old, Handle) and is_window(old):
        old = handles.wrap(handles.read(old))  # of its own: it is written into the array below
    new = operation(old, value())
    looking = old._view if isinstance(old, Handle) else None
    if new is old and looking is not None and has_symbolic(key):
        return  # the operation has written the view
    setitem(array, key, new)


__all__ = [
    "getitem",
    "has_symbolic",
    "is_traced_int",
    "number_of",
    "setitem",
    "symbolic",
    "update_item",
]
