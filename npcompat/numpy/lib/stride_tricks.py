"""Strided views: `as_strided` and sliding windows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.subclasses import inherit
from npcompat.numpy._buffers import strided
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._typing import ArrayLike, AxisLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def as_strided(
    x: ArrayLike,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> "ndarray":
    """Return a view of the array's memory with any shape and strides.

    Parameters
    ----------
    x : array_like
        The array.
    shape : sequence of int, optional
        Shape of the view; that of `x` if not given.
    strides : sequence of int, optional
        Bytes from one element to the next along each axis; those of `x` if not given.
    subok : bool
        If True, a view of an instance of a subclass of `ndarray` is one, too.
    writeable : bool
        If True, the view can be written; on XLA never where elements overlap.
    check_bounds : bool, optional
        NumPy checks the bounds if it is True; here they are checked in any case.

    Raises
    ------
    ValueError
        If the view would look outside of the memory of the array that owns it (NumPy does not
        notice, unless `check_bounds` is True).
    NotImplementedError
        If that array is not laid out in C order, or of another dtype.

    Examples
    --------
    >>> np.lib.stride_tricks.as_strided(np.arange(5), (3, 3), (8, 8))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    x = asanyarray(x)
    found = strided(
        x, onp.lib.stride_tricks.as_strided(handles.layout(x), shape, strides), writeable
    )
    return inherit(found, x) if subok else found


def sliding_window_view(
    x: ArrayLike,
    window_shape: int | Sequence[int],
    axis: AxisLike = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> "ndarray":
    """Return all windows of a shape over the array, as a view; their axes come last.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of int
        Length of the window along each of the axes.
    axis : int or tuple of int, optional
        Axes along which the window slides; all if not given.
    subok : bool
        If True, a view of an instance of a subclass of `ndarray` is one, too.
    writeable : bool
        If True, the view can be written; on XLA never where windows overlap.

    Raises
    ------
    ValueError
        If the window is longer than an axis, negative, or not of as many axes.

    Examples
    --------
    >>> np.lib.stride_tricks.sliding_window_view(np.arange(5), 3).sum(axis=-1)
    array([3, 6, 9])
    """
    x = asanyarray(x)
    numpys: Any = onp.lib.stride_tricks.sliding_window_view
    found = strided(x, numpys(handles.layout(x), window_shape, axis), writeable)
    return inherit(found, x) if subok else found


__all__ = ["as_strided", "sliding_window_view"]
