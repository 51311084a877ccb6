"""Weighted averages, covariance, NaN-aware variance, and cumulative sums and products."""

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import normalized_axes
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.subclasses import inherit
from npcompat.numpy._accumulation import accumulated_for
from npcompat.numpy._arithmetic import conjugate, multiply
from npcompat.numpy._checks import flagged
from npcompat.numpy._comparison import isnan, logical_not
from npcompat.numpy._creation import array, asanyarray, asarray
from npcompat.numpy._diagonals import diag
from npcompat.numpy._extremes import maximum
from npcompat.numpy._filled import full, ones, zeros
from npcompat.numpy._floats import sqrt
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._joining import concatenate
from npcompat.numpy._manipulation import atleast_1d, broadcast_to, squeeze, transpose
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._products import dot
from npcompat.numpy._reductions import any as any_of
from npcompat.numpy._reductions import mean, sum
from npcompat.numpy._rounding import clip, round
from npcompat.numpy._running import cumprod, cumsum
from npcompat.numpy._selection import where as select
from npcompat.numpy._spread import std, var
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import finish

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_mean = mean
_float64 = onp.dtype("float64")


# --- averages -------------------------------------------------------------------------------------


def weights_along(a: Any, weights: Any, axis: tuple[int, ...] | None) -> "ndarray":
    """Reshape weights so that they broadcast against the array.

    They have the shape of the array, or that of the reduced axes alone.
    """
    weights = asanyarray(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"Axis must be specified when shapes of a and weights differ: {a.shape} and "
            f"{weights.shape}."
        )
    if weights.shape != tuple([a.shape[i] for i in axis]):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis: "
            f"{weights.shape}, {a.shape}, {axis}."
        )
    weights = transpose(weights, [int(i) for i in onp.argsort(axis)])
    return weights.reshape([n if i in axis else 1 for i, n in enumerate(a.shape)])


@overload
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: Any = NoValue,
) -> "ndarray": ...


@overload
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: Any = NoValue,
) -> "tuple[ndarray, ndarray]": ...


@overload
def average(
    a: ArrayLike,
    axis: AxisLike,
    weights: ArrayLike | None,
    returned: Literal[True],
    *,
    keepdims: Any = NoValue,
) -> "tuple[ndarray, ndarray]": ...


@defers_to_classes
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: Any = NoValue,
) -> "ndarray | tuple[ndarray, ndarray]":
    """Compute the weighted average over axes.

    Parameters
    ----------
    a : array_like
        The array.
    axis : int or tuple of int, optional
        The axes; all if not given.
    weights : array_like, optional
        Weight of each element: in the shape of `a`, or of the axes alone.
    returned : bool
        If True, also return the sum of the weights.
    keepdims : bool, optional
        If True, reduced axes stay, with length 1.

    Raises
    ------
    ZeroDivisionError
        If weights sum to zero.

    Examples
    --------
    >>> np.average([1.0, 2.0, 4.0], weights=[2, 1, 1])
    np.float32(2.0)
    """
    a = asanyarray(a)
    if a.dtype == object:
        return by_numpy(
            onp.average,
            (a, axis, weights, returned),
            {} if keepdims is NoValue else {"keepdims": keepdims},
        )
    axes = None if axis is None else normalized_axes(axis, a.ndim)
    if weights is None:
        found = _mean(a, axes, keepdims=keepdims)
        total = full((), a.size / found.size if found.size else onp.nan, found.dtype)
    else:
        each = weights_along(a, weights, axes)
        carried = [a.dtype, each.dtype]
        exact = a.dtype.kind in "biu"
        dtype = dtypes.narrow(onp.result_type(*carried, *([_float64] if exact else [])), carried)
        total = sum(each, axes, dtype, keepdims=keepdims)
        flagged(any_of(total == 0), ZeroDivisionError, "Weights sum to zero, can't be normalized")
        found = sum(multiply(a, each, dtype=dtype), axes, keepdims=keepdims) / total
    if not returned:
        return found
    return found, total if total.shape == found.shape else broadcast_to(
        total, found.shape, subok=True
    ).copy()


# --- covariance -----------------------------------------------------------------------------------


def _variables(m: Any, dtype: Any, upright: bool, rowvar: bool) -> Any:
    """Return observations as a matrix with one variable per row."""
    rows = array(m, dtype=dtype, ndmin=2)
    return rows if rowvar or not upright else transpose(rows)


def _counts(weights: Any, name: str, length: int) -> Any:
    """Check the weights of observations (`fweights`, `aweights`)."""
    weights = asarray(weights, dtype=float)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != length:
        raise RuntimeError(
            f"incompatible numbers of samples and {name}: {length} and {weights.shape[0]}"
        )
    if name == "fweights":
        flagged(any_of(weights != round(weights)), TypeError, "fweights must be integer")
    flagged(any_of(weights < 0), ValueError, f"{name} cannot be negative")
    return weights


@defers_to_classes
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike = None,
) -> "ndarray":
    """Estimate the covariance matrix of variables from observations.

    Parameters
    ----------
    m : array_like
        One variable in each row, with an observation in each column; or a single variable.
    y : array_like, optional
        More variables.
    rowvar : bool
        False if the variables are in the columns.
    bias : bool
        If True, divide by the number of observations, instead of one less.
    ddof : int, optional
        Delta degrees of freedom, subtracted from the number of observations; replaces
        `bias`.
    fweights : array_like of int, optional
        Frequency weight: the number of repetitions of each observation.
    aweights : array_like, optional
        Importance weight of each observation.
    dtype : dtype, optional
        Dtype of the result; at least the default float if not given.

    Examples
    --------
    >>> np.cov([[0, 1, 2], [2, 1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"ddof must be integer, got {ddof}")
    m = asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    y = None if y is None else asarray(y)
    if y is not None and y.ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    carried = [m.dtype] if y is None else [m.dtype, y.dtype]
    wanted = (
        dtypes.narrow(onp.result_type(*carried, _float64), carried)
        if dtype is None
        else dtypes.canonical(dtype)
    )
    if wanted.kind in "biu":
        raise TypeError(
            f"cov(dtype={wanted!r}): expected a floating-point dtype, because means are subtracted"
        )
    x = _variables(m, wanted, m.ndim != 1, rowvar)
    if x.shape[0] == 0:
        return zeros((0, 0), wanted)
    if y is not None:
        x = concatenate([x, _variables(y, wanted, array(y, ndmin=2).shape[0] != 1, rowvar)])
    observed = x.shape[1]
    if ddof is None:
        ddof = 0 if bias else 1
    counted = None if fweights is None else _counts(fweights, "fweights", observed)
    valued = None if aweights is None else _counts(aweights, "aweights", observed)
    weights = counted if valued is None else valued if counted is None else counted * valued
    centre, total = average(x, 1, weights, True)
    total = total[0].real
    if weights is None:
        freedom: Any = observed - ddof
    elif valued is None or ddof == 0:
        freedom = total - ddof
    else:
        freedom = total - ddof * sum(weights * valued) / total
    freedom = _positive(freedom)
    x = x - centre[:, None]
    found = dot(x, conjugate(transpose(x if weights is None else x * weights)))
    return squeeze((found / freedom).astype(found.dtype, copy=False))


def _positive(freedom: Any) -> Any:
    """Clamp the degrees of freedom at zero, with a warning if the number is known."""
    if modes.current().trace is None and float(freedom) <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    return clip(freedom, 0, None) if isinstance(freedom, Handle) else max(freedom, 0)


@defers_to_classes
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None
) -> "ndarray":
    """Compute the Pearson correlation coefficients; the arguments are those of `cov`.

    Examples
    --------
    >>> np.corrcoef([[0, 1, 2], [4, 2, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = sqrt(diag(c).real)
    c = c / spread[:, None] / spread[None, :]
    if c.dtype.kind != "c":
        return clip(c, -1, 1)
    limited = c.copy()
    limited.real[...] = clip(c.real, -1, 1)
    limited.imag[...] = clip(c.imag, -1, 1)
    return limited


# --- without nan ----------------------------------------------------------------------------------


def without_nan(a: Any, value: float) -> Any:
    """Replace each NaN with a value."""
    return (
        inherit(select(isnan(a), asarray(value, dtype=a.dtype), a), a)
        if dtypes.is_inexact(a.dtype)
        else a
    )


def _nan_spread(
    of: Any,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    ddof: float,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
) -> Any:
    a = asanyarray(a)
    if not dtypes.is_inexact(a.dtype):
        return of(
            a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    if dtype is not None and not dtypes.is_inexact(dtypes.canonical(dtype)):
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and not dtypes.is_inexact(out.dtype):
        raise TypeError("If a is inexact, then out must be inexact")
    if correction is not NoValue and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    counted = logical_not(isnan(a))
    if where is not NoValue and where is not True:
        counted = counted & where
    wanted = dtypes.native(a.dtype) if dtype is None else dtypes.canonical(dtype)
    real = onp.dtype(f"f{wanted.itemsize // 2}") if wanted.kind == "c" else wanted
    working = onp.promote_types(real, onp.float32) if real.itemsize < 4 else real
    a = a.astype(working if wanted.kind != "c" else wanted, copy=False)
    count = sum(counted, axis, keepdims=True).astype(working)
    centre = (
        sum(select(counted, a, 0), axis, keepdims=True) / maximum(count, 1)
        if mean is NoValue
        else mean
    )
    distance = select(counted, a - centre, 0)
    squared = sum((distance * conjugate(distance)).real, axis, keepdims=keepdims)
    free = sum(counted, axis, keepdims=keepdims).astype(working) - (
        ddof if correction is NoValue else correction
    )
    if modes.current().trace is None and bool((free <= 0).any()):
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=3)
    found = inherit(select(free > 0, squared / select(free > 0, free, 1), onp.nan), a)
    if of is std:  # of equal elements the derivative is zero, as that of `std`
        zero = found == 0
        found = inherit(select(zero, 0, sqrt(select(zero, 1, found))), a)
    spread = found.astype(real if dtype is None else wanted, copy=False)
    return finish(handles.as_scalar(asanyarray(spread)), out, of.__name__)


@defers_to_classes
def nanvar(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
    mean: ArrayLike = NoValue,
    correction: Any = NoValue,
) -> "ndarray":
    """Compute the variance over axes, ignoring NaN; the arguments are those of `var`.

    Examples
    --------
    >>> np.nanvar([1.0, np.nan, 3.0])
    np.float32(1.0)
    """
    return _nan_spread(var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@defers_to_classes
def nanstd(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
    mean: ArrayLike = NoValue,
    correction: Any = NoValue,
) -> "ndarray":
    """Compute the standard deviation over axes, ignoring NaN; the arguments are those of `std`.

    Examples
    --------
    >>> np.nanstd([1.0, np.nan, 5.0])
    np.float32(2.0)
    """
    return _nan_spread(std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


# --- running sums ---------------------------------------------------------------------------------


@defers_to_classes
def nancumsum(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Compute the cumulative sum with NaN as zero; the arguments are those of `cumsum`.

    Examples
    --------
    >>> np.nancumsum([1.0, np.nan, 2.0])
    array([1., 1., 3.])
    """
    return cumsum(without_nan(asanyarray(a), 0), axis, dtype, out, exclusive=exclusive)


@defers_to_classes
def nancumprod(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Compute the cumulative product with NaN as one; the arguments are those of `cumprod`.

    Examples
    --------
    >>> np.nancumprod([2.0, np.nan, 3.0])
    array([2., 2., 6.])
    """
    return cumprod(without_nan(asanyarray(a), 1), axis, dtype, out, exclusive=exclusive)


def _cumulative(
    of: Any, first: Any, x: Any, axis: int | None, dtype: Any, out: Any, include_initial: bool
) -> Any:
    x = atleast_1d(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    elif isinstance(axis, tuple):
        raise ValueError("accumulate does not allow multiple axes")
    if not include_initial:
        return of(x, axis, dtype, out)
    (at,) = normalized_axes(axis, x.ndim)
    shape = (*x.shape[:at], x.shape[at] + 1, *x.shape[at + 1 :])
    if out is not None and out.shape != shape:
        raise ValueError(f"{of.__name__}: output array has shape {out.shape}, expected {shape}")
    if out is not None and dtype is None:
        dtype = accumulated_for(out, x, of.__name__)
    found = of(x, axis, dtype)
    found = concatenate([first((*shape[:at], 1, *shape[at + 1 :]), found.dtype), found], at)
    return finish(found, out, of.__name__, "unsafe")


@defers_to_classes
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    include_initial: bool = False,
) -> "ndarray":
    """Compute the cumulative sum along an axis, which is required for more than one.

    Parameters
    ----------
    x : array_like
        The array.
    axis : int, optional
        The axis.
    dtype : dtype, optional
        Dtype in which to sum.
    out : ndarray, optional
        Array to write the result into.
    include_initial : bool
        If True, the result begins with the empty sum.

    Examples
    --------
    >>> np.cumulative_sum([1, 2, 3], include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative(cumsum, zeros, x, axis, dtype, out, include_initial)


@defers_to_classes
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    include_initial: bool = False,
) -> "ndarray":
    """Compute the cumulative product; the arguments are those of `cumulative_sum`.

    Examples
    --------
    >>> np.cumulative_prod([1, 2, 3], include_initial=True)
    array([1, 1, 2, 6])
    """
    return _cumulative(cumprod, ones, x, axis, dtype, out, include_initial)


__all__ = [
    "average",
    "corrcoef",
    "cov",
    "cumulative_prod",
    "cumulative_sum",
    "nancumprod",
    "nancumsum",
    "nanstd",
    "nanvar",
]
