"""The Python door of the C fast path, and the switch of all fast paths.

Without the C part (`_native.c`) every call takes the slow path, which is Python, with the same
results. `NPCOMPAT_NATIVE=0` leaves it out where it was built. `NPCOMPAT_FAST` names the fast paths
to take, to find out which of them a fault lies in: `all`, `none`, or some of `index`, `calls` and
`draws`, separated by commas. docs/ways.md lists them.
"""

import os
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as onp

Kind = TypeVar("Kind", bound=Callable[..., Any])
KINDS = ("index", "calls", "draws")
"""Fast paths that `NPCOMPAT_FAST` switches: keys, calls of operators and compiled functions,
draws.
"""


def _chosen() -> frozenset[str]:
    """The fast paths that `NPCOMPAT_FAST` asks for."""
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
"""Fast paths that are taken, where they are there."""
native: Any = None
"""The compiled module; None where it was not built, or is not wanted."""
missing = ""
"""Reason why the compiled module is not used; empty if it is."""

if os.environ.get("NPCOMPAT_NATIVE", "1") == "0":
    missing = "NPCOMPAT_NATIVE=0"
elif enabled.isdisjoint(("index", "calls")):
    missing = f"NPCOMPAT_FAST={os.environ['NPCOMPAT_FAST']}"
else:
    try:
        from npcompat._internal.native import _native as native
    except ImportError as error:  # nothing compiled it
        missing = f"it could not be imported: {error}"


class _Buffered:
    """Base class of arrays with the buffer protocol, which Python calls from 3.12 on.

    Where the C part is there, its class is taken, for 3.11 too.
    """

    __slots__ = ()

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(late_bound_export[0](self))


if TYPE_CHECKING or native is None:
    Buffered = _Buffered
else:
    Buffered = native.Buffered
has_buffers = native is not None or sys.version_info >= (3, 12)
"""True if arrays have the buffer protocol."""
late_bound_export: list[Callable[[Any], Any]] = []
"""The function that gives the memory of an array, filled by `wiring`."""


def export(array: Any) -> Any:
    """Return the memory of an array as a NumPy array; see `borrowed_buffers.export`."""
    return late_bound_export[0](array) if native is None else native.export(array)


class _Function:
    """A function of Python's, which is called the whole way."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def _short(self, op: Any, only_on_host: bool = False) -> None:
        """Say nothing: there is no short way."""


_calls = native if "calls" in enabled else None
"""The compiled module, for calls of operators and compiled functions."""
Function: Any = _Function if _calls is None else _calls.Function
"""What holds a function of a module, and is called as it."""


_INTO_TEMPORARIES = (onp.add, onp.subtract, onp.multiply, onp.divide)
"""What may be written into an operand that nobody holds: `a * b + c` needs one new array."""


def connect(**named: Any) -> None:
    """Tell the compiled module what it has to know of the Python modules."""
    if native is not None:
        native.connect(**named)


def use_only_programs(flag: bool) -> None:
    """Let operators run by their programs only: NumPy's own functions know no autocast policy."""
    connect(only_programs=flag)


def apply(whole: Callable[..., Any]) -> Callable[..., Any]:
    """The function that applies operators, of the one that does it the whole way."""
    if _calls is None:
        return whole
    found: Callable[..., Any] = _calls.apply
    return found


def apply_cached(apply: Callable[..., Any], only_on_host: bool = False) -> Callable[..., Any]:
    """What applies an operator for a function that does so for every call alike; without the short
    way, what applies operators.
    """
    if _calls is None:
        return apply
    found: Callable[..., Any] = _calls.apply_cached_on_host if only_on_host else _calls.apply_cached
    return found


def call_cached(method: Kind) -> Kind:
    """Make a method one whose calls are remembered, where it says so."""
    return method if _calls is None else _calls.Method("call", method)


def cache_view(parent: Any, lens: Any, view: Any) -> Any:
    """Say of a view, as a function returns it, that arrays alike are seen through its lens."""
    return view if _calls is None else _calls.cache_view(parent, lens, view)


def rerun(program: Any, args: tuple[Any, ...], types: tuple[Any, ...]) -> Any:
    """What a traced program makes of arguments of the types of an earlier call, if that can be told
    at once; else None.

    That is a tuple of all its results; or what the function returns, if it is one array or scalar,
    when all else is done.
    """
    return None if _calls is None else _calls.rerun(program, args, types)


def _guards_hold(guards: tuple[Any, ...]) -> bool:
    """Return True if everything is as guards say."""
    return all(map(_holds, guards))


def _holds(guard: tuple[int, Any, Any, Any]) -> bool:
    kind, container, key, before = guard
    if kind == 0:
        return key in container and _is_as_before(container[key], before)
    if kind == 1:
        return len(container) == len(before) and all(map(_is_as_before, container, before))
    if kind == 2:
        return len(container) == len(before) and all(
            [k in container and _is_as_before(container[k], v) for k, v in before.items()]
        )
    if kind == 3:
        return _is_as_before(getattr(container, key, _NOTHING), before)
    return bool(container())


_NOTHING = object()


def _is_as_before(now: Any, before: Any) -> bool:
    """Return True for the same object, and for a plain value that equals it."""
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


def _profiled(
    function: Callable[[], Any], classify: Callable[[Any], bool], visit: Callable[[Any], None]
) -> Any:
    """Call a function, and see the calls of Python functions within."""
    verdicts: dict[Any, bool] = {}

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code not in verdicts:
                verdicts[code] = classify(code)
            if verdicts[code]:
                visit(frame)

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


def dont_cache() -> None:
    """Say of the call of a remembering function that it is not to be remembered: it warns, and
    calls alike have to.
    """
    if _calls is not None:
        _calls.dont_cache()


def copying(method: Kind) -> Kind:
    """Make a method one that copies."""
    return method if _calls is None else _calls.Method("copy", method)


def answer_attributes(kind: type) -> None:
    """Let the properties `shape` and `dtype` of a class of arrays be answered in C where they
    can.
    """
    if _calls is not None:
        for name in ("shape", "dtype"):
            setattr(kind, name, _calls.Attribute(kind.__dict__[name], name == "dtype"))


def as_property(member: Any) -> Any:
    """Return the property that a member of a class stands for; another member as it is."""
    return member.__wrapped__ if native is not None and type(member) is native.Attribute else member


def method(
    kind: str,
    op: Any = None,
    infix: Callable[..., Any] | None = None,
    only_on_host: bool = False,
    exponents: tuple[tuple[float, Any, int], ...] = (),
) -> Callable[[Callable[..., Any]], Any]:
    """Make the decorated function, which does it the whole way, a special method of arrays.

    `infix` is what Python has for it, which NumPy's scalars answer. With `only_on_host`, the
    function checks what NumPy's checks itself on the host. `exponents` are those with operators of
    their own, for dtypes from a number of NumPy's on.
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
    "Function",
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
    "method",
    "missing",
    "native",
    "rerun",
]
