"""The border between a program and installed packages: what arrays become when they cross it.

A program that runs on npcompat holds npcompat's arrays. Where it calls something of an installed
package, or indexes one of its objects, it hands over NumPy's arrays over the same memory, so that
what the package writes is seen; NumPy's arrays that come back become npcompat's.
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
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.placement import on_host

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
def is_installed_file(file: str) -> bool:
    """Return True for a file of an installed package or of Python itself, not of the program."""
    path = str(Path(file).resolve())
    return path.startswith(_INSTALLED) or "site-packages" in path or "dist-packages" in path


def _module_of(function: Any) -> str:
    """The package that a callable belongs to: that of the object or module that it was taken
    from.
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, ModuleType):
        name: Any = owner.__name__
    elif owner is not None and not isinstance(owner, type):
        name = type(owner).__module__
    else:
        name = getattr(function, "__module__", None)
    if name is None:  # a method of a class in C
        name = getattr(getattr(function, "__objclass__", None), "__module__", "builtins")
    return name.partition(".")[0] if isinstance(name, str) else "builtins"


_decided: dict[Any, bool] = {}
"""For code objects of functions, and for classes: whether they are foreign."""


def _is_foreign(function: Any) -> bool:
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
            found = _decided[key] = _decide(function)
        return found
    return _decide(function)


def _decide(function: Any) -> bool:
    if isinstance(function, Handle) or (
        isinstance(function, type) and issubclass(function, Handle | BaseException)
    ):
        return False
    package = _module_of(function)
    return package != "numpy" and is_installed(package)


_PLAIN = frozenset((BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType))


def across(function: Any) -> Any:
    """Return what stands for a callable at a call of the program.

    It is the callable itself unless it belongs to an installed package; then it is a function that
    hands arrays over the border.
    """
    if type(function) in _PLAIN and type(getattr(function, "__self__", None)) in _BUILTIN:
        return function
    return _Across(function) if _is_foreign(function) else function


_BUILTIN = frozenset((list, dict, set, tuple, str, bytes, int, float, ModuleType, type(None)))


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
    if alone and array.base is None and array.flags.owndata and on_host(modes.current()):
        return handles.wrap(Value(array))
    return over_memory(array)


def _counted(x: Any, references: int = 0) -> int:
    return sys.getrefcount(x)


_OF_RESULT = _counted(onp.empty(0), 1)
"""References to a result in `received`; to an element of a container there is one more."""


def key(of: Any, given: Any) -> Any:
    """Return the key of a subscript: handed over if the object is of an installed package."""
    kind = type(of)
    if kind in _CONTAINERS or isinstance(of, Handle):
        return given
    if is_installed(kind.__module__.partition(".")[0]):
        return handed_over(given)
    return given


_CONTAINERS = frozenset((list, dict, tuple, str, bytes, np.ndarray))

__all__ = ["across", "handed_over", "is_installed", "is_installed_file", "key", "received"]
