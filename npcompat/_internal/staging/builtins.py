"""Builtin functions on traced values: `range`, `len`, `max`, `int`, `isinstance`, `any`.

Each returns NotImplemented for what it leaves to Python.
"""

from abc import ABCMeta
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch import array_like, execution, handles, late_bound, masked_array
from npcompat._internal.dispatch.symbolic_number import (
    SymbolicNumber,
    expect,
    interval,
    is_number,
    kind_of,
    payload_of,
    symbolic,
)
from npcompat._internal.staging import branches, context, items, truths
from npcompat._internal.staging.iterables import (
    Enumerated,
    LoopIterator,
    Reversed,
    SymbolicRange,
    Zipped,
    rounds_of,
)
from npcompat._internal.staging.number_or_scalar import NumberOrScalar

TRACED = (Handle, SymbolicNumber, NumberOrScalar)


def _range(_: Any, *args: Any) -> Any:
    bounds = [items.number_of(a) if items.is_traced_int(a) else symbolic(a) for a in args]
    if any([isinstance(b, SymbolicNumber) and b.kind is float for b in bounds]):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if any([isinstance(b, SymbolicNumber) for b in bounds]) and not any(
        [a is not b and not items.is_traced_int(a) for a, b in zip(args, bounds, strict=True)]
    ):
        return SymbolicRange(*bounds)
    return NotImplemented


def _reversed(_: Any, over: Any) -> Any:
    if isinstance(over, range):
        return over[::-1]
    if isinstance(over, LoopIterator):
        return NotImplemented  # Python refuses to go through an iterator backwards
    return Reversed(over) if rounds_of(over) is not None else NotImplemented


def _enumerate(_: Any, over: Any, start: Any = 0) -> Any:
    if type(start) is not int or rounds_of(over) is None:
        return NotImplemented
    return Enumerated(over, start)


def _zip(_: Any, *over: Any, **options: Any) -> Any:
    if options or not over or any([rounds_of(o) is None for o in over]):
        return NotImplemented
    return Zipped(*over)


def _len(_: Any, x: Any) -> Any:
    length: Any = x.shape[0] if isinstance(x, Handle) and x.shape else None
    return (
        SymbolicNumber(length.payload, int, 0)
        if type(length) is masked_array.Length
        else NotImplemented
    )


def _extreme(function: Any, *args: Any, **options: Any) -> Any:
    """Compute `max` or `min` of several values, or of the items of one; of equal ones the first."""
    if options:
        return NotImplemented
    if len(args) == 1:
        (over,) = args
        if isinstance(over, Handle):
            return _extreme_item(function, over)
        return _extreme(function, *over) if type(over) in (list, tuple) and over else NotImplemented
    if not any([isinstance(a, TRACED) for a in args]):
        return NotImplemented
    found = args[0]
    for other in args[1:]:
        better = other > found if function is max else other < found
        flag = truths.truth(better)
        if isinstance(flag, bool):
            found = other if flag else found
        else:
            found = _selected(flag, other, found, function)
    return found


def _extreme_item(function: Any, array: Handle) -> Any:
    """Compute `max` or `min` of the items of an array; nan counts only if it is the first item."""
    payload = handles.read(array).payload
    if not language.is_tracer(payload) or isinstance(payload, language.Unknown):
        return NotImplemented
    if len(payload.shape) != 1 or not payload.shape[0] or type(array.shape[0]) is not int:
        return NotImplemented
    x: Any = array
    if payload.dtype.kind == "c":
        return NotImplemented
    if payload.dtype.kind not in "fV":
        return items.getitem(x, x.argmax() if function is max else x.argmin())
    worst = onp.array(-onp.inf if function is max else onp.inf, payload.dtype)
    kept: Any = _where(x != x, worst, x)
    at = kept.argmax() if function is max else kept.argmin()
    return items.getitem(x, _where(x[0] != x[0], onp.int64(0), at))


def _where(flag: Any, one: Any, other: Any) -> Any:
    """Choose between scalars, or elements of arrays, by a flag or an array of bools."""
    values = [
        flag if isinstance(flag, Value) else array_like.as_value(flag),
        array_like.as_value(one),
        array_like.as_value(other),
    ]
    return handles.wrap_scalar(execution.run(REGISTRY["_npi_where"], values))


def _selected(flag: Any, new: Any, old: Any, function: Any) -> Any:
    new, old = symbolic(new), symbolic(old)
    if is_number(new) and is_number(old):
        kinds = {int if kind_of(n) is bool else kind_of(n) for n in (new, old)}
        if len(kinds) > 1 or bool in (kind_of(new), kind_of(old)):
            refuse(f"{function.__name__} of numbers of two types, one of which data choose")
        (kind,) = kinds
        payload = numbers.computed("where", kind, flag, payload_of(new), payload_of(old))
        (a, b), (c, d) = interval(new), interval(old)
        return SymbolicNumber(payload, kind, function(a, c), function(b, d))
    own = [(x.dtype, x.shape) for x in (new, old) if isinstance(x, Handle | onp.generic)]
    if len(own) < 2 or len(set(own)) > 1 or own[0][1]:
        return branches.expression(flag, lambda: new, lambda: old)
    return _where(context.running().adopt(Value(flag)), new, old)


def _bool(_: Any, *args: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], (*TRACED, masked_array.Length)):
        return truths.as_bool(truths.truth(args[0]))
    return NotImplemented


def _number(kind: Any, *args: Any, **options: Any) -> Any:
    """Compute `int(x)` or `float(x)`."""
    if len(args) != 1 or options:
        return NotImplemented
    (x,) = args
    if isinstance(x, NumberOrScalar):
        if kind is int:
            return items.number_of(x) if x.is_int else _as_int(x.payload)
        return SymbolicNumber(numbers.weak(float, x.payload), float)
    if isinstance(x, SymbolicNumber):
        if x.kind is kind:
            return x
        if kind is float:
            return SymbolicNumber(numbers.weak(float, x.payload), float)
        return x.as_number() if x.kind is bool else _as_int(x.payload)
    if isinstance(x, Handle):
        payload = handles.read(x).payload
        single = language.is_tracer(payload) and not isinstance(payload, language.Unknown)
        if single and not payload.shape and payload.dtype.kind in "iufb":
            if kind is float:
                return SymbolicNumber(numbers.weak(float, payload), float)
            if payload.dtype.kind in "iu" and type(x) in late_bound.scalars:
                return items.number_of(x)
            return _as_int(payload)
    return NotImplemented


def _as_int(payload: Any) -> SymbolicNumber:
    number, wrong = numbers.as_int(payload)
    if wrong is not None:
        expect(numbers.is_nan(payload), ValueError, "cannot convert float NaN to integer")
        expect(wrong, OverflowError, "a number that is no int of 64 bits")
    return SymbolicNumber(number, int, -(2**63), 2**63 - 1)


def _round(_: Any, *args: Any, **options: Any) -> Any:
    """Compute `round(x)` to an int."""
    if len(args) != 1 or options:
        return NotImplemented
    (x,) = args
    if isinstance(x, SymbolicNumber):
        is_int, payload = x.kind is not float, x.payload
    elif _class_in_numpy(x) is not None and x.dtype.kind in "iuf":
        is_int, payload = x.dtype.kind in "iu", handles.read(x).payload
    else:
        return NotImplemented
    if is_int:
        return x.as_number() if isinstance(x, SymbolicNumber) else items.number_of(x)
    return _as_int(numbers.computed("rint", float, payload))


def _scalar(kind: Any, *args: Any) -> Any:
    """Compute `np.float32(x)` and the like of a traced number, scalar or array."""
    if len(args) != 1:
        return NotImplemented
    (x,), dtype = args, onp.dtype(kind)
    if isinstance(x, SymbolicNumber):
        if dtype.kind in "iu":
            x = _as_int(x.payload) if x.kind is float else x.as_number()
            x.expect_fits(dtype)
        payload = numbers.truth(x.payload) if dtype.kind == "b" else x.payload
        found = Value(numbers.element(payload, dtype))
        return handles.wrap_scalar(context.running().adopt(found))
    if not isinstance(x, Handle) or not language.is_tracer(handles.read(x).payload):
        return NotImplemented
    if isinstance(handles.read(x).payload, language.Unknown) or x.dtype.kind == "c":
        return NotImplemented
    cast: Any = x.astype(dtype)  # type: ignore[attr-defined]
    return cast if cast.shape else handles.wrap_scalar(handles.read(cast))


def _type(_: Any, *args: Any, **options: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], NumberOrScalar):
        args[0].refuse("its type is asked for")
    return (
        args[0].kind if len(args) == 1 and isinstance(args[0], SymbolicNumber) else NotImplemented
    )


def _text(function: Any, *args: Any, **_: Any) -> Any:
    """Refuse `str`, `repr`, `format` and `ascii` of a value that only the program knows."""
    if args and isinstance(args[0], SymbolicNumber | NumberOrScalar):
        refuse(f"{function.__name__} of a number that is only known when the program runs")
    return NotImplemented


def _hasattr(_: Any, x: Any, name: Any) -> Any:
    kind = _class_in_numpy(x)
    return NotImplemented if kind is None or type(name) is not str else hasattr(kind, name)


def _class_in_numpy(x: Any) -> Any:
    """Return the class that a traced number or scalar has in eager code; None for other values."""
    if isinstance(x, SymbolicNumber):
        return x.kind
    if type(x) in late_bound.scalars and language.is_tracer(handles.read(x).payload):
        return x.dtype.type
    return None


def _isinstance(_: Any, x: Any, kinds: Any) -> Any:
    kind = _class_in_numpy(x) if type(kinds) is ABCMeta else None
    if kind is not None:
        return issubclass(kind, kinds)
    if isinstance(x, NumberOrScalar):
        found = issubclass(x.number.kind, kinds), isinstance(x.scalar, kinds)
        if found[0] != found[1]:
            x.refuse("its class is asked for")
        return found[0]
    return issubclass(x.kind, kinds) if isinstance(x, SymbolicNumber) else NotImplemented


def _any(function: Any, *args: Any) -> Any:
    """Compute `any` or `all` of a list with traced items."""
    if len(args) != 1 or type(args[0]) not in (list, tuple):
        return NotImplemented
    if not any([isinstance(a, TRACED) for a in args[0]]):
        return NotImplemented
    flags = [truths.truth(a) for a in args[0]]
    unknown = [f for f in flags if not isinstance(f, bool)]
    decided = function is any
    if not unknown or decided in [f for f in flags if isinstance(f, bool)]:
        return function([f for f in flags if isinstance(f, bool)])
    return truths.as_bool((numbers.either if decided else numbers.both)(*unknown))


SPECIAL: dict[Any, Callable[..., Any]] = {
    range: _range,
    reversed: _reversed,
    enumerate: _enumerate,
    zip: _zip,
    len: _len,
    max: _extreme,
    min: _extreme,
    bool: _bool,
    int: _number,
    float: _number,
    type: _type,
    isinstance: _isinstance,
    hasattr: _hasattr,
    str: _text,
    repr: _text,
    ascii: _text,
    format: _text,
    round: _round,
    **dict.fromkeys((onp.dtype(code).type for code in "?bBhHiIlLqQefd"), _scalar),
    any: _any,
    all: _any,
}

__all__ = ["SPECIAL"]
