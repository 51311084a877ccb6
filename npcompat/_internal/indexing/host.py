"""Keys handled by NumPy itself: views, elements, copies and writes of arrays on the host.

Advanced keys of small arrays on XLA's CPU are handled here, too. Their positions and masks are
checked on the host anyway; reading there and transferring the result takes a third of the time of a
program.
"""

from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value, View, extra, payload_now, root_of
from npcompat._internal.dispatch import array_like, handles, late_bound, writes
from npcompat._internal.dispatch.backends import XLA_ARRAY
from npcompat._internal.dispatch.pending_errors import raise_pending
from npcompat._internal.dispatch.placement import SCALARS, host_payload
from npcompat._internal.dispatch.subclasses import inherit
from npcompat._internal.indexing import lens
from npcompat._internal.indexing.basic import basic, element

_new = object.__new__


class Indexed(lens.Lens):
    """Lens of a basic key that NumPy has handled.

    The key is only parsed into operators when a trace or XLA needs them.
    """

    __slots__ = ("key", "shape")

    def __init__(self, key: Any, shape: tuple[int, ...]) -> None:
        self.key, self.shape = key, shape

    def __getattr__(self, name: str) -> Any:
        parsed = basic(self.shape, self.key)
        assert parsed is not None
        found = parsed[0]
        self.get, self.put, self.attrs, self.look, self.operands = (
            found.get,
            found.put,
            found.attrs,
            found.look,
            found.operands,
        )
        return getattr(self, name)

    def on_host(self, array: Any) -> Any:
        """NumPy's own view."""
        return array[self.key]


_PARTS = frozenset((int, type(None)))


_FIXED = frozenset((int, type(None), type(...)))


def _fixed(key: Any) -> bool:
    """True for a basic key of ints, slices, newaxis and an ellipsis, which can't change later."""
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
    """Replace npcompat's integers and arrays in a key by NumPy's; None for the slow path."""
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
    """Copy the arrays in a key to the host, for arrays of dtypes that XLA lacks."""
    return (
        tuple(map(array_like.with_numpy_arrays, key))
        if type(key) is tuple
        else array_like.with_numpy_arrays(key)
    )


def _part_as_numpys(key: Any) -> Any:
    """Return an int for an integer scalar, a NumPy array for positions or a mask, else None."""
    if type(key) is late_bound.ndarray:
        found = key._value.payload if key._view is None else handles.current_array(key)
        return found if type(found) is onp.ndarray and found.dtype.kind in "biu" else None
    if type(key) in late_bound.scalars or isinstance(key, onp.integer):
        return (
            key.__index__()
            if key.dtype.kind in "iu"
            and not (isinstance(key, Handle) and handles.current_array(key) is None)
            else None
        )
    if type(key) is list:
        found = _positions_in(key)
    else:
        found = (
            handles.current_array(key)
            if isinstance(key, Handle)
            else key
            if type(key) is onp.ndarray
            else None
        )
    return found if found is not None and found.dtype.kind in "biu" else None


def _positions_in(key: list[Any]) -> Any:
    """Return a list as a NumPy array; None if it is ragged, or holds npcompat arrays."""
    try:
        return None if any([isinstance(k, Handle) for k in key]) else onp.asarray(key)
    except ValueError:
        return None


def _names_fields(array: Any, key: Any) -> bool:
    """True if a key names fields of an array of records."""
    return array.dtype.names is not None and (
        type(key) is str or (type(key) is list and all([type(k) is str for k in key]))
    )


def get(handle: Any, array: Any, key: Any) -> Any:
    """Return `handle[key]` by NumPy; None for keys that need the slow path."""
    kind = type(handle)
    if kind in late_bound.scalars:
        handle = handles.wrap(handle._value)
    if type(key) is not int and not (_fixed(key) or _names_fields(array, key)):
        key = _as_numpys(key)
        if key is None:
            return None
        if not _fixed(key):  # a copy
            found = array[key]
            if type(found) is not onp.ndarray:
                return _scalar(array, found)
            copied = handles.wrap(Value(found))
            return copied if kind is late_bound.ndarray else lens.inheriting(copied, handle)
    rare = handle._extra
    readonly = False if rare is None else rare.readonly
    if readonly and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False  # so that records from it are read-only, too
    found = array[key]
    if type(found) is onp.ndarray:
        view = object.__new__(late_bound.ndarray)
        view._view, view._extra = View(handle, Indexed(key, array.shape)), None
        extra(view._view.root)
        if readonly:
            extra(view).readonly = readonly
        elif view._view.depth > lens.DEEPEST:
            lens.shorten(view)
        return view if kind is late_bound.ndarray else inherit(view, handle)
    if type(found) is onp.void and found.flags.writeable:
        with writes.lock_of(handle):
            if (own := writes.buffer(handle)) is not None:
                return own[key]  # a record is writeable: from a buffer that no other array shares
    return _scalar(array, found)


def _scalar(array: Any, found: Any) -> Any:
    """Return an element of a host array as a scalar; objects, strings and dates unchanged."""
    if not dtypes.on_devices(array.dtype):
        return found
    return handles.wrap_scalar(Value(onp.asarray(found)))


def put(handle: Any, key: Any, new: Any, plain: bool) -> bool:
    """Write `handle[key] = new` by NumPy; return False if it needs the slow path."""
    if type(new) is late_bound.symbol:
        return False
    if not (_fixed(key) or _names_fields(handle, key)):
        index = key if dtypes.on_devices(handle.dtype) else _brought(key)
        key = _as_numpys(index)
        if key is None:
            return False
    with writes.lock_of(handle), writes.writing(handle) as target:
        if target is None:
            return False
        if isinstance(new, Handle) and (
            target.dtype.char != "O" or element(key, target.shape) is None
        ):  # one element of an object array holds the array itself
            new = _assigned_elements(new)
        try:
            if plain:
                target[key] = new
            else:
                writes.assign(target, key, new)
        except ValueError as error:
            if not str(error).startswith("object __array__ method not producing an array"):
                raise
            writes.assign(
                target, key, array_like.with_numpy_arrays(new)
            )  # `__array__` gave an npcompat array
    return True


def _assigned_elements(new: Handle) -> Any:
    """Return the elements of an array, and NumPy's scalar for a scalar.

    NumPy checks that an assigned scalar fits the dtype; arrays are only cast.
    """
    found = (
        host_payload(handles.read(new)) if (live := handles.current_array(new)) is None else live
    )
    return found[()] if type(new) in late_bound.scalars else found


_SMALL = 4096
"""Maximum elements of arrays on XLA that are read and written on the host by advanced keys."""


def _small(handle: Any) -> Any:
    """Return the elements of a small array on XLA's CPU, or of a view of one, and its device.

    None for other arrays, and in a mode in which operators are recorded, traced or observed.
    """
    mode = modes.current()
    if not mode.is_default or mode.audit is not None:
        return None
    payload = payload_now(root_of(handle)._value)
    if (
        type(payload) is not XLA_ARRAY
        or payload.size > _SMALL
        or sharding.is_layout(device := xla.device_of(payload))
        or device.platform != "cpu"
    ):
        return None
    array = xla.to_host(payload)
    raise_pending()
    return _seen(handle, array), device


def _seen(handle: Handle, root: onp.ndarray[Any, Any]) -> Any:
    """Return the part of a root's array that a handle views."""
    view = handle._view
    return root if view is None else view.lens.on_host(_seen(view.parent, root))


def _small_key(key: Any) -> Any:
    """Return an advanced key for NumPy; None if arrays in it are not small."""
    if type(key) is tuple:
        parts = tuple([_small_part(k) for k in key])
        return (
            None
            if any([p is None and k is not None for p, k in zip(parts, key, strict=True)])
            else parts
        )
    return _small_part(key)


def _small_part(part: Any) -> Any:
    """Return an item of an advanced key for NumPy; None for symbols and larger arrays."""
    if type(part) is late_bound.symbol:
        return None
    if not isinstance(part, Handle):
        return array_like.with_numpy_arrays(part)
    size = part.size  # type: ignore[attr-defined]
    return handles.to_host(part) if type(size) is int and size <= _SMALL else None


def get_small(handle: Any, key: Any, raveled: bool = False) -> Any:
    """Return `handle[key]`, or `handle.ravel()[key]`, of a small array on XLA, as a copy there.

    None if it needs the slow path.
    """
    if (small := _small(handle)) is None or (small_key := _small_key(key)) is None:
        return None
    array, device = small
    if not dtypes.on_devices(array.dtype):
        return None  # a view of the bytes as a dtype that XLA lacks
    if raveled:
        array = array.reshape(-1)
    found = get(handles.wrap(Value(array)), array, small_key)
    if found is None or found._view is not None:
        return None
    found._value = Value(xla.asarray(found._value.payload, device))
    return lens.inheriting(found, handle)


def put_small(handle: Any, key: Any, new: Any) -> bool:
    """Write `handle[key] = new` into a small array on XLA that is no view; False for others."""
    if handle._view is not None or writes.keeps_history(handle):
        return False
    with writes.updating:
        if (small := _small(handle)) is None or (small_key := _small_key(key)) is None:
            return False
        array, device = small
        if (
            type(small_key) is onp.ndarray
            and small_key.dtype.kind in "biu"
            and type(new) in SCALARS
        ):  # the most frequent case
            written = array.copy()
            written[small_key] = new
        else:
            copied = handles.wrap(Value(array.copy()))
            if not put(copied, small_key, new, True):
                return False
            written = copied._value.payload
        writes.write(handle, Value(xla.asarray(written, device)))
    return True
