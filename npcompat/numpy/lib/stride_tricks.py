"""Views with any shape and strides: windows, and what `as_strided` makes."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, lens
from npcompat._internal.handle import extra, root_of
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike, AxisLike


def as_strided(
    x: ArrayLike, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, subok: bool = False, writeable: bool = True
) -> Any:
    """A view of the array's memory with any shape and strides.

    Parameters
    ----------
    x : array_like
        The array.
    shape : sequence of int, optional
        Shape of the view; that of `x` if not given.
    strides : sequence of int, optional
        Bytes from one element to the next along each axis; those of `x` if not given.
    subok : bool
        Without effect: there are no subclasses.
    writeable : bool
        Whether the view can be written; it never can where elements overlap.

    Raises
    ------
    ValueError
        If the view would look outside of the memory of the array that owns it (NumPy does not notice).
    NotImplementedError
        If that array is not laid out in C order, or of another dtype.

    Examples
    --------
    >>> np.lib.stride_tricks.as_strided(np.arange(5), (3, 3), (8, 8))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    x = asarray(x)
    return _strided(x, onp.lib.stride_tricks.as_strided(dispatch.layout(x), shape, strides), writeable)


def sliding_window_view(
    x: ArrayLike, window_shape: int | Sequence[int], axis: AxisLike = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """All windows of a shape over the array, as a view: the windows' axes come last.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of int
        Length of the window along each of the axes.
    axis : int or tuple of int, optional
        Which axes the window slides over; all if not given.
    subok : bool
        Without effect: there are no subclasses.
    writeable : bool
        Whether the view can be written; it never can where windows overlap.

    Raises
    ------
    ValueError
        If the window is longer than an axis, negative, or not of as many axes.

    Examples
    --------
    >>> np.lib.stride_tricks.sliding_window_view(np.arange(5), 3).sum(axis=-1)
    array([3, 6, 9])
    """
    x = asarray(x)
    numpys: Any = onp.lib.stride_tricks.sliding_window_view
    return _strided(x, numpys(dispatch.layout(x), window_shape, axis), writeable)


def _strided(x: Any, wanted: onp.ndarray[Any, Any], writeable: bool) -> Any:
    """The view of `x` that looks at its memory as `wanted` looks at that of its layout."""
    root = root_of(x)
    memory = dispatch.layout(root)
    if memory.dtype != wanted.dtype or not memory.flags.c_contiguous:
        raise NotImplementedError("as_strided: the array that owns the memory must be in C order and of the same dtype; copy it first")
    low, high = onp.lib.array_utils.byte_bounds(memory)
    if wanted.size and not (low <= onp.lib.array_utils.byte_bounds(wanted)[0] and onp.lib.array_utils.byte_bounds(wanted)[1] <= high):
        raise ValueError(f"as_strided: shape {wanted.shape} with strides {wanted.strides} reaches outside of the array's memory")
    size = memory.dtype.itemsize
    if any([s % size for s in wanted.strides]):
        raise NotImplementedError(f"as_strided: strides {wanted.strides} are no multiples of the element's size, {size}")
    offset = (wanted.ctypes.data - memory.ctypes.data) // size if wanted.size else 0
    view = lens.view(root, lens.strided(wanted.shape, tuple([s // size for s in wanted.strides]), offset))
    if not writeable or not x.flags.writeable:
        extra(view).readonly = True
    return view


__all__ = ["as_strided", "sliding_window_view"]
