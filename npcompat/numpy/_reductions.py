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
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.late_bound import ordinary
from npcompat._internal.indexing.checks import checked_scalar
from npcompat.numpy._accumulation import accumulated_in, mask_of, reduced_axis
from npcompat.numpy._creation import asarray
from npcompat.numpy._empty_slices import is_empty, warn_of_masked, warn_of_means
from npcompat.numpy._overrides import defers_to_classes, given, reduced_by, reduced_by_class
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import finish, name_of
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64, _uint64 = onp.dtype("int64"), onp.dtype("uint64")


# --- types ----------------------------------------------------------------------------------------


def accumulated(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Sums and products: small integers accumulate in 64 bits; `dtype` overrides."""
    dtype = attrs["dtype"] or dtypes.native(dtypes.strong(types[0]))
    if attrs["dtype"] is None and (dtype.kind in "biu" or dtype in dtypes.SMALL_INTEGERS):
        dtype = _uint64 if dtype.kind == "u" or dtype.name.startswith("u") else _int64
    return [dtype, *[None] * (len(types) - 1)], dtype


def averaged(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Means: integers become the default float; float16 is averaged in float32."""
    dtype = attrs["dtype"] or dtypes.native(dtypes.strong(types[0]))
    if attrs["dtype"] is None and not dtypes.is_inexact(dtype) and dtypes.on_devices(dtype):
        dtype = dtypes.default_float()
    working = onp.dtype("float32") if dtypes.is_inexact(dtype) and dtype.itemsize < 4 else dtype
    # The dtype of a sum of objects is known only from the objects.
    return [
        working,
        *[None] * (len(types) - 1),
    ], None if dtype.hasobject else dtype


def kept(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Extremes: the result keeps the dtype of the operand."""
    dtype = dtypes.native(dtypes.strong(types[0]))
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
    accumulation = accumulated_in(dtype, a, op, out)
    if initial is not None and accumulation == onp.bool_ and op in (_sum, _prod):
        initial = bool(from_attr(initial))  # sums of booleans are disjunctions
    attrs = (
        axis if axis is None or type(axis) is int else as_axis(axis),
        accumulation,
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
    if out is not None and out is not ... and dtype is not None:
        summed = onp.dtype(dtype)
        if summed.kind in "iu" and summed != a.dtype:  # only the sum is of integers
            a, dtype = a.astype(summed), None
    result = reduce(_mean, a, axis, dtype, out, keepdims, NoValue, where)
    if is_empty(a):
        warn_of_means(a, axis)
    elif where is not NoValue and where is not True:
        warn_of_masked(a, axis, where, result, "Mean of empty slice")
    return result


@defers_to_classes
def ptp(a: ArrayLike, axis: AxisLike = None, out: Out = None, keepdims: Any = NoValue) -> "ndarray":
    """Compute the range over axes (peak to peak): maximum minus minimum.

    Examples
    --------
    >>> np.ptp([3, 1, 7])
    np.int64(6)
    """
    largest, smallest = max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims)
    wider = getattr(out, "dtype", None)
    if wider is not None:  # NumPy writes the largest elements there first
        largest = largest.astype(wider)
    return finish(largest - smallest, out, "ptp")


__all__ = ["all", "amax", "amin", "any", "max", "mean", "min", "prod", "ptp", "sum"]
