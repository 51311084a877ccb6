"""Window functions, and the special functions `i0` and `sinc`."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.core.op_kinds import unary
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import holds_no_numbers, shaping
from npcompat.numpy._creation import asarray
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_float64 = onp.dtype("float64")


@unary("_npi_i0")
def _i0(xp: Any, x: Any) -> Any:
    """Compute the modified Bessel function of the first kind, order 0."""
    return xp.i0(x)


@unary("_npi_sinc", scalars=True)
def _sinc(xp: Any, x: Any) -> Any:
    """Compute sin(pi x) / (pi x)."""
    return xp.sinc(x)


@defers_to_classes
def i0(x: ArrayLike) -> "ndarray":
    """Compute the modified Bessel function of the first kind, order 0.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> np.round(np.i0([0.0, 1.0]), 3)
    array([1.   , 1.266])
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    return apply(_i0, (x.astype(float) if holds_no_numbers(x.dtype) else x,))


@defers_to_classes
def sinc(x: ArrayLike) -> "ndarray":
    """Compute the normalized sinc function sin(pi x) / (pi x), which is 1 at 0.

    Examples
    --------
    >>> np.sinc([0.0, 0.5])
    array([1.        , 0.63661975])
    """
    return apply(_sinc, (asarray(x),))


# --- windows --------------------------------------------------------------------------------------


def _window(of: Any, M: Any) -> Any:
    """Compute a window that depends on its length alone."""
    made = of(shaping(M, of.__name__)[()])
    return array_like.array_of(
        made.astype(dtypes.narrow(made.dtype, [M.dtype] if hasattr(M, "dtype") else []))
    )


def bartlett(M: Any) -> "ndarray":
    """Return the Bartlett window of `M` points, a triangle that begins and ends with zero.

    Examples
    --------
    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(onp.bartlett, M)


def blackman(M: Any) -> "ndarray":
    """Return the Blackman window of `M` points, a sum of three cosines.

    Examples
    --------
    >>> np.round(np.blackman(5), 2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """
    return _window(onp.blackman, M)


def hamming(M: Any) -> "ndarray":
    """Return the Hamming window of `M` points, a raised cosine that does not reach zero.

    Examples
    --------
    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(onp.hamming, M)


def hanning(M: Any) -> "ndarray":
    """Return the Hann window of `M` points, a raised cosine.

    Examples
    --------
    >>> np.hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(onp.hanning, M)


@operator("_npi_kaiser", rule=lambda types, attrs: ([_float64], dtypes.narrow(_float64, types)))
def _kaiser(xp: Any, beta: Any, *, M: Any) -> Any:
    """Compute the Kaiser window."""
    if M == 1:
        return xp.ones(1, onp.float64)
    middle = (M - 1) / 2
    distance = (onp.arange(0.0, M) - middle) / middle
    return xp.i0(beta * xp.asarray(onp.sqrt(1 - distance**2))) / xp.i0(beta)


def kaiser(M: Any, beta: Any) -> "ndarray":
    """Return the Kaiser window of `M` points.

    Parameters
    ----------
    M : int
        Number of points; none if it is less than 1.
    beta : scalar
        Its shape: 0 is a rectangle, 5 is like Hamming's window, 6 like von Hann's, 8.6 like
        Blackman's.

    Examples
    --------
    >>> np.kaiser(3, 0)
    array([1., 1., 1.])
    """
    return apply(_kaiser, (beta,), (shaping(M, "kaiser").item(),))


__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser", "sinc"]
