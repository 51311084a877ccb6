"""Arrays with the standard's meaning: without axes where NumPy has scalars."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import npcompat.numpy as np
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import late_bound, subclasses


class Array(np.ndarray):
    """Array of the standard: its elements and reductions are arrays, which can be written.

    `x // y` is the standard's `floor_divide`. In compiled functions, arrays are those of
    `npcompat.numpy`.
    """

    __slots__ = ()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return as_arrays(array)

    def __getitem__(self, key: Any) -> Any:
        return as_arrays(super().__getitem__(key))

    def __iter__(self) -> Iterator[Any]:
        return (
            iter(super().__iter__()) if not self.ndim else map(self.__getitem__, range(len(self)))
        )

    def __floordiv__(self, other: Any) -> Any:
        return _floor_divided(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _floor_divided(other, self)

    def __ifloordiv__(self, other: Any) -> Any:
        found = _floor_divided(self, other)
        if found is NotImplemented:
            return found
        self[...] = found
        return self

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def _floor_divided(x1: Any, x2: Any) -> Any:
    from npcompat.array_api._elementwise import floor_divide

    known = (int, float, Handle)
    return (
        floor_divide(x1, x2) if isinstance(x1, known) and isinstance(x2, known) else NotImplemented
    )


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of `npcompat.numpy`, so that its results are the standard's arrays.

    An elementwise ufunc has the parameters of the standard: its operands, by position only.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_arrays(function(*args, **kwargs), (*args, *kwargs.values()))

    if isinstance(function, np.ufunc) and function.signature is None:
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
                for name in (("x",) if function.nin == 1 else ("x1", "x2"))
            ]
        )
    return call


def asarray(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `np.asarray`: one of the standard's arrays stays the same object if nothing changes.

    Strings and other objects raise TypeError: the standard has no dtype for them.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        if found.dtype.kind not in "biufc" and not dtypes.on_devices(found.dtype):
            raise TypeError(
                f"asarray: Unsupported dtype {found.dtype}: the array API standard has none of its kind; "
                "convert them to numbers, or use npcompat.numpy"
            )
        given = args[0] if args else kwargs.get("a")
        view = found._view
        if type(given) is Array and view is not None and view.parent is given:
            if found.dtype == given.dtype and found.shape == given.shape:
                return given
        return as_arrays(found, (given,))

    return call


def as_arrays(result: Any, given: Sequence[Any] = ()) -> Any:
    """Return a result with the standard's arrays in place of others and of scalars.

    Those in tuples and lists are, too. `given` are the arguments, of which one may be the result.
    """
    kind = type(result)
    if kind is np.ndarray:
        if result.ndim and modes.current().trace is not None:
            return result
        if any([result is x for x in given]):
            return result.view(Array)
        return subclasses.instance(result, Array, None)
    if kind in late_bound.scalars or kind is np.bool_:
        return subclasses.instance(np.array(result), Array, None)
    if isinstance(result, tuple):
        found = [as_arrays(r, given) for r in result]
        return kind(*found) if hasattr(result, "_fields") else kind(found)
    return [as_arrays(r, given) for r in result] if kind is list else result


__all__ = ["Array", "as_arrays", "asarray", "of_arrays"]
