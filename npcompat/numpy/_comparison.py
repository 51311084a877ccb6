"""Comparison ufuncs, logical ufuncs, and floating-point classification.

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

_equal = elementwise("_npi_equal", onp.equal, differentiable=False)


@document(_equal)
def equal(
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
    """Return x1 == x2, element by element.

    Examples
    --------
    >>> np.equal([1, 2], [1, 3])
    array([ True, False])
    """
    return call(_equal, (x1, x2), out, where, casting, order, dtype, subok, signature)


_not_equal = elementwise("_npi_not_equal", onp.not_equal, differentiable=False)


@document(_not_equal)
def not_equal(
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
    """Return x1 != x2, element by element.

    Examples
    --------
    >>> np.not_equal([1, 2], [1, 3])
    array([False,  True])
    """
    return call(_not_equal, (x1, x2), out, where, casting, order, dtype, subok, signature)


_less = elementwise("_npi_less", onp.less, differentiable=False)


@document(_less)
def less(
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
    """Return x1 < x2, element by element.

    Examples
    --------
    >>> np.less([1, 2], 2)
    array([ True, False])
    """
    return call(_less, (x1, x2), out, where, casting, order, dtype, subok, signature)


_less_equal = elementwise("_npi_less_equal", onp.less_equal, differentiable=False)


@document(_less_equal)
def less_equal(
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
    """Return x1 <= x2, element by element.

    Examples
    --------
    >>> np.less_equal([1, 2], 1)
    array([ True, False])
    """
    return call(_less_equal, (x1, x2), out, where, casting, order, dtype, subok, signature)


_greater = elementwise("_npi_greater", onp.greater, differentiable=False)


@document(_greater)
def greater(
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
    """Return x1 > x2, element by element.

    Examples
    --------
    >>> np.greater([1, 2], 1)
    array([False,  True])
    """
    return call(_greater, (x1, x2), out, where, casting, order, dtype, subok, signature)


_greater_equal = elementwise("_npi_greater_equal", onp.greater_equal, differentiable=False)


@document(_greater_equal)
def greater_equal(
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
    """Return x1 >= x2, element by element.

    Examples
    --------
    >>> np.greater_equal([1, 2], 2)
    array([False,  True])
    """
    return call(_greater_equal, (x1, x2), out, where, casting, order, dtype, subok, signature)


_logical_and = elementwise("_npi_logical_and", onp.logical_and, differentiable=False)


@document(_logical_and)
def logical_and(
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
    """Compute the logical AND of the truth values.

    Examples
    --------
    >>> np.logical_and([True, False], True)
    array([ True, False])
    """
    return call(_logical_and, (x1, x2), out, where, casting, order, dtype, subok, signature)


_logical_or = elementwise("_npi_logical_or", onp.logical_or, differentiable=False)


@document(_logical_or)
def logical_or(
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
    """Compute the logical OR of the truth values.

    Examples
    --------
    >>> np.logical_or([True, False], False)
    array([ True, False])
    """
    return call(_logical_or, (x1, x2), out, where, casting, order, dtype, subok, signature)


_logical_xor = elementwise("_npi_logical_xor", onp.logical_xor, differentiable=False)


@document(_logical_xor)
def logical_xor(
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
    """Compute the logical exclusive OR (XOR) of the truth values.

    Examples
    --------
    >>> np.logical_xor([True, False], True)
    array([False,  True])
    """
    return call(_logical_xor, (x1, x2), out, where, casting, order, dtype, subok, signature)


_logical_not = elementwise("_npi_logical_not", onp.logical_not, differentiable=False)


@document(_logical_not)
def logical_not(
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
    """Compute the logical NOT of the truth value.

    Examples
    --------
    >>> np.logical_not([True, False])
    array([False,  True])
    """
    return call(_logical_not, (x,), out, where, casting, order, dtype, subok, signature)


_isfinite = elementwise("_npi_isfinite", onp.isfinite, differentiable=False)


@document(_isfinite)
def isfinite(
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
    """Test for finite numbers: neither infinity nor NaN.

    Examples
    --------
    >>> np.isfinite([1.0, np.inf, np.nan])
    array([ True, False, False])
    """
    return call(_isfinite, (x,), out, where, casting, order, dtype, subok, signature)


_isinf = elementwise("_npi_isinf", onp.isinf, differentiable=False)


@document(_isinf)
def isinf(
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
    """Test for positive or negative infinity.

    Examples
    --------
    >>> np.isinf([1.0, np.inf, np.nan])
    array([False,  True, False])
    """
    return call(_isinf, (x,), out, where, casting, order, dtype, subok, signature)


_isnan = elementwise("_npi_isnan", onp.isnan, differentiable=False)


@document(_isnan)
def isnan(
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
    """Test for NaN (not a number).

    Examples
    --------
    >>> np.isnan([1.0, np.inf, np.nan])
    array([False, False,  True])
    """
    return call(_isnan, (x,), out, where, casting, order, dtype, subok, signature)


_signbit = elementwise("_npi_signbit", onp.signbit, differentiable=False)


@document(_signbit)
def signbit(
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
    """Return True where the sign bit is set; -0.0 has it, too.

    Examples
    --------
    >>> np.signbit([1.0, -0.0])
    array([False,  True])
    """
    return call(_signbit, (x,), out, where, casting, order, dtype, subok, signature)


__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
]
