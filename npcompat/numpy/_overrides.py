"""NumPy's override protocols `__array_ufunc__` and `__array_function__` of other classes.

The class of an operand takes precedence over our functions.
"""

import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.subclasses import is_subclass
from npcompat.numpy._checks import is_live
from npcompat.numpy._other_classes import (
    any_foreign,
    from_numpys,
    has_method_for,
    is_foreign,
    items_of,
    knows_ours,
    means_more,
    names_class,
    overrides,
    to_numpys,
)
from npcompat.numpy._unbound import ask_first

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])


# --- ufuncs ---------------------------------------------------------------------------------------


def _in_turn(operands: Iterable[Any], has_say: Callable[[Any], bool]) -> list[Any]:
    """List one operand per class with a say: left to right, subclasses before bases."""
    found: list[Any] = []
    for x in operands:
        if has_say(x) and type(x) not in map(type, found):
            place = next(
                (i for i, other in enumerate(found) if isinstance(x, type(other))), len(found)
            )
            found.insert(place, x)
    return found


def overridden(op: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Call the first `__array_ufunc__` that accepts a ufunc call.

    Returns NotImplemented if no class overrides it.

    Parameters
    ----------
    op : Op
        The ufunc's operator.
    method : str
        ``'__call__'``, ``'reduce'`` and so on.
    inputs : sequence
        The operands, by position.
    options : mapping
        The other arguments; `out` is a tuple.

    Raises
    ------
    TypeError
        If a class refuses all ufuncs (its `__array_ufunc__` is None), or if all return
        NotImplemented.
    """
    return _call_overrides(late_bound.ufuncs.get(op.name), method, inputs, options)


def reduced_by_class(name: str, a: Any, options: Mapping[str, Any]) -> Any:
    """Reduce by the class of an array, as the method `reduce` of its ufunc would."""
    ufunc = _FOLDS.get(name)
    return (
        NotImplemented
        if ufunc is None
        else _call_overrides(late_bound.ufuncs[f"_npi_{ufunc}"], "reduce", (a,), options)
    )


_FOLDS = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}


def _call_overrides(
    function: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    candidates = _in_turn([*inputs, *options.get("out", ()), options.get("where")], overrides)
    if function is None or not candidates:
        return NotImplemented
    if any(map(names_class, candidates)):
        if any(map(is_live, inputs)):
            candidates = [x for x in candidates if not names_class(x)]
        if not candidates:
            return NotImplemented
    known = [x for x in candidates if means_more(x) or names_class(x)]
    if known:
        numpys = getattr(onp, function.__name__)
        called = numpys if method == "__call__" else getattr(numpys, method)
        met = known[0]
        return called(*to_numpys(tuple(inputs), met), **_all_to_numpys(options, met))
    for x in candidates:
        if type(x).__array_ufunc__ is None:
            raise TypeError(
                f"operand '{type(x).__name__}' does not support ufuncs (__array_ufunc__=None)"
            )
    for x in candidates:
        kind: Any = type(x)
        asked = function
        if not (isinstance(x, Handle) or knows_ours(kind, "__array_ufunc__")):
            asked = getattr(onp, function.__name__, function)
        found = kind.__array_ufunc__(x, asked, method, *inputs, **options)
        if found is not NotImplemented:
            return found
    ours = [isinstance(x, Handle) for x in (*inputs, *options.get("out", ()))]
    if any(ours) and not any([isinstance(x, Handle) for x in candidates]):
        found = _with_numpys_arrays(function, method, candidates[0], inputs, options)
        if found is not NotImplemented:
            return found
    shown = ", ".join(
        [*map(repr, inputs), *[f"{name}={value!r}" for name, value in options.items()]]
    )
    kinds = ", ".join(repr(type(x).__name__) for x in (*inputs, *options.get("out", ())))
    raise TypeError(
        "operand type(s) all returned NotImplemented from __array_ufunc__(<ufunc "
        f"'{function.__name__}'>, {method!r}, {shown}): {kinds}"
    )


def _with_numpys_arrays(
    function: Any, method: str, met: Any, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Call NumPy's ufunc with our arrays as NumPy's, for classes that know only those."""
    numpys = getattr(onp, function.__name__, None)
    if not isinstance(numpys, onp.ufunc):
        return NotImplemented
    called = numpys if method == "__call__" else getattr(numpys, method)
    return called(*to_numpys(tuple(inputs), met), **_all_to_numpys(options, met))


def _all_to_numpys(options: Mapping[str, Any], met: Any) -> dict[str, Any]:
    return {name: to_numpys(value, met) for name, value in options.items()}


def given(out: Any, **options: Any) -> dict[str, Any]:
    """Return the arguments that differ from their defaults; an option is (value, default)."""
    found = {
        name: v
        for name, (v, default) in options.items()
        if v is not default and not (type(v) is type(default) and v == default)
    }
    outs = out if isinstance(out, tuple) else (out,)
    return found if all([o is None for o in outs]) else {"out": outs, **found}


# --- functions ------------------------------------------------------------------------------------


def made_like(like: Any, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a creation function of the class of `like`, by `__array_function__`.

    Returns NotImplemented if our function is to run.

    Parameters
    ----------
    like : object
        The argument `like` of the call.
    function : function
        The public function.
    arguments : mapping
        All arguments of the call by name: `locals()` at the start of the function.

    Raises
    ------
    TypeError
        If the class has no `__array_function__`, or if that returns NotImplemented.
    """
    method = getattr(type(like), "__array_function__", None)
    if method is None:
        raise TypeError(
            "The `like` argument must be an array-like that implements the `__array_function__` "
            "protocol."
        )
    if method is late_bound.ndarray.__array_function__:
        return NotImplemented
    return _by_protocol(like, function, *_as_called(function, arguments))


def reduced_by(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a reduction of the class of an operand.

    Another library's class is called by `__array_function__`. A class derived from the array
    has a method of the function's name. Returns NotImplemented if our function is to run.

    Parameters
    ----------
    function : function
        The public function, such as `sum`; its operands are `a` and `where`.
    arguments : mapping
        All arguments of the call by name: `locals()` at the start of the function.
    """
    name, a = function.__name__, arguments["a"]
    operands = (a, arguments["where"])
    if any_foreign(operands):
        made = _by_classes(f"numpy.{name}", operands, *_as_called(function, arguments))
        if made is not NotImplemented:
            return made
    if has_method_for(a, name):
        args, options = _as_called(function, arguments)
        return getattr(onp, name)(*args, **options)
    if not is_subclass(type(a)) or getattr(type(a), name) is getattr(late_bound.ndarray, name):
        return NotImplemented
    _, options = _as_called(function, arguments)
    return getattr(a, name)(**{"axis": None, "out": None, **options})


def asks_classes(
    dispatcher: Callable[..., Iterable[Any]], **_: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function to dispatch to other libraries by `__array_function__`.

    `dispatcher` returns the arguments whose classes are considered.

    Parameters
    ----------
    dispatcher : function
        Function of the same arguments that returns those that may be arrays.
    **_
        Arguments of NumPy's own decorator, which this one replaces; they are ignored.
    """

    def complete(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            operands = tuple(dispatcher(*args, **kwargs))
            if not late_bound.ordinary.issuperset(map(type, operands)):
                name = function.__name__
                made = _by_classes(f"numpy.{name}", operands, args, kwargs, call)
                if made is not NotImplemented:
                    return cast("R", made)
                if any([has_method_for(x, name) for x in operands]):
                    return cast("R", getattr(onp, name)(*args, **kwargs))
            return function(*args, **kwargs)

        return call

    return complete


def defers_to_classes(function: Function) -> Function:
    """Decorate a function to defer to NumPy's where an operand's class has a meaning of its own.

    Those are masked arrays, matrices and objects with `__array_function__`, as any operand, and as
    the first one an object whose method NumPy's function of the same name calls, as sparse matrices
    and series of pandas.
    """
    return _deferring(function, "numpy")


def defers_in_linalg(function: Function) -> Function:
    """Decorate a function of `linalg` as `defers_to_classes`."""
    return _deferring(function, "numpy.linalg")


def defers_in_fft(function: Function) -> Function:
    """Decorate a function of `fft` as `defers_to_classes`."""
    return _deferring(function, "numpy.fft")


def _deferring(function: Function, space: str) -> Function:
    name = function.__name__

    def asked(*args: Any, **kwargs: Any) -> Any:
        a = args[0] if args else kwargs.get("a")
        operands = (*args, *kwargs.values())
        made = _by_classes(f"{space}.{name}", operands, args, kwargs)
        if made is not NotImplemented or not has_method_for(a, name):
            return made
        given = {k: x for k, x in kwargs.items() if x is not None}
        return _by_numpy(f"{space}.{name}", a, args, given)

    return ask_first(function, asked)


def defers_for_items(function: Function) -> Function:
    """Decorate a function of a list of arrays as `defers_to_classes`."""
    name = function.__name__
    space = "numpy" if hasattr(onp, name) else "numpy.linalg"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = by_items(name, args, kwargs, space)
        return function(*args, **kwargs) if found is NotImplemented else found

    return cast("Function", call)


def by_items(
    name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], space: str = "numpy"
) -> Any:
    """Call NumPy's function of lists of arrays if the class of one has a meaning of its own.

    Returns NotImplemented if ours is to run. A subclass of the array is asked for ours.
    """
    operands = list(items_of((*args, *kwargs.values())))
    return (
        _by_classes(f"{space}.{name}", operands, args, kwargs)
        if any_foreign(operands)
        else NotImplemented
    )


_answering = threading.local()
"""Path of the function that an array's own `__array_function__` is to run, which asks no class."""


def answered_by(function: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    """Run our function for instances of a subclass, without asking its class again."""
    name = function.__name__
    spaces = ("numpy", "numpy.linalg", "numpy.fft")
    found = [s for s in spaces if getattr(sys.modules[f"npcompat.{s}"], name, None) is function]
    before = getattr(_answering, "path", None)
    _answering.path = f"{found[0]}.{name}" if found else None
    try:
        return function(*args, **kwargs)
    finally:
        _answering.path = before


def _by_classes(
    path: str,
    operands: Sequence[Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    ours: Any = None,
) -> Any:
    """Return what the classes of operands make of a call of a function, such as `numpy.sum`.

    Returns NotImplemented if our function is to run: no class has a meaning of its own, or an
    operand is recorded or traced beside containers, whose elements are taken then. `ours` is our
    function if no name of `np` is that of the path.

    Raises
    ------
    TypeError
        If all classes return NotImplemented.
    """
    if getattr(_answering, "path", None) == path:
        _answering.path = None
        return NotImplemented
    asked = _in_turn(operands, is_foreign)
    kinds = tuple(
        [type(x) for x in asked if hasattr(type(x), "__array_function__") and not names_class(x)]
    )
    if not asked or (not kinds and any(map(is_live, items_of((*args, *kwargs.values()))))):
        return NotImplemented
    for x in asked:
        found = _by_class(path, x, kinds, args, kwargs, ours)
        if found is not NotImplemented:
            return found
    raise _no_implementation(path, kinds)


def _no_implementation(path: str, kinds: Iterable[Any]) -> TypeError:
    return TypeError(
        f"no implementation found for '{path}' on types that implement __array_function__: "
        f"[{', '.join(map(repr, kinds))}]"
    )


def _by_class(
    path: str,
    x: Any,
    kinds: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    ours: Any,
) -> Any:
    """Return what the class of one operand makes of a call; it may decline by NotImplemented."""
    kind: Any = type(x)
    if isinstance(x, Handle) or (
        type(x) in kinds
        and not isinstance(x, onp.ndarray | onp.generic)
        and knows_ours(kind, "__array_function__")
    ):
        space, _, name = path.rpartition(".")
        asked = getattr(sys.modules[f"npcompat.{space}"], name, ours)
        found = kind.__array_function__(x, asked, kinds, args, kwargs)
        if found is not NotImplemented or isinstance(x, Handle):
            return found
    return _by_numpy(path, x, args, kwargs)


def _by_numpy(path: str, met: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call NumPy's function with our arrays as NumPy's, for an operand of another class.

    Returns NotImplemented if NumPy has none of that path.
    """
    space, _, name = path.rpartition(".")
    function = getattr(importlib.import_module(space), name, None)
    if function is None:
        return NotImplemented
    return from_numpys(function(*to_numpys(args, met), **_all_to_numpys(kwargs, met)), met)


def _by_protocol(
    x: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a creation function of the class of an object, ours or NumPy's."""
    kind: Any = type(x)
    name = function.__name__
    numpys = getattr(onp, name, function)
    if means_more(x):
        args, kwargs = to_numpys(args, x), _all_to_numpys(kwargs, x)
    alone = isinstance(x, onp.ndarray | onp.generic) or not knows_ours(kind, "__array_function__")
    for asked in (numpys,) if alone else (function, numpys):
        made = kind.__array_function__(x, asked, (kind,), args, kwargs)
        if made is not NotImplemented:
            return made
    raise _no_implementation(f"numpy.{name}", (kind,))


def _as_called(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call: required ones by position, non-defaults by name.

    The argument `like` is left out.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(arguments[name])
        elif parameter.default is parameter.empty:
            args.append(arguments[name])
        elif name != "like" and arguments[name] is not parameter.default:
            kwargs[name] = arguments[name]
    return tuple(args), kwargs


__all__ = [
    "answered_by",
    "asks_classes",
    "by_items",
    "defers_for_items",
    "defers_in_fft",
    "defers_in_linalg",
    "defers_to_classes",
    "given",
    "made_like",
    "overridden",
    "reduced_by",
    "reduced_by_class",
]
