"""Functions with a data-dependent length that compiled functions fix with `size=`.

Results begin with the elements found, in order. Those beyond `size` are dropped; missing ones are
filled.
"""

import math
import operator as python
from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import flagged
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike

_bool, _int64 = onp.dtype(bool), onp.dtype("int64")


def length(what: str, size: Any, fill_value: Any) -> int | None:
    """Return the argument `size` as a number, or None; `fill_value` needs it."""
    if size is None:
        if fill_value is not None:
            raise ValueError(
                f"np.{what}: fill_value fills a result up to size=, which is not given"
            )
        return None
    count = python.index(size)
    if count < 0:
        raise ValueError(f"np.{what}: size must not be negative, got {count}")
    return count


def _filling(what: str, fill_value: Any) -> Any:
    filling = asarray(fill_value)
    if filling.ndim:
        raise ValueError(
            f"np.{what}: fill_value must be a single element, got the shape {filling.shape}"
        )
    return filling


def _first(xp: Any, condition: Any, size: int) -> Any:
    """Find the positions of the first true elements, padded with the condition's length."""
    return xp.searchsorted(xp.cumsum(condition), xp.arange(1, size + 1))


# --- positions ------------------------------------------------------------------------------------


@operator(
    "_npi_nonzero",
    keeps_class=False,
    rule=lambda types, attrs: ([_bool, _int64], _int64),
    differentiable=False,
)
def _nonzero(xp: Any, a: Any, fill_value: Any, *, size: int) -> Any:
    """Find the positions of `size` elements that are not zero, one row per axis.

    Parameters
    ----------
    fill_value : array of int
        Padding index: one, or one for each axis.
    size : int
        Number of indices.
    """
    found = _first(xp, xp.ravel(a), size)
    steps = [max(math.prod(a.shape[axis + 1 :]), 1) for axis in range(a.ndim)]
    rows = xp.stack([found // step % max(n, 1) for step, n in zip(steps, a.shape, strict=True)])
    return xp.where(found < a.size, rows, xp.reshape(fill_value, (-1, 1)))


def positions(what: str, a: ArrayLike, size: int, fill_value: Any) -> Any:
    """Find the positions of the first `size` elements that are not zero, one row per axis."""
    a, filling = asarray(a), asarray(0 if fill_value is None else fill_value)
    if filling.dtype.kind not in "biu":
        raise TypeError(
            f"np.{what}: fill_value stands for a position, which is an integer; got the dtype "
            f"{filling.dtype}"
        )
    if filling.shape not in ((), (1,), (a.ndim,)):
        raise ValueError(
            f"np.{what}: fill_value must be an integer, or one for each of {a.ndim} axes; got the "
            f"shape {filling.shape}"
        )
    return apply(_nonzero, (a, filling), (size,))


# --- elements -------------------------------------------------------------------------------------


def _kept(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    kept = dtypes.strong(types[1])
    return [_bool, None, kept], kept


@operator("_npi_compress", rule=_kept)
def _compress(xp: Any, condition: Any, a: Any, fill_value: Any, *, axis: int, size: int) -> Any:
    """Select the first `size` slices along an axis for which a condition holds.

    Parameters
    ----------
    fill_value : array
        Padding value of missing slices.
    size : int
        Number of slices.
    """
    condition = condition[: a.shape[axis]]
    count = condition.shape[0]
    if count == 0:
        return xp.broadcast_to(fill_value, (*a.shape[:axis], size, *a.shape[axis + 1 :]))
    found = _first(xp, condition, size)
    picked = xp.take_at(a, (slice(None),) * axis + (xp.minimum(found, count - 1),))
    return xp.where(
        xp.reshape(found < count, (size,) + (1,) * (a.ndim - axis - 1)), picked, fill_value
    )


def slices(
    what: str, condition: ArrayLike, a: ArrayLike, axis: int, size: int, fill_value: Any
) -> Any:
    """Select the first `size` slices along an axis for which a condition holds."""
    condition, a = asarray(condition), asarray(a)
    axis = onp.lib.array_utils.normalize_axis_index(axis, a.ndim)
    count = a.shape[axis]
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if condition.shape[0] > count:
        message = (
            f"np.{what}: the condition holds at a position that is out of bounds for axis "
            f"{axis} with size {count}"
        )
        flagged(condition[count:].any(), IndexError, message)
    return apply(
        _compress,
        (condition, a, _filling(what, 0 if fill_value is None else fill_value)),
        (axis, size),
    )


# --- distinct elements ----------------------------------------------------------------------------


def _unique_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    kept = dtypes.strong(types[0])
    return [None, *[kept] * (len(types) - 1)], (kept, _int64, _int64, _int64)


@operator("_npi_unique", rule=_unique_types, outputs=4)
def _unique(
    xp: Any, ar: Any, *fill_value: Any, size: int, axis: int | None = None, equal_nan: bool = True
) -> Any:
    """Find distinct elements, ascending, with their first positions, inverse and counts.

    Parameters
    ----------
    *fill_value : array
        Padding value of missing elements; the least element if not given.
    size : int
        Number of elements.
    axis : int, optional
        Compare the slices along this axis; if not given, single elements.
    equal_nan : bool
        If True, all NaN count as one element.
    """
    lines = xp.ravel(ar) if axis is None else xp.moveaxis(ar, axis, 0)
    count, width = lines.shape[0], math.prod(lines.shape[1:])
    if count == 0:
        values = xp.broadcast_to(
            fill_value[0] if fill_value else xp.zeros((), ar.dtype), (size, *lines.shape[1:])
        )
        none = xp.zeros(size, _int64)
        return (
            xp.moveaxis(values, 0, axis or 0),
            none,
            xp.zeros(ar.shape if axis is None else 0, _int64),
            none,
        )
    rows = xp.reshape(lines, (count, width))
    if width == 1:
        order = xp.argsort(rows[:, 0], stable=True)
    else:
        order = xp.lexsort([rows[:, i] for i in range(width)][::-1]) if width else xp.arange(count)
    ordered = xp.take_at(rows, (order,))
    differ = ordered[1:] != ordered[:-1]
    if equal_nan and axis is None and ar.dtype.kind in "fcmM":
        differ = differ & ~(xp.isnan(ordered[1:]) & xp.isnan(ordered[:-1]))
    is_new = xp.concatenate([xp.ones(1, bool), xp.any(differ, axis=1)])
    begins = _first(xp, is_new, size + 1)  # one more: the count needs the start of the next element
    exists = begins[:size] < count
    indices = xp.take_at(order, (xp.where(exists, begins[:size], 0),))
    inverse = xp.take_at(xp.cumsum(is_new) - 1, (xp.argsort(order),))
    values = xp.take_at(lines, (indices,))
    if fill_value:
        values = xp.where(
            xp.reshape(exists, (size,) + (1,) * (values.ndim - 1)), values, fill_value[0]
        )
    values = xp.moveaxis(values, 0, axis or 0)
    return (
        values,
        indices,
        xp.reshape(inverse, ar.shape) if axis is None else inverse,
        begins[1:] - begins[:-1],
    )


def distinct(
    ar: ArrayLike, axis: Any, equal_nan: bool, size: int, fill_value: Any
) -> tuple[Any, ...]:
    """Find the least `size` distinct elements, with first positions, inverse and counts."""
    ar = asarray(ar)
    if axis is not None:
        axis = onp.lib.array_utils.normalize_axis_index(python.index(axis), ar.ndim)
    if fill_value is None and size and not (ar.size if axis is None else ar.shape[axis]):
        raise ValueError(
            "np.unique: an array without elements has none to fill up to size= with; give "
            "fill_value"
        )
    filling = () if fill_value is None else (_filling("unique", fill_value),)
    return tuple(apply(_unique, (ar, *filling), (size, axis, bool(equal_nan))))


__all__ = ["distinct", "length", "positions", "slices"]
