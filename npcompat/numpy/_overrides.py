"""NumPy's override protocols `__array_ufunc__` and `__array_function__` of other classes.

The class of an operand takes precedence over our functions.
"""

import functools
import importlib
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.subclasses import is_subclass
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat.numpy._unbound import ask_first

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])
_NONE_OF_THEM = (onp.generic, int, float, complex, str, bytes, list, tuple, type(None))
_NUMPYS = onp.ndarray.__array_ufunc__


_MEANING_MORE = (onp.ma.MaskedArray, onp.matrix)


def means_more(x: Any) -> bool:
    """Return True for arrays of NumPy's that are no plain elements, which NumPy's functions know.

    They are masked arrays, matrices, and instances of classes that override NumPy's protocols, as
    quantities of Astropy.
    """
    kind: Any = type(x)
    return isinstance(x, onp.ndarray) and _has_own_meaning(kind)


@functools.cache
def _has_own_meaning(kind: Any) -> bool:
    return (
        issubclass(kind, _MEANING_MORE)
        or kind.__array_ufunc__ is not _NUMPYS
        or kind.__array_function__ is not onp.ndarray.__array_function__
    )


@functools.cache
def _is_container(kind: Any) -> bool:
    """Return True for classes of other libraries that hold arrays in a way of their own.

    Series and frames of pandas, labelled arrays of xarray and sparse matrices are such: what
    NumPy's functions make of them is theirs. Arrays that speak DLPack are taken as arrays.
    """
    return (
        not issubclass(kind, (Handle, SymbolicNumber, onp.ndarray, *_NONE_OF_THEM))
        and hasattr(kind, "__array_priority__")
        and not hasattr(kind, "__dlpack__")
    )


@functools.cache
def _knows_ours(kind: Any, protocol: str) -> bool:
    """Return True if a class may compare functions with ours, and False if it knows NumPy's only.

    The module that defines the method tells: it imports numpy, and nothing of npcompat.
    """
    names = getattr(inspect.unwrap(getattr(kind, protocol)), "__globals__", {}).values()
    modules = [getattr(x, "__name__", "") for x in names if isinstance(x, types.ModuleType)]
    homes = [*modules, *[str(getattr(x, "__module__", "")) for x in names]]
    return "numpy" not in modules or any([m.partition(".")[0] == "npcompat" for m in homes])


def is_sparse(x: Any) -> bool:
    """Return True for sparse arrays and matrices of SciPy's, whose operators know NumPy's only."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and isinstance(x, sparse.sparray | sparse.spmatrix)


def to_numpys(x: Any, other: Any = None) -> Any:
    """Return an operand for NumPy's function: an array of ours as NumPy's over the same memory.

    `other` is the operand that has the function.

    Raises
    ------
    TypeError
        If it is recorded: the derivative would be lost.
    """
    if not isinstance(x, Handle):
        return x
    if modes.current().recording and handles.read(x).node is not None:
        raise TypeError(
            f"an array that is recorded meets a {type(other).__name__} of SciPy's, whose functions "
            "have no derivatives: take its elements as an array, as c.toarray()"
            if is_sparse(other)
            else "an array that is recorded meets a masked array or a matrix of NumPy's, whose "
            "functions have no derivatives: take its elements and its mask as arrays, as m.filled(0) "
            "and ~numpy.ma.getmaskarray(m)"
            if isinstance(other, _MEANING_MORE)
            else f"an array that is recorded meets a {type(other).__name__}, whose functions have "
            "no derivatives here: take its elements as an array, by np.asarray"
        )
    return onp.asarray(x)


def overrides(x: Any) -> bool:
    """Return True if the class of an operand overrides ufuncs."""
    if isinstance(x, Handle):
        return (
            is_subclass(type(x))
            and getattr(type(x), "__array_ufunc__", None) is not late_bound.ndarray.__array_ufunc__
        )
    if isinstance(x, _NONE_OF_THEM):
        return False
    if means_more(x):
        return True
    return getattr(type(x), "__array_ufunc__", _NUMPYS) is not _NUMPYS


def _in_turn(operands: Sequence[Any]) -> list[Any]:
    """List one operand per overriding class: left to right, subclasses before bases."""
    found: list[Any] = []
    for x in operands:
        if overrides(x) and type(x) not in map(type, found):
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
    candidates = _in_turn([*inputs, *options.get("out", ()), options.get("where")])
    if function is None or not candidates:
        return NotImplemented
    if any(map(means_more, candidates)):
        numpys = getattr(onp, function.__name__)
        called = numpys if method == "__call__" else getattr(numpys, method)
        met = next(filter(means_more, candidates))
        options = {k: _converted(v, met) for k, v in options.items()}
        return called(*[to_numpys(x, met) for x in inputs], **options)
    for x in candidates:
        if type(x).__array_ufunc__ is None:
            raise TypeError(
                f"operand '{type(x).__name__}' does not support ufuncs (__array_ufunc__=None)"
            )
    for x in candidates:
        kind: Any = type(x)
        asked = function
        if not (isinstance(x, Handle) or _knows_ours(kind, "__array_ufunc__")):
            asked = getattr(onp, function.__name__, function)
        found = kind.__array_ufunc__(x, asked, method, *inputs, **options)
        if found is not NotImplemented:
            return found
    ours = [isinstance(x, Handle) for x in (*inputs, *options.get("out", ()))]
    if any(ours) and not any([isinstance(x, Handle) for x in candidates]):
        found = _with_numpys_arrays(function, method, inputs, options)
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
    function: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Call NumPy's ufunc with our arrays as NumPy's, for classes that know only those."""
    numpys = getattr(onp, function.__name__, None)
    if not isinstance(numpys, onp.ufunc):
        return NotImplemented
    called = numpys if method == "__call__" else getattr(numpys, method)
    return called(*to_numpys_all(list(inputs)), **to_numpys_all(dict(options)))


def given(out: Any, **options: Any) -> dict[str, Any]:
    """Return the arguments that differ from their defaults; an option is (value, default)."""
    found = {
        name: v
        for name, (v, default) in options.items()
        if v is not default and not (type(v) is type(default) and v == default)
    }
    outs = out if isinstance(out, tuple) else (out,)
    return found if all([o is None for o in outs]) else {"out": outs, **found}


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
    if any_defers(operands):
        made = _by_classes(f"numpy.{name}", operands, *_as_called(function, arguments))
        if made is not NotImplemented:
            return made
    if _has_own(a, name):
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
                if any([_has_own(x, name) for x in operands]):
                    return cast("R", getattr(onp, name)(*args, **kwargs))
            return function(*args, **kwargs)

        return call

    return complete


def _is_foreign(x: Any) -> bool:
    """Return True if an object's class belongs to a library with `__array_function__`."""
    kind: Any = type(x)
    return means_more(x) or _has_functions(kind)


@functools.cache
def _has_functions(kind: Any) -> bool:
    if issubclass(kind, Handle):
        return (
            is_subclass(kind)
            and kind.__array_function__ is not late_bound.ndarray.__array_function__
        )
    return _is_container(kind) or (
        hasattr(kind, "__array_function__") and not issubclass(kind, onp.ndarray | onp.generic)
    )


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
        if made is not NotImplemented or not _has_own(a, name):
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
    operands = list(_items((*args, *kwargs.values())))
    if not any_defers(operands):
        return NotImplemented
    return _by_classes(f"{space}.{name}", operands, args, kwargs)


def any_defers(arrays: Sequence[Any]) -> bool:
    """Return True if the class of one of some arrays has a meaning of its own."""
    return not late_bound.ordinary.issuperset(map(type, arrays)) and any(map(_is_foreign, arrays))


def _items(nested: Any) -> Iterable[Any]:
    """Yield the items of nested lists and tuples."""
    for x in nested:
        if type(x) in (list, tuple):
            yield from _items(x)
        else:
            yield x


def to_numpys_all(nested: Any) -> Any:
    """Return nested lists, tuples and dictionaries with our arrays as NumPy's.

    Raises
    ------
    TypeError
        If one is recorded.
    """
    values = [*_items(nested.values() if isinstance(nested, dict) else nested)]
    theirs = [x for x in values if not isinstance(x, Handle)]
    met = next((x for x in theirs if _is_foreign(x) or overrides(x)), None)

    def converted(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)(map(converted, x))
        return to_numpys(x, met)

    if isinstance(nested, dict):
        return {k: converted(x) for k, x in nested.items()}
    return type(nested)(map(converted, nested))


def _has_own(x: Any, name: str) -> bool:
    """Return True for an object that has a method which NumPy's function of this name calls, as
    sparse matrices of SciPy's, and series of pandas; arrays of other libraries are taken as arrays.
    """
    kind = type(x)
    return (
        name in _OF_METHODS
        and not isinstance(x, (Handle, onp.ndarray, *_NONE_OF_THEM))
        and not hasattr(kind, "__dlpack__")
        and callable(getattr(kind, name, None))
    )


_OF_METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress", "cumprod",
    "cumsum", "diagonal", "max", "mean", "min", "nonzero", "partition", "prod", "ptp", "put", "repeat",
    "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose",
    "var",
))  # fmt: skip
"""Functions of NumPy that call the method of their name if the operand has one."""


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
    asked: list[Any] = []
    for x in filter(_is_foreign, operands):
        if type(x) not in map(type, asked):
            place = next((i for i, o in enumerate(asked) if isinstance(x, type(o))), len(asked))
            asked.insert(place, x)
    if not asked:
        return NotImplemented
    kinds = tuple([type(x) for x in asked if hasattr(type(x), "__array_function__")])
    if not kinds and any(map(_is_live, _items((*args, *kwargs.values())))):
        return NotImplemented
    for x in asked:
        found = _by_class(path, x, kinds, args, kwargs, ours)
        if found is not NotImplemented:
            return found
    raise TypeError(
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
        and _knows_ours(kind, "__array_function__")
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
    given = {key: _converted(value, met) for key, value in kwargs.items()}
    return _from_numpys(function(*[_converted(x, met) for x in args], **given), met)


def _converted(x: Any, met: Any) -> Any:
    """Return an argument with our arrays as NumPy's, in lists and tuples, too."""
    if type(x) in (list, tuple):
        return type(x)([_converted(item, met) for item in x])
    return to_numpys(x, met)


def _is_live(x: Any) -> bool:
    """Return True for what is recorded, or not known while a function is compiled."""
    if not isinstance(x, Handle):
        return False
    recorded = modes.current().recording and handles.read(x).node is not None
    return recorded or not handles.is_known(x)


def _from_numpys(made: Any, met: Any) -> Any:
    """Return a result of NumPy's function: its plain arrays, made of a container's, as ours."""
    if means_more(met):
        return made
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*[_from_numpys(x, met) for x in made])
    if type(made) in (list, tuple):
        return type(made)([_from_numpys(x, met) for x in made])
    return over_memory(made) if type(made) is onp.ndarray else made


def _by_protocol(
    x: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a creation function of the class of an object, ours or NumPy's."""
    kind: Any = type(x)
    name = function.__name__
    numpys = getattr(onp, name, function)
    if means_more(x):
        args = tuple([to_numpys(a, x) for a in args])
        kwargs = {key: to_numpys(value, x) for key, value in kwargs.items()}
    alone = isinstance(x, onp.ndarray | onp.generic) or not _knows_ours(kind, "__array_function__")
    for asked in (numpys,) if alone else (function, numpys):
        made = kind.__array_function__(x, asked, (kind,), args, kwargs)
        if made is not NotImplemented:
            return made
    raise TypeError(
        f"no implementation found for 'numpy.{name}' on types that implement "
        f"__array_function__: [{kind!r}]"
    )


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
    "any_defers",
    "asks_classes",
    "by_items",
    "defers_for_items",
    "defers_in_fft",
    "defers_in_linalg",
    "defers_to_classes",
    "given",
    "is_sparse",
    "made_like",
    "means_more",
    "overridden",
    "overrides",
    "reduced_by",
    "reduced_by_class",
    "to_numpys",
    "to_numpys_all",
]
