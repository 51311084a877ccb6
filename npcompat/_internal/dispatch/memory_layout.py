"""Memory layout of arrays: it decides about views, strides and flags.

On the host it is the layout of the payload. XLA chooses layouts of its own, and a tracer has no
memory. So an array there has a stand-in in `Extra.layout`, a NumPy array whose elements mean
nothing; without one its layout is C order.
"""

from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle, extra, payload_now
from npcompat._internal.dispatch.placement import new_value

Array = onp.ndarray[Any, Any]


def in_c_order(handle: Handle) -> bool:
    """True if the array owns its memory in C order.

    Arrays with a stand-in count as unknown, because the call cache (native/call_cache.h) makes the
    same assumption.
    """
    if handle._view is not None or (handle._extra is not None and handle._extra.layout is not None):
        return False
    payload = payload_now(handle._value)
    return type(payload) is not onp.ndarray or payload.flags.c_contiguous


def note(handle: Handle) -> None:
    """Save the layout of a root handle in a stand-in, before an XLA payload replaces its value."""
    payload = payload_now(handle._value)
    if type(payload) is onp.ndarray and not payload.flags.c_contiguous:
        rare = extra(handle)
        if (
            rare.layout is None or rare.layout.strides != payload.strides
        ):  # a stand-in of the same strides stays, because views refer to it
            rare.layout = stand_in(payload)


def stand_in(array: Array) -> Array:
    """Return a NumPy array of the same shape, dtype and strides.

    Its elements are uninitialized and take no physical memory, as nothing writes them.
    """
    low, high = onp.lib.array_utils.byte_bounds(array)
    return onp.ndarray(
        array.shape,
        array.dtype,
        onp.empty(high - low, onp.uint8),
        array.ctypes.data - low,
        array.strides,
    )


def lay_out(handle: Handle, wanted: Array) -> None:
    """Give a new root handle the layout of a stand-in."""
    value = handle._value
    if handle._extra is not None or (
        type(value.payload) is not onp.ndarray and not wanted.flags.c_contiguous
    ):
        extra(handle).layout = wanted
    if type(value.payload) is onp.ndarray and value.payload.strides != wanted.strides:
        handle._value = new_value(copied(value.payload, wanted), value.node, value.index)


def copied(array: Array, like: Array | None) -> Array:
    """Return a copy in the layout of another array of the same shape, or in C order."""
    made = (
        onp.empty(array.shape, array.dtype) if like is None else onp.empty_like(like, array.dtype)
    )
    made[...] = array
    return made


__all__ = ["copied", "in_c_order", "lay_out", "note", "stand_in"]
