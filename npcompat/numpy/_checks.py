"""Checks of argument values, of values that decide a result's shape, and of casting rules.

Eager code reads the values. In a compiled function, a wrong value raises its flag when the program
runs, and a shape that depends on values is an error.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Attrs, Op, operator
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.support.errors import TracedValueError, user_location


def flagged(flag: Any, kind: type[Exception], message: str) -> None:
    """Raise an error if a 0-d bool array or a scalar, the flag of a wrong value, is True."""
    value = handles.read(flag)
    trace = modes.current().trace
    if trace is not None and language.is_tracer(value.payload):
        trace.expect(value.payload, kind, f"{message} (compiled at {user_location()})")
    elif bool(handles.to_host(flag)):
        raise kind(message)


def refuse(op: Op, args: Sequence[Any], attrs: Attrs, kind: type[Exception], message: str) -> None:
    """Raise an error if a predicate operator returns True."""
    flagged(apply(op, args, attrs), kind, message)


@operator("_npi_outside", differentiable=False, pattern="reduction")
def outside(xp: Any, positions: Any, *, low: int, high: int) -> Any:
    """Return True if any position lies outside `low <= i < high`.

    Parameters
    ----------
    low : int
        Least position.
    high : int
        End of the positions.
    """
    return xp.any((positions < low) | (positions >= high))


def shaping(a: Any, what: str, argument: str = "") -> onp.ndarray[Any, Any]:
    """Return an array-like's values on the host, because they decide the result's shape.

    `argument` names the argument that would fix the shape instead.
    """
    if not isinstance(a, Handle):
        return array_like.host_array(a)
    if modes.current().trace is not None and language.is_tracer(handles.read(a).payload):
        fixed = f"Give {argument}, which fixes the shape, use" if argument else "Use"
        raise TracedValueError(
            f"{user_location()}: np.{what}: the shape of the result depends on the values of an "
            "array, which are not known while "
            f"the function is being compiled. {fixed} a mask (np.where, where=) instead, or do it "
            "outside of the compiled function"
        )
    return handles.to_host(a)


def is_recorded(a: Any) -> bool:
    """Return True for what is being recorded, or a list of such: its elements have gradients."""
    if isinstance(a, list | tuple):
        return any(map(is_recorded, a))
    return modes.current().recording and isinstance(a, Handle) and handles.read(a).node is not None


def is_live(x: Any) -> bool:
    """Return True for what is being recorded, or not known yet in a compiled function."""
    if not isinstance(x, Handle):
        return isinstance(x, TracedNumber)
    return is_recorded(x) or language.is_tracer(handles.read(x).payload)


def holds_no_numbers(dtype: onp.dtype[Any]) -> bool:
    """Return True for a dtype of objects, texts, dates or records."""
    return dtype.kind in "OSUTMm" or dtype.type is onp.void


def check_numbers(types: Iterable[Type], numpys: Callable[..., object]) -> None:
    """Raise what NumPy's function raises for operands of these dtypes, unless all hold numbers.

    XLA would take texts and objects for the numbers that they can be converted to.
    """
    found = [dtypes.strong(t) for t in types]
    if any(map(holds_no_numbers, found)):
        numpys(*[onp.zeros((2, 2), dtype) for dtype in found])


def check_casts_to_float(*found: onp.dtype[Any]) -> None:
    """Raise TypeError, with NumPy's text, for dtypes that can't be cast safely to float64."""
    for dtype in found:
        if dtype.kind == "c" or holds_no_numbers(dtype):
            raise TypeError(
                f"Cannot cast array data from {dtype!r} to dtype('float64') according to the rule "
                "'safe'"
            )


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def check_casting(casting: Any) -> None:
    """Raise ValueError if the argument names no casting rule."""
    if casting not in _CASTINGS:
        raise ValueError(
            f"casting must be one of {', '.join(map(repr, _CASTINGS))} (got {casting!r})"
        )


__all__ = [
    "check_casting",
    "check_casts_to_float",
    "check_numbers",
    "flagged",
    "holds_no_numbers",
    "is_live",
    "is_recorded",
    "outside",
    "refuse",
    "shaping",
]
