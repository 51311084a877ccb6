"""Results of functions as the standard has them: arrays, also without axes."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from npcompat import numpy as np
from npcompat._internal.dispatch import late_bound


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of `npcompat.numpy`, so that results which are scalars become arrays.

    An elementwise ufunc has the parameters of the standard: its operands, by position only.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_arrays(function(*args, **kwargs))

    if isinstance(function, np.ufunc) and function.signature is None:
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
                for name in (("x",) if function.nin == 1 else ("x1", "x2"))
            ]
        )
    return call


def as_arrays(result: Any) -> Any:
    """Return a result with arrays in place of scalars, in tuples and lists, too."""
    kind = type(result)
    if kind is late_bound.scalar:
        return np.asarray(result)
    if isinstance(result, tuple):
        found = [as_arrays(r) for r in result]
        return kind(*found) if hasattr(result, "_fields") else kind(found)
    return [as_arrays(r) for r in result] if kind is list else result


__all__ = ["as_arrays", "of_arrays"]
