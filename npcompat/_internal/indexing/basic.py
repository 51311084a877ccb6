"""Basic keys: the lens of ints, slices, newaxis and an ellipsis, what of an array they leave, and
NumPy's errors.
"""

import operator as python
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.core.index_spec import FULL, INTEGER, NEWAXIS, SLICE
from npcompat._internal.core.op import MOST_AXES
from npcompat._internal.dispatch import handles, late_bound, masked_array
from npcompat._internal.dispatch.traced_number import NumberArgument
from npcompat._internal.indexing import lens
from npcompat._internal.support.errors import InferenceError


def basic(shape: tuple[int, ...], key: Any) -> tuple[lens.Lens, bool] | None:
    """The lens of a basic key, and whether NumPy returns a scalar for it; None for an advanced key."""
    kind = type(key)
    if kind is int and shape:
        size = shape[0]
        if not -size <= key < size:
            raise IndexError(f"index {key} is out of bounds for axis 0 with size {size}")
        spec = ((INTEGER,), *[(FULL,)] * (len(shape) - 1))
        return lens.index((key + size if key < 0 else key,), spec), len(shape) == 1
    items = tuple(key) if isinstance(key, tuple) else (key,)
    used = ellipses = 0
    for item in items:
        if item is Ellipsis:
            ellipses += 1
        elif item is None or type(item) is slice:
            used += item is not None
        elif isinstance(item, bool | onp.bool_) or not _is_int(item):
            return None
        else:
            used += 1
    if used > len(shape) or ellipses > 1:
        raise numpy_error(shape, key)
    spec_list: list[tuple[int, ...]] = []
    starts: list[Any] = []
    axis, scalar = 0, True
    if not ellipses:
        items = (*items, Ellipsis)
    else:
        scalar = False
    for item in items:
        if item is Ellipsis:
            for _ in range(len(shape) - used):
                spec_list.append((FULL,))
                scalar = False
            axis += len(shape) - used
        elif item is None:
            spec_list.append((NEWAXIS,))
            scalar = False
        elif type(item) is slice:
            scalar = False
            size = shape[axis]
            if item.start is None and item.stop is None and item.step is None:
                spec_list.append((FULL,))
            else:
                start, stop, step = _bounds(item, size)
                length = len(range(start, stop, step))
                if start == 0 and step == 1 and length == size:
                    spec_list.append((FULL,))
                else:
                    spec_list.append((SLICE, length, step))
                    starts.append(start if length else 0)
            axis += 1
        else:
            if type(item) is NumberArgument:
                spec_list.append((INTEGER,))
                starts.append(item.within(shape[axis]))
                axis += 1
                continue
            position, size = python.index(item), shape[axis]
            if not -size <= position < size:
                raise numpy_error(shape, key)
            spec_list.append((INTEGER,))
            starts.append(position + size if position < 0 else position)
            axis += 1
    if len(spec_list) > MOST_AXES and sum(kind[0] != INTEGER for kind in spec_list) > MOST_AXES:
        raise numpy_error(shape, key)
    return lens.index(tuple(starts), tuple(spec_list)), scalar


ELEMENT = tuple([(((INTEGER,),) * ndim,) for ndim in range(65)])
"""The attributes of the index of one element, by number of axes."""


def element(key: Any, shape: tuple[int, ...]) -> list[int] | None:
    """Where a key of ints points, if it names one element of the array; the most frequent keys are
    told apart first.
    """
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


LONGEST = 2**63 - 1
"""The longest step of a slice; longer ones select nothing else."""


def _bounds(item: slice, size: Any) -> tuple[int, int, int]:
    if type(size) is int or type(size) is masked_array.Length:
        start, stop, step = item.indices(size)
        return start, stop, max(-LONGEST, min(step, LONGEST))
    raise InferenceError(
        f"the slice {item} of an axis of length {size} is not known: give the length"
    )


def _is_int(item: Any) -> bool:
    if isinstance(item, Handle):
        return (
            type(item) is late_bound.scalar
            and isinstance(item, onp.integer)
            and handles.is_known(item)
        )
    return isinstance(item, int | onp.integer) or (
        not isinstance(item, onp.ndarray | list | tuple | slice) and hasattr(item, "__index__")
    )


def numpy_error(shape: tuple[int, ...], key: Any) -> Exception:
    """The error that NumPy raises for the key."""
    try:
        onp.broadcast_to(onp.zeros(()), shape)[key]
    except Exception as error:
        return error
    return IndexError(f"invalid index {key!r} for shape {shape}")


__all__ = ["ELEMENT", "basic", "element", "numpy_error"]
