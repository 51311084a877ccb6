"""The Python door of the C fast path, and the switch of all fast paths.

Without the C part (`_native.c`) every call takes the slow path in Python, with the same results.
`NPCOMPAT_NATIVE=0` disables the C part. `NPCOMPAT_FAST` enables only the fast paths that it names,
to find the one with a fault: `all`, `none`, or some of `index`, `calls`, `draws` and `pages`,
separated by commas. docs/ways.md lists them.
"""

import os
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as onp

Kind = TypeVar("Kind", bound=Callable[..., Any])
KINDS = ("index", "calls", "draws", "pages")
"""Fast paths that `NPCOMPAT_FAST` switches: keys, calls of operators and compiled functions,
draws, huge pages for XLA's memory.
"""


def _chosen() -> frozenset[str]:
    """Return the fast paths that `NPCOMPAT_FAST` enables."""
    text = os.environ.get("NPCOMPAT_FAST", "all")
    if text in ("all", "none"):
        return frozenset(KINDS if text == "all" else ())
    found = frozenset(text.split(","))
    if not found <= frozenset(KINDS):
        raise ValueError(
            f"NPCOMPAT_FAST={text!r}: expected all, none, or some of {', '.join(KINDS)}"
        )
    return found


enabled = _chosen()
"""Fast paths that are enabled."""
native: Any = None
"""The compiled module; None if it was not built, or is disabled."""
missing = ""
"""Reason why the compiled module is not used; empty if it is."""

if os.environ.get("NPCOMPAT_NATIVE", "1") == "0":
    missing = "NPCOMPAT_NATIVE=0"
elif enabled.isdisjoint(("index", "calls", "pages")):
    missing = f"NPCOMPAT_FAST={os.environ['NPCOMPAT_FAST']}"
else:
    try:
        from npcompat._internal.native import _native as native
    except ImportError as error:  # it was not built
        missing = f"it could not be imported: {error}"


class _Buffered:
    """Base class of arrays with the buffer protocol, which Python calls from 3.12 on.

    The C part has a class of its own, which works in 3.11, too.
    """

    __slots__ = ()

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(late_bound_export[0](self))


class _Padded:
    """Base class of handles; the C part has one of its own."""

    __slots__ = ()


if TYPE_CHECKING or native is None:
    Buffered = _Buffered
    Padded = _Padded
else:
    Buffered = native.Buffered
    Padded = native.Padded
PADDED_SIZE = 2 * object.__basicsize__
"""Size in bytes of an instance of the C part's `Padded`, which is that of NumPy's largest scalar.

Slots of Python classes begin after it, so that C finds those of arrays and of scalars, which
derive from NumPy's, at the same offsets.
"""
has_buffers = native is not None or sys.version_info >= (3, 12)
"""True if arrays have the buffer protocol."""
late_bound_export: list[Callable[[Any], Any]] = []
"""Holds the function that returns the memory of an array; `wiring` fills it in."""


def export(array: Any) -> Any:
    """Return the memory of an array as a NumPy array; see `borrowed_buffers.export`."""
    return late_bound_export[0](array) if native is None else native.export(array)


class _Function:
    """Wrapper of a Python function without a fast path; stands in for the C class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._asked: Callable[..., Any] | None = None
        self._ordinary: set[type] = set()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._asked is not None and not self._ordinary.issuperset(
            [*map(type, args), *map(type, kwargs.values())]
        ):
            made = self._asked(*args, **kwargs)
            if made is not NotImplemented:
                return made
        return self._function(*args, **kwargs)

    def _add_fast_path(self, op: Any, only_on_host: bool = False) -> None:
        """Do nothing, as there is no fast path to set up."""

    def _ask_first(self, asked: Callable[..., Any], ordinary: set[type]) -> None:
        """Call `asked` first where the class of an argument is not an ordinary one."""
        self._asked, self._ordinary = asked, ordinary


_calls = native if "calls" in enabled else None
"""The compiled module, for calls of operators and compiled functions."""
host_scalar: Callable[[Any], Any] | None = None if _calls is None else _calls.host_scalar
"""Function that makes a scalar of a host array without axes; None without the fast path."""
Function: Any = _Function if _calls is None else _calls.Function
"""Class of callables that wrap a public function, and have a fast path for it."""


_INTO_TEMPORARIES = (onp.add, onp.subtract, onp.multiply, onp.divide)
"""Ufuncs that may write into an operand which is a temporary: `a * b + c` needs one new array."""


def connect(**named: Any) -> None:
    """Hand classes, functions and constants of Python modules to the compiled module."""
    if native is not None:
        native.connect(**named)


def use_only_programs(flag: bool) -> None:
    """Let operators run by their programs only: NumPy's functions ignore the autocast policy."""
    connect(only_programs=flag)


def apply(whole: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that applies operators: C's, or the slow path `whole`."""
    if _calls is None:
        return whole
    found: Callable[..., Any] = _calls.apply
    return found


def apply_cached(apply: Callable[..., Any], only_on_host: bool = False) -> Callable[..., Any]:
    """Return the function that applies an operator and caches the call; `apply` without C."""
    if _calls is None:
        return apply
    found: Callable[..., Any] = _calls.apply_cached_on_host if only_on_host else _calls.apply_cached
    return found


def call_cached(method: Kind) -> Kind:
    """Wrap a method in a call cache, which `apply_cached` and `cache_view` fill."""
    return method if _calls is None else _calls.Method("call", method)


def cache_view(parent: Any, lens: Any, view: Any) -> Any:
    """Return a view, and cache its lens for calls with equal arrays."""
    return view if _calls is None else _calls.cache_view(parent, lens, view)


def rerun_recent(whole: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that runs the recent program of a call: C's, or the slow path `whole`."""
    if _calls is None:
        return whole
    found: Callable[..., Any] = _calls.rerun_recent
    return found


def _is_clear(flags: Any) -> bool:
    """Return False: without C, flags are read as arrays."""
    return False


is_clear: Callable[[Any], bool] = _is_clear if _calls is None else _calls.is_clear
"""Function that waits for an array of flags on XLA, and returns True if none is set; False also
where the host does not see its memory.
"""


def _guards_hold(guards: tuple[Any, ...]) -> bool:
    """Return True if all guards hold; the C part has the same function."""
    return all(map(_holds, guards))


def _holds(guard: tuple[int, Any, Any, Any]) -> bool:
    kind, container, key, before = guard
    if kind == 0:
        return key in container and _is_as_before(container[key], before)
    if kind == 1:
        return len(container) == len(before) and all(map(_is_as_before, container, before))
    if kind == 2:
        return len(container) == len(before) and all(
            [
                _is_same_key(a, b) and _is_as_before(v, w)
                for (a, v), (b, w) in zip(container.items(), before.items(), strict=True)
            ]
        )
    if kind == 3:
        return _is_as_before(getattr(container, key, _NOTHING), before)
    if kind == 5:
        return bool(container.keys().isdisjoint(before))
    return bool(container())


_NOTHING = object()


def _is_as_before(now: Any, before: Any) -> bool:
    """Return True for the same object, and for an equal plain value of the same class."""
    if now is before:
        return True
    if type(now) is not type(before):
        return False
    if type(now) in (float, complex):
        return repr(now) == repr(before)
    if type(now) is tuple:
        return len(now) == len(before) and all(map(_is_as_before, now, before))
    if isinstance(now, types.MethodType):
        return now.__func__ is before.__func__ and now.__self__ is before.__self__
    return type(now) in (int, str, bytes) and bool(now == before)


def _is_same_key(now: Any, before: Any) -> bool:
    """Return True for equal keys of the same class; True is not 1 here, nor 0.0 -0.0."""
    if type(now) is not type(before) or type(now) in (float, complex, tuple):
        return _is_as_before(now, before)
    return bool(now is before or before == now)


def _profiled(
    function: Callable[[], Any],
    classify: Callable[[Any], bool],
    visit: Callable[..., None],
    watched: frozenset[Any],
    clocked: Callable[[Any, Any], None],
) -> Any:
    """Call a function, and visit the frames of Python functions that it calls, with their results
    when they return, and the callers of watched functions in C.
    """
    verdicts: dict[Any, bool] = {}

    def seen(frame: Any, event: str, given: Any) -> None:
        if event == "c_call":
            if given in watched:
                clocked(frame, given)
        elif event in ("call", "return"):
            code = frame.f_code
            if code not in verdicts:
                verdicts[code] = classify(code)
            if verdicts[code]:
                visit(frame, *(() if event == "call" else (given,)))

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        return function()
    finally:
        sys.setprofile(before)


guards_hold: Callable[[tuple[Any, ...]], bool] = (
    _guards_hold if native is None else native.guards_hold
)
profiled: Callable[..., Any] = _profiled if native is None else native.profiled


class _FramelessCall:
    """A call of a function between two others; without C, in a frame of its own."""

    __slots__ = ("__weakref__", "finish", "function", "prepare")

    def __init__(self, function: Any, prepare: Any, finish: Any) -> None:
        self.function, self.prepare, self.finish = function, prepare, finish

    def __getattribute__(self, name: str) -> Any:
        """Read an attribute: its own, `__wrapped__`, or that of the function."""
        read = object.__getattribute__
        if name == "__wrapped__":
            return read(self, "function")
        if name in ("__doc__", "__module__"):  # which the class has, too
            return getattr(read(self, "function"), name)
        try:
            return read(self, name)
        except AttributeError:
            return getattr(read(self, "function"), name)

    def __repr__(self) -> str:
        return repr(self.function)

    def __eq__(self, other: object) -> Any:
        """Compare functions: a call equals the function that it calls, and another call of it."""
        return self.function == (other.function if type(other) is _FramelessCall else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.prepare, self.finish)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, named, afterwards = self.prepare(args, kwargs or None)
        raised = True
        try:
            result = self.function(*args, **named or {})
            raised = False
        finally:
            if afterwards is not None:
                afterwards(raised)
        del args, named, afterwards, kwargs
        return result if self.finish is None else self.finish(result)


FramelessCall: Any = _FramelessCall if native is None else native.FramelessCall
"""Class of calls of a function between two others: what it finds if it looks for its caller's
variables, or for the line to name in a warning, is the caller of the object.
"""


def align_memory() -> bool:
    """Let NumPy align the memory of large arrays, so that XLA can read it in place.

    Return False if that is not possible here, or is switched off.
    """
    return _calls is not None and _calls.align_memory()


def use_huge_pages(library: str) -> bool:
    """Let the large blocks that a loaded library allocates lie on huge pages.

    Return False if that is not possible here, or is switched off.
    """
    return native is not None and "pages" in enabled and native.use_huge_pages(library)


def dont_cache() -> None:
    """Exclude the running call of a caching function from its cache, so it warns each time."""
    if _calls is not None:
        _calls.dont_cache()


def copying(method: Kind) -> Kind:
    """Wrap a method that returns a copy in its fast path."""
    return method if _calls is None else _calls.Method("copy", method)


def answer_attributes(kind: type) -> None:
    """Replace the properties `shape` and `dtype` of a class of arrays by C descriptors."""
    if _calls is not None:
        for name in ("shape", "dtype"):
            setattr(kind, name, _calls.Attribute(kind.__dict__[name], name == "dtype"))


def as_property(member: Any) -> Any:
    """Return the property that a C descriptor wraps; other members of a class unchanged."""
    return member.__wrapped__ if native is not None and type(member) is native.Attribute else member


def method(
    kind: str,
    op: Any = None,
    infix: Callable[..., Any] | None = None,
    only_on_host: bool = False,
    exponents: tuple[tuple[float, Any, int], ...] = (),
) -> Callable[[Callable[..., Any]], Any]:
    """Make the decorated function, the slow path, a special method of arrays with a fast path.

    `infix` is Python's operator, which is applied to NumPy's scalars. `only_on_host` restricts the
    fast path to the host, where NumPy makes the function's checks itself. `exponents` are tuples
    (exponent, operator, first type number of NumPy): powers with operators of their own.
    """
    taken = native is not None and ("index" if kind in ("get", "set") else "calls") in enabled
    elides = op is not None and op.ufunc in _INTO_TEMPORARIES
    return lambda whole: (
        whole
        if not taken
        else native.Method(kind, whole, op, infix, only_on_host, elides, exponents)
    )


__all__ = [
    "KINDS",
    "Buffered",
    "FramelessCall",
    "Function",
    "align_memory",
    "answer_attributes",
    "apply",
    "apply_cached",
    "as_property",
    "cache_view",
    "call_cached",
    "connect",
    "copying",
    "dont_cache",
    "enabled",
    "export",
    "guards_hold",
    "has_buffers",
    "is_clear",
    "method",
    "missing",
    "native",
    "rerun_recent",
    "use_huge_pages",
]
