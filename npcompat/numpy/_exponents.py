"""Exponential and logarithmic ufuncs.

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

_exp = elementwise("_npi_exp", onp.exp)


@document(_exp)
def exp(
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
    """Compute the exponential e**x.

    Examples
    --------
    >>> np.exp([0.0, 1.0]).round(4)
    array([1.       , 2.7183])
    """
    return call(_exp, (x,), out, where, casting, order, dtype, subok, signature)


_exp2 = elementwise("_npi_exp2", onp.exp2)


@document(_exp2)
def exp2(
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
    """Compute 2**x.

    Examples
    --------
    >>> np.exp2([0, 1, 3])
    array([1., 2., 8.])
    """
    return call(_exp2, (x,), out, where, casting, order, dtype, subok, signature)


_expm1 = elementwise("_npi_expm1", onp.expm1)


@document(_expm1)
def expm1(
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
    """Compute exp(x) - 1, accurate for small x.

    Examples
    --------
    >>> np.expm1([0.0, 1.0]).round(4)
    array([0.    , 1.7183])
    """
    return call(_expm1, (x,), out, where, casting, order, dtype, subok, signature)


_log = elementwise("_npi_log", onp.log)


@document(_log)
def log(
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
    """Compute the natural logarithm.

    Examples
    --------
    >>> np.log([1.0, 2.0]).round(4)
    array([0.    , 0.6931])
    """
    return call(_log, (x,), out, where, casting, order, dtype, subok, signature)


_log2 = elementwise("_npi_log2", onp.log2)


@document(_log2)
def log2(
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
    """Compute the logarithm to base 2.

    Examples
    --------
    >>> np.log2([1, 8])
    array([0., 3.])
    """
    return call(_log2, (x,), out, where, casting, order, dtype, subok, signature)


_log10 = elementwise("_npi_log10", onp.log10)


@document(_log10)
def log10(
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
    """Compute the logarithm to base 10.

    Examples
    --------
    >>> np.log10([1, 1000]).round(4)
    array([0., 3.])
    """
    return call(_log10, (x,), out, where, casting, order, dtype, subok, signature)


_log1p = elementwise("_npi_log1p", onp.log1p)


@document(_log1p)
def log1p(
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
    """Compute log(1 + x), accurate for small x.

    Examples
    --------
    >>> np.log1p([0.0, 1.0]).round(4)
    array([0.    , 0.6931])
    """
    return call(_log1p, (x,), out, where, casting, order, dtype, subok, signature)


_logaddexp = elementwise("_npi_logaddexp", onp.logaddexp)


@document(_logaddexp)
def logaddexp(
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
    """Compute log(exp(x1) + exp(x2)) without overflow (log-sum-exp).

    Examples
    --------
    >>> np.logaddexp(0.0, 0.0).round(4)
    np.float32(0.6931)
    """
    return call(_logaddexp, (x1, x2), out, where, casting, order, dtype, subok, signature)


_logaddexp2 = elementwise("_npi_logaddexp2", onp.logaddexp2)


@document(_logaddexp2)
def logaddexp2(
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
    """Compute log2(2**x1 + 2**x2) without overflow.

    Examples
    --------
    >>> np.logaddexp2(0.0, 0.0)
    np.float32(1.0)
    """
    return call(_logaddexp2, (x1, x2), out, where, casting, order, dtype, subok, signature)


__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2"]
