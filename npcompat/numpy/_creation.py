"""Arrays from nothing, from data, and from ranges."""

import builtins
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes, modes
from npcompat._internal.devices import as_device, moved
from npcompat._internal.dispatch import apply
from npcompat._internal.dtypes import Resolution, Type
from npcompat._internal.handle import Handle
from npcompat._internal.op import as_shape, operator
from npcompat.numpy._typing import ArrayLike, DTypeLike, Order, ShapeLike
from npcompat.numpy._ufunc import _cast, check_order


def _on(device: Any) -> AbstractContextManager[Any]:
    return nullcontext() if device is None else as_device(device)


def _check(order: Any, like: Any = None) -> None:
    check_order(order)
    if like is not None and not isinstance(like, Handle):
        raise NotImplementedError(f"like=: expected an npcompat ndarray, got {type(like).__name__}; arrays made here are npcompat's")


def copy_of(handle: Handle) -> Any:
    """A new array with the same values.  Values are immutable, so nothing is copied until one of the two is written."""
    value = dispatch.read(handle)
    node = value.node if modes.current().recording else None
    return dispatch.wrap(dispatch.fresh(value.payload, node, value.index))


# --- from data ---------------------------------------------------------------------------------------------------


def array(object: ArrayLike, dtype: DTypeLike = None, *, copy: bool | None = True, order: Order | None = "K", subok: bool = False, ndmin: int = 0, ndmax: int = 0, like: Any = None, device: Any = None, ctx: Any = None) -> Any:
    """An array with the values of an array-like.

    Parameters
    ----------
    object : array_like
        An array, a scalar, or nested sequences.
    dtype : dtype, optional
        Its dtype.  If not given: that of `object` if it carries one, else NumPy's choice with the default float for
        floats.
    copy : bool or None
        Whether an npcompat array is copied; with False, a conversion that needs a copy raises ValueError.
    order : {'K', 'A', 'C'}
        Memory order; without effect here. 'F' raises NotImplementedError.
    subok : bool
        Without effect: there are no subclasses.
    ndmin : int
        Least number of axes; missing ones are added in front.
    ndmax : int
        Not supported: anything but 0 raises NotImplementedError.
    like : ndarray, optional
        Must be an npcompat array.
    device, ctx : Device or str, optional
        Where to place the array.

    Examples
    --------
    >>> np.array([1, 2, 3])
    array([1, 2, 3])
    >>> np.array([1.5, 2]).dtype
    dtype('float32')
    """
    _check(order, like)
    if ndmax != 0:
        raise NotImplementedError(f"array(ndmax={ndmax}): arrays of objects are not supported")
    made = _converted(object, None if dtype is None else dtypes.canonical(dtype), copy, device if device is not None else ctx)
    missing = ndmin - len(made.shape)
    return made.reshape((1,) * missing + made.shape) if missing > 0 else made


def _converted(a: Any, dtype: Any, copy: bool | None, device: Any) -> Any:
    if isinstance(a, list | tuple) and _any_handle(a) and modes.current().trace is not None:
        return _stacked(a, dtype)
    if not isinstance(a, Handle):
        if copy is False and not onp.isscalar(a):
            raise ValueError("Unable to avoid copy while creating an array as requested: the array-like is not an npcompat array")
        with _on(device):
            host = dispatch.host_array(a, dtype)
            return dispatch.array_of(onp.array(host) if modes.current().backend == "numpy" and onp.may_share_memory(host, a) else host)
    result = a
    if dtype is not None and a.dtype != dtype:  # type: ignore[attr-defined]
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        result = apply(_cast, (a,), (dtype,))
    if device is not None:
        result = moved(result, device)
    return copy_of(result) if copy and result is a else result


def _any_handle(items: Iterable[Any]) -> bool:
    return builtins.any(isinstance(i, Handle) or (isinstance(i, list | tuple) and _any_handle(i)) for i in items)


@operator("_npi_stack_scalars", rule=dtypes.promote, pattern="injective")
def _stack(xp: Any, *arrays: Any) -> Any:
    """Arrays of one shape along a new first axis."""
    return xp.stack(arrays)


def _stacked(items: Any, dtype: Any) -> Any:
    """Nested sequences with arrays in them, while a function is traced: their values stay part of the program."""
    parts = [_stacked(i, None) if isinstance(i, list | tuple) else i for i in items]
    made = apply(_stack, parts)
    return made if dtype is None else made.astype(dtype)


def asarray(a: ArrayLike, dtype: DTypeLike = None, order: Order | None = None, *, device: Any = None, copy: bool | None = None, like: Any = None) -> Any:
    """The argument itself if it is an array of the dtype, else an array of its values; see `array`.

    Examples
    --------
    >>> a = np.ones(2)
    >>> np.asarray(a) is a
    True
    """
    _check(order, like)
    return _converted(a, None if dtype is None else dtypes.canonical(dtype), copy, device)


def asanyarray(a: ArrayLike, dtype: DTypeLike = None, order: Order | None = None, *, device: Any = None, copy: bool | None = None, like: Any = None) -> Any:
    """As `asarray`: there are no subclasses.

    Examples
    --------
    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, like: Any = None) -> Any:
    """An array of at least one axis, laid out in C order.

    Examples
    --------
    >>> np.ascontiguousarray(3).shape
    (1,)
    """
    found = asarray(a, dtype, like=like)
    if not found.flags.c_contiguous:
        found = copy_of(found)
    return found if found.shape else found.reshape(1)


def copy(a: ArrayLike, order: Order = "K", subok: bool = False) -> Any:
    """A new array with the values of an array-like.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> b = np.copy(a)
    >>> b[0] = 1
    >>> a
    array([0., 0.])
    """
    return array(a, order=order)


def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0, *, like: Any = None) -> Any:
    """The elements in a buffer of bytes, copied.

    Examples
    --------
    >>> np.frombuffer(b"abc", dtype="uint8")
    array([97, 98, 99], dtype=uint8)
    """
    _check(None, like)
    wanted = onp.float64 if dtype is float or dtype is None else dtypes.canonical(dtype)  # bytes have NumPy's meaning
    return dispatch.array_of(onp.frombuffer(buffer, wanted, count, offset).copy())


def fromiter(iter: Iterable[Any], dtype: DTypeLike, count: int = -1, *, like: Any = None) -> Any:
    """The elements of an iterable, along one axis.

    Examples
    --------
    >>> np.fromiter(range(3), dtype="int32")
    array([0, 1, 2], dtype=int32)
    """
    _check(None, like)
    return dispatch.array_of(onp.fromiter(iter, dtypes.canonical(dtype), count))


def fromfunction(function: Callable[..., Any], shape: ShapeLike, *, dtype: DTypeLike = float, like: Any = None, **kwargs: Any) -> Any:
    """What a function makes of the coordinates of a grid.

    Examples
    --------
    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    _check(None, like)
    return function(*indices(shape, dtype=dtype), **kwargs)


# --- filled ------------------------------------------------------------------------------------------------------


@operator("_npi_full", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _full(xp: Any, *, shape: Any, value: Any, dtype: Any) -> Any:
    """One value everywhere."""
    return xp.full(shape, value, dtype)


def _filled(shape: Any, value: Any, dtype: Any, order: Any, device: Any, like: Any) -> Any:
    _check(order, like)
    wanted = dtypes.default_float() if dtype is None else dtypes.canonical(dtype)
    with _on(device):
        return apply(_full, (), (as_shape(shape), value, wanted))


def zeros(shape: ShapeLike, dtype: DTypeLike = None, order: Order = "C", *, device: Any = None, ctx: Any = None, like: Any = None) -> Any:
    """An array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : dtype, optional
        Its dtype; the default float if not given.
    order : {'C', 'K', 'A'}
        Memory order; without effect here. 'F' raises NotImplementedError.
    device, ctx : Device or str, optional
        Where to place it.
    like : ndarray, optional
        Must be an npcompat array.

    Examples
    --------
    >>> np.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
    """
    return _filled(shape, 0, dtype, order, device if device is not None else ctx, like)


def ones(shape: ShapeLike, dtype: DTypeLike = None, order: Order = "C", *, device: Any = None, ctx: Any = None, like: Any = None) -> Any:
    """An array of ones; the arguments are those of `zeros`.

    Examples
    --------
    >>> np.ones(3, dtype=int)
    array([1, 1, 1])
    """
    return _filled(shape, 1, dtype, order, device if device is not None else ctx, like)


def empty(shape: ShapeLike, dtype: DTypeLike = None, order: Order = "C", *, device: Any = None, ctx: Any = None, like: Any = None) -> Any:
    """An array whose values mean nothing (they are zero); the arguments are those of `zeros`.

    Examples
    --------
    >>> np.empty((2, 0)).shape
    (2, 0)
    """
    return _filled(shape, 0, dtype, order, device if device is not None else ctx, like)


@operator("_npi_broadcast_fill", rule=lambda types, attrs: ([None], attrs["dtype"]), pattern="broadcast")
def _broadcast_fill(xp: Any, value: Any, *, shape: Any, dtype: Any) -> Any:
    """A value repeated to a shape and cast to a dtype."""
    return xp.broadcast_to(xp.astype(value, dtype), shape)


def full(shape: ShapeLike, fill_value: ArrayLike, dtype: DTypeLike = None, order: Order = "C", *, device: Any = None, ctx: Any = None, like: Any = None) -> Any:
    """An array filled with a value, which is broadcast to the shape; the arguments are those of `zeros`.

    Examples
    --------
    >>> np.full((2, 2), [1, 2])
    array([[1, 2],
           [1, 2]])
    """
    _check(order, like)
    with _on(device if device is not None else ctx):
        value = asarray(fill_value)
        wanted = value.dtype if dtype is None else dtypes.canonical(dtype)
        return apply(_broadcast_fill, (value,), (as_shape(shape), wanted))


def _like(a: Any, dtype: Any, shape: Any) -> tuple[Any, Any]:
    a = asarray(a)
    return (a.shape if shape is None else as_shape(shape)), (a.dtype if dtype is None else dtype)


def zeros_like(a: ArrayLike, dtype: DTypeLike = None, order: Order = "K", subok: bool = True, shape: ShapeLike | None = None, *, device: Any = None) -> Any:
    """Zeros in the shape and dtype of an array, unless given.

    Examples
    --------
    >>> np.zeros_like([1, 2])
    array([0, 0])
    """
    return _filled(*_like_fill(a, 0, dtype, shape), order, device, None)


def ones_like(a: ArrayLike, dtype: DTypeLike = None, order: Order = "K", subok: bool = True, shape: ShapeLike | None = None, *, device: Any = None) -> Any:
    """Ones in the shape and dtype of an array, unless given.

    Examples
    --------
    >>> np.ones_like([1, 2])
    array([1, 1])
    """
    return _filled(*_like_fill(a, 1, dtype, shape), order, device, None)


def empty_like(prototype: ArrayLike, /, dtype: DTypeLike = None, order: Order = "K", subok: bool = True, shape: ShapeLike | None = None, *, device: Any = None) -> Any:
    """An array whose values mean nothing (they are zero), in the shape and dtype of another, unless given.

    Examples
    --------
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _filled(*_like_fill(prototype, 0, dtype, shape), order, device, None)


def _like_fill(a: Any, value: Any, dtype: Any, shape: Any) -> tuple[Any, Any, Any]:
    found, wanted = _like(a, dtype, shape)
    return found, value, wanted


def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, order: Order = "K", subok: bool = True, shape: ShapeLike | None = None, *, device: Any = None) -> Any:
    """A value in the shape and dtype of an array, unless given.

    Examples
    --------
    >>> np.full_like([1.0, 2.0], 7)
    array([7., 7.])
    """
    found, wanted = _like(a, dtype, shape)
    return full(found, fill_value, wanted, order, device=device)


@operator("_npi_eye", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _eye(xp: Any, *, N: int, M: int, k: int, dtype: Any) -> Any:
    """Ones on a diagonal."""
    return xp.eye(N, M, k, dtype=dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, order: Order = "C", *, device: Any = None, like: Any = None) -> Any:
    """A matrix with ones on the `k`-th diagonal.

    Examples
    --------
    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    """
    _check(order, like)
    rows = N.__index__()
    with _on(device):
        return apply(_eye, (), (rows, rows if M is None else M.__index__(), k.__index__(), dtypes.canonical(float if dtype is None else dtype)))


def identity(n: int, dtype: DTypeLike = None, *, like: Any = None) -> Any:
    """The identity matrix.

    Examples
    --------
    >>> np.identity(2, dtype=int)
    array([[1, 0],
           [0, 1]])
    """
    return eye(n, dtype=float if dtype is None else dtype, like=like)


@operator("_npi_tri", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _tri(xp: Any, *, N: int, M: int, k: int, dtype: Any) -> Any:
    """Ones on and below a diagonal."""
    return xp.tri(N, M, k, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, *, like: Any = None) -> Any:
    """A matrix with ones on and below the `k`-th diagonal.

    Examples
    --------
    >>> np.tri(2)
    array([[1., 0.],
           [1., 1.]])
    """
    _check(None, like)
    return apply(_tri, (), (N, N if M is None else M, k, dtypes.canonical(float if dtype is None else dtype)))


# --- ranges ------------------------------------------------------------------------------------------------------


@operator("_npi_arange", rule=lambda types, attrs: ([], attrs["dtype"]), differentiable=False)
def _arange(xp: Any, *, start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """Evenly spaced values by step."""
    return xp.asarray(onp.arange(start, stop, step, dtype))


def arange(start_or_stop: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike = None, device: Any = None, ctx: Any = None, like: Any = None) -> Any:
    """Values from `start` (0 if only one bound is given) up to, but not including, `stop`.

    Parameters
    ----------
    start_or_stop : scalar
        The first value; or, if `stop` is not given, the end.
    stop : scalar, optional
        End of the range.
    step : scalar
        Distance between values.
    dtype : dtype, optional
        int64 for integer bounds and the default float for floats, if not given.
    device, ctx : Device or str, optional
        Where to place it.
    like : ndarray, optional
        Must be an npcompat array.

    Examples
    --------
    >>> np.arange(3)
    array([0, 1, 2])
    >>> np.arange(1, 2, 0.25)
    array([1.  , 1.25, 1.5 , 1.75])
    """
    _check(None, like)
    start, end = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    bounds = [_number(x) for x in (start, end, step)]
    wanted = dtypes.canonical(dtype) if dtype is not None else _range_dtype(bounds)
    with _on(device if device is not None else ctx):
        return apply(_arange, (), (*bounds, wanted))


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Handle) else x  # type: ignore[attr-defined]


def _range_dtype(bounds: list[Any]) -> Any:
    found = onp.arange(*[b * 0 for b in bounds[:2]], 1 + bounds[2] * 0).dtype
    return dtypes.narrow(found, [b.dtype for b in bounds if hasattr(b, "dtype")])


def _spaced_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    computed = dtypes.floating(types)[1]
    return [computed] * len(types), attrs["dtype"] or computed


@operator("_npi_linspace", rule=_spaced_rule)
def _linspace(xp: Any, start: Any, stop: Any, *, num: int, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Evenly spaced values by number."""
    made = xp.linspace(start, stop, num, endpoint, axis=axis)
    return xp.floor(made) if dtype is not None and dtype.kind in "iu" else made


def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: DTypeLike = None, axis: int = 0, *, device: Any = None, ctx: Any = None) -> Any:
    """`num` values from `start` to `stop`, evenly spaced.

    Parameters
    ----------
    start, stop : array_like
        First and last value.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is among them.
    retstep : bool
        Whether the distance between values is returned too.
    dtype : dtype, optional
        Dtype of the result; a float if not given.
    axis : int
        Where the new axis goes, if the bounds are arrays.
    device, ctx : Device or str, optional
        Where to place it.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    count = num.__index__()
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    with _on(device if device is not None else ctx):
        wanted = None if dtype is None else dtypes.canonical(dtype)
        made = apply(_linspace, (start, stop), (count, bool(endpoint), wanted, axis))
        if not retstep:
            return made
        parts = count - 1 if endpoint else count
        distance = (asarray(stop) - asarray(start)) / parts if parts > 0 else asarray(math.nan)
        return made, distance


def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: ArrayLike = 10.0, dtype: DTypeLike = None, axis: int = 0) -> Any:
    """Values whose logarithms are evenly spaced, from `base**start` to `base**stop`.

    Examples
    --------
    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    powers = linspace(start, stop, num, endpoint, axis=axis)
    base = asarray(base)
    made = (base.reshape(base.shape[:axis] + (1,) + base.shape[axis:]) if base.shape else base) ** powers
    return made if dtype is None else made.astype(dtype)


def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0) -> Any:
    """Values in geometric progression from `start` to `stop`.

    Examples
    --------
    >>> np.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    host = [dispatch.to_host(x) if isinstance(x, Handle) else dispatch.host_array(x) for x in (start, stop)]
    made = onp.geomspace(*host, num, endpoint, axis=axis)
    wanted = dtypes.narrow(made.dtype, [h.dtype for h in host]) if dtype is None else dtypes.canonical(dtype)
    return dispatch.array_of(made.astype(wanted))


# --- grids -------------------------------------------------------------------------------------------------------


def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of a grid, from the coordinates along each axis.

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
    shaped = [a.reshape([-1 if i == order[k] else 1 for i in range(len(arrays))]) for k, a in enumerate(arrays)]
    if not sparse:
        shape = onp.broadcast_shapes(*[s.shape for s in shaped])
        return tuple(full(shape, s) for s in shaped)
    return tuple(copy_of(s) for s in shaped) if copy else tuple(shaped)


def indices(dimensions: ShapeLike, dtype: DTypeLike = int, sparse: bool = False) -> Any:
    """The coordinates of each element of a grid, one array for each axis, stacked (a tuple if `sparse`).

    Examples
    --------
    >>> np.indices((2, 2))[1]
    array([[0, 1],
           [0, 1]])
    """
    found = onp.indices(as_shape(dimensions), dtypes.canonical(dtype), sparse)
    return tuple(dispatch.array_of(f) for f in found) if sparse else dispatch.array_of(found)


def ix_(*args: ArrayLike) -> tuple[Any, ...]:
    """Index arrays that pick the rows, columns, ... named by each sequence.

    Examples
    --------
    >>> np.arange(6).reshape(2, 3)[np.ix_([0, 1], [0, 2])]
    array([[0, 2],
           [3, 5]])
    """
    return tuple(dispatch.array_of(onp.array(a)) for a in onp.ix_(*[dispatch.to_host(a) if isinstance(a, Handle) else a for a in args]))


__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "copy", "empty", "empty_like", "eye", "frombuffer", "fromfunction",
    "fromiter", "full", "full_like", "geomspace", "identity", "indices", "ix_", "linspace", "logspace", "meshgrid", "ones", "ones_like",
    "tri", "zeros", "zeros_like",
]  # fmt: skip
