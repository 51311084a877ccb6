"""Arithmetic: sums, products, powers, rounding, signs.

Each name is a ufunc: the operator is declared beside the function that users call.
"""

from typing import Any

import numpy as onp

from npcompat._internal import dispatch, modes
from npcompat._internal.handle import Handle
from npcompat._internal.op import elementwise, operator
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order
from npcompat.numpy._ufunc import Out, call
from npcompat.numpy._ufunc_methods import document

_add = elementwise("_npi_add", onp.add)


@document(_add)
def add(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Add element by element.

    Examples
    --------
    >>> np.add([1, 2], [3, 4])
    array([4, 6])
    """
    return call(_add, (x1, x2), out, where, casting, order, dtype, subok, signature)


_subtract = elementwise("_npi_subtract", onp.subtract)


@document(_subtract)
def subtract(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Subtract the second operand from the first.

    Examples
    --------
    >>> np.subtract([5, 7], [1, 2])
    array([4, 5])
    """
    return call(_subtract, (x1, x2), out, where, casting, order, dtype, subok, signature)


_multiply = elementwise("_npi_multiply", onp.multiply)


@document(_multiply)
def multiply(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Multiply element by element.

    Examples
    --------
    >>> np.multiply([1, 2], [3, 4])
    array([3, 8])
    """
    return call(_multiply, (x1, x2), out, where, casting, order, dtype, subok, signature)


_divide = elementwise("_npi_divide", onp.divide)


@document(_divide)
def divide(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Divide; the result is always a float.

    Examples
    --------
    >>> np.divide([1, 2], 4)
    array([0.25, 0.5 ])
    """
    return call(_divide, (x1, x2), out, where, casting, order, dtype, subok, signature)


_floor_divide = elementwise("_npi_floor_divide", onp.floor_divide)


@document(_floor_divide)
def floor_divide(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Divide and round down to the nearest integer.

    Examples
    --------
    >>> np.floor_divide([7, -7], 2)
    array([ 3, -4])
    """
    return call(_floor_divide, (x1, x2), out, where, casting, order, dtype, subok, signature)


_remainder = elementwise("_npi_remainder", onp.remainder)


@document(_remainder)
def remainder(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Remainder of `floor_divide`; it has the sign of the divisor.

    Examples
    --------
    >>> np.remainder([7, -7], 3)
    array([1, 2])
    """
    return call(_remainder, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmod = elementwise("_npi_fmod", onp.fmod)


@document(_fmod)
def fmod(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Remainder of a division that rounds towards zero; it has the sign of the dividend.

    Examples
    --------
    >>> np.fmod([7, -7], 3)
    array([ 1, -1])
    """
    return call(_fmod, (x1, x2), out, where, casting, order, dtype, subok, signature)


_divmod = elementwise("_npi_divmod", onp.divmod)


@document(_divmod)
def divmod(x1: ArrayLike, x2: ArrayLike, /, out: Out = (None, None), *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Quotient and remainder at once, as `floor_divide` and `remainder` give them.

    Examples
    --------
    >>> np.divmod(7, 3)
    (array(2), array(1))
    """
    return call(_divmod, (x1, x2), out, where, casting, order, dtype, subok, signature)


_power = elementwise("_npi_power", onp.power)


@operator("_npi_any_negative", pattern="reduction", differentiable=False)
def _any_negative(xp: Any, x: Any) -> Any:
    """Whether an element is negative."""
    return xp.any(x < 0)


def refuse_negative_powers(x1: Any, x2: Any) -> None:
    """Raise what NumPy raises for integers to negative powers; in a compiled function, when a result is read."""
    if type(x2) is float or (type(x2) is int and x2 >= 0):
        return
    base, exponent = (onp.dtype(type(x)) if type(x) in (bool, int, float, complex) else getattr(x, "dtype", None) for x in (x1, x2))
    if base is None or exponent is None or base.kind not in "iub" or exponent.kind != "i":
        return
    message = "Integers to negative integer powers are not allowed."
    negative = dispatch.run(_any_negative, [dispatch.as_value(x2)])
    trace = modes.current().trace
    if trace is not None and isinstance(x2, Handle):
        trace.expect(negative.payload, ValueError, message)
    elif dispatch.to_host(dispatch.wrap(negative)):
        raise ValueError(message)


@document(_power)
def power(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Raise the first operand to the power of the second; integers to negative powers raise ValueError.

    Examples
    --------
    >>> np.power([1, 2, 3], 2)
    array([1, 4, 9])
    """
    refuse_negative_powers(x1, x2)
    return call(_power, (x1, x2), out, where, casting, order, dtype, subok, signature)


_float_power = elementwise("_npi_float_power", onp.float_power)


@document(_float_power)
def float_power(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Raise to a power, in floats whatever the operands are.

    Examples
    --------
    >>> np.float_power([1, 2, 3], -1).round(4)
    array([1.    , 0.5   , 0.3333])
    """
    return call(_float_power, (x1, x2), out, where, casting, order, dtype, subok, signature)


_negative = elementwise("_npi_negative", onp.negative)


@document(_negative)
def negative(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Change the sign.

    Examples
    --------
    >>> np.negative([1, -2])
    array([-1,  2])
    """
    return call(_negative, (x,), out, where, casting, order, dtype, subok, signature)


_positive = elementwise("_npi_positive", onp.positive)


@document(_positive)
def positive(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The operand itself, copied.

    Examples
    --------
    >>> np.positive([1, -2])
    array([ 1, -2])
    """
    return call(_positive, (x,), out, where, casting, order, dtype, subok, signature)


_absolute = elementwise("_npi_absolute", onp.absolute)


@document(_absolute)
def absolute(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Absolute value; of a complex number, its modulus.

    Examples
    --------
    >>> np.absolute([-1, 2])
    array([1, 2])
    """
    return call(_absolute, (x,), out, where, casting, order, dtype, subok, signature)


_fabs = elementwise("_npi_fabs", onp.fabs)


@document(_fabs)
def fabs(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Absolute value, as a float.

    Examples
    --------
    >>> np.fabs([-1, 2])
    array([1., 2.])
    """
    return call(_fabs, (x,), out, where, casting, order, dtype, subok, signature)


_sign = elementwise("_npi_sign", onp.sign)


@document(_sign)
def sign(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """-1, 0 or 1 by the sign; of a complex number, itself over its modulus.

    Examples
    --------
    >>> np.sign([-3, 0, 2])
    array([-1,  0,  1])
    """
    return call(_sign, (x,), out, where, casting, order, dtype, subok, signature)


_reciprocal = elementwise("_npi_reciprocal", onp.reciprocal)


@document(_reciprocal)
def reciprocal(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """One over the operand.

    Examples
    --------
    >>> np.reciprocal([1.0, 2.0, 4.0])
    array([1.  , 0.5 , 0.25])
    """
    return call(_reciprocal, (x,), out, where, casting, order, dtype, subok, signature)


_square = elementwise("_npi_square", onp.square)


@document(_square)
def square(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The operand times itself.

    Examples
    --------
    >>> np.square([1, 2, 3])
    array([1, 4, 9])
    """
    return call(_square, (x,), out, where, casting, order, dtype, subok, signature)


_sqrt = elementwise("_npi_sqrt", onp.sqrt)


@document(_sqrt)
def sqrt(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Non-negative square root; nan for negative reals.

    Examples
    --------
    >>> np.sqrt([1, 4, 9])
    array([1., 2., 3.])
    """
    return call(_sqrt, (x,), out, where, casting, order, dtype, subok, signature)


_cbrt = elementwise("_npi_cbrt", onp.cbrt)


@document(_cbrt)
def cbrt(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Cube root.

    Examples
    --------
    >>> np.cbrt([1, 8, 27])
    array([1., 2., 3.])
    """
    return call(_cbrt, (x,), out, where, casting, order, dtype, subok, signature)


_rint = elementwise("_npi_rint", onp.rint)


@document(_rint)
def rint(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Round to the nearest integer, halves to the even one.

    Examples
    --------
    >>> np.rint([0.5, 1.5, 2.2])
    array([0., 2., 2.])
    """
    return call(_rint, (x,), out, where, casting, order, dtype, subok, signature)


_floor = elementwise("_npi_floor", onp.floor)


@document(_floor)
def floor(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The largest integer not above the operand.

    Examples
    --------
    >>> np.floor([-1.5, 1.5])
    array([-2.,  1.])
    """
    return call(_floor, (x,), out, where, casting, order, dtype, subok, signature)


_ceil = elementwise("_npi_ceil", onp.ceil)


@document(_ceil)
def ceil(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The smallest integer not below the operand.

    Examples
    --------
    >>> np.ceil([-1.5, 1.5])
    array([-1.,  2.])
    """
    return call(_ceil, (x,), out, where, casting, order, dtype, subok, signature)


_trunc = elementwise("_npi_trunc", onp.trunc)


@document(_trunc)
def trunc(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The operand without its fractional part.

    Examples
    --------
    >>> np.trunc([-1.5, 1.5])
    array([-1.,  1.])
    """
    return call(_trunc, (x,), out, where, casting, order, dtype, subok, signature)


_maximum = elementwise("_npi_maximum", onp.maximum)


@document(_maximum)
def maximum(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The larger operand; nan if either is nan.

    Examples
    --------
    >>> np.maximum([1, 5], [3, 2])
    array([3, 5])
    """
    return call(_maximum, (x1, x2), out, where, casting, order, dtype, subok, signature)


_minimum = elementwise("_npi_minimum", onp.minimum)


@document(_minimum)
def minimum(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The smaller operand; nan if either is nan.

    Examples
    --------
    >>> np.minimum([1, 5], [3, 2])
    array([1, 2])
    """
    return call(_minimum, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmax = elementwise("_npi_fmax", onp.fmax)


@document(_fmax)
def fmax(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The larger operand; a nan counts as missing.

    Examples
    --------
    >>> np.fmax([1.0, np.nan], [3.0, 2.0])
    array([3., 2.])
    """
    return call(_fmax, (x1, x2), out, where, casting, order, dtype, subok, signature)


_fmin = elementwise("_npi_fmin", onp.fmin)


@document(_fmin)
def fmin(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The smaller operand; a nan counts as missing.

    Examples
    --------
    >>> np.fmin([1.0, np.nan], [3.0, 2.0])
    array([1., 2.])
    """
    return call(_fmin, (x1, x2), out, where, casting, order, dtype, subok, signature)


_copysign = elementwise("_npi_copysign", onp.copysign)


@document(_copysign)
def copysign(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The first operand with the sign of the second.

    Examples
    --------
    >>> np.copysign([1.0, 2.0], [-1.0, 1.0])
    array([-1.,  2.])
    """
    return call(_copysign, (x1, x2), out, where, casting, order, dtype, subok, signature)


_heaviside = elementwise("_npi_heaviside", onp.heaviside)


@document(_heaviside)
def heaviside(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """0 below zero, 1 above it, and the second operand at zero.

    Examples
    --------
    >>> np.heaviside([-1.5, 0, 2.0], 0.5)
    array([0. , 0.5, 1. ])
    """
    return call(_heaviside, (x1, x2), out, where, casting, order, dtype, subok, signature)


_hypot = elementwise("_npi_hypot", onp.hypot)


@document(_hypot)
def hypot(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Length of the hypotenuse over two legs.

    Examples
    --------
    >>> np.hypot(3.0, 4.0)
    array(5.)
    """
    return call(_hypot, (x1, x2), out, where, casting, order, dtype, subok, signature)


_gcd = elementwise("_npi_gcd", onp.gcd, differentiable=False)


@document(_gcd)
def gcd(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Greatest common divisor.

    Examples
    --------
    >>> np.gcd([12, 20], 16)
    array([4, 4])
    """
    return call(_gcd, (x1, x2), out, where, casting, order, dtype, subok, signature)


_lcm = elementwise("_npi_lcm", onp.lcm, differentiable=False)


@document(_lcm)
def lcm(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Least common multiple.

    Examples
    --------
    >>> np.lcm([4, 6], 10)
    array([20, 30])
    """
    return call(_lcm, (x1, x2), out, where, casting, order, dtype, subok, signature)


_nextafter = elementwise("_npi_nextafter", onp.nextafter)


@document(_nextafter)
def nextafter(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The next float after the first operand, towards the second.

    Examples
    --------
    >>> np.nextafter(1.0, 2.0)
    array(1.0000001)
    """
    return call(_nextafter, (x1, x2), out, where, casting, order, dtype, subok, signature)


_ldexp = elementwise("_npi_ldexp", onp.ldexp)


@document(_ldexp)
def ldexp(x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The first operand times two to the power of the second.

    Examples
    --------
    >>> np.ldexp([1.0, 2.0], [3, 1])
    array([8., 4.])
    """
    return call(_ldexp, (x1, x2), out, where, casting, order, dtype, subok, signature)


_frexp = elementwise("_npi_frexp", onp.frexp)


@document(_frexp)
def frexp(x: ArrayLike, /, out: Out = (None, None), *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Mantissa in [0.5, 1) and exponent of two.

    Examples
    --------
    >>> np.frexp([1.0, 8.0])
    (array([0.5, 0.5]), array([1, 4], dtype=int32))
    """
    return call(_frexp, (x,), out, where, casting, order, dtype, subok, signature)


_modf = elementwise("_npi_modf", onp.modf)


@document(_modf)
def modf(x: ArrayLike, /, out: Out = (None, None), *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """Fractional and integral part.

    Examples
    --------
    >>> np.modf([1.5, -2.25])
    (array([ 0.5 , -0.25]), array([ 1., -2.]))
    """
    return call(_modf, (x,), out, where, casting, order, dtype, subok, signature)


_conjugate = elementwise("_npi_conjugate", onp.conjugate)


@document(_conjugate)
def conjugate(x: ArrayLike, /, out: Out = None, *, where: ArrayLike = True, casting: Casting = "same_kind", order: Order = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any:
    """The complex conjugate.

    Examples
    --------
    >>> np.conjugate([1 + 2j])
    array([1.-2.j])
    """
    return call(_conjugate, (x,), out, where, casting, order, dtype, subok, signature)


abs = absolute
conj = conjugate
mod = remainder
pow = power
true_divide = divide

__all__ = ["abs", "absolute", "add", "cbrt", "ceil", "conj", "conjugate", "copysign", "divide", "divmod", "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "gcd", "heaviside", "hypot", "lcm", "ldexp", "maximum", "minimum", "mod", "modf", "multiply", "negative", "nextafter", "positive", "pow", "power", "reciprocal", "remainder", "rint", "sign", "sqrt", "square", "subtract", "true_divide", "trunc"]
