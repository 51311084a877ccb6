"""`a[key]` and `a[key] = new`: basic keys are views, advanced ones read copies and write in place.

Hot path: an int or a slice on the first axis is recognised before anything else.
"""

import math
import operator as python
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes, execution, lens, modes, selection, short
from npcompat._internal.backend.numpy_kernels import FULL, INTEGER, indexed_shape
from npcompat._internal.basic_keys import basic
from npcompat._internal.errors import TracedValueError, user_location
from npcompat._internal.handle import Handle, Value, View, extra
from npcompat._internal.index_checks import (
    REAL,
    check_bounds,
    check_element,
    check_for_mask,
    check_mask,
    check_part,
    check_selected,
    checked_scalar,
)
from npcompat._internal.op import operator
from npcompat._internal.subclasses import inherit, is_subclass

_new = object.__new__
_current_mode, _default_mode = modes._MODE.get, modes._process_default


def getitem(handle: Any, key: Any) -> Any:
    """`handle[key]`."""
    if _current_mode(_default_mode[0]).plain:
        array = handle._value.payload if handle._view is None else dispatch.live(handle)
        if type(array) is onp.ndarray and (found := _get_on_host(handle, array, key)) is not None:
            return found
    starts = _element(key, handle.shape)
    if starts is not None:
        return dispatch.apply(lens.index_get, (handle, *starts), _ELEMENT[len(starts)])
    parsed = basic(handle.shape, key)
    if parsed is None:
        return _get_advanced(handle, *_split(handle, key))
    found, scalar = parsed
    if scalar:
        return dispatch.apply(lens.index_get, (handle, *found.operands), found.attrs)
    return lens.view(handle, found)


class Indexed(lens.Lens):
    """The lens of a basic key that NumPy has taken; it is taken apart where it is needed elsewhere than on the host."""

    __slots__ = ("key", "shape")

    def __init__(self, key: Any, shape: tuple[int, ...]) -> None:
        self.key, self.shape = key, shape

    def __getattr__(self, name: str) -> Any:
        parsed = basic(self.shape, self.key)
        assert parsed is not None
        found = parsed[0]
        self.get, self.put, self.attrs, self.look, self.operands = found.get, found.put, found.attrs, found.look, found.operands
        return getattr(self, name)

    def on_host(self, array: Any) -> Any:
        """NumPy's own view."""
        return array[self.key]


short.connect(key_lens=Indexed)

_PARTS = frozenset((int, type(None)))
_FIXED = frozenset((int, type(None), type(...)))


def _fixed(key: Any) -> bool:
    """Whether a key is basic, and nothing in it can change later."""
    kind = type(key)
    if kind is slice:
        return type(key.start) in _PARTS and type(key.stop) in _PARTS and type(key.step) in _PARTS
    if kind is tuple:
        for k in key:
            if type(k) not in _FIXED and not (type(k) is slice and _fixed(k)):
                break
        else:
            return True
    return kind in _FIXED


def _as_numpys(key: Any) -> Any:
    """A key with integers or arrays of ours in it as NumPy takes it; None for what is left to the general way."""
    if type(key) is not tuple:
        return _part_as_numpys(key)
    parts = []
    for k in key:
        part = k if _fixed(k) else _part_as_numpys(k)
        if part is None and k is not None:
            return None
        parts.append(part)
    return tuple(parts)


def _brought(key: Any) -> Any:
    """A key with its arrays brought to the host, where records, texts and the like are."""
    return tuple(map(dispatch.asked, key)) if type(key) is tuple else dispatch.asked(key)


def _part_as_numpys(key: Any) -> Any:
    """An int for an integer scalar, a NumPy array for an array of positions or a mask; None for what else there may be."""
    if type(key) is dispatch.ndarray:
        found = key._value.payload if key._view is None else dispatch.live(key)
        return found if type(found) is onp.ndarray and found.dtype.kind in "biu" else None
    if type(key) is dispatch.scalar or isinstance(key, onp.integer):
        return key.__index__() if key.dtype.kind in "iu" and not (isinstance(key, Handle) and dispatch.live(key) is None) else None
    if type(key) is list:
        found = _positions_in(key)
    else:
        found = dispatch.live(key) if isinstance(key, Handle) else key if type(key) is onp.ndarray else None
    return found if found is not None and found.dtype.kind in "biu" else None


def _positions_in(key: list[Any]) -> Any:
    """A list of positions as a NumPy array; None if it holds anything else, or arrays of ours."""
    try:
        return None if any([isinstance(k, Handle) for k in key]) else onp.asarray(key)
    except ValueError:
        return None


def _names_fields(array: Any, key: Any) -> bool:
    """Whether a key names fields of an array of records."""
    return array.dtype.names is not None and (type(key) is str or (type(key) is list and all([type(k) is str for k in key])))


def _get_on_host(handle: Any, array: Any, key: Any) -> Any:
    """`handle[key]` by NumPy; None for keys that are left to the general way."""
    kind = type(handle)
    if kind is dispatch.scalar:
        handle = dispatch.wrap(handle._value)
    if type(key) is not int and not (_fixed(key) or _names_fields(array, key)):
        key = _as_numpys(key)
        if key is None:
            return None
        if not _fixed(key):  # a copy
            found = array[key]
            if type(found) is not onp.ndarray:
                return _scalar(array, found)
            copied = dispatch.wrap(Value(found))
            return copied if kind is dispatch.ndarray else _of_class(copied, handle)
    rare = handle._extra
    readonly = rare is not None and rare.readonly
    if readonly and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False  # of which NumPy makes records that can't be written, either
    found = array[key]
    if type(found) is onp.ndarray:
        view = object.__new__(dispatch.ndarray)
        view._view, view._extra = View(handle, Indexed(key, array.shape)), None
        extra(view._view.root)
        if readonly:
            extra(view).readonly = True
        elif view._view.depth > _DEEP and kind is dispatch.ndarray:
            _shorten(view, found)
        return view if kind is dispatch.ndarray else inherit(view, handle)
    if type(found) is onp.void and found.flags.writeable and (own := dispatch.buffer(handle)) is not None:
        return own[key]  # a record can be written, and is part of this array only
    return _scalar(array, found)


def _scalar(array: Any, found: Any) -> Any:
    """An element of a host array; an object, a string, a date is NumPy's own."""
    if not dtypes.on_devices(array.dtype):
        return found
    value, handle = _new(Value), _new(dispatch.scalar)
    value.payload, value.node, value.index = onp.asarray(found), None, 0
    handle._value, handle._view, handle._extra = value, None, None
    return handle


_DEEP = 100
"""How long a chain of views may get, as in a loop over `a = a[1:]`, before it is replaced by one step."""


def _shorten(view: Any, found: onp.ndarray[Any, Any]) -> None:
    """Let a view look at its root directly, if the root's memory is in C order and holds the same elements."""
    root = view._view.root
    memory = dispatch.live(root)
    size = found.itemsize
    steps = found.strides
    if memory is None or not memory.flags.c_contiguous or memory.dtype != found.dtype or not size or any([s % size for s in steps]):
        return
    offset = found.__array_interface__["data"][0] - memory.__array_interface__["data"][0] if found.size else 0
    if offset % size == 0 and 0 <= offset <= memory.nbytes:
        view._view = View(root, lens.strided(found.shape, tuple([s // size for s in steps]), offset // size))


def _set_on_host(handle: Any, key: Any, new: Any, plain: bool) -> bool:
    """`handle[key] = new` by NumPy; False if that can't be."""
    if type(new) is dispatch.symbol:
        return False
    if not (_fixed(key) or _names_fields(handle, key)):
        given = key if dtypes.on_devices(handle.dtype) else _brought(key)
        key = _as_numpys(given)
        if key is None:
            return False
    record = dispatch.record_of(handle)
    target = dispatch.buffer(handle)
    if target is None:
        return False
    if isinstance(new, Handle) and (target.dtype.char != "O" or _element(key, target.shape) is None):  # an object is kept as it is
        scalar = type(new) is dispatch.scalar
        new = execution.host_payload(dispatch.read(new)) if (found := dispatch.live(new)) is None else found
        if scalar:
            new = new[()]  # which NumPy checks, where it casts arrays
    try:
        if plain:
            target[key] = new
        else:
            dispatch.assign(target, key, new)
    except Exception as error:
        if not str(error).startswith("object __array__ method not producing an array"):
            dispatch.record_again(handle, record)
            raise
        dispatch.assign(target, key, dispatch.asked(new))  # it gives an array of ours
    return True


_ELEMENT = tuple([(((INTEGER,),) * ndim,) for ndim in range(65)])
"""The attributes of the index of one element, by number of axes."""


def _element(key: Any, shape: tuple[int, ...]) -> list[int] | None:
    """Where a key of ints points, if it names one element of the array; the most frequent keys are told apart first."""
    kind = type(key)
    if kind is int:
        key = (key,)
    elif kind is not tuple:
        return None
    if len(key) != len(shape):
        return None
    starts = []
    for position, size in zip(key, shape, strict=True):
        if type(position) is not int or not -size <= position < size:
            return None
        starts.append(position + size if position < 0 else position)
    return starts


def setitem(handle: Any, key: Any, new: Any) -> None:
    """`handle[key] = new`: broadcast to the part, cast to the array's dtype; nothing is written if that fails."""
    if isinstance(new, Handle) and (view := new._view) is not None and view.parent is handle and getattr(view.lens, "key", view) is key:
        return  # `a[key] += x` ends with `a[key] = that view`, which is already written
    if handle._extra is not None and handle._extra.readonly:
        raise ValueError("assignment destination is read-only")
    mode = modes.current()
    if mode.direct and _set_on_host(handle, key, new, mode.plain):
        return
    starts = _element(key, handle.shape)
    if starts is not None:
        if type(new) not in REAL:
            check_element(handle.dtype, new)
        found = lens.index(tuple(starts), *_ELEMENT[len(starts)])
    else:
        parsed = basic(handle.shape, key)
        if parsed is None:
            check_for_mask(handle, key[0] if type(key) is tuple and len(key) == 1 else key, new)
            _set_advanced(handle, *_split(handle, key), new)
            return
        found = parsed[0]
    if isinstance(new, Handle) and new._view is not None and new._view.parent is handle and new._view.lens.same(found):
        return
    whole = all([kind[0] == FULL for kind in found.attrs[0]])
    if not whole and type(new) in REAL:
        dispatch.put(handle, found, Value(checked_scalar(new, handle.dtype)))  # the operator casts and broadcasts it
        return
    value = fitted(new, indexed_shape(handle.shape, found.attrs[0]), handle.dtype)
    if whole:
        dispatch.write(handle, value)
    else:
        dispatch.put(handle, found, value)


@operator("_npi_fit", pattern="broadcast", rule=lambda types, attrs: ([None], attrs["dtype"]))
def _fit(xp: Any, new: Any, *, shape: Any, dtype: Any) -> Any:
    """A value broadcast and cast to what it is written into; leading axes of length 1 may be left out.

    Parameters
    ----------
    dtype : dtype
        Dtype of the result.
    """
    new = xp.asarray(new)
    extra = new.ndim - len(shape)
    if extra > 0 and new.shape[:extra] == (1,) * extra:
        new = xp.reshape(new, new.shape[extra:])
    if new.ndim > len(shape) or any(n not in (1, s) for n, s in zip(new.shape[::-1], shape[::-1], strict=False)):
        raise ValueError(f"could not broadcast input array from shape {new.shape} into shape {shape}".replace(", ", ","))
    return xp.broadcast_to(xp.astype(new, dtype), shape)


def fitted(new: Any, shape: tuple[int, ...], dtype: onp.dtype[Any]) -> Value:
    """The value of an array-like in the shape and dtype of what it is written into."""
    if not isinstance(new, Handle) and type(new) not in (int, float, bool, complex):
        new = _listed(new, dtype)
    value = dispatch.as_value(new)
    payload = value.payload
    if hasattr(payload, "dtype") and payload.dtype == dtype and payload.shape == shape:
        node = value.node if modes.current().recording else None  # what is not recorded is a constant
        return execution.fresh(payload, node, value.index)
    if type(payload) in (int, float, complex):
        checked_scalar(payload, dtype)
    elif type(payload) is not bool:
        dtypes.warn_of_lost_parts(payload.dtype, dtype, 5)
    if type(payload) is selection.Selected and payload.shape == shape:
        whole = payload.values
        return payload.alike(execution.run(_fit, [whole], (whole.payload.shape, dtype)))
    result: Value = execution.run(_fit, [value], (shape, dtype))
    return result


def _listed(new: Any, dtype: onp.dtype[Any]) -> Any:
    """An array of what is written; numbers in lists have no dtype before they have that of the array, and must fit."""
    return dispatch.array_of(dispatch.host_array(new, dtype if isinstance(new, list | tuple | range) else None))


# --- advanced keys -----------------------------------------------------------------------------------------------


def _split(handle: Any, key: Any) -> tuple[Any, list[Any]]:
    """An advanced key as a basic view followed by one index per axis: an array, or None for a whole axis."""
    if type(key) is dispatch.ndarray and key.dtype.kind in "iu" and (ndim := len(handle.shape)):  # what is most frequent
        return handle, [key, *[None] * (ndim - 1)]
    items = tuple(key) if isinstance(key, tuple) else (key,)
    if modes.current().trace is not None:
        handle, items = _ints_first(handle, items)
    arrays = [_as_index(item) for item in items]
    consumed = sum(_consumes(a) for a in arrays)
    if consumed > len(handle.shape) or sum(a is Ellipsis for a in arrays) > 1:
        raise IndexError(f"too many indices for array: array is {len(handle.shape)}-dimensional, but {consumed} were indexed")
    if not any(a is Ellipsis for a in arrays):
        arrays.append(Ellipsis)
    pre: list[Any] = []
    advanced: list[Any] = []
    for a in arrays:
        if a is Ellipsis:
            rest = len(handle.shape) - consumed
            pre += [slice(None)] * rest
            advanced += [None] * rest
        elif a is None or type(a) is slice:
            pre.append(a)
            advanced.append(None)
        else:
            pre += [slice(None)] * _consumes(a)
            if not _consumes(a):  # a 0-d mask adds an axis
                pre.append(None)
                a = lens.reshaped(a, (1,)) if isinstance(a, Handle) else a.reshape(1)
            advanced.append(a)
    base = handle
    if any(p is None or p != slice(None) for p in pre):
        found = basic(handle.shape, tuple(pre))
        assert found is not None
        base = lens.plain_view(handle, found[0]) if type(handle) is not dispatch.scalar else lens.view(handle, found[0])
    return base, advanced


def _ints_first(handle: Any, items: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """`a[m, 0]` as `a[:, 0][m]`, where that is the same: a basic view, and the key of it.  Other keys as they are."""
    masks = [i for i, item in enumerate(items) if _is_mask(item)]
    ints = [i for i, item in enumerate(items) if type(item) is int]
    if not ints or len(masks) != 1 or not all([i in ints or i in masks or type(k) is slice or k is None for i, k in enumerate(items)]):
        return handle, items
    places = sorted(masks + ints)
    if places[-1] - places[0] + 1 != len(places) and not {*range(masks[0])} <= {*ints}:
        return handle, items  # NumPy moves the axis of the mask to the front
    key = [part for i, item in enumerate(items) for part in ([slice(None)] * len(item.shape) if i in masks else [item])]
    found = basic(handle.shape, tuple(key))
    assert found is not None
    return lens.view(handle, found[0]), tuple([item if i in masks else slice(None) for i, item in enumerate(items) if i not in ints])


def _is_mask(item: Any) -> bool:
    return isinstance(item, Handle) and getattr(item, "dtype", None) == onp.bool_ and len(getattr(item, "shape", ())) > 0


def _consumes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if type(item) is slice:
        return 1
    return len(item.shape) if item.dtype == onp.bool_ else 1


def _as_index(item: Any) -> Any:
    if _is_mask(item) and any([type(n) is int and n == 0 for n in item.shape]):
        item = onp.zeros(item.shape, onp.bool_)  # what it selects is known, in a compiled function, too
    found: Any = item
    if hasattr(type(item), "__index__") and not isinstance(item, int | onp.ndarray | onp.generic | Handle):
        item = python.index(item)
    if not (item is None or item is Ellipsis or type(item) is slice or isinstance(item, Handle)):
        found = onp.asarray(dispatch.host_array(item))
        if found.size == 0 and isinstance(item, list | tuple):
            found = found.astype(onp.intp)
    dtype = getattr(found, "dtype", None)
    if dtype is not None and dtype.kind not in "iub":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, got {dtype}; use .astype('int64') if the values are whole"
        )
    return found


@operator("_npi_take_at", pattern="injective", scalars=True)
def _take_at(xp: Any, a: Any, *positions: Any, axes: Any) -> Any:
    """`a[i, :, j]`: integer arrays on the axes marked, whole axes elsewhere.

    Parameters
    ----------
    *positions : array of int
        One for each axis that is marked; they are broadcast together.
    axes : tuple of bool
        Which axes have positions; of the others all elements are meant.
    """
    return xp.take_at(a, _whole(xp, a, positions, axes))


@operator("_npi_put_at", pattern="opaque")
def _put_at(xp: Any, a: Any, new: Any, *positions: Any, axes: Any) -> Any:
    """`a` with `a[i, :, j] = new`.

    Parameters
    ----------
    *positions : array of int
        One for each axis that is marked; they are broadcast together.
    axes : tuple of bool
        Which axes have positions; of the others all elements are meant.
    """
    return xp.put_at(a, _whole(xp, a, positions, axes), new)


@operator("_npi_put_mask", pattern="broadcast", rule=lambda types, attrs: ([None, types[0], None], types[0]))
def _put_mask(xp: Any, a: Any, new: Any, mask: Any, *, axis: int = 0) -> Any:
    """`a` with `a[..., mask, ...] = new`, where all parts that are selected get the same.

    Parameters
    ----------
    mask : array of bool
        Which parts, over some of the axes.
    axis : int
        Where the axes of the mask begin.
    """
    trailing = a.ndim - axis - mask.ndim
    return xp.where(xp.reshape(mask, mask.shape + (1,) * trailing), new, a)


def _whole(xp: Any, a: Any, positions: Any, axes: Any) -> tuple[Any, ...]:
    remaining = iter(positions)
    index: list[Any] = []
    for axis, marked in enumerate(axes):
        if not marked:
            index.append(slice(None))
            continue
        i = xp.asarray(next(remaining))
        i = xp.astype(i, onp.int64)
        index.append(xp.where(i < 0, i + a.shape[axis], i))
    return tuple(index)


def _get_advanced(handle: Any, base: Any, advanced: list[Any]) -> Any:
    masks = [a for a in advanced if a is not None and a.dtype == onp.bool_]
    if modes.current().trace is not None and any(isinstance(m, Handle) for m in masks):
        if len(masks) < sum(a is not None for a in advanced) or len(masks) > 1:
            raise TracedValueError(
                f"{user_location()}: an array is read with a boolean mask and other indices while its function is being compiled; "
                "the result's shape depends on data. Read with the mask alone, use np.where(mask, a, other), or do it outside"
            )
        axis = next(i for i, a in enumerate(advanced) if a is not None)
        check_mask(base, masks[0], axis)
        return dispatch.wrap(selection.select(dispatch.read(base), dispatch.read(masks[0]), axis))
    positions, axes = _positions(base, advanced)
    if masks and _read_on_host(base):
        index = tuple(onp.asarray(positions.pop(0)) if marked else slice(None) for marked in axes)
        return _of_class(dispatch.array_of(dispatch.to_host(base)[index]), handle)
    values = [dispatch.read(base), *map(dispatch.as_value, positions)]
    return _of_class(dispatch.wrap_result(_take_at, execution.run(_take_at, values, (axes,))), handle)


def _of_class(copied: Any, handle: Any) -> Any:
    """What an advanced index read, of the class of the array: as in NumPy, a view of a plain array."""
    return inherit(lens.plain_view(copied, lens.whole(copied)), handle) if is_subclass(type(handle)) else copied


def _read_on_host(base: Any, *values: Value) -> bool:
    """Whether to use a mask on the host: XLA would compile one program for each count of selected elements."""
    mode = modes.current()
    if mode.trace is not None or type(dispatch.read(base).payload) is onp.ndarray:
        return False
    return not (mode.recording and any(v.node is not None for v in (dispatch.read(base), *values)))


def _set_advanced(handle: Any, base: Any, advanced: list[Any], new: Any) -> None:
    if base._extra is not None and base._extra.readonly:
        raise ValueError("assignment destination is read-only")
    indexed = [a for a in advanced if a is not None]
    if not isinstance(new, Handle) and type(new) not in (int, float, bool, complex):
        new = _listed(new, base.dtype)
    value = dispatch.as_value(new)
    if len(indexed) == 1 and indexed[0].dtype == onp.bool_:
        mask, axis = indexed[0], next(i for i, a in enumerate(advanced) if a is not None)
        check_mask(base, mask, axis)
        selected = dispatch.as_value(mask)
        whole = selection.written(value, selected, axis)
        shape = getattr(value.payload, "shape", ())
        if whole is not value or len(shape) <= len(base.shape) - axis - len(mask.shape):
            if whole is value:
                check_part(shape, base.shape, axis, len(mask.shape))
            value = whole
            checked_scalar(value.payload, base.dtype)
            if type(mask) is onp.ndarray and not mask.size:
                return  # nothing is written, nor cast
            target = dispatch.buffer(base, value, selected)
            if target is not None:
                key = (slice(None),) * axis + (execution.host_payload(selected),)
                dispatch.assign(target, key, execution.host_payload(value))
            else:
                dispatch.update(base, _put_mask, [value, selected], (axis,))
            return
    if modes.current().trace is not None and any(a.dtype == onp.bool_ and isinstance(a, Handle) for a in indexed):
        raise TracedValueError(
            f"{user_location()}: several values are written through a boolean mask while the function is being compiled, so how "
            "many are needed depends on data. Write one value, or use a[...] = np.where(mask, values_of_full_shape, a)"
        )
    positions, axes = _positions(base, advanced)
    target = onp.broadcast_shapes(*[getattr(p, "shape", ()) for p in positions])
    shape = _advanced_shape(base.shape, axes, target)
    check_selected(new, shape)
    fit = fitted(new, shape, base.dtype)
    if any(a.dtype == onp.bool_ for a in indexed) and _read_on_host(base, fit):
        host = onp.array(dispatch.to_host(base))
        host[tuple(onp.asarray(positions.pop(0)) if marked else slice(None) for marked in axes)] = onp.asarray(fit.payload)
        dispatch.write(base, execution.constant(host))
        return
    places = [dispatch.as_value(p) for p in positions]
    target = dispatch.buffer(base, fit, *places)
    if target is not None:
        rest = iter(places)
        index = tuple([execution.host_payload(next(rest)) if marked else slice(None) for marked in axes])
        dispatch.assign(target, index, execution.host_payload(fit))
    else:
        dispatch.update(base, _put_at, [fit, *places], (axes,))


def _advanced_shape(shape: tuple[int, ...], axes: tuple[bool, ...], indexed: tuple[int, ...]) -> tuple[int, ...]:
    marked = [i for i, m in enumerate(axes) if m]
    whole = [n for n, m in zip(shape, axes, strict=True) if not m]
    if marked and marked[-1] - marked[0] + 1 != len(marked):
        return (*indexed, *whole)
    before = marked[0] if marked else 0
    return (*whole[:before], *indexed, *whole[before:])


def _positions(base: Any, advanced: list[Any]) -> tuple[list[Any], tuple[bool, ...]]:
    """Index arrays, in range, one for each marked axis of the base; masks become the positions of their True."""
    positions: list[Any] = []
    unchecked: list[tuple[Any, int]] = []
    axes: list[bool] = []
    for a in advanced:
        if a is None:
            axes.append(False)
        elif a.dtype == onp.bool_:
            check_mask(base, a, len(axes))
            mask = dispatch.to_host(a) if isinstance(a, Handle) else a
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
    if len(positions) == 1 or any([type(p) is dispatch.symbol for p in positions]):
        _check_all(base, unchecked)
        return positions, tuple(axes)
    try:
        size = math.prod(onp.broadcast_shapes(*[p.shape for p in positions]))
    except ValueError:
        shapes = " ".join(str(p.shape).replace(" ", "") for p in positions)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} ") from None
    if size:  # else nothing is looked for
        _check_all(base, unchecked)
    return positions, tuple(axes)


def _check_all(base: Any, positions: list[tuple[Any, int]]) -> None:
    for array, axis in positions:
        check_bounds(array, base.shape[axis], axis)


__all__ = ["basic", "dtypes", "fitted", "getitem", "setitem"]
