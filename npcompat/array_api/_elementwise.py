"""Elementwise functions whose standard differs from NumPy."""

from typing import Any

from npcompat import numpy as np
from npcompat import numpy_extension as npx
from npcompat.array_api._array import as_arrays


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Clip elements to bounds; a bound that is None is none.

    Parameters
    ----------
    x : ndarray
        Real elements.
    min, max : ndarray or number, optional
        Bounds, broadcast with `x`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.clip(xp.asarray([1.0, 5.0]), max=2.0)
    array([1., 2.])
    """
    return as_arrays(np.clip(x, min, max))


def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Divide and round towards minus infinity; where an operand is infinite, divide.

    NumPy makes nan of an infinity that is divided, and -1 of a small number that is divided by an
    infinity of the other sign; the standard has infinities and zeros there.

    Parameters
    ----------
    x1, x2 : ndarray or number
        Dividend and divisor, real; at least one is an array.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.floor_divide(xp.asarray([np.inf, -1.0]), xp.asarray([2.0, np.inf]))
    array([inf, -0.])
    """
    with np.errstate(invalid="ignore"):  # `divide` warns of what is nan
        quotient = np.floor_divide(x1, x2)
    if quotient.dtype.kind == "f":
        infinite = np.isinf(x1) | np.isinf(x2)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            divided = npx.stop_gradient(np.asarray(np.divide(x1, x2), dtype=quotient.dtype))
        quotient = np.where(infinite, divided, quotient)
    return as_arrays(quotient)


def expm1(x: Any, /) -> Any:
    """Exponential minus one, exp(x) - 1, accurate near zero.

    Complex elements with infinite or undefined parts are those of the standard (of C99's Annex G).

    Parameters
    ----------
    x : ndarray
        Floating-point elements.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.expm1(xp.asarray([complex(-np.inf, np.inf)]))
    array([-1.+0.j])
    """
    with np.errstate(invalid="ignore"):
        result = np.expm1(x)
    if result.dtype.kind == "c":
        a, b = np.real(x), np.imag(x)
        beyond = ~np.isfinite(b)
        on_axis = b == 0  # the zero keeps its sign
        for chosen, real, imag in (
            ((a == 0) & on_axis, 0.0, None),
            ((a == np.inf) & on_axis, np.inf, None),
            (np.isnan(a) & on_axis, np.nan, None),
            ((a == np.inf) & beyond, np.inf, np.nan),
            ((a == -np.inf) & beyond, -1.0, 0.0),
        ):
            result = _replaced(result, chosen, real, b if imag is None else imag)
    return as_arrays(result)


def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent; for complex infinities of finite imaginary parts that of the standard.

    There it is 1 or -1 with a zero that has the sign of the imaginary part; NumPy's zero has that
    of sin(2y), as C99's.

    Parameters
    ----------
    x : ndarray
        Floating-point elements.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.tanh(xp.asarray([complex(np.inf, 2.0)]))
    array([1.+0.j])
    """
    result = np.tanh(x)
    if result.dtype.kind == "c":
        a, b = np.real(x), np.imag(x)
        zero = np.copysign(np.zeros_like(b), b)
        for infinity, limit in ((np.inf, 1.0), (-np.inf, -1.0)):
            result = _replaced(result, (a == infinity) & np.isfinite(b), limit, zero)
    return as_arrays(result)


def _replaced(z: Any, chosen: Any, real: float, imag: Any) -> Any:
    """Return complex numbers with others where chosen, made without arithmetic of infinities."""
    new = np.zeros(z.shape, z.dtype)
    new.real[...] = real
    new.imag[...] = npx.stop_gradient(np.asarray(imag))
    return np.where(chosen, new, z)


__all__ = ["clip", "expm1", "floor_divide", "tanh"]
