"""Functions that are not bound: what NumPy writes in C stays a function where a class has it as an
attribute.

    class Layer:
        activation = np.tanh

`Layer().activation(x)` is `np.tanh(x)`, where a function of Python's would take the layer for its
first argument. Calling such an object costs no frame of Python's.
"""

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from npcompat._internal.native import fast_path

P = ParamSpec("P")
Function = TypeVar("Function", bound=Callable[..., Any])


class Unbound(fast_path.Function, Generic[P]):  # type: ignore[misc]
    """A function that is no method of anything."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, Any]) -> None:
        super().__init__(function)
        functools.update_wrapper(self, function)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
            """Call the function."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__qualname__}>"


class Remembering(Unbound[P]):
    """A function whose calls are remembered, where it says so, and which is a method where a class
    has it as an attribute.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def remembering(function: Function) -> Function:
    """Make a function one whose calls are remembered, where it says so (`dispatch.remembered`)."""
    return cast("Function", Remembering(function)) if fast_path.native is not None else function


def unbound(function: Function) -> Function:
    """Make a function one that is not bound."""
    return cast("Function", Unbound(function))


__all__ = ["P", "Unbound", "remembering", "unbound"]
