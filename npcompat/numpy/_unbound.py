"""Functions that do not bind as methods, as NumPy's functions in C do not.

A class may hold one as an attribute:

    class Layer:
        activation = np.tanh

`Layer().activation(x)` is `np.tanh(x)`; a Python function would get the layer as its first
argument. A call of such an object creates no Python frame.
"""

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from npcompat._internal.dispatch.late_bound import ordinary
from npcompat._internal.native import fast_path

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])


class Unbound(fast_path.Function, Generic[P, R_co]):  # type: ignore[misc]
    """Function that does not bind: it never becomes a method."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, R_co]) -> None:
        super().__init__(function)
        functools.update_wrapper(self, function)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
            """Call the function."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__qualname__}>"


class CachedFunction(Unbound[P, R_co]):
    """Function with cached calls that does bind as a method."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def call_cached(function: Function) -> Function:
    """Cache the calls of a function that opts in by `apply.apply_cached`."""
    return cast("Function", CachedFunction(function)) if fast_path.native is not None else function


def ask_first(function: Function, asked: Callable[..., Any]) -> Function:
    """Call another function first where the class of an argument is not an ordinary one.

    Parameters
    ----------
    function : function
        The public function.
    asked : function
        Function of the same arguments; it returns NotImplemented if `function` is to run.
    """
    wrapped: Any = CachedFunction(function)
    wrapped._ask_first(asked, ordinary)
    return cast("Function", wrapped)


def special(kind: str, infix: Callable[..., Any] | None = None) -> Callable[[Function], Function]:
    """Give a special method of arrays a fast path (`fast_path.method`), and keep its type."""
    return fast_path.method(kind, infix=infix)


def unbound(function: Function) -> Function:
    """Make a function that does not bind as a method."""
    return cast("Function", Unbound(function))


__all__ = ["P", "R_co", "Unbound", "ask_first", "call_cached", "special", "unbound"]
