"""Fast path of frequent calls, in C."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

class Function:
    """A Python function, some of whose calls take the fast path."""

    def __init__(self, function: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _add_fast_path(self, op: Any, only_on_host: bool = False) -> None: ...
    def _ask_first(self, asked: Callable[..., Any], ordinary: set[type]) -> None: ...

class Method:
    """A special method of arrays, some of whose calls take the fast path."""

    def __init__(
        self,
        kind: Literal[
            "unary", "binary", "reflected", "in place", "get", "set", "call", "convert", "copy"
        ],
        slow_path: Callable[..., Any],
        op: Any = None,
        infix: Callable[..., Any] | None = None,
        only_on_host: bool = False,
        elides: bool = False,
        exponents: tuple[tuple[float, Any, int], ...] = (),
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Attribute:
    """A property of arrays, some of whose reads take the fast path."""

    def __init__(self, property: property, is_dtype: bool) -> None: ...

class FramelessCall:
    """A call of a function between two others, without a frame of Python's around it."""

    function: Callable[..., Any]
    def __init__(
        self,
        function: Callable[..., Any],
        prepare: Callable[[tuple[Any, ...], dict[str, Any] | None], tuple[Any, Any, Any]],
        finish: Callable[[Any], Any] | None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def apply(op: Any, args: Sequence[Any], attrs: tuple[Any, ...] = ()) -> Any:
    """Apply an operator to array-likes."""

def cache_view(parent: Any, lens: Any, view: Any) -> Any: ...
def apply_cached(op: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Apply an operator, and cache the call: equal ones will skip the function."""

def apply_cached_on_host(op: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Apply an operator, and cache the call on the host, where NumPy makes its checks."""

def rerun_recent(recent: list[Any], args: tuple[Any, ...], mode: Any) -> Any:
    """Run the first recent program whose guards and types hold; `NO_CACHED_RUN` without one."""

def is_clear(flags: Any) -> bool:
    """Return True if no flag of an array that the host can read is set."""

class Padded:
    """Base class of handles, as large as NumPy's largest scalar."""

class Buffered(Padded):
    """Base class of arrays with the buffer protocol."""

def host_scalar(array: Any) -> Any:
    """Return a new scalar that holds a host array without axes."""

def export(array: Any) -> Any:
    """Return the memory of an array as a NumPy array."""

def align_memory() -> bool:
    """Let NumPy take aligned memory for large arrays; False if its handler was replaced."""

def use_huge_pages(library: str) -> bool:
    """Let the large blocks of a loaded library lie on huge pages; False where that can't be."""

def dont_cache() -> None:
    """Keep the current call out of the cache."""

def guards_hold(guards: tuple[Any, ...]) -> bool:
    """Return True if all guards hold."""

def profiled(
    function: Callable[[], Any],
    classify: Callable[[Any], bool],
    visit: Callable[[Any], None],
    watched: frozenset[Any],
    clocked: Callable[[Any, Any], None],
) -> Any:
    """Call a function, and visit the calls of Python functions within, and of some in C."""

def connect(**named: Any) -> None:
    """Hand over the classes and functions that the module uses."""
