"""Reductions over axes: sum, product, extremes, mean, variance, cumulative sum."""

import types
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, as_attr, as_axis, from_attr, operator
from npcompat._internal.core.op_kinds import for_axis
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.late_bound import ordinary
from npcompat._internal.indexing.checks import checked_scalar
from npcompat.numpy._creation import asarray
from npcompat.numpy._empty_slices import is_empty, warn_of_masked, warn_of_means, warn_of_spreads
from npcompat.numpy._overrides import given, reduced_by, reduced_by_class
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import accumulated_in, finish, mask_of, name_of, reduced_axis
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64, _uint64 = onp.dtype("int64"), onp.dtype("uint64")


# --- types ----------------------------------------------------------------------------------------


def accumulated(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Sums and products: small integers accumulate in 64 bits; `dtype` overrides."""
    dtype = attrs["dtype"] or dtypes.strong(types[0])
    if attrs["dtype"] is None and (dtype.kind in "biu" or dtype in dtypes.SMALL_INTEGERS):
        dtype = _uint64 if dtype.kind == "u" or dtype.name.startswith("u") else _int64
    return [dtype, *[None] * (len(types) - 1)], dtype


def averaged(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Means: integers become the default float; float16 is averaged in float32."""
    source = dtypes.strong(types[0])
    dtype = attrs["dtype"] or source
    if attrs["dtype"] is None and not dtypes.is_inexact(dtype) and dtypes.on_devices(dtype):
        dtype = dtypes.default_float()
    working = onp.dtype("float32") if dtypes.is_inexact(dtype) and dtype.itemsize < 4 else dtype
    # The dtype of a sum of objects is known only from the objects.
    return [
        working,
        *[None] * (len(types) - 1),
    ], None if dtype.hasobject else dtype


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


def kept(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Extremes: the result keeps the dtype of the operand."""
    dtype = dtypes.strong(types[0])
    return [dtype, *[None] * (len(types) - 1)], dtype


def boolean(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """All and any: the result is bool.

    A complex number is true if one of its parts is.
    """
    casts = list(dtypes.keep(types)[0])
    if dtypes.strong(types[0]).kind == "c":
        casts[0] = onp.dtype(bool)
    return casts, onp.dtype(bool)


# --- the kind -------------------------------------------------------------------------------------


_DECIDED_BY: dict[str, Any] = {"all": onp.logical_and, "any": onp.logical_or}
_REDUCED_BY: dict[str, Any] = {
    "sum": onp.add,
    "prod": onp.multiply,
    "max": onp.maximum,
    "min": onp.minimum,
}


def reduction(name: str, method: str, rule: Any, **declaration: Any) -> Op:
    """Declare a reduction over axes with an optional mask (`where`) as second input."""

    ufunc = _REDUCED_BY.get(method)
    folded, folds = (ufunc, "biufc") if ufunc is not None else (_DECIDED_BY.get(method), "b")

    def compute(
        xp: Any,
        a: Any,
        *where: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
    ) -> Any:
        if (
            not where
            and initial is None
            and ufunc is not None
            and type(a) is onp.ndarray
            and a.dtype.kind in "biufc"
        ):
            # Equal to NumPy's function, with less overhead.
            return ufunc.reduce(a, axis, None, None, keepdims)
        options: dict[str, Any] = {"where": mask_of(xp, a, where[0])} if where else {}
        if initial is not None:
            options["initial"] = checked_scalar(from_attr(initial), a.dtype)
        if method == "mean" and a.dtype.kind in "biu":
            return _whole_mean(xp, a, axis, keepdims, options)
        return getattr(xp, method)(
            a,
            axis=axis if method == "mean" else reduced_axis(a, axis),
            keepdims=keepdims,
            **options,
        )

    def direct(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Any:
        given, wanted = dtypes.strong(types[0]), attrs["dtype"]
        if (
            folded is None
            or len(types) > 1
            or attrs["initial"] is not None
            or given.kind not in folds
        ):
            return None
        if wanted is not None and given.kind == "c" != wanted.kind:
            return None  # NumPy would warn of discarded imaginary parts
        return partial(
            folded.reduce, axis=attrs["axis"], dtype=attrs["dtype"], keepdims=attrs["keepdims"]
        )

    return operator(name, rule=rule, pattern="reduction", numpy_function=direct, **declaration)(
        compute
    )


def _whole_mean(xp: Any, a: Any, axis: Any, keepdims: bool, options: dict[str, Any]) -> Any:
    """Compute a mean in integers or bools, whose sum wraps or saturates in their dtype."""
    total = xp.sum(a, axis=axis, dtype=a.dtype, keepdims=keepdims, **options)
    counted = xp.broadcast_to(options["where"], a.shape) if options else xp.ones_like(a)
    count = xp.sum(xp.astype(counted, onp.bool_), axis=axis, dtype=onp.int64, keepdims=keepdims)
    return xp.astype(xp.astype(total, onp.float64) / count, a.dtype)


def lowest(dtype: onp.dtype[Any]) -> Any:
    """Return the least value of a dtype."""
    return False if dtype.kind == "b" else onp.iinfo(dtype).min if dtype.kind in "iu" else -onp.inf


def highest(dtype: onp.dtype[Any]) -> Any:
    """Return the greatest value of a dtype."""
    return True if dtype.kind == "b" else onp.iinfo(dtype).max if dtype.kind in "iu" else onp.inf


def reduce(
    op: Op,
    a: ArrayLike,
    axis: Any,
    dtype: DTypeLike,
    out: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Any:
    """Call a reduction with the arguments that all reductions share."""
    if type(a) not in ordinary:
        options = given(
            out,
            dtype=(dtype, None),
            keepdims=(keepdims, NoValue),
            initial=(initial, NoValue),
            where=(where, NoValue),
        )
        made = reduced_by_class(name_of(op), a, {"axis": axis, **options})
        if made is not NotImplemented:
            return made
    if initial is NoValue or initial is None:
        initial = None
    else:
        initial = as_attr(initial.item() if hasattr(initial, "item") else initial)
    attrs = (
        axis if axis is None or type(axis) is int else as_axis(axis),
        accumulated_in(dtype, a),
        False if keepdims is NoValue else bool(keepdims),
        initial,
    )
    result = (
        apply_cached(op, (a,), attrs)
        if where is NoValue or where is True
        else apply(op, (a, where), attrs)
    )
    # NumPy casts unsafely into `out` for all reductions.
    return result if out is None else finish(result, out, name_of(op), "unsafe")


_sum = reduction("_npi_sum", "sum", accumulated)
_prod = reduction("_npi_prod", "prod", accumulated)
_max = reduction("_npi_max", "max", kept, identity=lowest)
_min = reduction("_npi_min", "min", kept, identity=highest)
_all = reduction("_npi_all", "all", boolean, differentiable=False)
_any = reduction("_npi_any", "any", boolean, differentiable=False)
_mean = reduction("_npi_mean", "mean", averaged)


@call_cached
def sum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the sum over axes; integers narrower than 64 bits are summed in 64.

    Parameters
    ----------
    a : array_like
        Elements to sum.
    axis : int or tuple of int, optional
        Axes to sum over; all if not given.
    dtype : dtype, optional
        Dtype in which to sum.
    out : ndarray, optional
        Array to write the result into.
    keepdims : bool, optional
        If True, reduced axes stay, with length 1.
    initial : scalar, optional
        Start of the sum.
    where : array_like of bool, optional
        Elements to include.

    Returns
    -------
    ndarray
        The sum; 0-d if no axis is left.

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis does not exist.

    Examples
    --------
    >>> np.sum([[1, 2], [3, 4]], axis=0)
    array([4, 6])
    """
    if isinstance(a, types.GeneratorType):
        raise TypeError(
            "np.sum of a generator: use Python's sum, or np.sum(np.fromiter(generator, dtype))"
        )
    if type(a) not in ordinary and (made := reduced_by(sum, locals())) is not NotImplemented:
        return made
    return reduce(_sum, a, axis, dtype, out, keepdims, initial, where)


@call_cached
def prod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the product over axes; the arguments are those of `sum`.

    Examples
    --------
    >>> np.prod([[1, 2], [3, 4]], axis=0)
    array([3, 8])
    """
    if type(a) not in ordinary and (made := reduced_by(prod, locals())) is not NotImplemented:
        return made
    return reduce(_prod, a, axis, dtype, out, keepdims, initial, where)


@call_cached
def max(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Return the maximum over axes, NaN if there is one; the arguments are those of `sum`.

    Raises
    ------
    ValueError
        If there is no element and no `initial`.

    Examples
    --------
    >>> np.max([[1, 2], [3, 4]], axis=0)
    array([3, 4])
    """
    if type(a) not in ordinary and (made := reduced_by(max, locals())) is not NotImplemented:
        return made
    return reduce(_max, a, axis, None, out, keepdims, initial, where)


@call_cached
def min(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    initial: Any = NoValue,
    where: Any = NoValue,
) -> "ndarray":
    """Return the minimum over axes, NaN if there is one; the arguments are those of `sum`.

    Raises
    ------
    ValueError
        If there is no element and no `initial`.

    Examples
    --------
    >>> np.min([[1, 2], [3, 4]], axis=0)
    array([1, 2])
    """
    if type(a) not in ordinary and (made := reduced_by(min, locals())) is not NotImplemented:
        return made
    return reduce(_min, a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


@call_cached
def all(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> "ndarray":
    """Return True if all elements over axes are true; True if there are none.

    Examples
    --------
    >>> np.all([[True, False], [True, True]], axis=0)
    array([ True, False])
    """
    if type(a) not in ordinary and (made := reduced_by(all, locals())) is not NotImplemented:
        return made
    return reduce(_all, a, axis, None, out, keepdims, NoValue, where)


@call_cached
def any(
    a: ArrayLike,
    axis: AxisLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> "ndarray":
    """Return True if any element over axes is true; False if there are none.

    Examples
    --------
    >>> np.any([[True, False], [False, False]], axis=0)
    array([ True, False])
    """
    if type(a) not in ordinary and (made := reduced_by(any, locals())) is not NotImplemented:
        return made
    return reduce(_any, a, axis, None, out, keepdims, NoValue, where)


@call_cached
def mean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: Any = NoValue,
    *,
    where: Any = NoValue,
) -> "ndarray":
    """Compute the arithmetic mean over axes; integers are averaged as floats.

    Examples
    --------
    >>> np.mean([[1, 2], [3, 4]], axis=0)
    array([2., 3.])
    """
    if (
        not ordinary.issuperset((type(a), type(where)))
        and (made := reduced_by(mean, locals())) is not NotImplemented
    ):
        return made
    return mean_of(a, axis, dtype, out, keepdims, where)


def mean_of(a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, where: Any) -> Any:
    """Call `mean` with all its arguments."""
    if not isinstance(a, Handle):
        a = asarray(a)
    result = reduce(_mean, a, axis, dtype, out, keepdims, NoValue, where)
    if is_empty(a):
        warn_of_means(a, axis)
    elif where is not NoValue and where is not True:
        warn_of_masked(a, axis, where, result, "Mean of empty slice")
    return result


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
    if dtype is None and out is None and keepdims is NoValue and not masked and not centered:
        # Cached calls would not warn of zero degrees of freedom.
        divides = apply if ddof != 0 else apply_cached
        return divides(op, (a,), (as_axis(axis), None, False, ddof, ""))
    attrs = (
        as_axis(axis),
        accumulated_in(dtype, a),
        keepdims is not NoValue and bool(keepdims),
        ddof,
        "m" * centered + "w" * masked,
    )
    args = (a, *([mean] if centered else []), *([where] if masked else []))
    result = apply(op, args, attrs)
    if masked:
        warn_of_masked(a, axis, where, result, "Degrees of freedom <= 0 for slice", ddof)
    return finish(result, out, name_of(op), "unsafe")


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


def ptp(a: ArrayLike, axis: AxisLike = None, out: Out = None, keepdims: Any = NoValue) -> "ndarray":
    """Compute the range over axes (peak to peak): maximum minus minimum.

    Examples
    --------
    >>> np.ptp([3, 1, 7])
    np.int64(6)
    """
    result = max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)
    return finish(result, out, "ptp")


# --- running sums ---------------------------------------------------------------------------------


@for_axis("_npi_cumsum", order="K", rule=accumulated)
def _cumsum(xp: Any, a: Any, axis: int, *, dtype: Any = None, exclusive: bool = False) -> Any:
    """Compute the cumulative sum."""
    total = xp.cumsum(a, axis=axis)
    return _delayed(xp, total, axis, 0) if exclusive else total


@for_axis("_npi_cumprod", order="K", rule=accumulated)
def _cumprod(xp: Any, a: Any, axis: int, *, dtype: Any = None, exclusive: bool = False) -> Any:
    """Compute the cumulative product."""
    total = xp.cumprod(a, axis=axis)
    return _delayed(xp, total, axis, 1) if exclusive else total


def _delayed(xp: Any, running: Any, axis: int, first: int) -> Any:
    """Shift a cumulative result by one step, after a first value (exclusive scan)."""
    shape = [1 if i == axis else n for i, n in enumerate(running.shape)]
    later = xp.concatenate([xp.full(shape, first, dtype=running.dtype), running], axis=axis)
    return later[(slice(None),) * axis + (slice(-1),)]


@call_cached
def cumsum(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Running sum along an axis, or over all elements if no axis is given.

    Parameters
    ----------
    a : array_like
        Array to sum.
    axis : int, optional
        Along which axis; over all elements in C order if not given.
    dtype : dtype, optional
        Dtype in which to sum; small integers are summed in 64 bits if not given.
    out : ndarray, optional
        Array to write the result into.
    exclusive : bool
        If True, each sum excludes its own element (not in NumPy).

    Examples
    --------
    >>> np.cumsum([1, 2, 3])
    array([1, 3, 6])
    >>> np.cumsum([1, 2, 3], exclusive=True)
    array([0, 1, 3])
    """
    result = apply_cached(_cumsum, (a,), (as_axis(axis), accumulated_in(dtype, a), bool(exclusive)))
    return finish(result, out, "cumsum", "unsafe")


@call_cached
def cumprod(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Cumulative product along an axis, or over all elements if no axis is given.

    Parameters
    ----------
    a : array_like
        Array to multiply.
    axis : int, optional
        Along which axis; over all elements in C order if not given.
    dtype : dtype, optional
        Dtype in which to multiply; small integers are multiplied in 64 bits if not given.
    out : ndarray, optional
        Array to write the result into.
    exclusive : bool
        If True, each product excludes its own element (not in NumPy).

    Examples
    --------
    >>> np.cumprod([1, 2, 3])
    array([1, 2, 6])
    >>> np.cumprod([1, 2, 3], exclusive=True)
    array([1, 1, 2])
    """
    result = apply_cached(
        _cumprod, (a,), (as_axis(axis), accumulated_in(dtype, a), bool(exclusive))
    )
    return finish(result, out, "cumprod", "unsafe")


__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]
