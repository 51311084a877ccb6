"""Advanced keys, with masks and positions: reads are copies, writes are done in place."""

import math
import operator as python
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value, check_writeable
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import (
    array_like,
    execution,
    handles,
    late_bound,
    masked_array,
    writes,
)
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.placement import constant, host_payload
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import lens
from npcompat._internal.indexing.assigned_value import fitted, listed
from npcompat._internal.indexing.basic import ELEMENT, basic
from npcompat._internal.indexing.checks import (
    REAL,
    check_bounds,
    check_mask,
    check_part,
    check_selected,
    checked_scalar,
)
from npcompat._internal.indexing.parse import WHOLE, Kind, is_mask, parse
from npcompat._internal.support.errors import TracedValueError, user_location


def _split(handle: Any, key: Any) -> tuple[Any, list[Any]]:
    """Split an advanced key into a basic view, and one index for each of its axes.

    An index is an array, or None for a whole axis.
    """
    if (
        type(key) is late_bound.ndarray and key.dtype.kind in "iu" and (ndim := len(handle.shape))
    ):  # the most frequent case
        return handle, [key, *[None] * (ndim - 1)]
    items = tuple(key) if isinstance(key, tuple) else (key,)
    if modes.current().trace is not None:
        handle, items = _ints_first(handle, items)
    pre: list[Any] = []
    advanced: list[Any] = []
    for item in parse(handle.shape, items).items:
        a = item.value
        if item.kind is Kind.NEWAXIS or item.kind is Kind.SLICE:
            pre.append(a)
            advanced.append(None)
            continue
        if item.kind is Kind.INTEGER:  # beside arrays, an int broadcasts with them
            a = a if isinstance(a, Handle) else onp.asarray(python.index(a))
        pre += [WHOLE] * item.axes
        if not item.axes:  # a 0-d mask adds an axis
            pre.append(None)
            a = lens.reshaped(a, (1,)) if isinstance(a, Handle) else a.reshape(1)
        advanced.append(a)
    base = handle
    if any(p is None or p != WHOLE for p in pre):
        found = basic(handle.shape, tuple(pre))
        assert found is not None
        base = (
            lens.plain_view(handle, found[0])
            if type(handle) not in late_bound.scalars
            else lens.view(handle, found[0])
        )
    return base, advanced


def _ints_first(handle: Any, items: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Rewrite `a[m, 0]` as `a[:, 0][m]` if these are equal; return a basic view, and its key.

    Other keys are returned unchanged.
    """
    masks = [i for i, item in enumerate(items) if is_mask(item)]
    ints = [i for i, item in enumerate(items) if type(item) is int]
    if (
        not ints
        or len(masks) != 1
        or not all(
            [i in ints or i in masks or type(k) is slice or k is None for i, k in enumerate(items)]
        )
    ):
        return handle, items
    places = sorted(masks + ints)
    if places[-1] - places[0] + 1 != len(places) and not {*range(masks[0])} <= {*ints}:
        return handle, items  # NumPy moves the axis of the mask to the front
    key = [
        part
        for i, item in enumerate(items)
        for part in ([WHOLE] * len(item.shape) if i in masks else [item])
    ]
    found = basic(handle.shape, tuple(key))
    assert found is not None
    return lens.view(handle, found[0]), tuple(
        [item if i in masks else slice(None) for i, item in enumerate(items) if i not in ints]
    )


@operator("_npi_take_at", order="K", pattern="injective", scalars=True)
def _take_at(xp: Any, a: Any, *positions: Any, axes: Any) -> Any:
    """Read `a[i, :, j]` with integer arrays on the marked axes, and all elements of the others.

    Parameters
    ----------
    *positions : array of int
        One for each marked axis; they are broadcast together.
    axes : tuple of bool
        True for each axis with positions.
    """
    return xp.take_at(a, _full_index(xp, a, positions, axes))


@operator("_npi_put_at", order="K", pattern="opaque", rule=lens.as_written)
def _put_at(xp: Any, a: Any, new: Any, *positions: Any, axes: Any) -> Any:
    """Return a copy of `a` after `a[i, :, j] = new`.

    Parameters
    ----------
    *positions : array of int
        One for each marked axis; they are broadcast together.
    axes : tuple of bool
        True for each axis with positions.
    """
    return xp.put_at(a, _full_index(xp, a, positions, axes), new)


@operator("_npi_put_selected", order="K", pattern="opaque", rule=lens.as_written)
def _put_selected(xp: Any, a: Any, new: Any, mask: Any, *positions: Any, axes: Any) -> Any:
    """Return a copy of `a` after `a[i[mask], :, j[mask]] = new[mask]`.

    Parameters
    ----------
    mask : array of bool
        True for the positions that are written, in the order of the mask's elements.
    *positions : array of int
        One for each marked axis; they are broadcast to the mask.
    axes : tuple of bool
        True for each axis with positions.
    """
    return xp.put_selected(a, _full_index(xp, a, positions, axes), new, mask)


@operator(
    "_npi_put_mask",
    pattern="broadcast",
    rule=lambda types, attrs: ([None, types[0], None], types[0]),
)
def _put_mask(xp: Any, a: Any, new: Any, mask: Any, *, axis: int = 0) -> Any:
    """Return a copy of `a` after `a[..., mask, ...] = new`, with the same values in all parts.

    Parameters
    ----------
    mask : array of bool
        True for the selected parts, over some of the axes.
    axis : int
        First of the axes that the mask covers.
    """
    trailing = a.ndim - axis - mask.ndim
    return xp.where(xp.reshape(mask, mask.shape + (1,) * trailing), new, a)


def _element(base: Any, advanced: list[Any]) -> lens.Lens | None:
    """Return the lens of one element in a trace, if some of its positions are traced; else None."""
    if modes.current().trace is None or not advanced:
        return None
    if any([a is None or a.ndim or a.dtype == onp.bool_ for a in advanced]):
        return None
    if not any(
        [isinstance(a, Handle) and language.is_tracer(handles.read(a).payload) for a in advanced]
    ):
        return None
    if isinstance(handles.read(base).payload, language.Unknown):
        return None
    starts: list[Any] = []
    for axis, (a, size) in enumerate(zip(advanced, base.shape, strict=True)):
        check_bounds(a, size, axis)
        if isinstance(a, Handle):
            starts.append(TracedNumber(tracing.counted_from_zero(handles.read(a).payload, size)))
        else:
            starts.append(int(a) + size if a < 0 else int(a))
    return lens.index(tuple(starts), *ELEMENT[len(starts)])


def _full_index(xp: Any, a: Any, positions: Any, axes: Any) -> tuple[Any, ...]:
    remaining = iter(positions)
    index: list[Any] = []
    for axis, marked in enumerate(axes):
        if not marked:
            index.append(slice(None))
            continue
        i = xp.known(next(remaining))
        where = onp.where if type(i) is onp.ndarray else xp.where
        i = i.astype(onp.int64)
        index.append(where(i < 0, i + a.shape[axis], i))
    return tuple(index)


def get(handle: Any, key: Any) -> Any:
    """Return `handle[key]`, a copy."""
    base, advanced = _split(handle, key)
    masks = [a for a in advanced if a is not None and a.dtype == onp.bool_]
    if modes.current().trace is not None and any(isinstance(m, Handle) for m in masks):
        if len(masks) < sum(a is not None for a in advanced) or len(masks) > 1:
            raise TracedValueError(
                f"{user_location()}: an array is read with a boolean mask and other indices while "
                "its function is being compiled; "
                "the result's shape depends on data. Read with the mask alone, use np.where(mask, "
                "a, other), or do it outside"
            )
        axis = next(i for i, a in enumerate(advanced) if a is not None)
        check_mask(base, masks[0], axis)
        return handles.wrap(masked_array.select(handles.read(base), handles.read(masks[0]), axis))
    element = _element(base, advanced)
    if element is not None:
        return apply(lens.index_get, (base, *element.operands), element.attrs)
    positions, axes = _positions(base, advanced)
    if masks and _read_on_host(base):
        index = tuple(onp.asarray(positions.pop(0)) if marked else slice(None) for marked in axes)
        return lens.inheriting(array_like.array_of(handles.to_host(base)[index]), handle)
    values = [handles.read(base), *map(array_like.as_value, positions)]
    return lens.inheriting(
        handles.wrap_result(_take_at, execution.run(_take_at, values, (axes,))), handle
    )


def _read_on_host(base: Any, *values: Value) -> bool:
    """True if a mask is applied on the host.

    XLA would compile a program for each number of selected elements.
    """
    mode = modes.current()
    if mode.trace is not None or type(handles.read(base).payload) is onp.ndarray:
        return False
    return not (mode.recording and any(v.node is not None for v in (handles.read(base), *values)))


def put(handle: Any, key: Any, new: Any) -> None:
    """Write `handle[key] = new`."""
    base, advanced = _split(handle, key)
    check_writeable(base)
    if not isinstance(new, Handle) and type(new) not in (int, float, bool, complex):
        new = listed(new, base.dtype)
    value = array_like.as_value(new)
    indexed = [a for a in advanced if a is not None]
    if len(indexed) == 1 and indexed[0].dtype == onp.bool_ and _put_by_mask(base, advanced, value):
        return
    _refuse_traced_masks(indexed)
    element = _element(base, advanced)
    if element is not None and type(value.payload) is not masked_array.MaskedPayload:
        check_selected(new, ())
        writes.put(base, element, fitted(new, (), base.dtype))
    else:
        _put_at_positions(base, advanced, new)


def _put_by_mask(base: Any, advanced: list[Any], value: Value) -> bool:
    """Write through a single mask if all selected parts get the same values; return False if not.

    A value with an element for each part is written by positions instead.
    """
    axis, mask = next((i, a) for i, a in enumerate(advanced) if a is not None)
    check_mask(base, mask, axis)
    selected = array_like.as_value(mask)
    full = masked_array.written(value, selected, axis)
    if full is value:  # not a selection by the same mask
        shape = getattr(value.payload, "shape", ())
        if len(shape) > len(base.shape) - axis - len(mask.shape):
            return False
        check_part(shape, base.shape, axis, len(mask.shape))
    checked_scalar(full.payload, base.dtype)
    if type(mask) is onp.ndarray and not mask.size:
        return True  # nothing is selected: no cast, and no warning of it
    with writes.lock_of(base):
        target = writes.buffer(base, full, selected)
        if target is not None:
            key = (slice(None),) * axis + (host_payload(selected),)
            writes.assign(target, key, host_payload(full))
        else:
            writes.update_part(base, _put_mask, [full, selected], (axis,))
    return True


def _refuse_traced_masks(indexed: list[Any]) -> None:
    if modes.current().trace is not None and any(
        a.dtype == onp.bool_ and isinstance(a, Handle) for a in indexed
    ):
        raise TracedValueError(
            f"{user_location()}: several values are written through a boolean mask while the "
            "function is being compiled, so how "
            "many are needed depends on data. Write one value, or use a[...] = np.where(mask, "
            "values_of_full_shape, a)"
        )


def _put_at_positions(base: Any, advanced: list[Any], new: Any) -> None:
    """Write at the positions of integer arrays, and of the true elements of masks."""
    positions, axes = _positions(base, advanced)
    indexed_shape = masked_array.together([getattr(p, "shape", ()) for p in positions])
    shape = _advanced_shape(base.shape, axes, indexed_shape)
    check_selected(new, shape)
    fit = (
        Value(checked_scalar(new, base.dtype))
        if type(new) in REAL
        else fitted(new, shape, base.dtype)
    )  # the operator casts numbers

    def index(arrays: Sequence[Any]) -> tuple[Any, ...]:
        remaining = iter(arrays)
        return tuple([next(remaining) if marked else slice(None) for marked in axes])

    masked = any([a is not None and a.dtype == onp.bool_ for a in advanced])
    if masked and _read_on_host(base, fit) and not writes.keeps_history(base):
        host = onp.array(handles.to_host(base))
        host[index([onp.asarray(p) for p in positions])] = host_payload(fit)
        writes.write(base, constant(host))
        return
    places = [array_like.as_value(p) for p in positions]
    if any([type(p.payload) is masked_array.MaskedPayload for p in places]):
        _put_at_selected(base, fit, places, axes)
        return
    with writes.lock_of(base):
        target = writes.buffer(base, fit, *places)
        if target is not None:
            writes.assign(target, index([host_payload(p) for p in places]), host_payload(fit))
        else:
            writes.update_part(base, _put_at, [fit, *places], (axes,))


def _put_at_selected(
    base: Any, new: Value, places: Sequence[Value], axes: tuple[bool, ...]
) -> None:
    """Write at positions that a boolean mask selects, in a trace."""
    full, mask = masked_array.in_full(
        [new, *places] if type(new.payload) is masked_array.MaskedPayload else places
    )
    value, positions = (new, full) if len(full) == len(places) else (full[0], full[1:])
    writes.update_part(base, _put_selected, [value, mask, *positions], (axes,))


def _advanced_shape(
    shape: tuple[int, ...], axes: tuple[bool, ...], indexed: tuple[int, ...]
) -> tuple[int, ...]:
    marked = [i for i, m in enumerate(axes) if m]
    whole = [n for n, m in zip(shape, axes, strict=True) if not m]
    if marked and marked[-1] - marked[0] + 1 != len(marked):
        return (*indexed, *whole)
    before = marked[0] if marked else 0
    return (*whole[:before], *indexed, *whole[before:])


def _positions(base: Any, advanced: list[Any]) -> tuple[list[Any], tuple[bool, ...]]:
    """Return index arrays for the marked axes of the base, after a check of their bounds.

    Masks become the positions of their true elements. The second result marks the axes.
    """
    positions: list[Any] = []
    unchecked: list[tuple[Any, int]] = []
    axes: list[bool] = []
    for a in advanced:
        if a is None:
            axes.append(False)
        elif a.dtype == onp.bool_:
            check_mask(base, a, len(axes))
            mask = handles.to_host(a) if isinstance(a, Handle) else a
            found = onp.nonzero(mask)
            positions += found
            axes += [True] * len(found)
        else:
            if a.ndim:
                unchecked.append((a, len(axes)))
            else:
                check_bounds(a, base.shape[len(axes)], len(axes))
            positions.append(a)
            axes.append(True)
    if len(positions) == 1 or any([type(p) is late_bound.symbol for p in positions]):
        _check_all(base, unchecked)
        return positions, tuple(axes)
    try:
        shape = masked_array.together([p.shape for p in positions])
    except ValueError:
        shapes = " ".join(str(p.shape).replace(" ", "") for p in positions)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} "
        ) from None
    if math.prod([n for n in shape if type(n) is int]):  # NumPy checks nothing if it reads nothing
        _check_all(base, unchecked)
    return positions, tuple(axes)


def _check_all(base: Any, positions: list[tuple[Any, int]]) -> None:
    for array, axis in positions:
        check_bounds(array, base.shape[axis], axis)
