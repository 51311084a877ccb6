"""What functions check: that no value is wrong, that values which decide a result's shape are
known, and rules of casting.

Eager, the values are looked at. While a function is compiled, a wrong value is flagged by the
program when it runs, and a shape that depends on values is an error.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Attrs, Op, operator
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.support.errors import TracedValueError, user_location


def flagged(flag: Any, kind: type[Exception], message: str) -> None:
    """Raise an error if a 0-d array of bool, which says that a value is wrong, is True."""
    value = handles.read(flag)
    trace = modes.current().trace
    if trace is not None and xla.is_tracer(value.payload):
        trace.expect(value.payload, kind, f"{message} (compiled at {user_location()})")
    elif bool(handles.to_host(flag)):
        raise kind(message)


def refuse(op: Op, args: Sequence[Any], attrs: Attrs, kind: type[Exception], message: str) -> None:
    """Raise an error if an operator that asks a question about values answers True."""
    flagged(apply(op, args, attrs), kind, message)


@operator("_npi_outside", differentiable=False, pattern="reduction")
def outside(xp: Any, positions: Any, *, low: int, high: int) -> Any:
    """Whether any position lies outside `low <= i < high`.

    Parameters
    ----------
    low : int
        Least position.
    high : int
        End of the positions.
    """
    return xp.any((positions < low) | (positions >= high))


def shaping(a: Any, what: str, argument: str = "") -> onp.ndarray[Any, Any]:
    """The values of an array-like on the host, where they decide the shape of the result of `what`.

    `argument` says which of its arguments would decide it instead.
    """
    if not isinstance(a, Handle):
        return array_like.host_array(a)
    if modes.current().trace is not None and xla.is_tracer(handles.read(a).payload):
        fixed = f"Give {argument}, which fixes the shape, use" if argument else "Use"
        raise TracedValueError(
            f"{user_location()}: np.{what}: the shape of the result depends on the values of an "
            "array, which are not known while "
            f"the function is being compiled. {fixed} a mask (np.where, where=) instead, or do it "
            "outside of the compiled function"
        )
    return handles.to_host(a)


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def check_casting(casting: Any) -> None:
    """Raise an error if the argument names no rule of casting."""
    if casting not in _CASTINGS:
        raise ValueError(
            f"casting must be one of {', '.join(map(repr, _CASTINGS))} (got {casting!r})"
        )


__all__ = ["check_casting", "flagged", "outside", "refuse", "shaping"]
