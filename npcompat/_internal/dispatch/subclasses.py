"""Subclasses of the array: results of operators on an instance are instances, too.

Plain arrays never come here. As in NumPy, results of ufuncs and reductions pass through
`__array_wrap__` of the operand with the highest `__array_priority__` (`wrapped`). Views, copies and
the results of all other operators get the operand's class, and their `__array_finalize__` is called
(`inherit`).
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import handles, late_bound

_OWN_PRIORITY = 0.0


def is_subclass(kind: type) -> bool:
    """True for classes that users have derived from the array."""
    return (
        issubclass(kind, late_bound.ndarray)
        and kind is not late_bound.ndarray
        and kind is not late_bound.symbol
    )


def instance(made: Any, kind: type, source: Any) -> Any:
    """Return a new array, which nothing else holds, as an instance of a class.

    `source` is the argument of `__array_finalize__`.
    """
    handle: Any = object.__new__(kind)
    handle._view, handle._extra = made._view, made._extra
    if made._view is None:
        handle._value = made._value
    finalize = kind.__array_finalize__  # type: ignore[attr-defined]
    if finalize is not None:
        finalize(handle, source)
    return handle


def inherit(made: Any, source: Any) -> Any:
    """Return a new array, which nothing else holds, as an instance of the class of `source`."""
    kind = type(source)
    return (
        instance(made, kind, source)
        if type(made) is late_bound.ndarray and is_subclass(kind)
        else made
    )


def result_class_source(operands: Sequence[Any]) -> Any:
    """Return the operand whose class the results get, or None for plain results.

    It is the first of those with the highest `__array_priority__`.
    """
    found, highest, beside_plain = None, _OWN_PRIORITY, False
    for x in operands:
        kind = type(x)
        if kind is late_bound.ndarray:
            beside_plain = True
        elif not is_subclass(kind) and (
            kind in late_bound.ordinary
            or isinstance(x, Handle | onp.ndarray | onp.generic | str | bytes)
        ):
            continue
        elif getattr(x, "__array_wrap__", None) is not None:
            priority = _priority(x)
            if found is None or priority > highest:
                found, highest = x, priority
    return None if beside_plain and highest < _OWN_PRIORITY else found


def _priority(x: Any) -> float:
    """Return the `__array_priority__` of an operand, by default that of NumPy's arrays."""
    priority = getattr(x, "__array_priority__", _OWN_PRIORITY)
    return float(
        _OWN_PRIORITY
        if isinstance(x, Handle) and priority == late_bound.ndarray.__array_priority__
        else priority
    )


def results(op: Op, operands: Sequence[Any], found: Any) -> Any:
    """Return new handles for the results of an operator, of the class that its operands ask for.

    `found` is a value, or a tuple of values.
    """
    values: tuple[Value, ...] = found if type(found) is tuple else (found,)
    class_source = result_class_source(operands) if op.keeps_class else None
    if op.needs_priority and _priority(class_source) <= _OWN_PRIORITY:
        class_source = None
    function = late_bound.ufuncs.get(op.name)
    if class_source is None:
        made = [handles.wrap_result(op, v) for v in values]
    elif (
        function is not None or op.pattern == "reduction" or (op.scalars and op.pattern == "opaque")
    ):
        made = [
            wrapped(class_source, handles.wrap(v), function, operands, i, op.scalars)
            for i, v in enumerate(values)
        ]
    else:
        made = [inherit(handles.wrap_result(op, v), class_source) for v in values]
    return tuple(made) if type(found) is tuple else made[0]


def wrapped(
    class_source: Any,
    made: Any,
    function: Any,
    operands: Sequence[Any],
    position: int,
    scalars: bool = True,
) -> Any:
    """Return the result of `__array_wrap__` of an operand for a new plain array.

    The array is the output `position` of a ufunc, or the result of a reduction. A method that does
    not take the context and `return_scalar` is called without them, with NumPy's warning.
    """
    method = class_source.__array_wrap__
    if getattr(method, "__func__", None) is late_bound.ndarray.__array_wrap__:
        return made if made is class_source else instance(made, type(class_source), class_source)
    context = None if function is None else (function, tuple(operands), position)
    refusal: TypeError | None = None
    for arguments in _forms(made, context, scalars and made.ndim == 0):
        try:
            found = method(*arguments)
        except TypeError as error:
            refusal = refusal or error
            continue
        if refusal is not None:
            warnings.warn(
                "__array_wrap__ must accept context and return_scalar arguments (positionally) in "
                "the future. (Deprecated NumPy 2.0)",
                DeprecationWarning,
                stacklevel=2,
            )
        return found
    if not isinstance(class_source, Handle) and _is_recorded(made):
        raise TypeError(
            f"a recorded array meets a {type(class_source).__name__}, which takes NumPy's arrays "
            "only, without derivatives: make an array of it by np.asarray, or give x.detach()"
        ) from refusal
    assert refusal is not None
    raise refusal


def _forms(made: Any, context: Any, return_scalar: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `__array_wrap__`: NumPy's, older ones, and a NumPy array, of which
    alone torch makes tensors.
    """
    yield made, context, return_scalar
    if context is not None:
        yield made, context
    yield (made,)
    if not _is_recorded(made):
        yield (onp.asarray(made),)


def _is_recorded(made: Any) -> bool:
    return modes.current().recording and handles.read(made).node is not None


__all__ = ["inherit", "instance", "is_subclass", "result_class_source", "results", "wrapped"]
