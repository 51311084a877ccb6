"""The border between a program and installed packages: what arrays become when they cross it.

A program that runs on npcompat holds npcompat's arrays. Where it calls something of an installed
package, indexes one of its objects or assigns an attribute of one, it hands over NumPy's arrays over
the same memory, so that what the package writes is seen; NumPy's arrays that come back become
npcompat's.
"""

import sys
import sysconfig
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as onp

from npcompat import np
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.array_like import array_of
from npcompat._internal.dispatch.borrowed_buffers import over_memory

_OURS = "npcompat"
_STANDARD = frozenset(sys.stdlib_module_names)
_INSTALLED = tuple(
    {sysconfig.get_path(name) + "/" for name in ("purelib", "platlib", "stdlib", "platstdlib")}
)


@lru_cache(maxsize=4096)
def is_installed(package: str) -> bool:
    """Return True for the name of a package that is installed, and neither ours nor Python's."""
    if package == _OURS or package in _STANDARD:
        return False
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and is_installed_file(file)


@lru_cache(maxsize=4096)
def _is_packages(kind: type) -> bool:
    """Return True for a class of a package that is installed."""
    return is_installed(_package(kind.__module__))


@lru_cache(maxsize=4096)
def is_installed_file(file: str) -> bool:
    """Return True for a file of an installed package or of Python itself, not of the program."""
    path = Path(file).resolve()
    if str(path).startswith(_INSTALLED) or not {"site-packages", "dist-packages"}.isdisjoint(
        path.parts
    ):
        return True
    return any([_holds_packages(str(folder)) for folder in path.parents])


@lru_cache(maxsize=4096)
def _holds_packages(folder: str) -> bool:
    """Return True for a folder into which packages were installed, as by `pip install --target`."""
    return folder in sys.path and any(Path(folder).glob("*.dist-info"))


def _module_of(function: Any, reached: Any) -> str:
    """The package that a callable belongs to: that of the object or module that it was taken
    from.
    """
    kind = type(function)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, ModuleType):
        name: Any = owner.__name__
    elif owner is not None and not isinstance(owner, type):
        name = type(owner).__module__
    elif not isinstance(function, type | FunctionType) and is_installed(_package(kind.__module__)):
        name = kind.__module__  # an object that is called, such as numba's functions
    else:
        name = getattr(function, "__module__", None)
    if name is None:  # of a class in C, or a function in C that says nothing
        name = getattr(getattr(function, "__objclass__", None), "__module__", None)
    if name in (None, "builtins") and isinstance(reached, ModuleType):
        name = reached.__name__
    return _package(name)


def _package(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else "builtins"


_decided: dict[Any, bool] = {}
"""For code objects of functions, and for classes: whether they are foreign."""


_READ_FRAMES = frozenset(("duckdb", "numexpr"))
"""Packages whose functions read variables of their caller, and take our arrays as they are."""


def _is_foreign(function: Any, reached: Any) -> bool:
    kind = type(function)
    if kind is MethodType:
        function = function.__func__
        kind = type(function)
    if kind is FunctionType:
        key: Any = function.__code__
    elif isinstance(function, type):
        key = function
    else:
        key = None
    if key is not None:
        found = _decided.get(key)
        if found is None:
            found = _decided[key] = _decide(function, reached)
        return found
    return _decide(function, reached)


def _decide(function: Any, reached: Any) -> bool:
    if isinstance(function, Handle) or (
        isinstance(function, type) and issubclass(function, Handle | BaseException)
    ):
        return False
    package = _module_of(function, reached)
    return package != "numpy" and package not in _READ_FRAMES and is_installed(package)


_PLAIN = frozenset((BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType))
_BUILTIN = frozenset((list, dict, set, tuple, str, bytes, int, float))


def across(function: Any, reached: Any = None) -> Any:
    """Return what stands for a callable at a call of the program.

    It is the callable itself unless it belongs to an installed package; then it is a function that
    hands arrays over the border.

    Parameters
    ----------
    reached : object, optional
        The object that the callable was taken from: `torch` of `torch.from_numpy`, which itself
        says nothing of its module.
    """
    if type(function) in _PLAIN and type(getattr(function, "__self__", None)) in _BUILTIN:
        return function
    return _Across(function) if _is_foreign(function, reached) else function


class _Across:
    """A call over the border."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return received(
            self.function(
                *[handed_over(a) for a in args], **{k: handed_over(v) for k, v in kwargs.items()}
            ),
            _OF_RESULT,
        )


def handed_over(x: Any) -> Any:
    """Return an argument as an installed package takes it: arrays of ours as NumPy's, by alias."""
    kind = type(x)
    if isinstance(x, Handle):
        if isinstance(x, onp.generic):
            return onp.asarray(x)[()]
        return onp.asarray(x)
    if kind is list or kind is tuple:
        if any([isinstance(v, Handle | list | tuple | dict) for v in x]):
            return kind([handed_over(v) for v in x])
    elif kind is dict:
        if any([isinstance(v, Handle | list | tuple | dict) for v in x.values()]):
            return {k: handed_over(v) for k, v in x.items()}
    elif kind is slice:
        return slice(handed_over(x.start), handed_over(x.stop), handed_over(x.step))
    return x


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
        inside = _OF_RESULT + 1 if alone else 0
        found = []
        for i in range(len(x)):
            found.append(received(x[i], inside))
        return kind(found)
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


_OF_RESULT = _counted(onp.empty(0), 1)
"""References to a result in `received`; to an element of a container there is one more."""


def key(of: Any, given: Any) -> Any:
    """Return the key of a subscript: handed over if the object is of an installed package."""
    kind: Any = type(of)
    if kind in _CONTAINERS or isinstance(of, Handle):
        return given
    if _is_packages(kind):
        return handed_over(given)
    return given


def item(of: Any, given: Any) -> Any:
    """Return what an object has at a key, which is handed over if it is of a package."""
    kind: Any = type(of)
    if kind in _CONTAINERS or isinstance(of, Handle):
        return of[given]
    if _is_packages(kind):
        return received(of[handed_over(given)])
    return of[given]


class _Assigned:
    """An object of a package while an attribute of it is assigned."""

    __slots__ = ("hand_over", "of")

    def __init__(self, of: Any, hand_over: Callable[[Any], Any]) -> None:
        _OF.__set__(self, of)
        _HAND_OVER.__set__(self, hand_over)

    def __getattribute__(self, name: str) -> Any:  # the old value in `of.name += more`
        return getattr(_OF.__get__(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_OF.__get__(self), name, _HAND_OVER.__get__(self)(value))


_OF: Any = vars(_Assigned)["of"]
_HAND_OVER: Any = vars(_Assigned)["hand_over"]


def assigned(of: Any, hand_over: Callable[[Any], Any] = handed_over) -> Any:
    """Return what stands for an object where the program assigns one of its attributes.

    It is the object itself unless it is of an installed package.
    """
    kind: Any = type(of)
    return _Assigned(of, hand_over) if _is_packages(kind) else of


_CONTAINERS = frozenset((list, dict, tuple, str, bytes, np.ndarray))

__all__ = [
    "across",
    "assigned",
    "handed_over",
    "is_installed",
    "is_installed_file",
    "item",
    "key",
    "received",
]
