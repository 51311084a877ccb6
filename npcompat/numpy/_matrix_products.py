"""Products, traces and diagonals of `np.linalg`, as the array API's standard has them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

from npcompat.numpy import _diagonals, _products
from npcompat.numpy._creation import asarray
from npcompat.numpy._overrides import defers_for_items, defers_in_linalg
from npcompat.numpy._typing import ArrayLike, DTypeLike, Out
from npcompat.numpy._ufunc import finish

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


@defers_for_items
def multi_dot(arrays: Sequence[ArrayLike], *, out: Out = None) -> "ndarray":
    """Multiply several matrices in the cheapest order.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.
    out : ndarray, optional
        Array to write the result into.

    Examples
    --------
    >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
    array([12., 12.])
    """
    parts = [asarray(a) for a in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(parts) == 2:
        return _products.dot(parts[0], parts[1], out)
    shapes = [a.shape for a in parts]
    if parts[0].ndim == 1:
        shapes[0] = (1, *shapes[0])
    if parts[-1].ndim == 1:
        shapes[-1] = (*shapes[-1], 1)
    for i, s in enumerate(shapes):
        if len(s) != 2:
            raise LinAlgError(
                f"{parts[i].ndim}-dimensional array given. Array must be two-dimensional"
            )
    split = _cheapest([s[0] for s in shapes] + [shapes[-1][1]])

    def product(first: int, last: int) -> Any:
        if first == last:
            return parts[first]
        middle = split[first, last]
        return _products.dot(product(first, middle), product(middle + 1, last))

    return finish(product(0, len(parts) - 1), out, "multi_dot")


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Find the split of each chain of factors with the least cost (dynamic programming).

    Factor i has the shape (sizes[i], sizes[i + 1]).
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length - 1
            options = [
                (
                    cost[first, k]
                    + cost[k + 1, last]
                    + sizes[first] * sizes[k + 1] * sizes[last + 1],
                    k,
                )
                for k in range(first, last)
            ]
            cost[first, last], split[first, last] = min(options)
    return split


@defers_in_linalg
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> "ndarray":
    """Compute the matrix product, as `np.matmul`.

    Examples
    --------
    >>> np.linalg.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    return _products.matmul(x1, x2)


@defers_in_linalg
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> "ndarray":
    """Compute inner products of vectors along an axis, as `np.vecdot`.

    Examples
    --------
    >>> np.linalg.vecdot(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    """
    return _products.vecdot(x1, x2, axis=axis)


@defers_in_linalg
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: Any = 2) -> "ndarray":
    """Compute the tensor dot product over pairs of axes, as `np.tensordot`.

    Examples
    --------
    >>> np.linalg.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return _products.tensordot(x1, x2, axes)


@defers_in_linalg
def outer(x1: ArrayLike, x2: ArrayLike, /) -> "ndarray":
    """Compute the outer product of two vectors.

    Examples
    --------
    >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    x1, x2 = asarray(x1), asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and "
            f"x2.ndim={x2.ndim}."
        )
    return _products.outer(x1, x2)


@defers_in_linalg
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> "ndarray":
    """Compute the cross product of vectors with three elements along an axis.

    Examples
    --------
    >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    """
    x1, x2 = asarray(x1), asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} "
            "dimensional instead."
        )
    return _products.cross(x1, x2, axis=axis)


@defers_in_linalg
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> "ndarray":
    """Compute the trace: the sum of a diagonal of the matrices in the last two axes.

    Examples
    --------
    >>> np.linalg.trace(np.ones((2, 3, 3)))
    array([3., 3.])
    """
    return _products.trace(x, offset, -2, -1, dtype)


@defers_in_linalg
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> "ndarray":
    """Return a diagonal of the matrices in the last two axes, a read-only view.

    Examples
    --------
    >>> np.linalg.diagonal(np.ones((2, 3, 3))).shape
    (2, 3)
    """
    return _diagonals.diagonal(x, offset, -2, -1)


__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "multi_dot",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]
