"""Piecewise functions and functions applied along axes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.subclasses import inherit
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._empty_slices import is_empty
from npcompat.numpy._filled import zeros, zeros_like
from npcompat.numpy._joining import concatenate
from npcompat.numpy._logic import can_cast, result_type
from npcompat.numpy._manipulation import expand_dims, moveaxis, ndim
from npcompat.numpy._memory_order import in_order
from npcompat.numpy._overrides import defers_for_items, defers_to_classes
from npcompat.numpy._selection import where
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- by condition ---------------------------------------------------------------------------------


@defers_for_items
def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> "ndarray":
    """Choose each element from the array that belongs to its first true condition.

    Parameters
    ----------
    condlist : sequence of array_like of bool
        The conditions.
    choicelist : sequence of array_like
        As many choices; all are broadcast against each other.
    default : array_like
        Value where no condition holds.

    Raises
    ------
    ValueError
        If there are no conditions, or not as many as choices.
    TypeError
        If a condition is not of bool.

    Examples
    --------
    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, 10 * x], -1)
    array([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    choices = [
        c if type(c) in (int, float, complex) or isinstance(c, TracedNumber) else asarray(c)
        for c in (*choicelist, default)
    ]
    conditions = [asarray(c) for c in condlist]
    for i, condition in enumerate(conditions):
        if condition.dtype != onp.bool_:
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    dtype = result_type(*choices)
    chosen = asarray(choices[-1]).astype(dtype)
    for condition, choice in zip(conditions[::-1], choices[-2::-1], strict=True):
        if getattr(choice, "kind", type(choice)) is int and not can_cast(
            onp.int64, dtype, "same_kind"
        ):
            raise TypeError(
                f"select: cannot cast the choice {choice}, of dtype('int64'), to {dtype!r} "
                "according to the rule 'same_kind'; give it a dtype of its own"
            )
        chosen = where(condition, choice, chosen)
    return in_order(chosen, "C")


def _is_array(x: Any) -> bool:
    """True if a condition is an array or a sequence, not a single bool."""
    return isinstance(x, list | onp.ndarray) or (isinstance(x, Handle) and ndim(x) > 0)


@defers_to_classes
def piecewise(
    x: ArrayLike, condlist: ArrayLike, funclist: Sequence[Any], *args: Any, **kw: Any
) -> "ndarray":
    """Evaluate a function that is defined piece by piece.

    Where a condition holds, its function is called with the elements there, or its value is
    used.

    Parameters
    ----------
    x : array_like
        The arguments.
    condlist : sequence of array_like of bool, or one
        The conditions; where several hold, the last counts.
    funclist : sequence of callable or scalar
        One for each condition, and perhaps one more for where none holds. A function is called with
        the elements for which its condition holds, along one axis.
    *args, **kw
        Passed to the functions.

    Raises
    ------
    TracedValueError
        In a compiled function, if a piece is a function: the number of its elements depends
        on values. Use `np.select`.

    Examples
    --------
    >>> x = np.array([-2, 1, 3])
    >>> np.piecewise(x, [x < 0, x > 2], [lambda v: -v, 100])
    array([  2,   0, 100])
    """
    x = asanyarray(x)
    masks: Any = condlist
    if not (isinstance(masks, list | tuple) or ndim(masks)) or (x.ndim and not _is_array(masks[0])):
        masks = [masks]
    conditions = asarray(masks, bool)
    count, pieces = len(conditions), len(funclist)
    if count == pieces - 1:
        conditions = concatenate([conditions, ~conditions.any(axis=0, keepdims=True)])
    elif count != pieces:
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    y = zeros_like(x)
    for condition, piece in zip(conditions, funclist, strict=True):
        if not callable(piece):
            y[condition] = piece
            continue
        part = x[condition]
        if not is_empty(part):
            y[condition] = piece(part, *args, **kw)
    return y


# --- along axes -----------------------------------------------------------------------------------


@defers_to_classes
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> "ndarray":
    """Apply func1d to every 1-D slice of arr along axis.

    Parameters
    ----------
    func1d : callable
        Called with an array of one axis, and `args` and `kwargs`.
    axis : int
        The axis.
    arr : array_like
        The array.

    Returns
    -------
    ndarray
        Of the dtype of the first result; the axes of the results stand where the axis was.

    Examples
    --------
    >>> np.apply_along_axis(lambda line: line[-1] - line[0], 1, [[1, 3, 7], [2, 2, 4]])
    array([6, 2])
    """
    arr = asanyarray(arr)
    axis = onp.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    lines = moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    made: Any = None
    for place in onp.ndindex(outer):
        result = asanyarray(func1d(lines[(*place, ...)], *args, **kwargs))
        if made is None:
            made = inherit(zeros((*outer, *result.shape), result.dtype), result)
        made[(*place, ...)] = result
    if made is None:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    added = made.ndim - len(outer)
    return moveaxis(made, list(range(len(outer), made.ndim)), list(range(axis, axis + added)))


@defers_to_classes
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> "ndarray":
    """Apply ``func(a, axis)`` for one axis after the other.

    The function may drop the axis or keep it with any length; the result has as many axes as `a`.

    Examples
    --------
    >>> np.apply_over_axes(np.sum, np.ones((2, 3, 2)), [0, 2])
    array([[[4.],
            [4.],
            [4.]]])
    """
    found = asarray(a)
    count = found.ndim
    for axis in (axes,) if ndim(axes) == 0 else axes:
        place = axis + count if axis < 0 else axis
        result = func(found, place)
        if result.ndim != found.ndim:
            result = expand_dims(result, place)
            if result.ndim != found.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        found = result
    return found


__all__ = ["apply_along_axis", "apply_over_axes", "piecewise", "select"]
