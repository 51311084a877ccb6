"""Truth values of traced values: `not`, `and`, `or`, `a < b < c`, `x if c else y`."""

from collections.abc import Callable
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, masked_array
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import branches, context
from npcompat._internal.staging.number_or_scalar import NumberOrScalar

Later = Callable[[], Any]


def truth(x: Any) -> Any:
    """Return the truth of a value: a bool, or a traced flag."""
    if isinstance(x, SymbolicNumber | NumberOrScalar | masked_array.Length):
        return numbers.truth(x.payload)
    if isinstance(x, Handle) and context.current() is not None:
        payload = handles.read(x).payload
        if language.is_tracer(payload) and not isinstance(payload, language.Unknown):
            size = 1
            for n in payload.shape:
                size *= n
            if size == 1:
                return numbers.truth(payload)
            if size == 0 or len(payload.shape) > 0:
                branches.no_truth(payload.shape)
    return bool(x)


def as_bool(flag: Any) -> Any:
    """Return a flag as a bool, or as a symbolic one if it is traced."""
    return flag if isinstance(flag, bool) else SymbolicNumber(flag, bool)


def negated(x: Any) -> Any:
    """Compute `not x`."""
    flag = truth(x)
    return not flag if isinstance(flag, bool) else as_bool(numbers.negation(flag))


def both(*parts: Later) -> Any:
    """Compute `a and b`."""
    return _decided(parts, False)


def either(*parts: Later) -> Any:
    """Compute `a or b`."""
    return _decided(parts, True)


def _decided(parts: tuple[Later, ...], deciding: bool) -> Any:
    """Return the first part whose truth is `deciding`, or the last part."""
    value: Any = None
    for i, part in enumerate(parts):
        value = part()
        rest = parts[i + 1 :]
        if not rest:
            return value
        flag = truth(value)
        if isinstance(flag, bool):
            if flag is deciding:
                return value
            continue
        _check_bool(value)

        def others(rest: tuple[Later, ...] = rest) -> Any:
            found = _decided(rest, deciding)
            _check_bool(found)
            return as_bool(truth(found))

        # The other parts may raise or write, so they run in an arm of a branch.
        if deciding:
            return chosen(as_bool(flag), lambda: True, others)
        return chosen(as_bool(flag), others, lambda: False)
    return value


def _check_bool(x: Any) -> None:
    """Refuse a part of `and` or `or` that is no bool: Python would return the part itself."""
    known = isinstance(x, SymbolicNumber) and x.kind is bool
    known = known or (isinstance(x, NumberOrScalar) and x.number.kind is bool)
    if not (isinstance(x, bool) or known or (isinstance(x, Handle) and x.dtype == bool)):
        refuse("`and` or `or` gives one of two values that are no bools; compare them with zero")


def compared(left: Later, *rest: Any) -> Any:
    """Compute `a < b < c`."""
    found: Any = True
    value = left()
    for n in range(0, len(rest), 2):
        other = rest[n + 1]()
        result = rest[n](value, other)
        value = other
        if n + 2 == len(rest) and found is True:
            return result
        flag = truth(result)
        if isinstance(flag, bool):
            if not flag:
                return result if found is True else False
            continue
        found = flag if found is True else numbers.both(found, flag)
    return as_bool(found)


def chosen(test: Any, then: Later, otherwise: Later) -> Any:
    """Compute `then() if test else otherwise()`."""
    flag = truth(test)
    if isinstance(flag, bool):
        return then() if flag else otherwise()
    return branches.expression(flag, then, otherwise)


__all__ = ["as_bool", "both", "chosen", "compared", "either", "negated", "truth"]
