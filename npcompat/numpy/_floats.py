"""Floating-point ufuncs: signs, roots, rounding, neighbours, mantissa and exponent.

Each name is a ufunc: the operator is declared beside the function that users call.
"""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core.op import elementwise
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order, Out
from npcompat.numpy._ufunc import call, positional_outs
from npcompat.numpy._ufunc_class import document

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

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
) -> "ndarray":
    """Compute the absolute value as a float.

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
) -> "ndarray":
    """Return the sign as -1, 0 or 1; of a complex number, x / abs(x).

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
) -> "ndarray":
    """Copy the sign of the second operand to the first.

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
) -> "ndarray":
    """Compute the Heaviside step function: 0 below zero, 1 above, the second operand at zero.

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
) -> "ndarray":
    """Compute the non-negative square root; NaN for negative reals.

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
) -> "ndarray":
    """Compute the cube root.

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
) -> "ndarray":
    """Compute the hypotenuse sqrt(x1**2 + x2**2) without overflow.

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
) -> "ndarray":
    """Round to the nearest integer, halves to even.

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
) -> "ndarray":
    """Round down: the largest integer not above x.

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
) -> "ndarray":
    """Round up: the smallest integer not below x.

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
) -> "ndarray":
    """Truncate: round towards zero.

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
) -> "ndarray":
    """Return the next floating-point number after x1 towards x2.

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
) -> "ndarray":
    """Return the distance to the adjacent floating-point number away from zero.

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
) -> "ndarray":
    """Compute x1 * 2**x2.

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
) -> "tuple[ndarray, ndarray]":
    """Decompose into mantissa in [0.5, 1) and exponent of two.

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
) -> "tuple[ndarray, ndarray]":
    """Split into fractional and integral part.

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
