"""Truth values of traced values: `not`, `and`, `or`, `a < b < c`, `x if c else y`."""

import operator
from collections.abc import Callable
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, late_bound, masked_array
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import branches, context
from npcompat._internal.staging.iterators import iterated
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


def compared(left: Later, compare: Any, right: Later, *rest: Any) -> Any:
    """Compute `left() < right()`, or `a < b < c` of more values and comparisons in turn."""
    value, other = left(), right()
    result = compare(value, other)
    if not rest:
        return result
    flag = truth(result)
    if isinstance(flag, bool):
        return compared(lambda: other, *rest) if flag else result
    # The other values may raise or write, so they are computed in an arm of a branch.
    others = lambda: as_bool(truth(compared(lambda: other, *rest)))  # noqa: E731
    return chosen(as_bool(flag), others, lambda: False)


def contained(item: Any, container: Any) -> Any:
    """Compute `item in container`."""
    if context.current() is None:
        return item in container
    iterated(container)
    of_array = isinstance(container, Handle)
    if of_array and is_traced(container, item):
        return as_bool(truth((container == item).any()))
    if type(container) is range and isinstance(item, SymbolicNumber) and item.kind is int:
        return _in_range(item, container)
    is_set = isinstance(container, set | frozenset)
    if of_array or (not is_set and type(container) not in (list, tuple)):
        return item in container
    if not is_traced(item, *container) or (is_set and not _is_hashable(item)):
        return item in container
    if any([e is item for e in container]):
        return True
    flags = [truth(e == item) for e in container]
    if any([f is True for f in flags]):
        return True
    unknown = [f for f in flags if not isinstance(f, bool)]
    return as_bool(numbers.either(*unknown)) if unknown else False


def is_traced(*values: Any) -> bool:
    """Return True if one of the values is known only when the program runs."""
    return any([_is_unknown(v) for v in values])


def _is_unknown(x: Any) -> bool:
    if isinstance(x, SymbolicNumber | NumberOrScalar | masked_array.Length):
        return True
    return isinstance(x, Handle) and language.is_tracer(handles.read(x).payload)


def _is_hashable(x: Any) -> bool:
    return isinstance(x, SymbolicNumber | NumberOrScalar) or type(x) in late_bound.scalars


def _in_range(x: Any, over: range) -> Any:
    """Compute `x in range(...)` of a traced number."""
    if not over:
        return False
    first, last = sorted((over[0], over[-1]))
    inside = compared(lambda: first, operator.le, lambda: x, operator.le, lambda: last)
    if abs(over.step) == 1:
        return inside
    return both(lambda: inside, lambda: (x - first) % abs(over.step) == 0)


def chosen(test: Any, then: Later, otherwise: Later) -> Any:
    """Compute `then() if test else otherwise()`."""
    flag = truth(test)
    if isinstance(flag, bool):
        return then() if flag else otherwise()
    return branches.expression(flag, then, otherwise)


__all__ = [
    "as_bool",
    "both",
    "chosen",
    "compared",
    "contained",
    "either",
    "is_traced",
    "negated",
    "truth",
]
