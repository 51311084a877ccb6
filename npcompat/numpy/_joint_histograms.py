"""Histograms in several dimensions."""

import operator as python
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import refuse
from npcompat.numpy._creation import asarray
from npcompat.numpy._differences import diff
from npcompat.numpy._histograms import (
    counted,
    ends_of,
    not_monotonic,
    refuse_complex,
    shown_edges,
    spaced_edges,
)
from npcompat.numpy._manipulation import atleast_2d, ravel, transpose
from npcompat.numpy._overrides import asks_classes
from npcompat.numpy._repeating import pad
from npcompat.numpy._selection import where
from npcompat.numpy._sorting import searchsorted
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _several(bins: Any) -> bool:
    """Return True for a sequence of bins or edges, not a number."""
    return hasattr(bins, "__len__") and getattr(bins, "ndim", 1) > 0


def _checked(bins: Any, i: int) -> Any:
    """Check the bins of one variable: a number or edges."""
    if not _several(bins):
        if bins < 1:
            raise ValueError(f"`bins[{i}]` must be positive, when an integer")
        try:
            return python.index(bins)
        except TypeError:
            raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from None
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    return edges


def _edges(x: Any, bins: Any, range: Any, i: int) -> Any:
    """Compute the edges along an axis in the dtype that NumPy would choose."""
    if not isinstance(bins, int | onp.integer):
        message = f"`bins[{i}]` must be monotonically increasing, when an array"
        refuse(not_monotonic, (bins,), (False,), ValueError, message)
        return bins
    exact = x.dtype.kind != "f" or not x.size
    dtype = (
        onp.result_type(*range, 1.0)
        if range is not None
        else onp.dtype("float64")
        if exact
        else x.dtype
    )
    return apply(spaced_edges, ends_of(x, range), (bins, dtype))


def histogramdd(
    sample: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> "tuple[ndarray, list[ndarray]]":
    """Compute a multidimensional histogram: the number of points in each cell, and edges.

    Parameters
    ----------
    sample : array_like
        The points, one in each row; or a list of their coordinates along each axis.
    bins : int or sequence
        Number of bins along each axis, or their edges.
    range : sequence of pairs, optional
        First and last edge along each axis; None for the least and the largest coordinate.
    density : bool, optional
        If True, return a probability density, whose integral is one, instead of counts.
    weights : array_like, optional
        Weight of each point.

    Examples
    --------
    >>> counts, edges = np.histogramdd([[0, 0, 1], [0, 1, 1]], bins=2)
    >>> counts
    array([[1., 1.],
           [0., 1.]])
    """
    points = asarray(sample)
    if not hasattr(sample, "shape") or points.ndim != 2:
        if hasattr(sample, "shape") and points.ndim > 2:
            raise ValueError(
                f"too many values to unpack (expected 2): sample of shape {points.shape}"
            )
        points = transpose(atleast_2d(points))
    count = points.shape[1]
    bins = list(bins) if _several(bins) else [bins] * count
    if len(bins) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = (None,) * count
    elif len(range) != count:
        raise ValueError("range argument must have one entry per dimension")
    cell: Any = 0
    inside: Any = True
    edges, shape = [], []
    for i in onp.arange(count).tolist():
        x, wanted = points[:, i], _checked(bins[i], i)
        refuse_complex(x)
        made = _edges(x, wanted, range[i], i)
        place = where(x == made[-1], made.shape[0] - 2, searchsorted(made, x, "right") - 1)
        inside = inside & (place >= 0) & (place <= made.shape[0] - 2)
        cell = cell * (made.shape[0] - 1) + place
        shape.append(made.shape[0] - 1)
        edges.append(shown_edges(made, wanted, x))
    cells = int(onp.prod(shape, dtype=int))
    cell = where(inside, cell, cells)
    counts = apply(
        counted, (cell,) if weights is None else (cell, ravel(asarray(weights))), (cells + 1,)
    )
    found = counts[:cells].reshape(shape).astype(float if weights is None else counts.dtype)
    if density:
        total = found.sum()
        for i, e in enumerate(edges):
            found = found / diff(e).reshape(
                [-1 if j == i else 1 for j in onp.arange(count).tolist()]
            )
        found = found / total
        return found, edges
    return pad(found, 1)[(slice(1, -1),) * found.ndim], edges  # NumPy counts outliers, too


def _of_histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:
    """Return the arguments of `histogram2d` that may be arrays."""
    return x, y, weights, *(bins if isinstance(bins, list | tuple) and len(bins) == 2 else (bins,))


@asks_classes(_of_histogram2d)
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> "tuple[ndarray, ndarray, ndarray]":
    """Compute the 2-D histogram of points in a plane, and the edges along both axes.

    Parameters
    ----------
    x, y : array_like
        The points' coordinates.
    bins : int, array_like, or a pair of these
        Number of bins, or their edges.
    range, density, weights
        As for `histogramdd`.

    Examples
    --------
    >>> np.histogram2d([0, 0, 1], [0, 1, 1], bins=2)[0]
    array([[1., 1.],
           [0., 1.]])
    """
    abscissae: Any = x
    ordinates: Any = y
    if len(abscissae) != len(ordinates):
        raise ValueError("x and y must have the same length.")
    if not _several(bins):
        bins = [bins, bins]
    elif len(bins) > 2:
        bins = [asarray(bins)] * 2
    counts, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return counts, first, second


__all__ = ["histogram2d", "histogramdd"]
