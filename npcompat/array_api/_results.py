"""Results of functions as the standard has them: arrays, also without axes."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from npcompat import numpy as np
from npcompat._internal.dispatch import late_bound, subclasses


class ArrayWithoutAxes(np.ndarray):
    """Array without axes, of which operators make arrays, too, where NumPy's make scalars."""

    __slots__ = ()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array.ndim == 0 and type(array) is np.ndarray and array._view is None:  # a new array
            return subclasses.instance(array, ArrayWithoutAxes, None)
        return as_arrays(array)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


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
    if kind is np.ndarray:
        return result if result.ndim else result.view(ArrayWithoutAxes)
    if kind in late_bound.scalars:
        return subclasses.instance(np.asarray(result), ArrayWithoutAxes, None)
    if kind is ArrayWithoutAxes:
        return result.view(np.ndarray) if result.ndim else result
    if isinstance(result, tuple):
        found = [as_arrays(r) for r in result]
        return kind(*found) if hasattr(result, "_fields") else kind(found)
    return [as_arrays(r) for r in result] if kind is list else result


__all__ = ["ArrayWithoutAxes", "as_arrays", "of_arrays"]
