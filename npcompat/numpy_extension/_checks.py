"""Checks of values, which raise at once or at the next read of an array."""

from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.dispatch import handles, pending_errors
from npcompat._internal.dispatch.backends import ON_DEVICES
from npcompat.numpy import logical_not
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


def expect(holds: Any, kind: type[Exception], message: str) -> None:
    """Raise an error unless a 0-d condition holds.

    On the host it raises at once; on XLA, and in a compiled function, at the next read of any
    array. Graphs of symbols contain no checks: there nothing is raised.
    """
    raise_if(logical_not(holds), kind, message)


def raise_if(failed: Any, kind: type[Exception], message: str) -> None:
    """Raise an error if a 0-d condition holds, as `expect` does if it does not."""
    payload = handles.read(failed).payload
    trace = modes.current().trace
    if trace is not None and language.is_tracer(payload):
        trace.expect(payload, kind, message)
    elif type(payload) is onp.ndarray or type(payload) in ON_DEVICES:
        pending_errors.expect(payload, [(kind, message)])


def constraint_check(input: ArrayLike, msg: str = "Constraint violated.") -> ndarray:
    """Check that all elements are true; raises ValueError otherwise.

    It never blocks: on the host the error is raised at once; on XLA, and from a compiled function,
    when an array is next read (or by `npx.waitall()`). A symbol returns a symbol, and its graph
    raises nothing.

    Parameters
    ----------
    input : array_like
        Conditions.
    msg : str
        Message of the error.

    Returns
    -------
    ndarray
        True if all are true, a 0-d array of bool.

    Raises
    ------
    ValueError
        If one is not.

    Examples
    --------
    >>> scale = np.array([0.5, -1.0])
    >>> npx.constraint_check(scale > 0, "scale must be positive")
    Traceback (most recent call last):
    ...
    ValueError: scale must be positive
    """
    if not isinstance(msg, str):
        raise TypeError(f"constraint_check: msg must be a str, got {type(msg).__name__}")
    holds = asarray(input).all()
    expect(holds, ValueError, msg)
    return holds


__all__ = ["constraint_check"]
