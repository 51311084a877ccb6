"""Checks of keys and assigned values, with NumPy's errors.

In a trace, a check of bounds becomes a condition of the compiled program.
"""

import math
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like, execution, handles, late_bound, masked_array
from npcompat._internal.support.errors import user_location


def check_element(dtype: onp.dtype[Any], new: Any) -> None:
    """Raise NumPy's error if the value for one element has axes.

    An element of dtype bool takes the truth value of an array of one element.
    """
    shape = new.shape if hasattr(new, "shape") else array_like.shape_of(new)
    if shape and dtypes.on_devices(dtype) and not (dtype.kind == "b" and math.prod(shape) == 1):
        if dtype.kind == "c":
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        raise ValueError("setting an array element with a sequence.")


def check_for_mask(handle: Any, key: Any, new: Any) -> None:
    """Raise NumPy's error if the value for a mask over all axes has more than one axis."""
    if type(key) is not bool and getattr(key, "dtype", None) != onp.bool_:
        return
    axes = new.ndim if hasattr(new, "ndim") else len(array_like.shape_of(new))
    if axes > 1 and onp.shape(key) == handle.shape:
        message = "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input"
        raise TypeError(f"{message}, input has {axes} dimensions")


_least, _most = onp.minimum.reduce, onp.maximum.reduce
REAL = frozenset((bool, int, float))


def checked_scalar(x: Any, dtype: onp.dtype[Any]) -> Any:
    """Return a Python number; raise NumPy's error if the dtype can't hold it."""
    if (dtype.kind in "iu" and type(x) in REAL) or (type(x) is complex and dtype.kind != "c"):
        onp.zeros((), dtype)[()] = x
    return x


@operator("_npi_out_of_bounds", pattern="reduction", scalars=False, differentiable=False)
def _out_of_bounds(xp: Any, positions: Any, *where: Any, size: int) -> Any:
    """Return True if any position lies outside `-size <= i < size`.

    Parameters
    ----------
    where : array of bool, optional
        True for the positions that are checked.
    size : int
        Length of the axis.
    """
    if positions.dtype.kind == "u":  # never negative
        outside = positions.astype(onp.uint64) >= onp.uint64(size)
    else:
        positions = positions.astype(onp.int64)
        outside = (positions < -size) | (positions >= size)
    return xp.any(outside & where[0] if where else outside)


def check_part(new: tuple[int, ...], shape: tuple[int, ...], axis: int, masked: int) -> None:
    """Raise NumPy's error if a value can't be broadcast to each part that a mask selects."""
    before, part = shape[:axis], shape[axis + masked :]
    if any([n not in (1, m) for n, m in zip(new[::-1], part[::-1], strict=False)]):
        selected = ",".join([*map(str, before), "?", *map(str, part)])
        raise ValueError(
            f"shape mismatch: value array of shape {new} could not be broadcast to indexing "
            f"result of shape ({selected})"
        )


def check_selected(new: Any, selected: tuple[Any, ...]) -> None:
    """Raise NumPy's error if a value can't be broadcast to the selected elements.

    Leading axes of length 1 may be too many.
    """
    shape = getattr(new, "shape", ())
    extra = max(len(shape) - len(selected), 0)
    if any([not masked_array.fits(n, 1) for n in shape[:extra]]) or any(
        [not masked_array.fits(*pair) for pair in zip(shape[::-1], selected[::-1], strict=False)]
    ):
        text = (
            f"shape mismatch: value array of shape {shape} could not be broadcast to indexing "
            f"result of shape {selected}"
        )
        raise ValueError(text.replace(", ", ","))


def check_mask(base: Any, mask: Any, axis: int) -> None:
    for i, size in enumerate(mask.shape):
        if base.shape[axis + i] != size and not (
            type(size) is int and size == 0
        ):  # NumPy does not check an axis of length 0
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {base.shape[axis + i]} "
                f"but size of corresponding boolean axis is {size}"
            )


def check_bounds(positions: Any, size: int, axis: int) -> None:
    trace = modes.current().trace
    if isinstance(positions, Handle):
        value = handles.read(positions)
        if type(value.payload) is late_bound.symbolic:
            return  # graphs carry no conditions
        if trace is not None and language.is_tracer(value.payload):
            message = (
                f"index out of bounds for axis {axis} with size {size} (compiled at "
                f"{user_location()})"
            )
            selected = type(value.payload) is masked_array.MaskedPayload
            operands = masked_array.with_where(value) if selected else [value]
            outside = execution.run(_out_of_bounds, operands, (size,))
            trace.expect(outside.payload, IndexError, message)
            return
        positions = handles.to_host(positions)
    if positions.size and (_least(positions, None) < -size or _most(positions, None) >= size):
        wrong = positions[(positions < -size) | (positions >= size)]
        raise IndexError(f"index {wrong.flat[0]} is out of bounds for axis {axis} with size {size}")
