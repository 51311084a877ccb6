"""The short way of frequent calls, in C."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

class Function:
    """A function of Python's, of which some calls take the short way."""

    def __init__(self, function: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _short(self, op: Any, only_on_host: bool = False) -> None: ...

class Method:
    """A special method of arrays, of which some calls take the short way."""

    def __init__(
        self,
        kind: Literal[
            "unary", "binary", "reflected", "in place", "get", "set", "call", "convert", "copy"
        ],
        whole: Callable[..., Any],
        op: Any = None,
        infix: Callable[..., Any] | None = None,
        only_on_host: bool = False,
        elides: bool = False,
        exponents: tuple[tuple[float, Any, int], ...] = (),
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Attribute:
    """A property of arrays, some of whose answers are given here."""

    def __init__(self, property: property, is_dtype: bool) -> None: ...

def apply(op: Any, args: Sequence[Any], attrs: tuple[Any, ...] = ()) -> Any:
    """Apply an operator to array-likes."""

def cache_view(parent: Any, lens: Any, view: Any) -> Any: ...
def apply_cached(op: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Apply an operator, as calls alike will."""

def apply_cached_on_host(op: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """The same, where NumPy's own function looks at the values in the same way."""

def rerun(program: Any, args: tuple[Any, ...], types: tuple[Any, ...]) -> Any:
    ""
    "What a traced program makes of arguments of the types of an earlier call; None if that can't be told at once."
    ""

class Buffered:
    """Base class of arrays with the buffer protocol."""

def export(array: Any) -> Any:
    """Return the memory of an array as a NumPy array."""

def dont_cache() -> None:
    """Say of a call that it is not to be remembered."""

def guards_hold(guards: tuple[Any, ...]) -> bool:
    """Return True if everything is as guards say."""

def profiled(
    function: Callable[[], Any], classify: Callable[[Any], bool], visit: Callable[[Any], None]
) -> Any:
    """Call a function, and see the calls of Python functions within."""

def connect(**named: Any) -> None:
    """Tell the module what it has to know."""
