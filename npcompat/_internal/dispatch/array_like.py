"""Values and host arrays of array-likes: lists, scalars, objects with `__array__`."""

from functools import lru_cache, partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import operand, read, to_host, wrap
from npcompat._internal.dispatch.placement import SCALARS, constant, on_host
from npcompat._internal.dispatch.traced_number import TracedNumber


def as_value(x: Any) -> Value:
    """Return the value of an operand: an array, an array-like, or a Python scalar (kept weak)."""
    if isinstance(x, Handle):
        return read(x)
    if type(x) in SCALARS:
        return Value(x)
    if isinstance(x, TracedNumber):
        return operand(x)
    if (joined := joined_value(x)) is not None:
        return joined
    mode, array = modes.current(), host_array(x)
    if mode.recording and on_host(mode):
        array = owned(array, x)  # what the tape saves never changes
    if (
        mode.audit is None
        or mode.trace is not None
        or not dtypes.on_devices(array.dtype)
        or on_host(mode)
    ):
        return constant(array)
    return mode.audit.record_event(
        "transfer", "operand that is no array of npcompat", array, partial(constant, array)
    )


@operator(
    "_npi_stack_scalars",
    order="K",
    rule=lambda types, attrs: (
        dtypes.promote(types, attrs)
        if attrs["dtype"] is None
        else ([attrs["dtype"]] * len(types), attrs["dtype"])
    ),
    pattern="injective",
)
def _stack(xp: Any, *arrays: Any, dtype: Any = None) -> Any:
    """Stack arrays of one shape along a new first axis; joins nested lists that hold arrays."""
    return xp.stack(arrays)


def joined_value(x: Any, dtype: onp.dtype[Any] | None = None) -> Value | None:
    """Return the value of nested lists that hold recorded or traced arrays, else None.

    The same holds for traced numbers, and for objects whose `__array__` returns such an array. The
    elements of lists are joined by an operator, which is recorded and traced like any other; a
    NumPy array of their values would be a constant.
    """
    mode = modes.current()
    kind: Any = type(x)
    if mode.trace is None and not mode.recording:
        return None
    if issubclass(kind, TracedNumber):
        number = joined_value([x], dtype)
        return None if number is None else read(wrap(number).reshape(()))
    if not _may_give_ours(kind):
        return None
    x = _with_ours(x)
    is_array = isinstance(x, Handle)
    if is_array:  # of an object's `__array__`
        return read(x if dtype is None or dtype == x.dtype else x.astype(dtype))
    if not isinstance(x, _NESTED) or not _holds_live(x, mode):
        return None
    shown = host_array(_standing_in(x), dtype)  # NumPy's dtype, and its error for ragged lists
    if shown.dtype.hasobject:
        return None
    return _joined(x, shown.dtype if dtype is None else dtype)


def _with_ours(x: Any) -> Any:
    """Replace objects whose `__array__` returns an npcompat array by that, also in nested lists."""
    kind: Any = type(x)
    if not _may_give_ours(kind):
        return x
    if isinstance(x, _NESTED):
        if not any(map(_may_give_ours, set(map(type, x)))):
            return x
        parts = [_with_ours(e) for e in x]
        return parts if any([p is not e for p, e in zip(parts, x, strict=True)]) else x
    given = x.__array__()
    return given if isinstance(given, Handle) else x


@lru_cache(maxsize=1024)
def _may_give_ours(kind: Any) -> bool:
    return issubclass(kind, _NESTED) or (
        hasattr(kind, "__array__") and not issubclass(kind, (Handle, onp.ndarray, onp.generic))
    )


def joined(x: Any, dtype: onp.dtype[Any] | None = None) -> Any:
    """Return an npcompat array for lists with recorded or traced arrays, else a NumPy array."""
    value = joined_value(x, dtype)
    return host_array(x, dtype) if value is None else wrap(value)


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of an array-like, also of nested lists whose elements are not known yet."""
    if isinstance(x, Handle):
        return x.shape
    if isinstance(x, TracedNumber):
        return ()
    return onp.shape(_standing_in(x) if is_unknown(x) else x)


def is_unknown(x: Any) -> bool:
    """Return True for nested lists that hold what the function being compiled computes."""
    mode = modes.current()
    return mode.trace is not None and isinstance(x, _NESTED) and _holds_live(x, mode)


def _holds_live(x: Any, mode: modes.Mode, depth: int = 64) -> bool:
    """Return True if nested lists hold an array with a node, or one that is not yet known."""
    if not any(map(_may_be_live, set(map(type, x)))):
        return False
    for e in x:
        if isinstance(e, Handle):
            value = read(e)
            if value.node is not None and mode.recording:
                return True
            if mode.trace is not None and type(value.payload) is not onp.ndarray:
                return True
        elif isinstance(e, TracedNumber) or (
            depth and isinstance(e, _NESTED) and _holds_live(e, mode, depth - 1)
        ):
            return True
    return False


@lru_cache(maxsize=1024)
def _may_be_live(kind: Any) -> bool:
    return issubclass(kind, (Handle, TracedNumber, *_NESTED))


def _standing_in(x: Any) -> Any:
    """Replace the arrays in nested lists by NumPy zeros of the same shapes and dtypes."""
    if isinstance(x, _NESTED):
        return [_standing_in(e) for e in x]
    if isinstance(x, Handle):
        return onp.zeros((), x.dtype)[()] if not x.shape else onp.zeros(x.shape, x.dtype)
    if not isinstance(x, TracedNumber):
        return x
    x.check_default("is in a list, or becomes an array")
    kind: Any = language.type_of(x.payload)
    return kind(0) if isinstance(kind, type) else onp.zeros((), kind)[()]


def _joined(x: Any, dtype: onp.dtype[Any]) -> Value:
    parts = [_joined(e, dtype) if isinstance(e, _NESTED) else as_value(e) for e in x]
    value: Value = run(_stack, parts, (dtype,))
    return value


def owned(array: onp.ndarray[Any, Any], given: Any) -> onp.ndarray[Any, Any]:
    """Return an array made of what the program has given, or a copy of it if both share memory."""
    return array.copy(order="K") if array is given or not array.flags.owndata else array


def array_of(array: onp.ndarray[Any, Any]) -> Any:
    """Return a new npcompat array over a NumPy array, which must not be written afterwards."""
    return wrap(constant(array))


def host_array(x: Any, dtype: onp.dtype[Any] | None = None) -> onp.ndarray[Any, Any]:
    """Convert an array-like to a NumPy array by NumPy's rules and the default-float rule.

    Floats have the default dtype if no element carries a 64-bit float.
    """
    numbers = False
    if (type(x) is list or type(x) is tuple) and (dtype is None or dtype.kind != "O"):
        numbers = _of_numbers(x)
        x = x if numbers else _with_numpys(x)
    try:
        array = onp.asarray(x) if dtype is None else onp.asarray(x, dtype)
    except ValueError as error:
        if not str(error).startswith(
            (
                "object __array__ method not producing an array",
                "setting an array element with a sequence",
            )
        ):
            raise
        found = with_numpy_arrays(x)
        if found is x:
            raise
        array = onp.asarray(found, dtype)
    if dtype is None:
        narrowed = dtypes.narrow(array.dtype, ())
        if narrowed != array.dtype and (numbers or not _carries(x, array.dtype)):
            return array.astype(narrowed)
    return array


def _of_numbers(x: Any, depth: int = 64) -> bool:
    """True if nested sequences hold only Python numbers."""
    kinds = set(map(type, x))
    return SCALARS.issuperset(kinds) or (
        depth > 0 and _SEQUENCES.issuperset(kinds) and all([_of_numbers(e, depth - 1) for e in x])
    )


_NESTED = (list, tuple)
_SEQUENCES = frozenset(_NESTED)


def _with_numpys(x: Any, depth: int = 64) -> Any:
    """Replace npcompat arrays in nested sequences by NumPy's; NumPy would take them for objects."""
    kinds = set(map(type, x))
    if (
        late_bound.ndarray not in kinds
        and kinds.isdisjoint(late_bound.scalars)
        and (not depth or kinds.isdisjoint((list, tuple)))
    ):
        return x
    parts = []
    for e in x:
        if isinstance(e, Handle):
            parts.append(to_host(e)[()] if type(e) in late_bound.scalars else to_host(e))
        else:
            parts.append(
                _with_numpys(e, depth - 1) if depth and (type(e) is list or type(e) is tuple) else e
            )
    return type(x)(parts) if any([p is not e for p, e in zip(parts, x, strict=True)]) else x


def with_numpy_arrays(x: Any, depth: int = 64) -> Any:
    """Replace npcompat arrays in an array-like by NumPy's, also those that `__array__` returns.

    NumPy refuses an `__array__` that returns an npcompat array.
    """
    if depth and (type(x) is list or type(x) is tuple):
        parts = [with_numpy_arrays(e, depth - 1) for e in x]
        return parts if any([p is not e for p, e in zip(parts, x, strict=True)]) else x
    if hasattr(x, "__array__") and not isinstance(x, Handle | onp.ndarray | onp.generic):
        converted = x.__array__()
        return onp.array(to_host(converted)) if isinstance(converted, Handle) else x
    return to_host(x)[()] if isinstance(x, Handle) else x


def _carries(x: Any, dtype: onp.dtype[Any]) -> bool:
    """True if an array-like, or an element of nested sequences, carries a 64-bit float dtype."""
    if type(x) is list or type(x) is tuple:
        return not SCALARS.issuperset(map(type, x)) and any(
            type(e) not in SCALARS and _carries(e, dtype) for e in x
        )
    if hasattr(x, "dtype"):  # torch's and pandas' are no dtypes of NumPy's
        return not isinstance(x.dtype, onp.dtype) or dtypes.narrow(x.dtype, ()) != x.dtype
    return hasattr(x, "__array_interface__") or hasattr(x, "__array__") or _has_memory(x)


def _has_memory(x: Any) -> bool:
    """Return True for an object that gives its memory, which says what its elements are."""
    try:
        memoryview(x)
    except TypeError:
        return False
    return True
