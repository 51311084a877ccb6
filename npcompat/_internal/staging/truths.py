"""Truths of values that the program knows: `not`, `and`, `or`, `a < b < c`, `x if c else y`."""

from collections.abc import Callable
from typing import Any

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, masked_array
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import branches, context

Later = Callable[[], Any]


def truth(x: Any) -> Any:
    """Python's truth of a value: a bool, or a flag that the program knows."""
    if isinstance(x, SymbolicNumber | masked_array.Length):
        return numbers.truth(x.payload)
    if isinstance(x, Handle) and context.current() is not None:
        payload = handles.read(x).payload
        if xla.is_tracer(payload) and not isinstance(payload, xla.Unknown):
            size = 1
            for n in payload.shape:
                size *= n
            if size == 1:
                return numbers.truth(payload)
            if size == 0 or len(payload.shape) > 0:
                branches.no_truth(payload.shape)
    return bool(x)


def as_bool(flag: Any) -> Any:
    """A flag as a bool of Python's."""
    return flag if isinstance(flag, bool) else SymbolicNumber(flag, bool)


def negated(x: Any) -> Any:
    """`not x`."""
    flag = truth(x)
    return not flag if isinstance(flag, bool) else as_bool(numbers.negation(flag))


def both(*parts: Later) -> Any:
    """`a and b`."""
    return _decided(parts, False)


def either(*parts: Later) -> Any:
    """`a or b`."""
    return _decided(parts, True)


def _decided(parts: tuple[Later, ...], deciding: bool) -> Any:
    """The first part whose truth is the deciding one, or the last."""
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

        # The other parts run only where this one does not decide: they may raise, or write.
        if deciding:
            return chosen(as_bool(flag), lambda: True, others)
        return chosen(as_bool(flag), others, lambda: False)
    return value


def _check_bool(x: Any) -> None:
    """Refuse a part of `and`, `or` that Python would give as it is, not as its truth."""
    known = isinstance(x, SymbolicNumber) and x.kind is bool
    if not (isinstance(x, bool) or known or (isinstance(x, Handle) and x.dtype == bool)):
        refuse("`and` or `or` gives one of two values that are no bools; compare them with zero")


def compared(left: Later, *rest: Any) -> Any:
    """`a < b < c`."""
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
    """`then() if test else otherwise()`."""
    flag = truth(test)
    if isinstance(flag, bool):
        return then() if flag else otherwise()
    return branches.expression(flag, then, otherwise)


__all__ = ["as_bool", "both", "chosen", "compared", "either", "negated", "truth"]
