"""Calls in converted functions: user functions are converted, and side effects are refused.

They are refused in staged runs only, in which one run stands for all rounds.
"""

import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.jit import Compiled
from npcompat._internal.compile.staged_runs import is_staged, refuse
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
from npcompat._internal.source import conversion
from npcompat._internal.source.straight import is_plain, is_straight
from npcompat._internal.staging import branches, context, items, truths
from npcompat._internal.staging.iterables import (
    Enumerated,
    Reversed,
    SymbolicRange,
    Zipped,
    rounds_of,
)
from npcompat._internal.staging.number_or_scalar import NumberOrScalar
from npcompat._internal.support.errors import is_library

_PURE = frozenset(
    {
        abs, bool, complex, divmod, float, getattr, hasattr, int, isinstance, issubclass, len, max,
        min, pow, range, reversed, round, slice, sum, tuple, type, zip, enumerate, any, all, list,
        dict, set, frozenset, str, repr, callable, id, iter, sorted, map, filter,
    }
)  # fmt: skip
"""Builtin functions without side effects."""
_TRACED = (Handle, SymbolicNumber, NumberOrScalar)
_PURE_MODULES = frozenset(("math", "cmath", "operator", "_operator", "numpy"))
_READING = frozenset(
    ("index", "count", "copy", "keys", "values", "items", "get", "__getitem__", "__contains__")
)
"""Methods of containers without side effects."""
_CONTAINERS = (list, dict, set, frozenset, tuple, str, bytes, bytearray)


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call `function(*args, **kwargs)`, converted if it is a user's."""
    if context.current() is None:
        return function(*args, **kwargs)
    special = _SPECIAL.get(function) if _is_hashable(function) else None
    if special is not None:
        found = special(function, *args, **kwargs)
        if found is not NotImplemented:
            return found
    made = converted(function)
    if made is not function:
        return made(*args, **kwargs)
    if is_staged() and not _is_pure(function):
        name = getattr(function, "__qualname__", None) or type(function).__qualname__
        refuse(f"{name!r} is called, which may do more than compute with arrays")
    if _takes_functions(function):
        args = tuple([converted(a) for a in args])
        kwargs = {k: converted(v) for k, v in kwargs.items()}
    return function(*args, **kwargs)


def _is_hashable(function: Any) -> bool:
    return type(function) in (type, types.BuiltinFunctionType)


def _takes_functions(function: Any) -> bool:
    """Return True for npcompat's functions that may call functions among their arguments."""
    module = getattr(function, "__module__", "") or ""
    return module.startswith("npcompat.numpy_extension") and type(function) is types.FunctionType


# --- conversion of called functions


def converted(function: Any) -> Any:
    """Convert a user's function or method; return everything else unchanged."""
    if type(function) is types.MethodType:
        inner = converted(function.__func__)
        if inner is function.__func__:
            return function
        return types.MethodType(inner, function.__self__)
    if type(function) is functools.partial:
        inner = converted(function.func)
        if inner is function.func:
            return function
        return functools.partial(inner, *function.args, **function.keywords)
    if type(function) is Compiled:
        return converted(function.function) if function.converts else function
    if type(function) is not types.FunctionType or not _is_users(function):
        return function
    return conversion.converted(function, runtime[0])


runtime: list[types.ModuleType] = []
"""Holds the module that converted functions call; `wiring.py` fills it in."""


def for_trace(function: Any, statics: Sequence[Any] = ()) -> Any:
    """Convert a function that is traced, unless there is nothing to convert.

    Parameters
    ----------
    statics : sequence
        Arguments that are no arrays, and might be called.
    """
    if context.current() is None or not context.converts():
        return function
    straight = type(function) is types.FunctionType and is_straight(function)
    return function if straight and all(map(is_plain, statics)) else converted(function)


def _is_users(function: types.FunctionType) -> bool:
    filename = function.__code__.co_filename
    return not is_library(filename) and not filename.startswith("<frozen")


def _is_pure(function: Any) -> bool:
    """Return True for callables without side effects, except writes of arrays."""
    if _is_hashable(function) and function in _PURE:
        return True
    if conversion.is_converted(getattr(function, "__code__", None)):  # type: ignore[arg-type]
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Handle | SymbolicNumber):
        return True
    if isinstance(owner, _CONTAINERS):
        return getattr(function, "__name__", "") in _READING or isinstance(owner, str | bytes)
    if isinstance(function, type) and issubclass(function, BaseException):
        return True
    module = getattr(function, "__module__", None) or type(function).__module__ or ""
    if not isinstance(module, str):
        return False
    return (
        module.split(".")[0] in _PURE_MODULES
        or module.split(".")[0] == "npcompat"
        or (type(function).__module__.split(".")[0] == "npcompat")
    )


# --- builtin functions on symbolic values


def _range(_: Any, *args: Any) -> Any:
    bounds = [items.number_of(a) if items.is_traced_int(a) else symbolic(a) for a in args]
    if any([isinstance(b, SymbolicNumber) for b in bounds]) and not any(
        [a is not b and not items.is_traced_int(a) for a, b in zip(args, bounds, strict=True)]
    ):
        return SymbolicRange(*bounds)
    return NotImplemented


def _reversed(_: Any, over: Any) -> Any:
    if isinstance(over, range):
        return over[::-1]
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
    """Compute `max` or `min` of several values; of equal ones the first."""
    if options or len(args) < 2 or not any([isinstance(a, _TRACED) for a in args]):
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
    trace = context.running()
    values = [Value(flag), array_like.as_value(new), array_like.as_value(old)]
    trace.adopt(values[0])
    return handles.wrap_scalar(execution.run(REGISTRY["_npi_where"], values))


def _bool(_: Any, *args: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], (*_TRACED, masked_array.Length)):
        return truths.as_bool(truths.truth(args[0]))
    return NotImplemented


def _number(kind: Any, *args: Any) -> Any:
    """Compute `int(x)` or `float(x)`."""
    if len(args) != 1:
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
        if single and math.prod(payload.shape) == 1 and payload.dtype.kind in "iufb":
            payload = payload.reshape(())
            if kind is float:
                return SymbolicNumber(numbers.weak(float, payload), float)
            if payload.dtype.kind in "iu" and type(x) in late_bound.scalars:
                return items.number_of(x)
            return _as_int(payload)
    return NotImplemented


def _as_int(payload: Any) -> SymbolicNumber:
    number, wrong = numbers.as_int(payload)
    if wrong is not None:
        expect(wrong, OverflowError, "a number that is no int of 64 bits")
    return SymbolicNumber(number, int, -(2**63), 2**63 - 1)


def _type(_: Any, *args: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], NumberOrScalar):
        args[0].refuse("its type is asked for")
    return (
        args[0].kind if len(args) == 1 and isinstance(args[0], SymbolicNumber) else NotImplemented
    )


def _isinstance(_: Any, x: Any, kinds: Any) -> Any:
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
    if not any([isinstance(a, _TRACED) for a in args[0]]):
        return NotImplemented
    flags = [truths.truth(a) for a in args[0]]
    unknown = [f for f in flags if not isinstance(f, bool)]
    decided = function is any
    if not unknown or decided in [f for f in flags if isinstance(f, bool)]:
        return function([f for f in flags if isinstance(f, bool)])
    return truths.as_bool((numbers.either if decided else numbers.both)(*unknown))


_SPECIAL: dict[Any, Callable[..., Any]] = {
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
    any: _any,
    all: _any,
}

__all__ = ["call", "converted", "itertools", "operator"]
