"""Arrays filled with one value: zeros, ones, empty, full, and their `_like` forms."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Attrs, Op, as_attr, as_shape, from_attr, operator
from npcompat._internal.dispatch import array_like, late_bound
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.array_like import as_value
from npcompat._internal.dispatch.devices import place_like
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.subclasses import inherit
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import lens
from npcompat.numpy._creation import asanyarray, asarray, placed_on
from npcompat.numpy._memory_order import check_c_or_f, check_order, in_order
from npcompat.numpy._overrides import defers_to_classes, made_like
from npcompat.numpy._typing import ArrayLike, DTypeLike, Order, ShapeLike
from npcompat.numpy._unbound import call_cached, unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def created(op: Op, attrs: Attrs, device: Any, order: Order = "C", prototype: Any = None) -> Any:
    """Apply an operator without operands, on a device and in a memory order.

    Without a device, the array goes where new arrays go. Orders 'K' and 'A' are those of a
    prototype. By returning the result, a public function promises that the attributes depend on
    its arguments only; later calls are then cached.
    """
    if device is None and order == "C":
        return apply_cached(op, (), attrs)
    with placed_on(device):
        return in_order(apply(op, (), attrs), order, prototype)


def _filled_by(shape: Any, value: Any, dtype: Any) -> Callable[[], Any]:
    if type(value) is int and value in (0, 1):
        return partial(onp.ones if value else onp.zeros, shape, dtype)
    return partial(onp.full, shape, onp.full((), from_attr(value), dtype)[()])


@operator(
    "_npi_full",
    rule=lambda types, attrs: ([], attrs["dtype"]),
    pattern="elementwise",
    differentiable=False,
    numpy_constructor=_filled_by,
)
def _full(xp: Any, *, shape: Any, value: Any, dtype: Any) -> Any:
    """Fill an array with one value.

    Parameters
    ----------
    value : scalar
        The value.
    """
    number = from_attr(value)
    return (
        xp.zeros(shape, dtype)
        if type(number) is int and number == 0
        else xp.full(shape, onp.full((), number, dtype), dtype)
    )


def _concrete(dtype: Any) -> onp.dtype[Any]:
    """Return the dtype of a new array; for a flexible dtype such as `str`, the shortest one."""
    return (
        onp.empty(0, dtype).dtype if isinstance(dtype, type(onp.dtype)) else dtypes.canonical(dtype)
    )


def _filled(
    make: Any, shape: Any, dtype: Any, order: Any, device: Any, prototype: Any = None
) -> Any:
    """Create an array as NumPy's `zeros`, `ones`, `empty` or their `_like` forms.

    Elements of `empty` are zero.
    """
    order = check_c_or_f(order) if prototype is None else check_order(order)
    wanted = dtypes.default_float() if dtype is None else _concrete(dtype)
    if not dtypes.on_devices(wanted):
        return in_order(
            array_like.array_of(make(shape, wanted, "F" if order == "F" else "C")), order, prototype
        )
    return created(
        _full, (as_shape(shape), int(make is onp.ones), wanted), device, order, prototype
    )


@unbound
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = "C",
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : dtype, optional
        Its dtype; the default float if not given.
    order : {'C', 'F'}
        Memory order.
    device, ctx : Device or str, optional
        Device of the array.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.

    Examples
    --------
    >>> np.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
    """
    if like is not None and (made := made_like(like, zeros, locals())) is not NotImplemented:
        return made
    return _filled(onp.zeros, shape, dtype, order, device if device is not None else ctx)


@call_cached
def ones(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = "C",
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create an array of ones; the arguments are those of `zeros`.

    Examples
    --------
    >>> np.ones(3, dtype=int)
    array([1, 1, 1])
    """
    if like is not None and (made := made_like(like, ones, locals())) is not NotImplemented:
        return made
    return _filled(onp.ones, shape, dtype, order, device if device is not None else ctx)


@unbound
def empty(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = "C",
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create an uninitialized array (its values are zero); the arguments are those of `zeros`.

    Examples
    --------
    >>> np.empty((2, 0)).shape
    (2, 0)
    """
    if like is not None and (made := made_like(like, empty, locals())) is not NotImplemented:
        return made
    return _filled(onp.empty, shape, dtype, order, device if device is not None else ctx)


@operator(
    "_npi_broadcast_fill",
    rule=lambda types, attrs: ([None], attrs["dtype"]),
    pattern="broadcast",
    kernels={"numpy": lambda xp, value, *, shape, dtype: onp.full(shape, value, dtype)},
)
def _broadcast_fill(xp: Any, value: Any, *, shape: Any, dtype: Any) -> Any:
    """Broadcast a value to a shape and cast it to a dtype.

    Parameters
    ----------
    value : array
        The value.
    """
    return xp.broadcast_to(xp.astype(value, dtype), shape)


_HOLDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""Kinds of dtypes that hold numbers of a Python class."""


def _is_held(number: Any, dtype: onp.dtype[Any]) -> bool:
    """Return True if a number is cast to a dtype without a warning or an error."""
    if dtype.kind not in _HOLDS[type(number)] or not dtypes.on_devices(dtype):
        return False
    if type(number) is bool:
        return True
    if dtype.kind in "iu":
        limits = onp.iinfo(dtype)
        return bool(limits.min <= number <= limits.max)
    largest = float(onp.finfo(dtype).max)
    # Float dtypes hold inf and NaN, too.
    return all(
        [-largest <= part <= largest or part - part != 0 for part in (number.real, number.imag)]
    )


@call_cached
def full(
    shape: ShapeLike,
    fill_value: Any,
    dtype: DTypeLike = None,
    order: Order = "C",
    *,
    device: Any = None,
    ctx: Any = None,
    like: Any = None,
) -> "ndarray":
    """Create an array filled with a value, broadcast to the shape; arguments as for `zeros`.

    Examples
    --------
    >>> np.full((2, 2), [1, 2])
    array([[1, 2],
           [1, 2]])
    """
    if like is not None and (made := made_like(like, full, locals())) is not NotImplemented:
        return made
    order = check_c_or_f(order)
    wanted = None if dtype is None else _concrete(dtype)
    if type(fill_value) in _HOLDS and _is_held(
        fill_value, held := wanted or array_like.host_array(fill_value).dtype
    ):
        attrs = as_shape(shape), as_attr(fill_value), held
        return created(_full, attrs, ctx if device is None else device, order)
    with placed_on(device, ctx):
        value: Any = fill_value
        if type(value) is float and (wanted is None or wanted.kind in "fc"):
            wanted = wanted or dtypes.default_float()
        elif isinstance(value, TracedNumber):
            if wanted is None:
                value.check_default("fills an array")
            wanted = wanted or dtypes.strong(language.type_of(as_value(value).payload))
        elif isinstance(value, list | tuple):  # which may hold recorded or traced arrays
            value = array_like.joined(value)
        elif isinstance(value, Handle):
            value = lens.plain(value)  # the class of a value is not that of the array
        if not isinstance(value, Handle | TracedNumber):
            # Let NumPy cast, with its warnings and errors.
            value = asarray(value if wanted is None else onp.full(onp.shape(value), value, wanted))
        wanted = wanted or value.dtype
        made = apply(_broadcast_fill, (value,), (as_shape(shape), wanted))
        return made if order != "F" else in_order(made, order)


def _like(make: Any, a: Any, dtype: Any, order: Any, subok: bool, shape: Any, device: Any) -> Any:
    if sharding.several[0] and device is None and isinstance(a, Handle):
        device = place_like(a)
    if (
        type(a) is late_bound.ndarray
        and a._view is None
        and shape is None
        and device is None
        and in_c_order(a)
    ):
        wanted = a.dtype if dtype is None else _concrete(dtype)
        if check_order(order) != "F" and dtypes.on_devices(wanted):  # fast path
            return created(_full, (a.shape, int(make is onp.ones), wanted), None)
    a = asanyarray(a)
    made = _filled(
        make,
        a.shape if shape is None else shape,
        a.dtype if dtype is None else dtype,
        order,
        device,
        a,
    )
    return inherit(made, a) if subok else made


@defers_to_classes
def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create an array of zeros with the shape and dtype of another, unless given.

    Examples
    --------
    >>> np.zeros_like([1, 2])
    array([0, 0])
    """
    return _like(onp.zeros, a, dtype, order, subok, shape, ctx if device is None else device)


@defers_to_classes
def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create an array of ones with the shape and dtype of another, unless given.

    Examples
    --------
    >>> np.ones_like([1, 2])
    array([1, 1])
    """
    return _like(onp.ones, a, dtype, order, subok, shape, ctx if device is None else device)


@defers_to_classes
def empty_like(
    prototype: ArrayLike,
    /,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create an uninitialized array with the shape and dtype of another, unless given.

    Its values are zero.

    Examples
    --------
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _like(
        onp.empty, prototype, dtype, order, subok, shape, ctx if device is None else device
    )


@defers_to_classes
def full_like(
    a: ArrayLike,
    fill_value: Any,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create an array of one value with the shape and dtype of another, unless given.

    Examples
    --------
    >>> np.full_like([1.0, 2.0], 7)
    array([7., 7.])
    """
    a = asanyarray(a)
    if device is None and ctx is None:
        device = place_like(a)
    made = full(
        a.shape if shape is None else shape,
        fill_value,
        a.dtype if dtype is None else dtype,
        device=device,
        ctx=ctx,
    )
    made = in_order(lens.plain(made), check_order(order), a)
    return inherit(made, a) if subok else made


__all__ = ["empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]
