"""Arithmetic ufuncs: sum, product, quotient, remainder, power, absolute value.

Each name is a ufunc: the operator is declared beside the function that users call.
"""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core.op import elementwise
from npcompat.numpy._integer_powers import refuse_negative_powers
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order, Out
from npcompat.numpy._ufunc import call, positional_outs
from npcompat.numpy._ufunc_class import document

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_add = elementwise("_npi_add", onp.add)


@document(_add)
def add(
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
    """Add two arrays element by element.

    Examples
    --------
    >>> np.add([1, 2], [3, 4])
    array([4, 6])
    """
    return call(_add, (x1, x2), out, where, casting, order, dtype, subok, signature)


_subtract = elementwise("_npi_subtract", onp.subtract)


@document(_subtract)
def subtract(
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
    """Subtract the second operand from the first, element by element.

    Examples
    --------
    >>> np.subtract([5, 7], [1, 2])
    array([4, 5])
    """
    return call(_subtract, (x1, x2), out, where, casting, order, dtype, subok, signature)


_multiply = elementwise("_npi_multiply", onp.multiply)


@document(_multiply)
def multiply(
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
    """Multiply two arrays element by element.

    Examples
    --------
    >>> np.multiply([1, 2], [3, 4])
    array([3, 8])
    """
    return call(_multiply, (x1, x2), out, where, casting, order, dtype, subok, signature)


_divide = elementwise("_npi_divide", onp.divide)


@document(_divide)
def divide(
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
    """Divide element by element; the result is always a float.

    Examples
    --------
    >>> np.divide([1, 2], 4)
    array([0.25, 0.5 ])
    """
    return call(_divide, (x1, x2), out, where, casting, order, dtype, subok, signature)


_floor_divide = elementwise("_npi_floor_divide", onp.floor_divide)


@document(_floor_divide)
def floor_divide(
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
    """Divide and round down to the nearest integer (floor division).

    Examples
    --------
    >>> np.floor_divide([7, -7], 2)
    array([ 3, -4])
    """
    return call(_floor_divide, (x1, x2), out, where, casting, order, dtype, subok, signature)


_remainder = elementwise("_npi_remainder", onp.remainder)


@document(_remainder)
def remainder(
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
    """Compute the remainder (modulo) of `floor_divide`, with the sign of the divisor.

    Examples
    --------
    >>> np.remainder([7, -7], 3)
    array([1, 2])
    """
    return call(_remainder, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmod = elementwise("_npi_fmod", onp.fmod)


@document(_fmod)
def fmod(
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
    """Compute the remainder of C's fmod: it has the sign of the dividend.

    Examples
    --------
    >>> np.fmod([7, -7], 3)
    array([ 1, -1])
    """
    return call(_fmod, (x1, x2), out, where, casting, order, dtype, subok, signature)


_divmod = elementwise("_npi_divmod", onp.divmod)


@document(_divmod)
def divmod(
    x1: ArrayLike,
    x2: ArrayLike,
    out1: Any = None,
    out2: Any = None,
    /,
    out: Out = (None, None),
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "tuple[ndarray, ndarray]":
    """Return quotient and remainder at once, as `floor_divide` and `remainder` do.

    Examples
    --------
    >>> np.divmod(7, 3)
    (np.int64(2), np.int64(1))
    """
    return call(
        _divmod,
        (x1, x2),
        positional_outs(out1, out2, out),
        where,
        casting,
        order,
        dtype,
        subok,
        signature,
    )


_power = elementwise("_npi_power", onp.power)


@document(_power, only_on_host=True)
def power(
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
    """Raise the first operand to the power of the second; integers refuse negative powers.

    Examples
    --------
    >>> np.power([1, 2, 3], 2)
    array([1, 4, 9])
    """
    refuse_negative_powers(x1, x2, signature[-1] if signature else dtype)
    return call(_power, (x1, x2), out, where, casting, order, dtype, subok, signature)


_float_power = elementwise("_npi_float_power", onp.float_power)


@document(_float_power)
def float_power(
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
    """Raise to a power, computed in floating point also for integers.

    Examples
    --------
    >>> np.float_power([1, 2, 3], -1).round(4)
    array([1.    , 0.5   , 0.3333])
    """
    return call(_float_power, (x1, x2), out, where, casting, order, dtype, subok, signature)


_negative = elementwise("_npi_negative", onp.negative)


@document(_negative)
def negative(
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
    """Negate each element (unary minus).

    Examples
    --------
    >>> np.negative([1, -2])
    array([-1,  2])
    """
    return call(_negative, (x,), out, where, casting, order, dtype, subok, signature)


_positive = elementwise("_npi_positive", onp.positive)


@document(_positive)
def positive(
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
    """Copy each element (unary plus).

    Examples
    --------
    >>> np.positive([1, -2])
    array([ 1, -2])
    """
    return call(_positive, (x,), out, where, casting, order, dtype, subok, signature)


_absolute = elementwise("_npi_absolute", onp.absolute)


@document(_absolute)
def absolute(
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
    """Compute the absolute value; the modulus of a complex number.

    Examples
    --------
    >>> np.absolute([-1, 2])
    array([1, 2])
    """
    return call(_absolute, (x,), out, where, casting, order, dtype, subok, signature)


_square = elementwise("_npi_square", onp.square)


@document(_square)
def square(
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
    """Square each element.

    Examples
    --------
    >>> np.square([1, 2, 3])
    array([1, 4, 9])
    """
    return call(_square, (x,), out, where, casting, order, dtype, subok, signature)


_reciprocal = elementwise("_npi_reciprocal", onp.reciprocal)


@document(_reciprocal)
def reciprocal(
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
    """Compute the reciprocal 1 / x.

    Examples
    --------
    >>> np.reciprocal([1.0, 2.0, 4.0])
    array([1.  , 0.5 , 0.25])
    """
    return call(_reciprocal, (x,), out, where, casting, order, dtype, subok, signature)


_conjugate = elementwise("_npi_conjugate", onp.conjugate)


@document(_conjugate)
def conjugate(
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
    """Compute the complex conjugate.

    Examples
    --------
    >>> np.conjugate([1 + 2j])
    array([1.-2.j])
    """
    return call(_conjugate, (x,), out, where, casting, order, dtype, subok, signature)


_gcd = elementwise("_npi_gcd", onp.gcd, differentiable=False)


@document(_gcd)
def gcd(
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
    """Compute the greatest common divisor.

    Examples
    --------
    >>> np.gcd([12, 20], 16)
    array([4, 4])
    """
    return call(_gcd, (x1, x2), out, where, casting, order, dtype, subok, signature)


_lcm = elementwise("_npi_lcm", onp.lcm, differentiable=False)


@document(_lcm)
def lcm(
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
    """Compute the least common multiple.

    Examples
    --------
    >>> np.lcm([4, 6], 10)
    array([20, 30])
    """
    return call(_lcm, (x1, x2), out, where, casting, order, dtype, subok, signature)


abs = absolute
conj = conjugate
mod = remainder
pow = power
true_divide = divide

__all__ = [
    "abs",
    "absolute",
    "add",
    "conj",
    "conjugate",
    "divide",
    "divmod",
    "float_power",
    "floor_divide",
    "fmod",
    "gcd",
    "lcm",
    "mod",
    "multiply",
    "negative",
    "positive",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "square",
    "subtract",
    "true_divide",
]
