"""Array creation from existing data."""

import itertools
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as onp
from numpy._globals import _CopyMode

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import MOST_AXES, operator
from npcompat._internal.dispatch import array_like, handles, late_bound
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.devices import as_device, moved
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.placement import new_value, on_host
from npcompat._internal.dispatch.subclasses import inherit
from npcompat._internal.indexing import lens
from npcompat.numpy._checks import is_recorded
from npcompat.numpy._memory_order import check_order, has_order, in_order
from npcompat.numpy._overrides import defers_to_classes, made_like
from npcompat.numpy._typing import ArrayLike, DTypeLike, Order
from npcompat.numpy._ufunc import _cast
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def placed_on(device: Any, ctx: Any = None) -> AbstractContextManager[Any]:
    """Return a context in which new arrays go to `device` or `ctx`, if one is given."""
    chosen = ctx if device is None else device
    return nullcontext() if chosen is None else as_device(chosen)


def as_copy(copy: Any) -> bool | None:
    """Convert the argument `copy=` to True, False or None; NumPy's `_CopyMode` is accepted."""
    if type(copy) is bool or copy is None:
        return copy
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    if isinstance(copy, _CopyMode):
        return {_CopyMode.ALWAYS: True, _CopyMode.NEVER: False, _CopyMode.IF_NEEDED: None}[copy]
    return bool(copy)


_SMALL = 2**16
"""Size in bytes below which `copy` copies at once: copy-on-write costs more."""


def copy_of(handle: Handle, order: Order = "C") -> Any:
    """Return a copy of an array, in C order or another memory order.

    Values are immutable, so the copy shares them until one of the two arrays is written. Small
    arrays and other orders are copied at once. So are elements of record arrays (`a[0]`), which
    can be written at any time.
    """
    value = handles.read(handle)
    node, payload = value.node if modes.current().recording else None, value.payload
    if type(payload) is onp.ndarray:
        flags = payload.flags
        laid_out = (
            flags.f_contiguous
            if order == "F"
            else flags.c_contiguous or (order in ("K", "A") and flags.f_contiguous)
        )
        if not laid_out or payload.dtype.names is not None or payload.nbytes <= _SMALL:
            payload = payload.copy(order)
        return handles.wrap(new_value(payload, node, value.index))
    made = handles.wrap(new_value(payload, node, value.index))
    return (
        made
        if order == "C" or (order != "F" and in_c_order(handle))
        else in_order(made, order, handle)
    )


# --- from data ------------------------------------------------------------------------------------


@unbound
def array(
    object: Any,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: Order | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = MOST_AXES,
    like: Any = None,
    device: Any = None,
    ctx: Any = None,
) -> "ndarray":
    """Create an array from an array-like.

    Parameters
    ----------
    object : array_like
        An array, a scalar, or nested sequences.
    dtype : dtype, optional
        Its dtype. If not given: that of `object` if it carries one, else NumPy's choice with the
        default float for floats.
    copy : bool or None
        If True, an npcompat array is copied; if False, a conversion that needs a copy
        raises ValueError.
    order : {'K', 'A', 'C', 'F'}
        Memory order; with 'K' that of `object`.
    subok : bool
        If True, an instance of a subclass of `ndarray` gives one, instead of a plain array.
    ndmin : int
        Least number of axes; missing ones are added in front.
    ndmax : int
        Greatest number of axes; deeper sequences are the elements of an array of objects.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.
    device, ctx : Device or str, optional
        Device of the array.

    Examples
    --------
    >>> np.array([1, 2, 3])
    array([1, 2, 3])
    >>> np.array([1.5, 2]).dtype
    dtype('float32')
    """
    if like is not None and (made := made_like(like, array, locals())) is not NotImplemented:
        return made
    order = check_order(order)
    if not 0 <= ndmax <= MOST_AXES:
        raise ValueError(f"ndmax must be in the range [0, NPY_MAXDIMS ({MOST_AXES})]")
    if ndmin > ndmax:
        raise ValueError(f"ndmin must be <= ndmax ({ndmax})")
    if ndmax != MOST_AXES:
        object = onp.array(object, dtype, ndmax=ndmax)
    made = _converted(
        object,
        None if dtype is None else dtypes.canonical(dtype),
        as_copy(copy),
        device if device is not None else ctx,
        order,
        subok,
    )
    missing = ndmin - len(made.shape)
    return made.reshape((1,) * missing + made.shape) if missing > 0 else made


_FREQUENT = frozenset((onp.ndarray, list, tuple))
"""Most frequent types of `object`, which take a fast path."""


aliases_numpys = [False]
"""True if `asarray` shares the memory of NumPy's arrays, as a program written for NumPy expects."""


def _alias_of(a: Any, dtype: Any, order: Order) -> Any:
    """Return an array over the memory of a NumPy array; None if a cast or a copy is needed."""
    plain = a.view(onp.ndarray)
    return over_memory(plain) if onp.asarray(plain, dtype, order=order) is plain else None


def _converted(
    a: Any, dtype: Any, copy: bool | None, device: Any, order: Order, subok: bool = False
) -> Any:
    aliases = aliases_numpys[0] and not copy and device is None
    if aliases and isinstance(a, onp.ndarray) and (found := _alias_of(a, dtype, order)) is not None:
        return found
    if device is None and copy is not False and order != "F" and (kind := type(a)) in _FREQUENT:
        mode = modes.current()
        if mode.is_default and on_host(mode):
            if kind is not onp.ndarray:
                return handles.wrap(Value(array_like.host_array(a, dtype)))
            if dtype is None and a.flags.c_contiguous:
                return handles.wrap(Value(onp.array(a)))
    if (joined := array_like.joined_value(a, dtype)) is not None:
        return in_order(handles.wrap(joined), order)
    if (
        not isinstance(a, Handle)
        and hasattr(type(a), "__array__")
        and not isinstance(a, onp.ndarray | onp.generic | list | tuple)
    ):
        given = _given_by(a, dtype, copy)
        if isinstance(given, Handle):
            a, copy = given, None  # its `__array__` received `copy`
        elif aliases and isinstance(given, onp.ndarray):
            if (found := _alias_of(given, dtype, order)) is not None:
                return found
    if isinstance(a, Handle):
        return _of_ours(a, dtype, copy, device, order, subok)
    return _of_others(a, dtype, copy, device, order)


def _of_others(a: Any, dtype: Any, copy: bool | None, device: Any, order: Order) -> Any:
    """Convert other objects than npcompat's: numbers, sequences, foreign arrays and memory."""
    shares = device is None and not (copy or (copy is False and modes.current().trace is not None))
    if shares and (memory := _memory_of(a, dtype, order)) is not None:
        return over_memory(memory)
    if copy is False:
        raise ValueError(
            "Unable to avoid copy while creating an array as requested: the array-like is not an "
            "npcompat array"
        )
    with placed_on(device):
        host = array_like.host_array(a, dtype)
        if host.ndim > 1 and (order == "F" or not host.flags.c_contiguous):
            host = onp.asarray(host, order=order)
            made = array_like.array_of(onp.array(host) if _may_share(host, a) else host)
            return in_order(made, "K", host)
        stays = on_host(modes.current()) or not dtypes.on_devices(host.dtype)
        shared = stays and (
            host is a or (type(a) not in (list, tuple, onp.ndarray) and _may_share(host, a))
        )
        return array_like.array_of(onp.array(host) if shared else host)


def _of_ours(a: Any, dtype: Any, copy: bool | None, device: Any, order: Order, subok: bool) -> Any:
    """Convert an npcompat array or scalar; return the array itself if nothing changes."""
    if type(a) in late_bound.scalars:
        if copy is False:
            raise ValueError(
                "Unable to avoid copy while creating an array as requested: a scalar has no memory "
                "to share."
            )
        a = handles.wrap(handles.read(a))
    elif type(a) is not late_bound.ndarray and not subok:
        a = lens.plain(a)
    result = a
    if dtype is not None and (a.dtype != dtype or (dtype.kind == "T" and dtype is not a.dtype)):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        dtypes.warn_of_lost_parts(a.dtype, dtype)
        result = apply(_cast, (a,), (dtype,)) if dtype.kind != "T" else a.astype(dtype)
    if device is not None:
        result = moved(result, device)
    if result is not a:
        return in_order(result, "K" if order == "A" else order, a)
    if not copy and has_order(a, order):
        return a
    if copy is False:
        raise ValueError(
            "Unable to avoid copy while creating an array as requested: it is not in order "
            f"{order!r}"
        )
    return inherit(copy_of(a, order), a)


_INTERFACES = "__array_interface__", "__array_struct__"
_WITHOUT_MEMORY = frozenset((list, tuple, int, float, bool, complex, dict, set))


def _memory_of(a: Any, dtype: Any, order: Order) -> onp.ndarray[Any, Any] | None:
    """Return the memory of an object that is no array, but has a protocol for it, as an array.

    None if it has none, or if a cast or another order needs a copy.
    """
    kind = type(a)
    if (
        kind in _WITHOUT_MEMORY
        or isinstance(a, onp.ndarray | onp.generic | bytes | str)
        or hasattr(kind, "__array__")
    ):
        return None
    try:
        found = onp.asarray(memoryview(a))
    except (TypeError, ValueError):
        if not any(hasattr(kind, p) or p in getattr(a, "__dict__", ()) for p in _INTERFACES):
            return None
        found = onp.asarray(a)
    wanted = onp.asarray(found, dtype, order=order)
    return found if wanted is found else None


def _given_by(a: Any, dtype: Any, copy: bool | None) -> Any:
    """Call the `__array__` method of an object; `copy` is passed only if it is a parameter."""
    asked = () if dtype is None else (dtype,)
    if copy is not None:
        try:
            return a.__array__(*asked, copy=copy)
        except TypeError as error:
            if "copy" not in str(error):
                raise
    return a.__array__(*asked)


def _may_share(host: onp.ndarray[Any, Any], a: Any) -> bool:
    """Return True if an array made of an array-like may share its memory."""
    try:
        return onp.may_share_memory(host, a)
    except ValueError:  # its `__array__` returned one of our arrays, already copied
        return False


@unbound
def asarray(
    a: Any,
    dtype: DTypeLike = None,
    order: Order | None = None,
    *,
    device: Any = None,
    ctx: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> "ndarray":
    """Convert to an array; an array of the wanted dtype is returned as it is. See `array`.

    Examples
    --------
    >>> a = np.ones(2)
    >>> np.asarray(a) is a
    True
    """
    if type(a) is late_bound.ndarray and dtype is order is device is ctx is copy is like is None:
        return a
    if like is not None and (made := made_like(like, asarray, locals())) is not NotImplemented:
        return made
    wanted = None if dtype is None else dtypes.canonical(dtype)
    return _converted(
        a, wanted, as_copy(copy), ctx if device is None else device, check_order(order)
    )


@unbound
def asanyarray(
    a: Any,
    dtype: DTypeLike = None,
    order: Order | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> "ndarray":
    """Convert to an array as `asarray`, but pass instances of subclasses through.

    Examples
    --------
    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    if type(a) is late_bound.ndarray and dtype is order is device is copy is like is None:
        return a
    if like is not None and (made := made_like(like, asanyarray, locals())) is not NotImplemented:
        return made
    wanted = None if dtype is None else dtypes.canonical(dtype)
    return _converted(a, wanted, as_copy(copy), device, check_order(order), subok=True)


@unbound
def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, like: Any = None) -> "ndarray":
    """Return an array of at least one axis in C memory order.

    Examples
    --------
    >>> np.ascontiguousarray(3).shape
    (1,)
    """
    if (
        like is not None
        and (made := made_like(like, ascontiguousarray, locals())) is not NotImplemented
    ):
        return made
    found = asarray(a, dtype, "C")
    return found if found.shape else found.reshape(1)


@defers_to_classes
def copy(a: ArrayLike, order: Order = "K", subok: bool = False) -> "ndarray":
    """Return a copy of an array-like as an array.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> b = np.copy(a)
    >>> b[0] = 1
    >>> a
    array([0., 0.])
    """
    return array(a, order=order, subok=subok)


@unbound
def frombuffer(
    buffer: Any, dtype: DTypeLike = None, count: int = -1, offset: int = 0, *, like: Any = None
) -> "ndarray":
    """Create a 1-d array over the memory of a buffer, which each side can write.

    It is on the host, and read-only if the buffer is. In a compiled function it is a read-only
    copy.

    Examples
    --------
    >>> np.frombuffer(b"abc", dtype="uint8")
    array([97, 98, 99], dtype=uint8)
    """
    if like is not None and (made := made_like(like, frombuffer, locals())) is not NotImplemented:
        return made
    if is_recorded(buffer):
        raise BufferError(
            "frombuffer of an array that is being recorded: its bytes have no gradient; use "
            "a.ravel(), or a.detach()"
        )
    # Not the default float: the bytes hold float64, as in NumPy.
    wanted = onp.float64 if dtype is float or dtype is None else dtypes.canonical(dtype)
    return over_memory(onp.frombuffer(buffer, wanted, count, offset))


@unbound
def fromiter(
    iter: Iterable[Any], dtype: DTypeLike, count: int = -1, *, like: Any = None
) -> "ndarray":
    """Create a 1-d array from an iterable.

    Examples
    --------
    >>> np.fromiter(range(3), dtype="int32")
    array([0, 1, 2], dtype=int32)
    """
    if like is not None and (made := made_like(like, fromiter, locals())) is not NotImplemented:
        return made
    wanted = dtypes.canonical(dtype)
    mode = modes.current()
    if mode.trace is not None or mode.recording:
        elements = list(iter if count < 0 else itertools.islice(iter, count))
        if 0 <= len(elements) == count or count < 0:
            if (joined := array_like.joined_value(elements, wanted)) is not None:
                return handles.wrap(joined)
        iter = elements
    return array_like.array_of(onp.fromiter(iter, wanted, count))


def _of_value(types: tuple[dtypes.Type, ...], attrs: Mapping[str, Any]) -> dtypes.Resolution:
    found = attrs["dtype"] or array_like.host_array(attrs["value"]).dtype
    return [None], found


@operator("_np_const", rule=_of_value, differentiable=False)
def _const(xp: Any, like: Any, *, value: Any, dtype: Any = None) -> Any:
    """Create a constant beside another array: on the host or the device where that is computed.

    Parameters
    ----------
    value : scalar or tuple
        A number, or nested tuples of numbers.
    dtype : dtype, optional
        Dtype of the result; that of the value if None.
    """
    return xp.asarray(onp.asarray(value, dtype))


__all__ = ["array", "asanyarray", "asarray", "ascontiguousarray", "copy", "frombuffer", "fromiter"]
