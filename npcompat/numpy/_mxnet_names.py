"""Names of MXNet that NumPy 2 removed: aliases of functions and constants, lists of dtypes."""

from typing import TYPE_CHECKING

import numpy as onp

from npcompat.numpy._calculus import trapezoid
from npcompat.numpy._creation import asarray
from npcompat.numpy._reductions import all as _all
from npcompat.numpy._reductions import any as _any
from npcompat.numpy._reductions import prod
from npcompat.numpy._rounding import round as _round
from npcompat.numpy._sets import isin
from npcompat.numpy._sorting import sort
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

alltrue, product, round_, sometrue, trapz = _all, prod, _round, _any, trapezoid

NAN = NaN = onp.nan
PINF, NINF = onp.inf, -onp.inf
PZERO, NZERO = 0.0, -0.0

boolean_dtypes = [onp.bool_]
integer_dtypes = [
    onp.int8,
    onp.int16,
    onp.int32,
    onp.int64,
    onp.uint8,
    onp.uint16,
    onp.uint32,
    onp.uint64,
]
floating_dtypes = [onp.float16, onp.float32, onp.float64]
numeric_dtypes = [*integer_dtypes, *floating_dtypes]


def in1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False
) -> "ndarray":
    """Return True for each element that is in another array, in 1-D; `isin` keeps the shape.

    Parameters
    ----------
    ar1, ar2 : array_like
        The elements, and those to look for.
    assume_unique : bool
        A promise that the elements of each are distinct, which may be faster.
    invert : bool
        If True, invert the answer.

    Examples
    --------
    >>> np.in1d([[0, 1], [2, 5]], [1, 2])
    array([False,  True,  True, False])
    """
    return isin(asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert)


def msort(a: ArrayLike) -> "ndarray":
    """Return a copy of an array sorted along the first axis.

    Parameters
    ----------
    a : array_like
        Array to sort.

    Examples
    --------
    >>> np.msort([[3, 1], [2, 4]])
    array([[2, 1],
           [3, 4]])
    """
    return sort(a, axis=0)


__all__ = [
    "NAN",
    "NINF",
    "NZERO",
    "PINF",
    "PZERO",
    "NaN",
    "alltrue",
    "boolean_dtypes",
    "floating_dtypes",
    "in1d",
    "integer_dtypes",
    "msort",
    "numeric_dtypes",
    "product",
    "round_",
    "sometrue",
    "trapz",
]
