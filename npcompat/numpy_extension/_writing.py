"""Functional updates: copies of arrays with elements added to or replaced."""

from typing import Any

from npcompat import numpy as np
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


def _key(what: str, ind: Any, ndim: int) -> Any:
    """Return the index that positions describe: along the first axis, or along several axes."""
    if ind.dtype.kind not in "iu" or ind.ndim > 2:
        raise ValueError(
            f"{what}: ind must hold integers along at most 2 axes, got {ind.dtype} of shape "
            f"{ind.shape}"
        )
    if ind.ndim < 2:
        return (ind,)
    if not 0 < ind.shape[0] <= ndim:
        raise IndexError(
            f"{what}: ind of shape {ind.shape} has a row for each axis that is indexed; the array "
            f"has {ndim} axes"
        )
    return tuple(ind[i] for i in range(ind.shape[0]))


def index_add(a: ArrayLike, ind: ArrayLike, val: ArrayLike) -> ndarray:
    """Return a copy of an array with values added at indices; repeated indices accumulate.

    Parameters
    ----------
    a : array_like
        The array.
    ind : array_like of int
        Positions along the first axis, of shape () or (n,); or of shape (m, n), the positions along
        each of the first m axes.
    val : array_like
        Values to add; broadcast to shape `(n, *a.shape[m:])`.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> npx.index_add(np.zeros((2, 3)), [[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 4.0])
    array([[0., 3., 0.],
           [0., 0., 4.]])
    """
    out = asarray(a).copy()
    np.add.at(out, _key("index_add", asarray(ind), out.ndim), val)
    return out


def index_update(a: ArrayLike, ind: ArrayLike, val: ArrayLike) -> ndarray:
    """Return a copy of an array with values replaced at indices.

    For repeated indices, one of the values is stored.

    Parameters
    ----------
    a : array_like
        The array.
    ind : array_like of int
        Positions along the first axis, of shape () or (n,); or of shape (m, n), the positions along
        each of the first m axes.
    val : array_like
        New values; broadcast to shape `(n, *a.shape[m:])`.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> npx.index_update(np.zeros((2, 3)), [1], [1.0, 2.0, 4.0])
    array([[0., 0., 0.],
           [1., 2., 4.]])
    """
    out = asarray(a).copy()
    out[_key("index_update", asarray(ind), out.ndim)] = val
    return out


__all__ = ["index_add", "index_update"]
