"""Functions that staged runs may call: those that do no more than compute with arrays.

One staged run stands for all rounds of a loop, or for an arm that may not be taken.  So a function
that changes Python's state there would change it once, and always.
"""

import operator
import types
from typing import Any

import numpy as onp

from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core.handle import Handle, root_of
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.source import conversion
from npcompat._internal.staging import context
from npcompat._internal.staging.containers import is_named
from npcompat._internal.staging.iterators import iterated

_BUILTINS = frozenset(
    {
        abs, bool, complex, divmod, float, getattr, hasattr, int, isinstance, issubclass, len, max,
        min, pow, range, reversed, round, slice, sum, tuple, type, zip, enumerate, any, all, list,
        dict, set, frozenset, str, repr, callable, id, iter, sorted, map, filter,
    }
)  # fmt: skip
_ASKING = frozenset((isinstance, type, id, callable, hasattr, getattr, repr, str, bool))
"""Those that take no items from an iterator."""
_CONTAINERS = (list, dict, set, frozenset, tuple, str, bytes, bytearray)
_READING = frozenset(
    ("index", "count", "copy", "keys", "values", "items", "get", "__getitem__", "__contains__")
)
"""Methods of containers that change nothing."""
_OF_LIBRARIES = frozenset(
    ("math", "cmath", "operator", "_operator", "itertools", "numpy", "npcompat")
)
_CHANGING_MODULES = (
    "numpy.ma",
    "numpy.random",
    "npcompat.gluon.checkpoint",
    "npcompat.gluon.data",
    "npcompat.gluon.metric",
    "npcompat.gluon.utils",
    "npcompat.lr_scheduler",
    "npcompat.numpy_extension.distributed",
    "npcompat.optimizer",
    "npcompat.recordio",
)
_CHANGING = frozenset(
    {
        "seterr", "seterrcall", "setbufsize", "set_printoptions", "set_np", "reset_np",
        "set_np_default_dtype", "set_recording", "set_training", "save", "savez",
        "savez_compressed", "savetxt", "tofile", "dump", "setflags",
    }
)  # fmt: skip
"""Names of functions that change settings and files."""
_CHANGING_OBJECTS = frozenset(
    {
        "add", "apply", "cast", "compile", "export", "hybridize", "initialize", "load", "load_dict",
        "load_parameters", "load_states", "optimize_for", "register_backward_hook",
        "register_child", "register_forward_hook", "register_forward_pre_hook", "register_op_hook",
        "reset_ctx", "reset_device", "save_parameters", "save_states", "set_learning_rate",
        "setattr", "shard", "share_parameters",
    }
)  # fmt: skip
"""Names of methods that change blocks, parameters and trainers."""
_WRITING_OPERATORS = frozenset(
    {
        "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow",
        "irshift", "isub", "itruediv", "ixor", "setitem", "delitem", "call",
    }
)  # fmt: skip
"""Operators that write their first argument, or call it."""
_OF_OBJECTS = frozenset(("attach_grad", "drop_grad", "dump", "resize", "setflags", "tofile"))
"""Methods of npcompat's arrays that change more than their values."""
_CALL = "__call__"
_BUILTIN_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
)


def checked(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a function and its arguments, so that a call changes nothing but npcompat's arrays.

    NumPy's arrays are replaced by views that can't be written.

    Raises
    ------
    RefusedError
        If the function, or one among its arguments, may do more than compute.
    """
    owner = getattr(function, "__self__", None)
    if type(owner) is onp.ndarray and function.__name__ not in (*_CHANGING, "resize"):
        function = getattr(_read_only(owner), function.__name__)
    elif not _is_pure(function):
        name = getattr(function, "__qualname__", None) or type(function).__qualname__
        refuse(f"{name!r} is called, which may do more than compute with arrays")
    check_arguments(function, args, kwargs)
    if _is_builtin(function):
        return function, args, kwargs
    return function, tuple(map(_read_only, args)), {k: _read_only(v) for k, v in kwargs.items()}


def check_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse to use up iterators of other runs, and to call functions that are not pure."""
    if _is_builtin(function) and function in _ASKING:
        return
    for x in (getattr(function, "__self__", None), *args, *kwargs.values()):
        iterated(x)
    for x in (*args, *kwargs.values()):
        if isinstance(x, _BUILTIN_CALLABLES) and not _is_pure(x):
            refuse(f"{x.__qualname__!r} is given to a function, and may do more than compute")


def read_only_error(error: BaseException) -> bool:
    """Return True for the error of a write to one of NumPy's arrays that can't be written."""
    return isinstance(error, ValueError) and "read-only" in str(error)


def _read_only(x: Any) -> Any:
    if type(x) in (tuple, list) and any([isinstance(i, onp.ndarray) for i in x]):
        return type(x)(map(_read_only, x))
    if not isinstance(x, onp.ndarray) or not x.flags.writeable:
        return x
    views = context.running().notes.setdefault("read-only views", {})
    found = views.get(id(x))
    if found is None or found[0] is not x:
        view = x.view()
        view.flags.writeable = False
        found = views[id(x)] = x, view
    return found[1]


def is_made_here(x: Any) -> bool:
    """Return True for an array that the staged run has made."""
    return isinstance(x, Handle) and not context.running().outside(root_of(x))


def _is_builtin(function: Any) -> bool:
    return type(function) in (type, types.BuiltinFunctionType) and function in _BUILTINS


def _is_pure(function: Any) -> bool:
    """Return True for callables without side effects, except writes of arrays."""
    if _is_builtin(function):
        return True
    if conversion.is_converted(getattr(function, "__code__", None)):  # type: ignore[arg-type]
        return True
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, Handle | SymbolicNumber):
        return name not in _OF_OBJECTS or is_made_here(owner)
    if is_named(type(owner)):
        return name in ("_replace", "_asdict", "index", "count")
    if isinstance(owner, _CONTAINERS):
        return name in _READING or isinstance(owner, str | bytes)
    if isinstance(function, type) and (issubclass(function, BaseException) or is_named(function)):
        return True
    if isinstance(function, operator.methodcaller | types.MethodDescriptorType):
        return False
    return _is_of_arrays(method_of_call(function) or function, name)


def method_of_call(x: Any) -> types.FunctionType | None:
    """Return the function that is run when an object is called, if Python has its code."""
    method = None if isinstance(x, type) else getattr(type(x), _CALL, None)
    return method if isinstance(method, types.FunctionType) else None


def _is_of_arrays(function: Any, name: str) -> bool:
    """Return True for the functions of libraries that change no state of Python."""
    for module in (getattr(function, "__module__", None), type(function).__module__):
        if not isinstance(module, str) or module.partition(".")[0] not in _OF_LIBRARIES:
            continue
        if isinstance(function, type):
            return not module.startswith(("numpy.ma", "numpy.random"))
        if module in ("operator", "_operator"):
            return name not in _WRITING_OPERATORS
        if module.startswith(_CHANGING_MODULES) or name in _CHANGING:
            return False
        return not (module.startswith("npcompat.gluon") and name in _CHANGING_OBJECTS)
    return False


__all__ = ["check_arguments", "checked", "is_made_here", "method_of_call", "read_only_error"]
