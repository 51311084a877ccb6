"""Functions with complex results outside of the real domain (np.emath).

The dtype of a result depends on values. In a compiled function, where values are not known, results
are always complex.
"""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat.numpy import _arithmetic, _exponents, _floats, _trigonometry
from npcompat.numpy._arithmetic import absolute
from npcompat.numpy._complex_parts import decided
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_SINGLE = frozenset("fbhBHF")


def _widened(x: Any, outside: Any) -> Any:
    """Convert to complex if any element is outside the domain of the real function."""
    x = asarray(x)
    if x.dtype.kind == "c" or not decided(outside(x).any(), True):
        return x
    wide = onp.dtype("complex64" if x.dtype.char in _SINGLE else "complex128")
    return x.astype(dtypes.narrow(wide, [x.dtype]))


def _unless_negative(x: Any) -> Any:
    return _widened(x, lambda a: a < 0)


def _unless_above_one(x: Any) -> Any:
    return _widened(x, lambda a: absolute(a) > 1)


def sqrt(x: ArrayLike) -> "ndarray":
    """Compute the square root; complex if an element is negative.

    Examples
    --------
    >>> np.emath.sqrt([-4.0, 1.0])
    array([0.+2.j, 1.+0.j])
    """
    return _floats.sqrt(_unless_negative(x))


def log(x: ArrayLike) -> "ndarray":
    """Compute the natural logarithm; complex if an element is negative.

    Examples
    --------
    >>> np.emath.log(1.0)
    np.float32(0.0)
    """
    return _exponents.log(_unless_negative(x))


def log10(x: ArrayLike) -> "ndarray":
    """Compute the logarithm to base 10; complex if an element is negative.

    Examples
    --------
    >>> np.emath.log10(-100.0).round(4)
    np.complex64(2+1.3644j)
    """
    return _exponents.log10(_unless_negative(x))


def logn(n: ArrayLike, x: ArrayLike) -> "ndarray":
    """Compute the logarithm of `x` to base `n`; complex if an element of either is negative.

    Examples
    --------
    >>> np.emath.logn(2, [4.0, 8.0])
    array([2., 3.])
    """
    x = _unless_negative(x)
    return _exponents.log(x) / _exponents.log(_unless_negative(n))


def log2(x: ArrayLike) -> "ndarray":
    """Compute the logarithm to base 2; complex if an element is negative.

    Examples
    --------
    >>> np.emath.log2(8.0)
    np.float32(3.0)
    """
    return _exponents.log2(_unless_negative(x))


def power(x: ArrayLike, p: ArrayLike) -> "ndarray":
    """Raise `x` to the power of `p`; complex if an element of `x` is negative.

    The result is a float if an element of `p` is negative.

    Examples
    --------
    >>> np.emath.power([2, 4], -1)
    array([0.5 , 0.25])
    """
    x, p = _unless_negative(x), asarray(p)
    if p.dtype.kind in "biu" and decided((p < 0).any(), True):
        p = p * 1.0
    return _arithmetic.power(x, p)


def arccos(x: ArrayLike) -> "ndarray":
    """Compute the inverse cosine; complex if an element is above 1 or below -1.

    Examples
    --------
    >>> np.emath.arccos(1.0)
    np.float32(0.0)
    """
    return _trigonometry.arccos(_unless_above_one(x))


def arcsin(x: ArrayLike) -> "ndarray":
    """Compute the inverse sine; complex if an element is above 1 or below -1.

    Examples
    --------
    >>> np.emath.arcsin(0.0)
    np.float32(0.0)
    """
    return _trigonometry.arcsin(_unless_above_one(x))


def arctanh(x: ArrayLike) -> "ndarray":
    """Compute the inverse hyperbolic tangent; complex if an element is above 1 or below -1.

    Examples
    --------
    >>> np.emath.arctanh(0.0)
    np.float32(0.0)
    """
    return _trigonometry.arctanh(_unless_above_one(x))


__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]
