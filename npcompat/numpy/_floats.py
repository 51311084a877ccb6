"""Floats: signs, roots, rounding, neighbours, and the parts that they are made of.

Each name is a ufunc: the operator is declared beside the function that users call.
"""

from typing import Any

import numpy as onp

from npcompat._internal.core.op import elementwise
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order
from npcompat.numpy._ufunc import Out, call, positional_outs
from npcompat.numpy._ufunc_methods import document

_fabs = elementwise("_npi_fabs", onp.fabs)


@document(_fabs)
def fabs(
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
) -> Any:
    """Absolute value, as a float.

    Examples
    --------
    >>> np.fabs([-1, 2])
    array([1., 2.])
    """
    return call(_fabs, (x,), out, where, casting, order, dtype, subok, signature)


_sign = elementwise("_npi_sign", onp.sign)


@document(_sign)
def sign(
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
) -> Any:
    """-1, 0 or 1 by the sign; of a complex number, itself over its modulus.

    Examples
    --------
    >>> np.sign([-3, 0, 2])
    array([-1,  0,  1])
    """
    return call(_sign, (x,), out, where, casting, order, dtype, subok, signature)


_copysign = elementwise("_npi_copysign", onp.copysign)


@document(_copysign)
def copysign(
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
) -> Any:
    """The first operand with the sign of the second.

    Examples
    --------
    >>> np.copysign([1.0, 2.0], [-1.0, 1.0])
    array([-1.,  2.])
    """
    return call(_copysign, (x1, x2), out, where, casting, order, dtype, subok, signature)


_heaviside = elementwise("_npi_heaviside", onp.heaviside)


@document(_heaviside)
def heaviside(
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
) -> Any:
    """0 below zero, 1 above it, and the second operand at zero.

    Examples
    --------
    >>> np.heaviside([-1.5, 0, 2.0], 0.5)
    array([0. , 0.5, 1. ])
    """
    return call(_heaviside, (x1, x2), out, where, casting, order, dtype, subok, signature)


_sqrt = elementwise("_npi_sqrt", onp.sqrt)


@document(_sqrt)
def sqrt(
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
) -> Any:
    """Non-negative square root; nan for negative reals.

    Examples
    --------
    >>> np.sqrt([1, 4, 9])
    array([1., 2., 3.])
    """
    return call(_sqrt, (x,), out, where, casting, order, dtype, subok, signature)


_cbrt = elementwise("_npi_cbrt", onp.cbrt)


@document(_cbrt)
def cbrt(
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
) -> Any:
    """Cube root.

    Examples
    --------
    >>> np.cbrt([1, 8, 27]).round(4)
    array([1., 2., 3.])
    """
    return call(_cbrt, (x,), out, where, casting, order, dtype, subok, signature)


_hypot = elementwise("_npi_hypot", onp.hypot)


@document(_hypot)
def hypot(
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
) -> Any:
    """Length of the hypotenuse over two legs.

    Examples
    --------
    >>> np.hypot(3.0, 4.0)
    np.float32(5.0)
    """
    return call(_hypot, (x1, x2), out, where, casting, order, dtype, subok, signature)


_rint = elementwise("_npi_rint", onp.rint)


@document(_rint)
def rint(
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
) -> Any:
    """Round to the nearest integer, halves to the even one.

    Examples
    --------
    >>> np.rint([0.5, 1.5, 2.2])
    array([0., 2., 2.])
    """
    return call(_rint, (x,), out, where, casting, order, dtype, subok, signature)


_floor = elementwise("_npi_floor", onp.floor)


@document(_floor)
def floor(
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
) -> Any:
    """The largest integer not above the operand.

    Examples
    --------
    >>> np.floor([-1.5, 1.5])
    array([-2.,  1.])
    """
    return call(_floor, (x,), out, where, casting, order, dtype, subok, signature)


_ceil = elementwise("_npi_ceil", onp.ceil)


@document(_ceil)
def ceil(
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
) -> Any:
    """The smallest integer not below the operand.

    Examples
    --------
    >>> np.ceil([-1.5, 1.5])
    array([-1.,  2.])
    """
    return call(_ceil, (x,), out, where, casting, order, dtype, subok, signature)


_trunc = elementwise("_npi_trunc", onp.trunc)


@document(_trunc)
def trunc(
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
) -> Any:
    """The operand without its fractional part.

    Examples
    --------
    >>> np.trunc([-1.5, 1.5])
    array([-1.,  1.])
    """
    return call(_trunc, (x,), out, where, casting, order, dtype, subok, signature)


_nextafter = elementwise("_npi_nextafter", onp.nextafter)


@document(_nextafter)
def nextafter(
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
) -> Any:
    """The next float after the first operand, towards the second.

    Examples
    --------
    >>> np.nextafter(1.0, 2.0)
    np.float32(1.0000001)
    """
    return call(_nextafter, (x1, x2), out, where, casting, order, dtype, subok, signature)


_spacing = elementwise("_npi_spacing", onp.spacing, differentiable=False)


@document(_spacing)
def spacing(
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
) -> Any:
    """Distance to the next float away from zero.

    Examples
    --------
    >>> np.spacing(1.0) == np.finfo("float32").eps
    np.True_
    """
    return call(_spacing, (x,), out, where, casting, order, dtype, subok, signature)


_ldexp = elementwise("_npi_ldexp", onp.ldexp)


@document(_ldexp)
def ldexp(
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
) -> Any:
    """The first operand times two to the power of the second.

    Examples
    --------
    >>> np.ldexp([1.0, 2.0], [3, 1])
    array([8., 4.])
    """
    return call(_ldexp, (x1, x2), out, where, casting, order, dtype, subok, signature)


_frexp = elementwise("_npi_frexp", onp.frexp)


@document(_frexp)
def frexp(
    x: ArrayLike,
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
) -> Any:
    """Mantissa in [0.5, 1) and exponent of two.

    Examples
    --------
    >>> np.frexp([1.0, 8.0])
    (array([0.5, 0.5]), array([1, 4], dtype=int32))
    """
    return call(
        _frexp,
        (x,),
        positional_outs(out1, out2, out),
        where,
        casting,
        order,
        dtype,
        subok,
        signature,
    )


_modf = elementwise("_npi_modf", onp.modf)


@document(_modf)
def modf(
    x: ArrayLike,
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
) -> Any:
    """Fractional and integral part.

    Examples
    --------
    >>> np.modf([1.5, -2.25])
    (array([ 0.5 , -0.25]), array([ 1., -2.]))
    """
    return call(
        _modf,
        (x,),
        positional_outs(out1, out2, out),
        where,
        casting,
        order,
        dtype,
        subok,
        signature,
    )


__all__ = [
    "cbrt",
    "ceil",
    "copysign",
    "fabs",
    "floor",
    "frexp",
    "heaviside",
    "hypot",
    "ldexp",
    "modf",
    "nextafter",
    "rint",
    "sign",
    "spacing",
    "sqrt",
    "trunc",
]
