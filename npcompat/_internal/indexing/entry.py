"""`a[key]` and `a[key] = new`: basic keys are views, advanced ones read copies and write in place.

Hot path: an int or a slice on the first axis is recognised before anything else.
"""

from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value, check_writeable, payload_now, root_of
from npcompat._internal.core.index_spec import FULL, indexed_shape
from npcompat._internal.core.trace_notes import COPIES
from npcompat._internal.dispatch import handles, late_bound, writes
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.backends import ON_DEVICES
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import advanced, host, lens
from npcompat._internal.indexing.assigned_value import fitted
from npcompat._internal.indexing.basic import ELEMENT, basic, element
from npcompat._internal.indexing.checks import REAL, check_element, check_for_mask, checked_scalar
from npcompat._internal.indexing.parse import is_basic_but_for
from npcompat._internal.support.errors import user_location

_current_mode, _default_mode = modes._MODE.get, modes._process_default


def getitem(handle: Any, key: Any) -> Any:
    """Return `handle[key]`."""
    mode = _current_mode(_default_mode[0])
    if mode.is_default or _is_off_tape(handle, None, mode):
        array = (
            payload_now(handle._value) if handle._view is None else handles.current_array(handle)
        )
        if type(array) is onp.ndarray and (found := host.get(handle, array, key)) is not None:
            return found
    starts = element(key, handle.shape)
    if starts is not None:
        return apply(lens.index_get, (handle, *starts), ELEMENT[len(starts)])
    parsed = basic(handle.shape, key)
    if parsed is None:
        small = host.get_small(handle, key)
        copy = advanced.get(handle, key) if small is None else small
        if mode.trace is not None and _is_view_of_numpys(key):
            mode.trace.notes.setdefault(COPIES, []).append((copy, copy._value, user_location()))
        return copy
    found, scalar = parsed
    if scalar:
        return apply(lens.index_get, (handle, *found.operands), found.attrs)
    return lens.view(handle, found)


def _is_view_of_numpys(key: Any) -> bool:
    """Return True for a key that is advanced only because traced integers stand for positions."""
    return is_basic_but_for(key, lambda i: type(i) in late_bound.scalars and i.dtype.kind in "iu")


def _is_off_tape(handle: Any, new: Any, mode: modes.Mode) -> bool:
    """Return True for an array of records, texts or dates, which nothing records.

    A recorded value, whose derivative would be lost there, raises TypeError.
    """
    if mode.trace is not None or dtypes.on_devices(handle.dtype):
        return False
    if handle.dtype.char != "O" and isinstance(new, Handle) and handles.read(new).node is not None:
        raise TypeError(
            f"a recorded array is written into an array of {handle.dtype}, where its derivative "
            "would be lost; write x.detach()"
        )
    return True


def setitem(handle: Any, key: Any, new: Any) -> None:
    """Write `handle[key] = new`, broadcast to the part and cast to the array's dtype.

    If either fails, nothing is written.
    """
    if (
        isinstance(new, Handle)
        and (view := new._view) is not None
        and view.parent is handle
        and getattr(view.lens, "key", view) is key
    ):
        return  # the last step of `a[key] += x`, which has written the view already
    check_writeable(handle)
    mode = modes.current()
    if mode.trace is not None and isinstance(new, TracedNumber):
        new.check_stored(handle.dtype)
    if (
        (mode.may_touch_host_buffers or _is_off_tape(handle, new, mode))
        and type(payload_now(root_of(handle)._value)) not in ON_DEVICES
        and host.put(handle, key, new, mode.is_default)
    ):
        return
    if mode.trace is not None and isinstance(new, Handle) and COPIES in mode.trace.notes:
        copies = mode.trace.notes[COPIES]
        copies[:] = [copy for copy in copies if copy[0] is not new]  # `a[key] += x` stores it
    starts = element(key, handle.shape)
    if starts is not None:
        if type(new) not in REAL:
            check_element(handle.dtype, new)
        found = lens.index(tuple(starts), *ELEMENT[len(starts)])
    else:
        parsed = basic(handle.shape, key)
        if parsed is None:
            if not host.put_small(handle, key, new):
                check_for_mask(handle, key[0] if type(key) is tuple and len(key) == 1 else key, new)
                advanced.put(handle, key, new)
            return
        found = parsed[0]
    if (
        isinstance(new, Handle)
        and new._view is not None
        and new._view.parent is handle
        and new._view.lens.same(found)
    ):
        return
    whole = all([kind[0] == FULL for kind in found.attrs[0]])
    if not whole and type(new) in REAL:
        writes.put(
            handle, found, Value(checked_scalar(new, handle.dtype))
        )  # the operator casts and broadcasts it
        return
    value = fitted(new, indexed_shape(handle.shape, found.attrs[0]), handle.dtype)
    if whole:
        writes.write(handle, value)
    else:
        writes.put(handle, found, value)
