"""Bitwise ufuncs of integers.

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

_bitwise_and = elementwise("_npi_bitwise_and", onp.bitwise_and, differentiable=False)


@document(_bitwise_and)
def bitwise_and(
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
    """Compute the bitwise AND of two integers.

    Examples
    --------
    >>> np.bitwise_and([12, 10], 6)
    array([4, 2])
    """
    return call(_bitwise_and, (x1, x2), out, where, casting, order, dtype, subok, signature)


_bitwise_or = elementwise("_npi_bitwise_or", onp.bitwise_or, differentiable=False)


@document(_bitwise_or)
def bitwise_or(
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
    """Compute the bitwise OR of two integers.

    Examples
    --------
    >>> np.bitwise_or([12, 10], 6)
    array([14, 14])
    """
    return call(_bitwise_or, (x1, x2), out, where, casting, order, dtype, subok, signature)


_bitwise_xor = elementwise("_npi_bitwise_xor", onp.bitwise_xor, differentiable=False)


@document(_bitwise_xor)
def bitwise_xor(
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
    """Compute the bitwise exclusive OR (XOR) of two integers.

    Examples
    --------
    >>> np.bitwise_xor([12, 10], 6)
    array([10, 12])
    """
    return call(_bitwise_xor, (x1, x2), out, where, casting, order, dtype, subok, signature)


_invert = elementwise("_npi_invert", onp.invert, differentiable=False)


@document(_invert)
def invert(
    x: ArrayLike,
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
    """Invert all bits (bitwise NOT).

    Examples
    --------
    >>> np.invert([0, 5])
    array([-1, -6])
    """
    return call(_invert, (x,), out, where, casting, order, dtype, subok, signature)


_left_shift = elementwise("_npi_left_shift", onp.left_shift, differentiable=False)


@document(_left_shift)
def left_shift(
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
    """Shift the bits of an integer to the left.

    Examples
    --------
    >>> np.left_shift([1, 2], 3)
    array([ 8, 16])
    """
    return call(_left_shift, (x1, x2), out, where, casting, order, dtype, subok, signature)


_right_shift = elementwise("_npi_right_shift", onp.right_shift, differentiable=False)


@document(_right_shift)
def right_shift(
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
    """Shift the bits of an integer to the right; the sign is kept.

    Examples
    --------
    >>> np.right_shift([8, -8], 2)
    array([ 2, -2])
    """
    return call(_right_shift, (x1, x2), out, where, casting, order, dtype, subok, signature)


_bitwise_count = elementwise("_npi_bitwise_count", onp.bitwise_count, differentiable=False)


@document(_bitwise_count)
def bitwise_count(
    x: ArrayLike,
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
    """Count the 1 bits of the absolute value (population count).

    Examples
    --------
    >>> np.bitwise_count([1, 6, -7])
    array([1, 2, 3], dtype=uint8)
    """
    return call(_bitwise_count, (x,), out, where, casting, order, dtype, subok, signature)


bitwise_invert = invert
bitwise_not = invert
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift

__all__ = [
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]
