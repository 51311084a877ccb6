"""Differences and interpolation."""

import operator as python
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import as_attr, from_attr, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import check_casts_to_float
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._joining import concatenate
from npcompat.numpy._manipulation import broadcast_to, ravel
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike, NoValue

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_float64 = onp.dtype("float64")


@operator("_npi_diff", order="K", pattern="complex", scalars=False)
def _diff(xp: Any, a: Any, *, n: int = 1, axis: int = -1) -> Any:
    """Compute the `n`-th discrete difference."""
    before = (slice(None),) * (axis % a.ndim)
    for _ in range(n):
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        a = later != earlier if a.dtype == onp.bool_ else later - earlier
    return a


@defers_to_classes
def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike = NoValue,
    append: ArrayLike = NoValue,
) -> "ndarray":
    """Compute the `n`-th discrete difference along an axis.

    Parameters
    ----------
    a : array_like
        The array.
    n : int
        Order of the difference.
    axis : int
        The axis.
    prepend, append : array_like, optional
        Elements to put before and after those of `a` first; a scalar stands for one slice.

    Examples
    --------
    >>> np.diff([1, 4, 9])
    array([3, 5])
    """
    n = python.index(n)
    if n == 0:
        return cast("Any", a)
    a = asanyarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = onp.lib.array_utils.normalize_axis_index(axis, a.ndim)
    parts = []
    for part in (prepend, a, append):
        if part is NoValue:
            continue
        part = asarray(part)
        parts.append(
            part if part.ndim else broadcast_to(part, (*a.shape[:axis], 1, *a.shape[axis + 1 :]))
        )
    return apply(_diff, (concatenate(parts, axis) if len(parts) > 1 else a,), (n, axis))


@defers_to_classes
def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> "ndarray":
    """Compute differences of neighbours in the raveled array, between optional end values.

    Examples
    --------
    >>> np.ediff1d([1, 4, 9], to_begin=0)
    array([0, 3, 5])
    """
    ary = ravel(ary)
    if ary.dtype == onp.bool_:
        raise TypeError("ediff1d: bool elements can't be subtracted; use .astype('int64')")
    parts = [diff(ary)]
    for name, given in (("to_begin", to_begin), ("to_end", to_end)):
        if given is None:
            continue
        extra = asarray(given)
        if not onp.can_cast(extra.dtype, ary.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        parts.insert(0 if name == "to_begin" else len(parts), ravel(extra).astype(ary.dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def _interpolated_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    real = dtypes.narrow(_float64, types)
    wide = dtypes.narrow(onp.dtype("c16"), types) if dtypes.strong(types[2]).kind == "c" else real
    return [real, real, wide], wide


@operator("_npi_interp", keeps_class=False, scalars=True, rule=_interpolated_types)
def _interp(
    namespace: Any,
    x: Any,
    xp: Any,
    fp: Any,
    *,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> Any:
    """Interpolate linearly between points."""
    return namespace.interp(x, xp, fp, from_attr(left), from_attr(right), period)


@defers_to_classes
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: Any = None,
    right: Any = None,
    period: float | None = None,
) -> "ndarray":
    """Interpolate linearly: the piecewise linear function through (xp, fp), evaluated at `x`.

    Parameters
    ----------
    x : array_like
        Points at which to evaluate.
    xp, fp : array_like
        The points, `xp` ascending unless there is a period.
    left, right : scalar, optional
        Values on both sides of the points; the first and the last of `fp` if not given.
    period : float, optional
        The period of `xp`.

    Examples
    --------
    >>> np.interp(2.5, [1, 2, 3], [10, 20, 30])
    np.float32(25.0)
    """
    xp, fp = asarray(xp), asarray(fp)
    cast = [asarray(x).dtype, xp.dtype, *([] if fp.dtype.kind == "c" else [fp.dtype])]
    check_casts_to_float(*[t for t in cast if t.kind == "c" or period is None])
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError(f"Data points must be 1-D sequences, got shapes {xp.shape} and {fp.shape}")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if xp.size != fp.size:
        raise ValueError(f"fp and xp are not of the same length: {fp.size} and {xp.size}")
    if period == 0:
        raise ValueError("period must be a non-zero value")
    ends: tuple[Any, ...] = (left, right, period)
    attrs = tuple(as_attr(v.item() if hasattr(v, "item") else v) for v in ends)
    return apply(_interp, (x, xp, fp), attrs)


__all__ = ["diff", "ediff1d", "interp"]
