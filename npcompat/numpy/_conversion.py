"""Conversion with requirements: finite values, memory order, flags, dtypes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import devices, handles
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat.numpy._checks import flagged
from npcompat.numpy._comparison import isfinite
from npcompat.numpy._creation import asarray, copy_of
from npcompat.numpy._overrides import defers_to_classes, made_like
from npcompat.numpy._typing import ArrayLike, DTypeLike, Order
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def asarray_chkfinite(
    a: ArrayLike, dtype: DTypeLike = None, order: Order | None = None
) -> "ndarray":
    """Convert to an array as `asarray`, and check that all elements are finite.

    Raises
    ------
    ValueError
        If an element is infinite or nan.

    Examples
    --------
    >>> np.asarray_chkfinite([1, 2])
    array([1, 2])
    """
    made = asarray(a, dtype, order)
    if dtypes.is_inexact(made.dtype):
        flagged(~isfinite(made).all(), ValueError, "array must not contain infs or NaNs")
    return made


# --- memory order ---------------------------------------------------------------------------------


@unbound
def asfortranarray(a: ArrayLike, dtype: DTypeLike = None, *, like: Any = None) -> "ndarray":
    """Return an array of at least one axis in Fortran memory order.

    Examples
    --------
    >>> a = np.asfortranarray([[1, 2], [3, 4]])
    >>> a.flags.f_contiguous, a.strides == (a.itemsize, 2 * a.itemsize)
    (True, True)
    """
    if (
        like is not None
        and (found := made_like(like, asfortranarray, locals())) is not NotImplemented
    ):
        return found
    made = asarray(a, dtype, "F")
    return made if made.ndim else made.reshape(1)


def isfortran(a: Any) -> bool:
    """Return True if an array is in Fortran order and not in C order.

    Examples
    --------
    >>> a = np.ones((2, 3))
    >>> np.isfortran(a), np.isfortran(a.T)
    (False, True)
    """
    found: bool = a.flags.fnc
    return found


_REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


@defers_to_classes
def require(
    a: ArrayLike,
    dtype: DTypeLike = None,
    requirements: str | Sequence[str] | None = None,
    *,
    like: Any = None,
) -> "ndarray":
    """Return an array that meets requirements, copied if necessary.

    Parameters
    ----------
    a : array_like
        The array.
    dtype : dtype, optional
        Its dtype, if not its own.
    requirements : str or sequence of str, optional
        Any of 'C' and 'F' (memory order; not both), 'W' (it can be written), 'O' (it is no view),
        'A' and 'E', which all arrays meet.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.

    Raises
    ------
    KeyError
        If there is no such requirement.
    ValueError
        If both 'C' and 'F' are required.

    Examples
    --------
    >>> a = np.ones((2, 3)).T
    >>> np.require(a, requirements="C").flags.c_contiguous
    True
    """
    if like is not None and (made := made_like(like, require, locals())) is not NotImplemented:
        return made
    made = asarray(a, dtype)
    wanted = {_REQUIREMENTS[r.upper()] for r in requirements or ()}
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    if all([made.flags[flag] for flag in wanted - {"E"}]):
        return made
    return copy_of(made, "F" if "F" in wanted else "C" if "C" in wanted else "K")


# --- dtypes ---------------------------------------------------------------------------------------


def astype(x: Any, dtype: DTypeLike, /, *, copy: bool = True, device: Any = None) -> "ndarray":
    """Cast an array to a dtype.

    Parameters
    ----------
    x : ndarray
        The array.
    dtype : dtype
        The dtype.
    copy : bool
        If True, copy even if the dtype is the array's own.
    device : Device or str, optional
        Device of the result.

    Examples
    --------
    >>> np.astype(np.array([1.5, 2.5]), int)
    array([1, 2])
    """
    if isinstance(x, onp.ndarray | onp.generic) and not isinstance(x, Handle):
        x = asarray(x)
    if not isinstance(x, Handle):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    made = x.astype(dtype, copy=copy)  # type: ignore[attr-defined]
    return made if device is None else devices.moved(made, device)


def common_type(*arrays: Any) -> type[Any]:
    """Return the inexact scalar type that holds all arrays; integers count as the default float.

    Examples
    --------
    >>> np.common_type(np.arange(3), np.array([1j]))
    <class 'numpy.complex64'>
    """
    stand_ins = [handles.layout(a) if isinstance(a, Handle) else a for a in arrays]
    found = onp.dtype(onp.common_type(*stand_ins))
    return dtypes.narrow(found, [a.dtype for a in stand_ins]).type


def min_scalar_type(a: ArrayLike, /) -> onp.dtype[Any]:
    """Return the smallest dtype that can hold a scalar; for an array, its own dtype.

    Examples
    --------
    >>> np.min_scalar_type(300)
    dtype('uint16')
    """
    array: Any = a
    if isinstance(array, Handle):
        array = handles.layout(array) if array.shape else handles.to_host(array)
    if isinstance(array, TracedNumber):
        array = int(array)  # raises: the value is not known
    return onp.min_scalar_type(array)


def info(
    object: Any = None, maxwidth: int = 76, output: Any = None, toplevel: str = "numpy"
) -> None:
    """Print help: the layout of an array, the docstring of a function, NumPy's help for a name.

    Examples
    --------
    >>> np.info("nothing of that name")
    Help for nothing of that name not found.
    """
    onp.info(
        handles.layout(object) if isinstance(object, Handle) else object,
        maxwidth,
        output,
        toplevel,
    )


__all__ = [
    "asarray_chkfinite", "asfortranarray", "astype", "common_type", "info", "isfortran",
    "min_scalar_type", "require",
]  # fmt: skip
