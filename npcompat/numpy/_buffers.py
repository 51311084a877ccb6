"""Arrays over existing memory: strided views and `ndarray(buffer=)`."""

import math
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle, extra, root_of
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.result_layout import axes_as_in_memory
from npcompat._internal.indexing import lens
from npcompat.numpy._typing import Order


def strided(x: Any, wanted: onp.ndarray[Any, Any], writeable: bool = True) -> Any:
    """Return the view of `x` with the offset and strides that `wanted` has in its layout."""
    root = root_of(x)
    memory = handles.layout(root)
    low, high = onp.lib.array_utils.byte_bounds(memory)
    if wanted.size and not (
        low <= onp.lib.array_utils.byte_bounds(wanted)[0]
        and onp.lib.array_utils.byte_bounds(wanted)[1] <= high
    ):
        raise ValueError(
            f"as_strided: shape {wanted.shape} with strides {wanted.strides} would access "
            "memory out of bounds of the array's"
        )
    size = memory.dtype.itemsize
    if not memory.flags.c_contiguous:
        ordered = _as_in_memory(root, memory)
        if ordered is None:
            return _among_gaps(x, root, memory, wanted, writeable)
        root = ordered
        memory = handles.layout(root)
    # Strides of axes of length 1 are never used.
    steps = [
        s if n > 1 and wanted.size else 0 for n, s in zip(wanted.shape, wanted.strides, strict=True)
    ]
    offset = wanted.ctypes.data - memory.ctypes.data if wanted.size else 0
    if memory.dtype == wanted.dtype and not any([s % size for s in (*steps, offset)]):
        view = lens.plain_view(
            root, lens.strided(wanted.shape, tuple([s // size for s in steps]), offset // size)
        )
    else:
        view = _by_bytes(root, wanted, steps, offset)
    apart = not lens.overlapping((*wanted.shape, wanted.itemsize), (*steps, 1))
    if not (writeable and x.flags.writeable and (apart or handles.current_array(root) is not None)):
        extra(view).readonly = True
    return view


def _as_in_memory(root: Any, memory: onp.ndarray[Any, Any]) -> Any:
    """Return the view of an array whose elements lie in C order; None if there is none."""
    upwards = tuple(slice(None, None, -1 if s < 0 else 1) for s in memory.strides)
    axes = axes_as_in_memory(memory)
    if not memory[upwards].transpose(axes).flags.c_contiguous:
        return None
    ordered = root[upwards] if any([s < 0 for s in memory.strides]) else root
    return lens.view(ordered, lens.transpose(tuple(axes)))


def _among_gaps(
    x: Any, root: Any, memory: onp.ndarray[Any, Any], wanted: onp.ndarray[Any, Any], writeable: bool
) -> Any:
    """Build the strided view of an array that leaves gaps in its memory, or fail.

    It has a stand-in layout, in which each element is found by its number.
    """
    size = memory.dtype.itemsize
    low, high = onp.lib.array_utils.byte_bounds(memory)
    strides = (*memory.strides, *wanted.strides, wanted.ctypes.data - low)
    if (
        handles.current_array(root) is None
        and memory.dtype == wanted.dtype
        and wanted.size
        and not any([s % size for s in strides])
    ):
        cells = onp.full((high - low) // size, -1)

        def numbers(array: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
            start = (array.ctypes.data - low) // size * cells.itemsize
            return onp.ndarray(
                array.shape,
                cells.dtype,
                cells,
                start,
                [s // size * cells.itemsize for s in array.strides],
            )

        numbers(memory)[...] = onp.arange(memory.size).reshape(memory.shape)
        found = numbers(wanted)
        first = found[(0,) * found.ndim]
        steps = [
            int(found[(*[0] * i, 1, *[0] * (found.ndim - i - 1))] - first) if n > 1 else 0
            for i, n in enumerate(found.shape)
        ]
        regular = sum(
            [
                step * i
                for step, i in zip(steps, onp.indices(found.shape, sparse=True), strict=True)
            ],
            first,
        )
        if found.min() >= 0 and (found == regular).all():
            view = lens.plain_view(root, lens.strided(wanted.shape, tuple(steps), int(first)))
            if not (
                writeable and x.flags.writeable and not lens.overlapping(wanted.shape, tuple(steps))
            ):
                extra(view).readonly = True
            return view
    raise NotImplementedError(
        "as_strided: the array that owns the memory must fill it without gaps; copy it first"
    )


def _by_bytes(root: Any, wanted: onp.ndarray[Any, Any], steps: list[int], offset: int) -> Any:
    """Build the strided view of elements at any byte offset: bytes, read as elements."""
    if handles.layout(root).dtype.hasobject or wanted.dtype.hasobject:
        raise NotImplementedError(
            "as_strided: of arrays of objects, strides must be multiples of the element's size, "
            "and the dtype the same"
        )
    octets = lens.reshaped(root, (-1,)).view(onp.dtype("uint8"))
    elements = lens.plain_view(
        octets, lens.strided((*wanted.shape, wanted.itemsize), (*steps, 1), offset)
    ).view(wanted.dtype)
    return lens.plain_view(elements, lens.reshape(wanted.shape))


def over(
    buffer: Any,
    shape: tuple[int, ...],
    dtype: onp.dtype[Any],
    offset: int,
    strides: Any,
    order: Order,
) -> Any:
    """Create the array of `ndarray(buffer=)`: a view of an array, or over other memory."""
    if not isinstance(buffer, Handle):
        return over_memory(onp.ndarray(shape, dtype, buffer, offset, strides, order))
    ours: Any = buffer
    # Raise NumPy's error if this is impossible.
    wanted = onp.ndarray(shape, dtype, handles.layout(ours), offset, strides, order)
    is_contiguous = wanted.flags.c_contiguous or wanted.flags.f_contiguous
    if dtype == ours.dtype or (strides is not None and not is_contiguous):
        return strided(ours, wanted)
    octets = ours.reshape(-1).view(onp.dtype("uint8"))[
        offset : offset + math.prod(shape) * dtype.itemsize
    ]
    backwards = not wanted.flags.c_contiguous
    made = octets.view(dtype).reshape(shape[::-1] if backwards else shape)
    return made.T if backwards else made


__all__ = ["over", "strided"]
