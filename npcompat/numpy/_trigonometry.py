"""Trigonometric and hyperbolic ufuncs, their inverses, and degrees.

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

_sin = elementwise("_npi_sin", onp.sin)


@document(_sin)
def sin(
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
    """Compute the sine of an angle in radians.

    Examples
    --------
    >>> np.sin([0.0, np.pi / 2])
    array([0., 1.])
    """
    return call(_sin, (x,), out, where, casting, order, dtype, subok, signature)


_cos = elementwise("_npi_cos", onp.cos)


@document(_cos)
def cos(
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
    """Compute the cosine of an angle in radians.

    Examples
    --------
    >>> np.cos([0.0, np.pi])
    array([ 1., -1.])
    """
    return call(_cos, (x,), out, where, casting, order, dtype, subok, signature)


_tan = elementwise("_npi_tan", onp.tan)


@document(_tan)
def tan(
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
    """Compute the tangent of an angle in radians.

    Examples
    --------
    >>> np.tan([0.0, 1.0]).round(4)
    array([0.    , 1.5574])
    """
    return call(_tan, (x,), out, where, casting, order, dtype, subok, signature)


_arcsin = elementwise("_npi_arcsin", onp.arcsin)


@document(_arcsin)
def arcsin(
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
    """Compute the inverse sine (arcsine), in radians in [-pi/2, pi/2].

    Examples
    --------
    >>> np.arcsin([0.0, 1.0]).round(4)
    array([0.    , 1.5708])
    """
    return call(_arcsin, (x,), out, where, casting, order, dtype, subok, signature)


_arccos = elementwise("_npi_arccos", onp.arccos)


@document(_arccos)
def arccos(
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
    """Compute the inverse cosine (arccosine), in radians in [0, pi].

    Examples
    --------
    >>> np.arccos([1.0, 0.0]).round(4)
    array([0.    , 1.5708])
    """
    return call(_arccos, (x,), out, where, casting, order, dtype, subok, signature)


_arctan = elementwise("_npi_arctan", onp.arctan)


@document(_arctan)
def arctan(
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
    """Compute the inverse tangent (arctangent), in radians in [-pi/2, pi/2].

    Examples
    --------
    >>> np.arctan([0.0, 1.0]).round(4)
    array([0.    , 0.7854])
    """
    return call(_arctan, (x,), out, where, casting, order, dtype, subok, signature)


_arctan2 = elementwise("_npi_arctan2", onp.arctan2)


@document(_arctan2)
def arctan2(
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
    """Compute the angle in radians of the point (x2, x1), in [-pi, pi].

    Examples
    --------
    >>> np.arctan2([1.0, -1.0], [1.0, 1.0]).round(4)
    array([ 0.7854, -0.7854])
    """
    return call(_arctan2, (x1, x2), out, where, casting, order, dtype, subok, signature)


_sinh = elementwise("_npi_sinh", onp.sinh)


@document(_sinh)
def sinh(
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
    """Compute the hyperbolic sine.

    Examples
    --------
    >>> np.sinh([0.0, 1.0]).round(4)
    array([0.    , 1.1752])
    """
    return call(_sinh, (x,), out, where, casting, order, dtype, subok, signature)


_cosh = elementwise("_npi_cosh", onp.cosh)


@document(_cosh)
def cosh(
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
    """Compute the hyperbolic cosine.

    Examples
    --------
    >>> np.cosh([0.0, 1.0]).round(4)
    array([1.    , 1.5431])
    """
    return call(_cosh, (x,), out, where, casting, order, dtype, subok, signature)


_tanh = elementwise("_npi_tanh", onp.tanh)


@document(_tanh)
def tanh(
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
    """Compute the hyperbolic tangent.

    Examples
    --------
    >>> np.tanh([0.0, 1.0]).round(4)
    array([0.        , 0.7616])
    """
    return call(_tanh, (x,), out, where, casting, order, dtype, subok, signature)


_arcsinh = elementwise("_npi_arcsinh", onp.arcsinh)


@document(_arcsinh)
def arcsinh(
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
    """Compute the inverse hyperbolic sine.

    Examples
    --------
    >>> np.arcsinh([0.0, 1.0]).round(4)
    array([0.    , 0.8814])
    """
    return call(_arcsinh, (x,), out, where, casting, order, dtype, subok, signature)


_arccosh = elementwise("_npi_arccosh", onp.arccosh)


@document(_arccosh)
def arccosh(
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
    """Compute the inverse hyperbolic cosine.

    Examples
    --------
    >>> np.arccosh([1.0, 2.0]).round(4)
    array([0.   , 1.317])
    """
    return call(_arccosh, (x,), out, where, casting, order, dtype, subok, signature)


_arctanh = elementwise("_npi_arctanh", onp.arctanh)


@document(_arctanh)
def arctanh(
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
    """Compute the inverse hyperbolic tangent.

    Examples
    --------
    >>> np.arctanh([0.0, 0.5]).round(4)
    array([0.    , 0.5493])
    """
    return call(_arctanh, (x,), out, where, casting, order, dtype, subok, signature)


_degrees = elementwise("_npi_degrees", onp.degrees)


@document(_degrees)
def degrees(
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
    """Convert radians to degrees.

    Examples
    --------
    >>> np.degrees([0.0, np.pi])
    array([  0., 180.])
    """
    return call(_degrees, (x,), out, where, casting, order, dtype, subok, signature)


_radians = elementwise("_npi_radians", onp.radians)


@document(_radians)
def radians(
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
    """Convert degrees to radians.

    Examples
    --------
    >>> np.radians([0.0, 180.0]).round(4)
    array([0.    , 3.1416])
    """
    return call(_radians, (x,), out, where, casting, order, dtype, subok, signature)


_deg2rad = elementwise("_npi_deg2rad", onp.deg2rad)


@document(_deg2rad)
def deg2rad(
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
    """Convert degrees to radians.

    Examples
    --------
    >>> np.deg2rad([0.0, 180.0]).round(4)
    array([0.    , 3.1416])
    """
    return call(_deg2rad, (x,), out, where, casting, order, dtype, subok, signature)


_rad2deg = elementwise("_npi_rad2deg", onp.rad2deg)


@document(_rad2deg)
def rad2deg(
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
    """Convert radians to degrees.

    Examples
    --------
    >>> np.rad2deg([0.0, np.pi])
    array([  0., 180.])
    """
    return call(_rad2deg, (x,), out, where, casting, order, dtype, subok, signature)


acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "rad2deg",
    "radians",
    "sin",
    "sinh",
    "tan",
    "tanh",
]
