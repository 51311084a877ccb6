"""Variances and standard deviations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, as_axis, operator
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.late_bound import ordinary
from npcompat.numpy._accumulation import accumulated_in, mask_of
from npcompat.numpy._creation import asarray
from npcompat.numpy._empty_slices import is_empty, warn_of_masked, warn_of_spreads
from npcompat.numpy._extremes import maximum
from npcompat.numpy._floats import sqrt
from npcompat.numpy._manipulation import broadcast_to
from npcompat.numpy._overrides import reduced_by
from npcompat.numpy._reductions import averaged
from npcompat.numpy._reductions import sum as sum_of
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import finish, name_of
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def spread(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Variances: as means, but real for a complex array unless `dtype` is given."""
    casts, dtype = averaged(types, attrs)
    if dtype is not None and dtype.kind == "c" and attrs["dtype"] is None:
        dtype = onp.dtype(f"float{dtype.itemsize * 4}")
    if dtypes.strong(types[0]).kind == "c" and dtype is not None and dtype.kind == "f":
        # The mean may be requested real; the distances from it are complex.
        casts = [
            onp.result_type(dtype, onp.complex64),
            *casts[1:],
        ]
    return casts, dtype


def _spread_options(
    xp: Any, a: Any, rest: tuple[Any, ...], given: str, axis: Any, dtype: Any
) -> dict[str, Any]:
    """Unpack the optional inputs of `var` and `std`: mean and mask.

    `given` holds the initials of those that are there.
    """
    found = dict(zip(given, rest, strict=True))
    options = {"where": mask_of(xp, a, found["w"])} if "w" in given else {}
    if "m" in given:
        options["mean"] = found["m"]
    elif a.dtype.kind == "c" and dtype is not None and dtype.kind == "f":
        options["mean"] = xp.mean(a.real, axis=axis, keepdims=True, **options)
    return options


@operator("_npi_var", rule=spread, pattern="reduction")
def _var(
    xp: Any,
    a: Any,
    *rest: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    ddof: float = 0,
    given: str = "",
) -> Any:
    """Compute the variance: mean squared distance from the mean."""
    return xp.var(
        a,
        axis=axis,
        ddof=ddof,
        keepdims=keepdims,
        **_spread_options(xp, a, rest, given, axis, dtype),
    )


@operator("_npi_std", rule=spread, pattern="reduction")
def _std(
    xp: Any,
    a: Any,
    *rest: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    ddof: float = 0,
    given: str = "",
) -> Any:
    """Compute the standard deviation: square root of the variance."""
    return xp.std(
        a,
        axis=axis,
        ddof=ddof,
        keepdims=keepdims,
        **_spread_options(xp, a, rest, given, axis, dtype),
    )


def _in_integers(
    a: Any,
    axis: Any,
    dtype: onp.dtype[Any],
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
) -> Any:
    """Compute the variance with sums that are integers, as NumPy does: the mean is cut off, but not
    what each element has more.
    """
    chosen = broadcast_to(where, a.shape)
    if mean is NoValue:
        total = sum_of(a, axis, dtype, keepdims=True, where=where)
        mean = (total.astype("float64") / sum_of(chosen, axis, keepdims=True)).astype(dtype)
    more = a - mean
    squares = (more * more.conjugate()).real if more.dtype.kind == "c" else more * more
    total = sum_of(squares, axis, dtype, keepdims=keepdims, where=where)
    count = maximum(sum_of(chosen, axis, keepdims=keepdims) - ddof, 0)
    return (total.astype("float64") / count).astype(dtype)


def spread_of(
    op: Op,
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
    """Call `var` or `std` with all their arguments."""
    if correction is not NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    masked, centered = where is not NoValue and where is not True, mean is not NoValue
    if not isinstance(a, Handle):
        a = asarray(a)
    if ddof != 0 or is_empty(a):
        warn_of_spreads(a, axis, ddof)
    if dtype is not None and dtypes.canonical(dtype).kind in "iu" and a.dtype.kind in "biufc":
        where = True if where is NoValue else where
        keepdims = keepdims is not NoValue and bool(keepdims)
        found = _in_integers(a, axis, dtypes.canonical(dtype), ddof, keepdims, where, mean)
        if op is _std:
            if found.shape:
                ones = onp.ones(1, found.dtype)
                onp.sqrt(ones, out=ones)  # NumPy's error: a root is no integer
            found = sqrt(found.astype("float64")).astype(found.dtype)
        return finish(found, out, name_of(op), "unsafe")
    if dtype is None and out is None and keepdims is NoValue and not masked and not centered:
        # Cached calls would not warn of zero degrees of freedom.
        divides = apply if ddof != 0 else apply_cached
        return divides(op, (a,), (as_axis(axis), None, False, ddof, ""))
    attrs = (
        as_axis(axis),
        accumulated_in(dtype, a, op),
        keepdims is not NoValue and bool(keepdims),
        ddof,
        "m" * centered + "w" * masked,
    )
    args = (a, *([mean] if centered else []), *([where] if masked else []))
    result = apply(op, args, attrs)
    if masked:
        warn_of_masked(a, axis, where, result, "Degrees of freedom <= 0 for slice", ddof)
    whole = op is _std and getattr(getattr(out, "dtype", None), "kind", "f") in "biu"
    return finish(result, out, name_of(op), "same_kind" if whole else "unsafe")  # a root is no int


@call_cached
def var(
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
    """Compute the variance over axes: mean squared distance from the mean, with `n - ddof`.

    Examples
    --------
    >>> np.var([1, 2, 3, 4])
    np.float32(1.25)
    """
    if (
        not ordinary.issuperset((type(a), type(where)))
        and (made := reduced_by(var, locals())) is not NotImplemented
    ):
        return made
    return spread_of(_var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@call_cached
def std(
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
    """Compute the standard deviation over axes: square root of `var`.

    Examples
    --------
    >>> np.std([1, 3])
    np.float32(1.0)
    """
    if (
        not ordinary.issuperset((type(a), type(where)))
        and (made := reduced_by(std, locals())) is not NotImplemented
    ):
        return made
    return spread_of(_std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


__all__ = ["spread", "spread_of", "std", "var"]
