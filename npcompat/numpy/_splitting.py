"""Splitting arrays into parts."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat.numpy._creation import asanyarray
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- splitting ------------------------------------------------------------------------------------


@defers_to_classes
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> "list[ndarray]":
    """Split along an axis into parts of nearly equal length, or at positions; views.

    The lengths differ by at most one.

    Examples
    --------
    >>> np.array_split(np.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    ary = asanyarray(ary)
    if ary.ndim == 0:
        raise IndexError("array_split: a 0-d array can't be split")
    axis = axis + ary.ndim if axis < 0 else axis
    total = ary.shape[axis]
    if _is_count(indices_or_sections):
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(total, count)
        cuts = [0]
        for i in range(count):
            cuts.append(cuts[-1] + each + (i < more))
    else:
        cuts = [0, *[int(i) for i in indices_or_sections], total]
    before = (slice(None),) * axis
    return [ary[(*before, slice(start, stop))] for start, stop in itertools.pairwise(cuts)]


def _is_count(sections: Any) -> bool:
    return not hasattr(sections, "__len__") or (hasattr(sections, "ndim") and sections.ndim == 0)


@defers_to_classes
def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> "list[ndarray]":
    """Split along an axis into equal parts, or at positions; views.

    Raises
    ------
    ValueError
        If the length is not a multiple of the number of parts.

    Examples
    --------
    >>> np.split(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    >>> np.split(np.arange(4), [1])
    [array([0]), array([1, 2, 3])]
    """
    ary = asanyarray(ary)
    if _is_count(indices_or_sections) and ary.shape[axis] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@defers_to_classes
def hsplit(ary: ArrayLike, indices_or_sections: Any) -> "list[ndarray]":
    """Split horizontally: along the second axis, the first of vectors.

    Examples
    --------
    >>> np.hsplit(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    ary = asanyarray(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@defers_to_classes
def vsplit(ary: ArrayLike, indices_or_sections: Any) -> "list[ndarray]":
    """Split vertically: along the first axis of at least two.

    Examples
    --------
    >>> np.vsplit(np.ones((2, 1)), 2)
    [array([[1.]]), array([[1.]])]
    """
    ary = asanyarray(ary)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@defers_to_classes
def dsplit(ary: ArrayLike, indices_or_sections: Any) -> "list[ndarray]":
    """Split in depth: along the third axis.

    Examples
    --------
    >>> [part.shape for part in np.dsplit(np.ones((1, 1, 4)), 2)]
    [(1, 1, 2), (1, 1, 2)]
    """
    ary = asanyarray(ary)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@defers_to_classes
def unstack(x: ArrayLike, /, *, axis: int = 0) -> "tuple[ndarray, ...]":
    """Unpack the slices along an axis, which is removed; views.

    Examples
    --------
    >>> np.unstack(np.array([[1, 2], [3, 4]]))
    (array([1, 2]), array([3, 4]))
    """
    x = asanyarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = onp.lib.array_utils.normalize_axis_index(axis, x.ndim)
    return tuple(x[(*(slice(None),) * axis, i)] for i in range(x.shape[axis]))


__all__ = ["array_split", "dsplit", "hsplit", "split", "unstack", "vsplit"]
