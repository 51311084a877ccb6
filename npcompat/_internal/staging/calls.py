"""Calls in converted functions: user functions are converted, side effects of others refused."""

import functools
import types
from collections.abc import Sequence
from typing import Any

from npcompat._internal.compile.jit import Compiled
from npcompat._internal.compile.staged_runs import is_staged, refuse
from npcompat._internal.source import conversion
from npcompat._internal.source.straight import is_plain, is_straight
from npcompat._internal.staging import builtins, context
from npcompat._internal.staging.iterators import made
from npcompat._internal.staging.pure_functions import (
    check_arguments,
    checked,
    method_of_call,
    read_only_error,
)
from npcompat._internal.support.errors import is_library


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call `function(*args, **kwargs)`, converted if it is a user's."""
    if context.current() is None:
        return function(*args, **kwargs)
    special = builtins.SPECIAL.get(function) if _is_hashable(function) else None
    if special is not None:
        if is_staged():
            check_arguments(function, args, kwargs)
        found = special(function, *args, **kwargs)
        if found is not NotImplemented:
            return made(found)
    users = converted(function)
    if users is not function:
        return users(*args, **kwargs)
    if is_staged():
        return _in_staged_run(function, args, kwargs)
    return _called(function, args, kwargs)


def _called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _takes_functions(function):
        args = tuple([converted(a) for a in args])
        kwargs = {k: converted(v) for k, v in kwargs.items()}
    return function(*args, **kwargs)


def _in_staged_run(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that was not converted, if it does no more than compute."""
    function, args, kwargs = checked(function, args, kwargs)
    try:
        found = _called(function, args, kwargs)
    except ValueError as error:
        if read_only_error(error):
            refuse(f"one of NumPy's arrays is written by {function.__qualname__!r}")
        raise
    returns_new = isinstance(function, type | types.FunctionType) or function is iter
    return made(found) if returns_new and not any([found is a for a in args]) else found


def _is_hashable(function: Any) -> bool:
    return type(function) in (type, types.BuiltinFunctionType)


def _takes_functions(function: Any) -> bool:
    """Return True for npcompat's functions that may call functions among their arguments."""
    module = getattr(function, "__module__", "") or ""
    return module.startswith("npcompat.numpy_extension") and type(function) is types.FunctionType


# --- conversion of called functions


def converted(function: Any) -> Any:
    """Convert a user's function or method; return everything else unchanged."""
    if type(function) is types.MethodType:
        inner = converted(function.__func__)
        if inner is function.__func__:
            return function
        return types.MethodType(inner, function.__self__)
    if type(function) is functools.partial:
        inner = converted(function.func)
        if inner is function.func:
            return function
        return functools.partial(inner, *function.args, **function.keywords)
    if type(function) is Compiled:
        return converted(function.function) if function.converts else function
    if type(function) is not types.FunctionType:
        own = method_of_call(function)  # of a block, it is npcompat's
        if own is None or not _is_users(own):
            return function
        return types.MethodType(conversion.converted(own, runtime[0]), function)
    if not _is_users(function):
        return function
    return conversion.converted(function, runtime[0])


runtime: list[types.ModuleType] = []
"""Holds the module that converted functions call; `wiring.py` fills it in."""


def for_trace(function: Any, statics: Sequence[Any] = ()) -> Any:
    """Convert a function that is traced, unless there is nothing to convert.

    Parameters
    ----------
    statics : sequence
        Arguments that are no arrays, and might be called.
    """
    if context.current() is None or not context.converts():
        return function
    straight = type(function) is types.FunctionType and is_straight(function)
    return function if straight and all(map(is_plain, statics)) else converted(function)


def _is_users(function: types.FunctionType) -> bool:
    filename = function.__code__.co_filename
    return not is_library(filename) and not filename.startswith("<frozen")


__all__ = ["call", "converted"]
