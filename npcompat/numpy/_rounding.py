"""Clipping and rounding."""

import operator as python
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply_cached
from npcompat.numpy import _arithmetic, _extremes
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, NoValue, Order, Out
from npcompat.numpy._ufunc import call, finish
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _clip_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = attrs["dtype"] or dtypes.result_type(types)
    return [dtype] * len(types), dtype


_numpys_clip: Any = onp._core.umath.clip  # type: ignore[attr-defined]


def _clip_directly(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Any:
    """Call NumPy's clip ufunc, for arrays of the result's dtype and Python numbers."""
    dtype = attrs["dtype"] or dtypes.result_type(types)
    return _numpys_clip if all([t == dtype for t in types if isinstance(t, onp.dtype)]) else None


@operator(
    "_npi_clip", scalars=True, rule=_clip_types, pattern="broadcast", numpy_function=_clip_directly
)
def _clip(xp: Any, a: Any, low: Any, high: Any, *, dtype: Any = None) -> Any:
    """Clip the values from below and above."""
    return xp.clipped(a, low, high)


@call_cached
@defers_to_classes
def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = NoValue,
    a_max: ArrayLike | None = NoValue,
    out: Out = None,
    *,
    min: ArrayLike | None = NoValue,
    max: ArrayLike | None = NoValue,
    **kwargs: Any,
) -> "ndarray":
    """Clip the values to the interval [a_min, a_max]; None leaves a side open.

    Parameters
    ----------
    a : array_like
        Values.
    a_min, a_max : array_like or None
        Bounds, broadcast against `a`; `min` and `max` are other names for them.
    out : ndarray, optional
        Array to write the result into.
    **kwargs
        ``where``, ``casting``, ``dtype``, ``order`` and ``subok`` as ufuncs have them.

    Examples
    --------
    >>> np.clip([-1, 0, 5], 0, 3)
    array([0, 0, 3])
    """
    low, high = _bounds(a_min, a_max, min, max)
    a = asanyarray(a)
    if a.dtype.kind in "iu":  # a Python int beyond the dtype's range does not clip
        limits = onp.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return _arithmetic.positive(a, out, **kwargs)
    if low is None:
        if not _is_real(a.dtype):
            return _extremes.minimum(a, high, out, **kwargs)
        low = -onp.inf
    elif high is None:
        if not _is_real(a.dtype):
            return _extremes.maximum(a, low, out, **kwargs)
        high = onp.inf
    return (
        apply_cached(_clip, (a, low, high), ())
        if out is None and not kwargs
        else _clipped(a, low, high, out, **kwargs)
    )


def _is_real(dtype: onp.dtype[Any]) -> bool:
    """Return True for real floats, whose gradient at a bound is that of the values."""
    return dtypes.is_inexact(dtype) and dtype.kind != "c"


def _bounds(a_min: Any, a_max: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the bounds, given under either pair of names."""
    if a_min is NoValue and a_max is NoValue:
        return None if low is NoValue else low, None if high is NoValue else high
    if a_min is NoValue or a_max is NoValue:
        raise TypeError(
            "clip() missing 1 required positional argument: "
            f"'{'a_min' if a_min is NoValue else 'a_max'}'"
        )
    if low is not NoValue or high is not NoValue:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden."
        )
    return a_min, a_max


def _clipped(
    a: Any,
    low: Any,
    high: Any,
    out: Any,
    *,
    where: ArrayLike = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    return call(_clip, (a, low, high), out, where, casting, order, dtype, subok, signature)


def _rounded_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    dtype = dtypes.native(dtype) if dtypes.is_inexact(dtype) else dtype
    if dtype == onp.bool_ and attrs["decimals"]:
        onp.round(onp.zeros(1, bool), attrs["decimals"])  # raises NumPy's error
    # NumPy rounds bools as halves.
    dtype = onp.dtype(onp.float16) if dtype == onp.bool_ else dtype
    return [dtype], dtype


@operator(
    "_npi_round",
    scalars=True,
    pattern="elementwise",
    rule=_rounded_types,
)
def _round(xp: Any, a: Any, *, decimals: int = 0) -> Any:
    """Round to a number of decimals, halves to even."""
    return xp.round(a, decimals)


@call_cached
@defers_to_classes
def round(a: ArrayLike, decimals: int = 0, out: Out = None) -> "ndarray":
    """Round to a number of decimals, halves to even.

    Examples
    --------
    >>> np.round([1.25, 1.35, -0.5], 1)
    array([ 1.2,  1.4, -0.5])
    """
    return finish(apply_cached(_round, (a,), (python.index(decimals),)), out, "round")


around = round

__all__ = ["around", "clip", "round"]
