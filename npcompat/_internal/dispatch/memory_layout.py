"""In which order the elements of an array lie in memory, which decides what is a view, and what
strides and flags say.

On the host it is the payload's own. XLA lays values out as it likes, and a tracer has no memory;
there an array has a stand-in in `Extra.layout`, an array of NumPy's whose elements mean nothing,
and lies in C order if it has none.
"""

from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle, extra, payload_now
from npcompat._internal.dispatch.placement import new_value

Array = onp.ndarray[Any, Any]


def in_c_order(handle: Handle) -> bool:
    """Whether an array is known to own elements that lie in C order: it has no stand-in, as far as
    what is remembered of calls knows.
    """
    if handle._view is not None or (handle._extra is not None and handle._extra.layout is not None):
        return False
    payload = payload_now(handle._value)
    return type(payload) is not onp.ndarray or payload.flags.c_contiguous


def note(handle: Handle) -> None:
    """Keep the order of an array that owns its elements, before they go where no payload says
    it.
    """
    payload = payload_now(handle._value)
    if type(payload) is onp.ndarray and not payload.flags.c_contiguous:
        rare = extra(handle)
        if (
            rare.layout is None or rare.layout.strides != payload.strides
        ):  # what views look at stays
            rare.layout = stand_in(payload)


def stand_in(array: Array) -> Array:
    """An array of the same shape, dtype and strides, whose elements mean nothing and take no memory
    until they are written.
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
    """Give a new array, which owns its elements, the order of a stand-in."""
    value = handle._value
    if handle._extra is not None or (
        type(value.payload) is not onp.ndarray and not wanted.flags.c_contiguous
    ):
        extra(handle).layout = wanted
    if type(value.payload) is onp.ndarray and value.payload.strides != wanted.strides:
        handle._value = new_value(copied(value.payload, wanted), value.node, value.index)


def copied(array: Array, like: Array | None) -> Array:
    """A copy in the order of another array of its shape; in C order if there is none."""
    made = (
        onp.empty(array.shape, array.dtype) if like is None else onp.empty_like(like, array.dtype)
    )
    made[...] = array
    return made


__all__ = ["copied", "in_c_order", "lay_out", "note", "stand_in"]
