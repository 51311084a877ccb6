"""Elementwise maximum and minimum.

Each name is a ufunc: the operator is declared beside the function that users call.
"""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core.op import elementwise
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order, Out
from npcompat.numpy._ufunc import call
from npcompat.numpy._ufunc_class import document

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_maximum = elementwise("_npi_maximum", onp.maximum)


@document(_maximum)
def maximum(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Return the element-wise maximum; NaN if either is NaN.

    Examples
    --------
    >>> np.maximum([1, 5], [3, 2])
    array([3, 5])
    """
    return call(_maximum, (x1, x2), out, where, casting, order, dtype, subok, signature)


_minimum = elementwise("_npi_minimum", onp.minimum)


@document(_minimum)
def minimum(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Return the element-wise minimum; NaN if either is NaN.

    Examples
    --------
    >>> np.minimum([1, 5], [3, 2])
    array([1, 2])
    """
    return call(_minimum, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmax = elementwise("_npi_fmax", onp.fmax)


@document(_fmax)
def fmax(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Return the element-wise maximum, ignoring NaN.

    Examples
    --------
    >>> np.fmax([1.0, np.nan], [3.0, 2.0])
    array([3., 2.])
    """
    return call(_fmax, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmin = elementwise("_npi_fmin", onp.fmin)


@document(_fmin)
def fmin(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Return the element-wise minimum, ignoring NaN.

    Examples
    --------
    >>> np.fmin([1.0, np.nan], [3.0, 2.0])
    array([1., 2.])
    """
    return call(_fmin, (x1, x2), out, where, casting, order, dtype, subok, signature)


__all__ = ["fmax", "fmin", "maximum", "minimum"]
