"""The border between a program and installed packages: what arrays become when they cross it.

A program that runs on npcompat holds npcompat's arrays. Where it calls something of an installed
package, indexes one of its objects or assigns an attribute of one, it hands over NumPy's arrays over
the same memory, so that what the package writes is seen; NumPy's arrays that come back become
npcompat's.

Lists and dicts are handed over themselves, as the package may write into them or keep them: for the
time of the call NumPy's arrays stand in them. They stay there if the package keeps the container.
"""

import operator
import sys
from collections.abc import Callable
from functools import lru_cache, partial, update_wrapper, wraps
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as onp

from npcompat import np
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.array_like import array_of
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.native.fast_path import FramelessCall
from npcompat._libraries.replacing import with_numpys
from npcompat._script.packages import (
    OURS,
    PYTHONS_OWN,
    SOME_PACKAGE,
    attribute,
    extends_package,
    is_installed,
    is_ours,
    note_nameless,
    package_in,
    package_of,
    takes_numpys,
)
from npcompat._script.source import is_programs
from npcompat.numpy._unbound import Unbound

_AS_IT_IS, _CROSSES, _TAKES_FUNCTION, _VIEWS, _KEPT = range(5)
"""How a callable is called: itself, over the border, itself with a function that crosses it, as
NumPy's `view`, or the function of the program that a package has kept.
"""
_CALLERS: tuple[Any, ...] = (
    *(np.apply_along_axis, np.apply_over_axes, np.vectorize, np.fromfunction, np.piecewise),
    *(map, filter, sorted, min, max, operator.call),
)
"""Functions of ours and of Python that call a function that they are given."""
_decided: dict[Any, int] = {
    **dict.fromkeys(_CALLERS, _TAKES_FUNCTION),
    **dict.fromkeys((wraps, update_wrapper), _AS_IT_IS),  # they look at it, and don't call it
    onp.ma.MaskedArray.view: _VIEWS,
}
"""For modules of functions, for classes and functions in C: how they are called."""
_MODULES_OF_DECIDED = frozenset([f.__module__ for f in _decided if type(f) is FunctionType])
_OF_FUNCTIONS = frozenset(
    [
        "functools",
        "_functools",
        "itertools",
        "heapq",
        "_heapq",
        "bisect",
        "_bisect",
        "contextlib",
        "atexit",
        "timeit",
        "sched",
        "threading",
        "concurrent",
        "multiprocessing",
        "asyncio",
    ]
)
"""Python's packages whose functions and classes call functions that they are given."""


_TRANSFORM_FUNCTIONS = frozenset(("autograd", "jax"))
"""Packages whose functions, named after one of the program, call it with arrays of their own."""


def _how(function: Any, reached: Any) -> int:
    kind: Any = type(function)
    if kind is MethodType:
        function = function.__func__
        kind = type(function)
    if is_ours(kind):
        if kind is FramelessCall and function.finish is with_numpys:
            return _KEPT
        return _decided.get(function, _AS_IT_IS) if issubclass(kind, Unbound) else _AS_IT_IS
    if kind is partial:
        return _how(function.func, reached)
    key: Any = None
    if kind is FunctionType:  # wrappers share their code, but not the module
        module = function.__module__
        made_in = function.__globals__.get("__name__")
        if made_in != module and package_in(made_in) in _TRANSFORM_FUNCTIONS:
            return _CROSSES
        single = module in _MODULES_OF_DECIDED and function in _decided
        key = function if single else module or function.__code__
    elif isinstance(function, type) or (
        kind is BuiltinFunctionType and type(function.__self__) in (ModuleType, NoneType)
    ):
        key = function
    if key is None:
        return _decide(function, reached)
    found = _decided.get(key)
    if found is None:
        found = _decided[key] = _decide(function, reached)
    return found


def _decide(function: Any, reached: Any) -> int:
    if isinstance(function, Handle) or (
        isinstance(function, type) and issubclass(function, Handle | BaseException)
    ):
        return _AS_IT_IS
    package = package_of(function, reached)
    if isinstance(owner := attribute(function, "__self__"), onp.ndarray):
        if attribute(function, "__name__") == "view":
            return _VIEWS
        if type(owner) is onp.ndarray:  # an attribute of a package's object
            return _CROSSES
    if package in _OF_FUNCTIONS:
        return _TAKES_FUNCTION
    crosses = package == SOME_PACKAGE or (package != "numpy" and is_installed(package))
    return _CROSSES if crosses else _AS_IT_IS


_PLAIN = frozenset((BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType))
_BUILTIN = frozenset((list, dict, set, tuple, str, bytes, int, float))


# --- calls ----------------------------------------------------------------------------------------


def across(function: Any, reached: Any = None) -> Any:
    """Return what stands for a callable at a call of the program.

    It is the callable itself unless it belongs to an installed package; then it is a function that
    hands arrays over the border. It has no frame, as a package may look into that of its caller.

    Parameters
    ----------
    reached : object, optional
        The object that the callable was taken from: `torch` of `torch.from_numpy`, which itself
        says nothing of its module.
    """
    if type(function) in _PLAIN and type(getattr(function, "__self__", None)) in _BUILTIN:
        sorts = function.__name__ == "sort"
        return FramelessCall(function, _with_function, None) if sorts else function
    how = _how(function, reached)
    if how == _AS_IT_IS:
        return function
    if how == _TAKES_FUNCTION:
        return FramelessCall(function, _with_function, None)
    if how == _KEPT:
        return function.function
    if how == _VIEWS:
        return FramelessCall(function, _of_numpys_class, received)
    return FramelessCall(function, partial(_prepare, function), _result)


def _of_numpys_class(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Any, None]:
    """Return arguments of NumPy's `view`, for which `np.ndarray` is NumPy's class."""
    args = tuple([onp.ndarray if a is np.ndarray else a for a in args])
    kwargs = {k: onp.ndarray if v is np.ndarray else v for k, v in (kwargs or {}).items()}
    return args, kwargs, None


def _with_function(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Any, None]:
    """Return arguments in which functions of packages are ones that cross the border."""
    if args:
        args = (_called(args[0]), *map(_function, args[1:]))
    if kwargs is not None:
        kwargs = {k: _called(v) if k in _FUNCTIONS else _function(v) for k, v in kwargs.items()}
    return args, kwargs, None


def _called(x: Any) -> Any:
    """Return what stands for an argument that is called; containers that can be are data."""
    if not callable(x) or (not isinstance(x, type) and hasattr(type(x), "__iter__")):
        return x
    return across(x)


def _function(x: Any) -> Any:
    """Return what stands for an argument that may be called; models and classes may be data."""
    return across(x) if isinstance(x, _FUNCTION_TYPES) else x


_FUNCTIONS = frozenset(("target", "func", "function", "fn", "key", "initializer"))
"""Parameters that take a function."""
_FUNCTION_TYPES = FunctionType, MethodType, BuiltinFunctionType


def _prepare(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> tuple[Any, Any, Any]:
    """Return arguments as a function of a package takes them, and what to call after the call."""
    handing = _Handing(function)
    args = tuple([handing.over(a) for a in args])
    if kwargs is not None:
        kwargs = {k: handing.over(v) for k, v in kwargs.items()}
    kinds = {*map(type, args), *(map(type, kwargs.values()) if kwargs is not None else ())}
    if not kinds.isdisjoint(_OF_PROGRAMS) and not _looks_at_functions(function):
        args = tuple(map(_callback, args))
        if kwargs is not None:
            kwargs = {k: _callback(v) for k, v in kwargs.items()}
    if not any([put for _, put, _ in handing.seen.values()]):
        return args, kwargs, None
    return args, kwargs, partial(handing.restore, handing.references())


# --- functions of the program that packages call --------------------------------------------------

_OF_PROGRAMS = frozenset((FunctionType, MethodType))
_LOOK_AT_FUNCTIONS = frozenset(
    [
        "numba",
        "jax",
        "torch",
        "tensorflow",
        "cloudpickle",
        "dill",
        "pytest",
        "hypothesis",
        "click",
        "typer",
        "IPython",
    ]
)
"""Packages that look into functions, or know them again, more than that they call them."""


def _looks_at_functions(function: Any) -> bool:
    return package_in(attribute(function, "__module__")) in _LOOK_AT_FUNCTIONS


def _callback(x: Any) -> Any:
    """Return what stands for a function of the program: its arrays are NumPy's for the package."""
    function = x.__func__ if type(x) is MethodType else x
    if type(function) is not FunctionType or not is_programs(function):
        return x
    return FramelessCall(x, _as_given, with_numpys)


def _as_given(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Any, None]:
    return args, kwargs, None


def as_array(method: Any) -> Any:
    """Decorate a method `__array__` of the program: packages that ask for an array get NumPy's."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        asks = sys._getframe(1).f_globals.get("__name__")
        return found if package_in(asks) == OURS else with_numpys(found)

    return call


class _Handing:
    """What is handed over in one call."""

    __slots__ = ("function", "inside", "seen")

    def __init__(self, function: Any = None) -> None:
        self.function = function
        self.inside: Any = None  # the container that is looked at
        self.seen: dict[int, tuple[Any, list[Any], Any]] = {}
        """Containers, what was put into them, and which container each one is in."""

    def over(self, x: Any) -> Any:
        """Return an argument as the package takes it."""
        kind: Any = type(x)
        if not _may_hold(kind):
            return x
        if isinstance(x, Handle):
            return self._array(x)
        if isinstance(x, list | dict):
            if id(x) not in self.seen and _may_be_in(x.values() if isinstance(x, dict) else x):
                self._fill(x, list(x.items() if isinstance(x, dict) else enumerate(x)))
            return x
        parts: Any = (x.start, x.stop, x.step) if kind is slice else x
        if not _may_be_in(parts):
            return x
        handed = [self.over(v) for v in parts]
        if all(map(_is, handed, parts)):
            return x
        if kind is slice or kind is tuple:
            return slice(*handed) if kind is slice else tuple(handed)
        return kind._make(handed) if hasattr(kind, "_make") else x

    def _array(self, x: Any) -> Any:
        if isinstance(x, onp.generic):
            return onp.asarray(x)[()]
        kind: Any = type(x)
        if not is_ours(kind) and _is_pythons(self.function):
            return x  # of a class of the program
        theirs = onp.asarray(x)
        of_objects = theirs.dtype.kind == "O" and theirs.flags.writeable
        if of_objects and id(x) not in self.seen and _may_be_in(theirs.flat):
            self._fill(theirs.reshape(-1), list(enumerate(theirs.flat)), x)
        return theirs

    def _fill(self, container: Any, items: list[tuple[Any, Any]], of: Any = None) -> None:
        """Put NumPy's arrays in the place of those in a container."""
        put: list[Any] = []
        outer = self.inside
        self.seen[id(container if of is None else of)] = container, put, outer
        self.inside = container
        for key, value in items:
            handed = self.over(value)
            if handed is not value:
                put.append((handed, value))
                _store(container, key, handed)
        self.inside = outer

    def references(self) -> list[int]:
        """Count the references to each container."""
        return [sys.getrefcount(container) for container, _, _ in self.seen.values()]

    def restore(self, before: list[int], raised: bool) -> None:
        """Put ours back into containers which the package does not keep."""
        now, kept = self.references(), set()
        for entry, earlier, later in zip(self.seen.values(), before, now, strict=True):
            container, put, outer = entry
            if not raised and (later > earlier or id(outer) in kept):
                kept.add(id(container))
                continue
            ours = {id(handed): value for handed, value in put}
            items = container.items() if isinstance(container, dict) else enumerate(container)
            for key, value in list(items):
                if id(value) in ours:
                    _store(container, key, ours[id(value)])


def _is(a: Any, b: Any) -> bool:
    return a is b


def _store(container: Any, key: Any, value: Any) -> None:
    kind: Any = dict if isinstance(container, dict) else list
    if isinstance(container, onp.ndarray):
        kind = onp.ndarray
    kind.__setitem__(container, key, value)


@lru_cache(maxsize=4096)
def _may_hold(kind: type) -> bool:
    """Return True for classes of our arrays, and of what may hold some."""
    return issubclass(kind, Handle | list | tuple | dict | slice)


def _may_be_in(values: Any) -> bool:
    kinds: Any = set(map(type, values))
    return any([_may_hold(kind) for kind in kinds])


def _is_pythons(function: Any) -> bool:
    """Return True for a callable that is written in Python, which sees arrays as objects."""
    kind = type(function)
    if kind is MethodType:
        return type(function.__func__) is FunctionType
    if isinstance(function, type):
        return FunctionType in (type(function.__init__), type(function.__new__))  # type: ignore[misc]
    return kind is FunctionType or type(getattr(kind, "__call__", None)) is FunctionType  # noqa: B004


def handed_over(x: Any) -> Any:
    """Return what an installed package keeps: arrays of ours as NumPy's, by alias."""
    return _Handing().over(x)


def _result(x: Any) -> Any:
    return received(x, _OF_RESULT)


def received(x: Any, references: int = 0) -> Any:
    """Return a result of an installed package as the program takes it: NumPy's arrays as ours.

    Parameters
    ----------
    references : int
        Number of references to `x` in this module if no other code has one; 0 if other code may.
    """
    kind, alone = type(x), sys.getrefcount(x) <= references
    if kind is onp.ndarray:
        return _as_ours(x, alone)
    if kind is tuple or (kind is list and x and all([type(v) is onp.ndarray for v in x])):
        inside = _OF_ELEMENT if alone else 0
        found = []
        for i in range(len(x)):
            found.append(received(x[i], inside))
        return kind(found)
    if kind not in PYTHONS_OWN or kind is BuiltinFunctionType:
        note_nameless(x)
    return x


def _as_ours(array: onp.ndarray[Any, Any], alone: bool) -> Any:
    """An array of ours in place of a NumPy array: its memory, or an alias if others have it,
    too.
    """
    if alone and array.base is None and array.flags.owndata:
        return array_of(array)
    return over_memory(array)


def _counted(x: Any, references: int = 0) -> int:
    return sys.getrefcount(x)


def _counted_result(x: Any) -> int:
    return _counted(x, 0)


_HOLDER = (onp.empty(0),)
_OF_ELEMENT = _counted(_HOLDER[0], 1)
"""References to an element of a container in `received`."""
_OF_RESULT = FramelessCall(partial(onp.empty, 0), lambda a, k: (a, k, None), _counted_result)()
"""References to the result of a call in `received`."""


# --- keys, attributes, classes --------------------------------------------------------------------


def key(of: Any, given: Any) -> Any:
    """Return the key of a subscript: handed over if the object is of an installed package."""
    kind: Any = type(of)
    if kind in _CONTAINERS or isinstance(of, Handle):
        return given
    if takes_numpys(kind, "__getitem__"):
        return handed_over(given)
    return given


def item(of: Any, given: Any) -> Any:
    """Return what an object has at a key, which is handed over if it is of a package."""
    kind: Any = type(of)
    if kind in _CONTAINERS or isinstance(of, Handle):
        return of[given]
    if takes_numpys(kind, "__getitem__"):
        return received(of[handed_over(given)])
    return of[given]


class _Assigned:
    """An object of a package's class, or of one that extends it, while an attribute or an item of it
    is assigned or deleted.
    """

    __slots__ = ("hand_over", "of")

    def __init__(self, of: Any, hand_over: Callable[[Any], Any]) -> None:
        _OF.__set__(self, of)
        _HAND_OVER.__set__(self, hand_over)

    def __getattribute__(self, name: str) -> Any:  # the old value in `of.name += more`
        return getattr(_OF.__get__(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        of: Any = _OF.__get__(self)
        kind: Any = type(of)
        if takes_numpys(kind, name):
            value = _HAND_OVER.__get__(self)(value)
        setattr(of, name, value)

    def __getitem__(self, given: Any) -> Any:  # the old value in `of[given] += more`
        return item(_OF.__get__(self), given)

    def __setitem__(self, given: Any, value: Any) -> None:
        of: Any = _OF.__get__(self)
        kind: Any = type(of)
        if takes_numpys(kind, "__setitem__"):
            given, value = handed_over(given), _HAND_OVER.__get__(self)(value)
        of[given] = value

    def __delitem__(self, given: Any) -> None:
        of: Any = _OF.__get__(self)
        kind: Any = type(of)
        del of[handed_over(given) if takes_numpys(kind, "__delitem__") else given]


_OF: Any = vars(_Assigned)["of"]
_HAND_OVER: Any = vars(_Assigned)["hand_over"]


def assigned(of: Any, hand_over: Callable[[Any], Any] = handed_over) -> Any:
    """Return what stands for an object where the program assigns an attribute or an item of it.

    It is the object itself unless its class is of an installed package, or extends one of it.
    """
    kind: Any = type(of)
    if kind in _CONTAINERS or not extends_package(kind):
        return of
    return _Assigned(of, hand_over)


def set_attribute(of: Any, name: str, value: Any) -> None:
    """Assign an attribute, as `setattr` does, and as `of.name = value` in a program."""
    setattr(assigned(of), name, value)


def is_instance(x: Any, classes: Any) -> bool:
    """Return `isinstance(x, classes)`; NumPy's arrays are instances of `np.ndarray`, too."""
    return isinstance(x, classes) or (isinstance(x, onp.ndarray) and _have_arrays(classes))


def is_subclass(kind: Any, classes: Any) -> bool:
    """Return `issubclass(kind, classes)`; NumPy's arrays are a subclass of `np.ndarray`, too."""
    return issubclass(kind, classes) or (issubclass(kind, onp.ndarray) and _have_arrays(classes))


def _have_arrays(classes: Any) -> bool:
    if isinstance(classes, UnionType):
        classes = classes.__args__
    return any(map(_have_arrays, classes)) if type(classes) is tuple else classes is np.ndarray


_CONTAINERS = frozenset((list, dict, tuple, str, bytes, np.ndarray))

__all__ = [
    "across",
    "as_array",
    "assigned",
    "handed_over",
    "is_instance",
    "is_subclass",
    "item",
    "key",
    "received",
    "set_attribute",
]
