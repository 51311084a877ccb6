"""Tests for signed infinity, rounding to zero, and conversions between real and complex."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.dispatch import handles
from npcompat.numpy._arithmetic import absolute
from npcompat.numpy._comparison import isinf, logical_and, logical_not, signbit
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._floats import trunc
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._sorting import sort
from npcompat.numpy._typing import ArrayLike, Out

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def decided(flag: Any, compiled: bool) -> bool:
    """Return True if a flag, which decides the dtype of a result, is set.

    In a compiled function the flag is unknown; then the answer is `compiled`.
    """
    return compiled if modes.current().trace is not None else bool(handles.to_host(flag))


def _infinite(x: Any, out: Any, negative: bool) -> Any:
    x = asanyarray(x)
    if x.dtype.kind == "c":
        raise TypeError(
            f"This operation is not supported for {x.dtype} values because it would be ambiguous."
        )
    return logical_and(isinf(x), signbit(x) if negative else logical_not(signbit(x)), out=out)


@defers_to_classes
def isposinf(x: ArrayLike, out: Out = None) -> "ndarray":
    """Test each element for positive infinity.

    Examples
    --------
    >>> np.isposinf([np.inf, -np.inf, 1.0])
    array([ True, False, False])
    """
    return _infinite(x, out, False)


@defers_to_classes
def isneginf(x: ArrayLike, out: Out = None) -> "ndarray":
    """Test each element for negative infinity.

    Examples
    --------
    >>> np.isneginf([np.inf, -np.inf, 1.0])
    array([False,  True, False])
    """
    return _infinite(x, out, True)


@defers_to_classes
def fix(x: ArrayLike, out: Out = None) -> "ndarray":
    """Round to the nearest integer towards zero.

    Examples
    --------
    >>> np.fix([1.7, -1.7])
    array([ 1., -1.])
    """
    return trunc(x, out=out)


@defers_to_classes
def real_if_close(a: ArrayLike, tol: float = 100) -> "ndarray":
    """Return the real part if all imaginary parts are close to zero, else the array.

    In a compiled function, where values are not known, a complex array stays complex.

    Parameters
    ----------
    a : array_like
        The array.
    tol : float
        Tolerance of imaginary parts: in machine epsilons, or absolute if not above 1.

    Examples
    --------
    >>> np.real_if_close(np.array([1 + 1e-9j]))
    array([1.])
    """
    a = asanyarray(a)
    if a.dtype.kind != "c":
        return a
    limit = float(onp.finfo(a.dtype).eps) * tol if tol > 1 else tol
    return a.real if decided((absolute(a.imag) < limit).all(), False) else a


@defers_to_classes
def sort_complex(a: ArrayLike) -> "ndarray":
    """Sort along the last axis by real, then imaginary part; the result is complex.

    Examples
    --------
    >>> np.sort_complex([2, 1])
    array([1.+0.j, 2.+0.j])
    """
    ordered = sort(a)
    if ordered.dtype.char == "g":
        return ordered.astype("G")
    if ordered.dtype.kind == "c":
        return ordered
    wide = onp.dtype("complex64" if ordered.dtype.char in "bhBH" else "complex128")
    return ordered.astype(dtypes.narrow(wide, [ordered.dtype]))


__all__ = ["fix", "isneginf", "isposinf", "real_if_close", "sort_complex"]
