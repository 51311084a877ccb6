"""Numerical ranges and coordinate grids."""

import inspect
import math
import operator as python
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_shape, operator
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat.numpy._arithmetic import power
from npcompat.numpy._checks import flagged, is_live
from npcompat.numpy._creation import array, asarray, copy_of, placed_on
from npcompat.numpy._filled import created, full
from npcompat.numpy._manipulation import expand_dims, moveaxis
from npcompat.numpy._overrides import defers_to_classes, made_like
from npcompat.numpy._selection import where
from npcompat.numpy._typing import ArrayLike, DTypeLike, ShapeLike
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64, _float64, _complex128 = map(onp.dtype, ("int64", "float64", "complex128"))
_INTS = frozenset((int,))


def _ranged_by(
    start: Any, stop: Any, step: Any, dtype: Any, rounded: Any = None
) -> Callable[[], Any]:
    if rounded is None:
        return partial(onp.arange, start, stop, step, dtype)
    return partial(_rounded_range, start, stop, step, dtype, rounded)


def _rounded_range(start: Any, stop: Any, step: Any, dtype: Any, rounded: Any) -> Any:
    return onp.arange(start, stop, step, dtype=dtype).astype(rounded)


@operator(
    "_npi_arange",
    rule=lambda types, attrs: (
        [],
        attrs["dtype"] if attrs["rounded"] is None else attrs["rounded"],
    ),
    differentiable=False,
    numpy_constructor=_ranged_by,
)
def _arange(xp: Any, *, start: Any, stop: Any, step: Any, dtype: Any, rounded: Any = None) -> Any:
    """Evenly spaced values with a step.

    Parameters
    ----------
    start : scalar
        First value.
    dtype : dtype
        Dtype in which the values are computed: NumPy adds the difference of the first two.
    rounded : dtype, optional
        Dtype of the result, if it is another.
    """
    return xp.asarray(_ranged_by(start, stop, step, dtype, rounded)())


@unbound
def arange(
    start_or_stop: Any = None,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DTypeLike = None,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
    start: Any = None,
) -> "ndarray":
    """Create evenly spaced values from `start` (default 0) up to, and excluding, `stop`.

    Parameters
    ----------
    start_or_stop : scalar
        The first value; or, if `stop` is not given, the end.
    stop : scalar, optional
        End of the range.
    step : scalar, optional
        Distance between values; 1 if it is None.
    dtype : dtype, optional
        int64 for integer bounds and the default float for floats, if not given. Values of the
        default float are computed in float64; those of a given dtype as NumPy does, which adds the
        difference of the first two values in that dtype.
    device, ctx : Device or str, optional
        Device of the array.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.
    start : scalar, optional
        The first value, given by its name.

    Examples
    --------
    >>> np.arange(3)
    array([0, 1, 2])
    >>> np.arange(1, 2, 0.25)
    array([1.  , 1.25, 1.5 , 1.75])
    """
    # Fast path.
    if type(start_or_stop) is type(stop) is type(step) is int and dtype is start is like is None:
        return created(
            _arange, (start_or_stop, stop, step, _int64, None), ctx if device is None else device
        )
    if like is not None and (made := made_like(like, arange, locals())) is not NotImplemented:
        return made
    if start is not None and start_or_stop is not None:
        raise TypeError("argument for arange() given by name ('start') and position (position 0)")
    first = start_or_stop if start is None else start
    if stop is None and (first is None or start is not None):
        raise TypeError("arange() requires stop to be specified.")
    bounds = [
        x if type(x) is int else _number(x)
        for x in (
            *((0, first) if stop is None else (0 if first is None else first, stop)),
            1 if step is None else step,
        )
    ]
    integers = _INTS.issuperset(map(type, bounds))
    wanted = dtypes.canonical(dtype) if dtype is not None else _int64 if integers else None
    if (wanted is not None and not dtypes.on_devices(wanted)) or (
        not integers and any([_made_by_numpy(b) for b in bounds])
    ):
        return array_like.array_of(onp.arange(*bounds, dtype=wanted))
    place = ctx if device is None else device
    computed, rounded = (wanted, None) if wanted is not None else _range_dtypes(bounds)
    return created(_arange, (*bounds, computed, rounded), place)


_shown = inspect.signature(arange)  # NumPy also accepts `arange(stop=3)`
arange.__dict__["__signature__"] = _shown.replace(
    parameters=[
        p.replace(default=p.empty) if p.name == "start_or_stop" else p
        for p in _shown.parameters.values()
    ]
)


def _number(x: Any) -> Any:
    if not isinstance(x, Handle):
        return x
    handles.check_reader(x)
    host = handles.to_host(x)
    return (
        host.item() if dtypes.on_devices(host.dtype) else host[()]
    )  # dates and durations keep their unit


def _made_by_numpy(bound: Any) -> bool:
    """Return True if a bound is a date, a duration, or a value that NumPy refuses."""
    return isinstance(
        bound, onp.datetime64 | onp.timedelta64 | date | timedelta | list | tuple | str
    )


def _range_dtypes(bounds: list[Any]) -> tuple[Any, Any]:
    """Return the dtype that NumPy computes in, and that of the result, or None if it is the same."""
    for bound in bounds:
        if isinstance(bound, TracedNumber):
            python.index(bound)  # raises: the length of the range is not known
    zeros = [type(b)() for b in bounds]
    found = onp.arange(zeros[0], zeros[1], 1 + zeros[2]).dtype
    wanted = dtypes.narrow(found, [b.dtype for b in bounds if hasattr(b, "dtype")])
    return found, None if wanted == found else wanted


def _spaced_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    wanted = attrs["dtype"]
    if wanted is None:
        computed = dtypes.floating(types)[1]
    else:  # in float64, as accurate as NumPy
        computed = onp.result_type(*[dtypes.strong_by_numpy(t) for t in types], onp.float64)
    return [computed] * len(types), wanted or computed


@operator("_npi_linspace", order="K", rule=_spaced_rule)
def _linspace(
    xp: Any,
    start: Any,
    stop: Any,
    *,
    num: int,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Evenly spaced values, a fixed number of them."""
    made = xp.linspace(start, stop, num, endpoint, axis=axis)
    return xp.floor(made) if dtype is not None and dtype.kind in "iu" else made


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray": ...


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: int = 0,
    device: Any = None,
    ctx: Any = None,
) -> "tuple[ndarray, ndarray]": ...


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex,
    endpoint: bool,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "tuple[ndarray, ndarray]": ...


@defers_to_classes
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray | tuple[ndarray, ndarray]":
    """Create `num` evenly spaced values from `start` to `stop`.

    Parameters
    ----------
    start, stop : array_like
        First and last value.
    num : int
        Number of values.
    endpoint : bool
        If True, `stop` is the last value.
    retstep : bool
        If True, also return the step between values.
    dtype : dtype, optional
        Dtype of the result; a float if not given.
    axis : int
        Position of the new axis, if the bounds are arrays.
    device, ctx : Device or str, optional
        Device of the array.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    count = python.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    with placed_on(device, ctx):
        wanted = None if dtype is None else dtypes.canonical(dtype)
        made = apply(_linspace, (start, stop), (count, bool(endpoint), wanted, axis))
        if not retstep:
            return made
        parts = count - 1 if endpoint else count
        if parts <= 0:
            return made, asarray(math.nan)
        computed = wanted if wanted in (_float64, _complex128) else None
        # The product is of floats also for integers, whose difference may not fit.
        return made, (asarray(stop, computed) * 1.0 - asarray(start, computed) * 1.0) / parts


@defers_to_classes
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create values evenly spaced on a logarithmic scale, from `base**start` to `base**stop`.

    Parameters
    ----------
    start, stop, base : array_like
        First and last exponent, and the base; they are broadcast against each other.
    num, endpoint, dtype, axis, device, ctx
        As for `linspace`.

    Examples
    --------
    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    bounds: Any = (start, stop, base)
    with placed_on(device, ctx):
        if onp.ndim(bounds[2]):  # the new axis is inserted among those of all three
            axes = max(map(onp.ndim, bounds))
            start, stop, base = [array(a, copy=None, ndmin=axes) for a in bounds]
            base = expand_dims(base, axis)
        made = power(base, linspace(start, stop, num, endpoint, axis=axis))
        return made if dtype is None else made.astype(dtype)


def _geometric(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Any:
    """Compute a geometric progression by operators; its ends are the bounds themselves."""
    start, stop = asarray(start), asarray(stop)
    kind = dtypes.result_type([start.dtype, stop.dtype])
    if not dtypes.is_inexact(kind):
        kind = dtypes.default_float()
    start, stop = start.astype(kind), stop.astype(kind)
    zero = (start == 0).any() | (stop == 0).any()
    flagged(zero, ValueError, "Geometric sequence cannot include zero")
    ratio = stop / start
    steps = linspace(0.0, 1.0, num, endpoint).reshape(-1, *(1,) * ratio.ndim)
    made = start * power(ratio, steps.astype(kind))
    if num > 1 and endpoint:
        made = where(steps == 1, stop, made)
    made = moveaxis(made, 0, axis) if made.ndim > 1 else made
    return made if dtype is None else made.astype(dtype)


@defers_to_classes
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> "ndarray":
    """Create values in geometric progression from `start` to `stop`.

    Examples
    --------
    >>> np.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    ends = [array_like.joined(x) if isinstance(x, list | tuple) else x for x in (start, stop)]
    wanted = None if dtype is None else dtypes.canonical(dtype)
    if any(map(is_live, ends)):
        return _geometric(ends[0], ends[1], python.index(num), endpoint, wanted, axis)
    host = [handles.to_host(x) if isinstance(x, Handle) else array_like.host_array(x) for x in ends]
    made = onp.geomspace(host[0], host[1], num, endpoint, wanted, axis)
    return array_like.array_of(
        made.astype(
            dtypes.narrow(made.dtype, [h.dtype for h in host]) if wanted is None else wanted
        )
    )


# --- grids ----------------------------------------------------------------------------------------


@defers_to_classes
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> "tuple[ndarray, ...]":
    """Return coordinate arrays of a grid, from the coordinates along each axis.

    Examples
    --------
    >>> x, y = np.meshgrid([1, 2, 3], [4, 5])
    >>> y
    array([[4, 4, 4],
           [5, 5, 5]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    arrays = [asarray(x) for x in xi]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[0], order[1] = 1, 0
    shaped = [
        a.reshape([-1 if i == order[k] else 1 for i in range(len(arrays))])
        for k, a in enumerate(arrays)
    ]
    if not sparse:
        shape = onp.broadcast_shapes(*[s.shape for s in shaped])
        return tuple(full(shape, s) for s in shaped)
    return tuple(copy_of(s) for s in shaped) if copy else tuple(shaped)


@overload
def indices(
    dimensions: ShapeLike,
    dtype: DTypeLike = int,
    sparse: Literal[False] = False,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray": ...


@overload
def indices(
    dimensions: ShapeLike,
    dtype: DTypeLike = int,
    *,
    sparse: Literal[True],
    device: Any = None,
    ctx: Any = None,
) -> "tuple[ndarray, ...]": ...


@overload
def indices(
    dimensions: ShapeLike,
    dtype: DTypeLike,
    sparse: Literal[True],
    *,
    device: Any = None,
    ctx: Any = None,
) -> "tuple[ndarray, ...]": ...


def indices(
    dimensions: ShapeLike,
    dtype: DTypeLike = int,
    sparse: bool = False,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray | tuple[ndarray, ...]":
    """Return the index arrays of a grid, stacked (a tuple if `sparse`).

    Examples
    --------
    >>> np.indices((2, 2))[1]
    array([[0, 1],
           [0, 1]])
    """
    make: Any = onp.indices
    found = make(as_shape(dimensions), dtypes.canonical(dtype), bool(sparse))
    with placed_on(device, ctx):
        return (
            tuple(array_like.array_of(f) for f in found) if sparse else array_like.array_of(found)
        )


@defers_to_classes
def ix_(*args: ArrayLike) -> "tuple[ndarray, ...]":
    """Build an open mesh of index arrays from one sequence for each axis.

    Examples
    --------
    >>> np.arange(6).reshape(2, 3)[np.ix_([0, 1], [0, 2])]
    array([[0, 2],
           [3, 5]])
    """
    host: list[Any] = [handles.to_host(a) if isinstance(a, Handle) else a for a in args]
    return tuple(array_like.array_of(onp.array(a)) for a in onp.ix_(*host))


def fromfunction(
    function: Callable[..., Any],
    shape: ShapeLike,
    *,
    dtype: DTypeLike = float,
    like: Any = None,
    **kwargs: Any,
) -> Any:
    """Create an array by calling a function with the coordinate arrays of a grid.

    Examples
    --------
    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    if like is not None and (made := made_like(like, fromfunction, locals())) is not NotImplemented:
        return made
    return function(*indices(shape, dtype=dtype), **kwargs)


__all__ = [
    "arange",
    "fromfunction",
    "geomspace",
    "indices",
    "ix_",
    "linspace",
    "logspace",
    "meshgrid",
]
