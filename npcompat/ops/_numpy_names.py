"""Page with the status of every public name of NumPy: kind, backends, compilation, gradient.

The facts about operators are those of their declarations. Functions composed of operators are
tried, on the host, with the first example of their docstrings.
"""

import ast
import contextlib
import doctest
import inspect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as onp

import npcompat
from npcompat import autograd, npx
from npcompat import numpy as np
from npcompat._internal.compile.capture import capture
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import REGISTRY, Op
from npcompat._internal.dispatch import handles
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import TracedValueError
from npcompat.numpy._checks import shaping
from npcompat.ops import _facts, _usage
from npcompat.ops._declarations import backends_of
from npcompat.ops._manual import chapter_of, file_of

SPACES = {
    "np": "The main namespace",
    "np.ndarray": "Attributes and methods of `ndarray`",
    "np.linalg": "`np.linalg`",
    "np.fft": "`np.fft`",
    "np.random": "`np.random`",
    "np.random.Generator": "Methods of `np.random.Generator`",
    "np.polynomial": "`np.polynomial`",
    "np.lib.stride_tricks": "`np.lib.stride_tricks`",
}
"""Namespaces of the page."""

MEANINGS = {
    "operator": "one operator, with a manual page",
    "function": "a function that is composed of operators",
    "method": "the function of the same name, as a method",
    "attribute": "an attribute",
    "plain": "a function of shapes, dtypes, files, or single values",
    "host": "NumPy's function, on the values of our arrays",
    "NumPy's": "NumPy's own object",
    "NumPy's source": "NumPy's own Python code, run with our `np`",
    "class": "a class of this package",
    "object": "an object of this package",
    "module": "a module",
    "Python's": "what every Python object has",
}
"""Meanings of the second column."""


@dataclass(frozen=True, slots=True)
class Status:
    """Status of one name."""

    name: str
    kind: str
    operator: Op | None = None
    chapter: str = ""
    added: tuple[str, ...] = ()
    backends: str = ""
    compiled: str = ""
    gradient: str = ""
    gaps: tuple[str, ...] = ()


_COLUMNS = (
    "",
    "- **more arguments**: those that NumPy's function has not.  Every function has NumPy's, with "
    "their names, order and defaults.",
    "- **runs on**: the backends that compute all of its operators.  With `jax` alone, what is on "
    "the host goes to XLA and back.",
    "- **compiled**: whether it runs in `npx.jit` and in hybridized blocks.",
    "  - partly: some arguments (positions, counts) decide the shape of the result; their values "
    "must be known.",
    "  - needs values: the shape of the result, or what Python does, depends on values; a "
    "compiled function refuses it.",
    "  - no: it lives on the host.",
    "- **gradient**: whether results have one with respect to operands of floats; empty where "
    "that is no question, or was not tried.",
    "- **not supported**: what raises `NotImplementedError`.",
    "",
)

# --- one name -------------------------------------------------------------------------------------


def statuses(space: str, known: Mapping[str, "Tried"] | None = None) -> list[Status]:
    """Return the status of every public name of a namespace or class of NumPy.

    `known` has results of examples by names such as `np.fft.fftn`, so that these are not tried
    again.
    """
    return [_status(space, name, known or {}) for name in names(space)]


def names(space: str) -> list[str]:
    """Return the public names of a namespace or class of NumPy.

    For arrays, these include the special methods of Python's syntax and protocols.
    """
    theirs = _at(onp, space)
    listed = getattr(theirs, "__all__", None) or [
        n for n in dir(theirs) if n[0] != "_" or (theirs is onp.ndarray and n[:2] == "__")
    ]
    return sorted(set(listed), key=lambda name: (name[0] == "_", name.lower(), name))


def _at(root: Any, space: str) -> Any:
    for part in space.split(".")[1:]:
        root = getattr(root, part)
    return root


def _status(space: str, name: str, known: Mapping[str, "Tried"]) -> Status:
    theirs, ours = _at(onp, space), _at(np, space)
    its, mine = (
        inspect.getattr_static(owner, name) if isinstance(owner, type) else getattr(owner, name)
        for owner in (theirs, ours)
    )
    mine = fast_path.as_property(mine)
    if isinstance(ours, type) and not any(
        name in vars(c) for c in ours.__mro__ if c.__module__.startswith("npcompat.")
    ):
        return Status(name, "Python's")
    function = _usage.plain(mine.fget if isinstance(mine, property) else mine)
    kind = _kind(mine, its)
    if kind or function is None or name in ("__init_subclass__", "__class_getitem__"):
        return (
            Status(name, "host", backends="host", compiled="no")
            if kind == "host"
            else Status(name, kind or "object")
        )
    return _of_function(space, name, function, isinstance(mine, property), known)


def _kind(mine: Any, its: Any) -> str:
    """Return the kind of a name that is no function of this package."""
    if mine is its:
        return "NumPy's"
    if isinstance(mine, ModuleType | type):
        written = (
            (getattr(mine, "__file__", "") or "")
            if isinstance(mine, ModuleType)
            else inspect.getsourcefile(mine) or ""
        )
        noun = "module" if isinstance(mine, ModuleType) else "class"
        return "NumPy's source" if written.startswith(onp.__path__[0]) else noun
    if callable(mine) and (getattr(inspect.unwrap(mine), "__module__", "") or "").startswith(
        "numpy"
    ):
        return "host"
    return ""


def _of_function(
    space: str, name: str, function: FunctionType, attribute: bool, known: Mapping[str, "Tried"]
) -> Status:
    call = f"{space}.{name}"
    face = _faces().get(function)
    owner = None if face is None else face.owner
    found = [] if face is None else _operators_of().get(face.name, [])
    own = _reached(function, owner, public=False)
    if isinstance(_at(np, space), type) and not found:
        found = [op for op in _mentioned(function, owner) if isinstance(op, Op)]
        found = found if len(found) == 1 else []
    used = found or [op for op in _reached(function, owner, public=True) if isinstance(op, Op)]
    added = () if attribute else tuple(_facts.added_arguments(call, function))
    gaps = tuple(_facts.gaps_of([function, *[f for f in own if isinstance(f, FunctionType)]]))
    if space == "np.ndarray" and not attribute and name in np.__all__:
        return replace(
            _status("np", name, known), kind="method", operator=None, added=added, gaps=gaps
        )
    kind = "operator" if found else "attribute" if attribute else "function" if used else "plain"
    if found and shaping not in own:
        tried = Tried("yes", "yes" if found[0].differentiable else "no")
    else:
        tried = Tried() if attribute else known.get(call) or _tried(function, call)
    compiled = "partly" if tried.compiled == "yes" and shaping in own else tried.compiled
    return Status(
        name,
        kind,
        found[0] if found else None,
        chapter_of(found[0]) if found else "",
        added,
        "" if kind == "attribute" else _backends(used),
        "" if kind == "plain" and compiled == "yes" else compiled,
        tried.gradient if kind in ("function", "operator") else "",
        gaps,
    )


@cache
def _faces() -> Mapping[FunctionType, _usage.Face]:
    return _usage.faces()


@cache
def _operators_of() -> Mapping[str, list[Op]]:
    """Return the operators with names of public functions, by function."""
    found: dict[str, list[Op]] = {}
    for op in REGISTRY.values():
        face = _usage.public_face(op) if op.compute.__module__.startswith("npcompat.") else None
        if face is not None:
            found.setdefault(face[0], []).append(op)
    return found


def _backends(used: Iterable[Op]) -> str:
    """Return the backends that compute all of some operators."""
    found = {backends_of(op) for op in used}
    return (
        ", ".join(b for b in ("jax", "numpy") if all(b in of_one for of_one in found))
        if found
        else ""
    )


@cache
def _mentioned(function: FunctionType, owner: type | None) -> list[Op | FunctionType]:
    """Return the operators and functions that a function's code names."""
    found = [
        one if isinstance(one, Op | type) else _usage.plain(one)
        for one in _usage.mentioned(function, owner)
    ]
    return [one for one in found if isinstance(one, Op | FunctionType)]


def _reached(function: FunctionType, owner: type | None, public: bool) -> list[Op | FunctionType]:
    """Return the operators and functions of this package that a function calls.

    Calls through public functions are followed only if `public`.
    """
    found: dict[Op | FunctionType, None] = {}
    waiting = [(function, owner)]
    while waiting:
        caller, its = waiting.pop()
        for one in _mentioned(caller, its):
            if isinstance(one, Op):
                found[one] = None
                continue
            if one in found or not one.__module__.startswith(("npcompat.numpy.", *_usage.INDEXING)):
                continue
            face = _faces().get(one)
            if face is None or public:
                found[one] = None
                waiting.append((one, its if face is None else face.owner))
    return list(found)


# --- trying ---------------------------------------------------------------------------------------

_Example = tuple[Any, list[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of trying an example: compilation and gradient, in the words of the page."""

    compiled: str = ""
    gradient: str = ""


def _tried(function: FunctionType, call: str) -> Tried:
    """Trace and record the first call in a docstring's examples, on the host.

    Lists are replaced by arrays.
    """
    state = np.random.get_state()
    try:
        with npx.backend("numpy"), contextlib.redirect_stdout(io.StringIO()):
            example = _example(function, call)
            return Tried() if example is None else _traced(*example)
    except TracedValueError:
        return Tried("needs values")
    except Exception:  # any error means that it can't be compiled
        return Tried("no")
    finally:
        np.random.set_state(state)


def _example(function: FunctionType, call: str) -> _Example | None:
    """Return the first call of a function in its docstring's examples: callee and arguments."""
    scope: dict[str, Any] = {
        "np": np,
        "npx": npx,
        "autograd": autograd,
        "onp": onp,
        "npcompat": npcompat,
    }
    method = isinstance(_at(np, call.rpartition(".")[0]), type)
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
        for node in ast.walk(ast.parse(example.source)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == function.__name__
            ):
                with contextlib.suppress(Exception):  # it may use names that are not defined here
                    return _parts(node, node.func, method, scope)
        with contextlib.suppress(Exception):  # an example of an error
            exec(example.source, scope)
    return None


def _parts(node: ast.Call, target: ast.Attribute, method: bool, scope: dict[str, Any]) -> _Example:
    def value(part: ast.expr) -> Any:
        return eval(ast.unparse(part), scope)

    args, kwargs = (
        [value(a) for a in node.args],
        {str(k.arg): value(k.value) for k in node.keywords},
    )
    if method:
        return (
            (lambda x, *a, **k: getattr(x, target.attr)(*a, **k)),
            [value(target.value), *args],
            kwargs,
        )
    return (
        value(target),
        args if _arrays_in(args) else [*map(_as_arrays, args[:1]), *args[1:]],
        kwargs,
    )


def _arrays_in(given: Any) -> list[Handle]:
    found: list[Handle] = []
    _with_arrays(given, found.append)
    return found


def _as_arrays(given: Any) -> Any:
    """Convert lists of numbers to arrays, inside of tuples and other lists, too."""
    if isinstance(given, list):
        with contextlib.suppress(ValueError, TypeError):
            return np.array(given)
    return type(given)(map(_as_arrays, given)) if type(given) in (list, tuple) else given


def _traced(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Tried:
    """Trace a call while recording: with floats if it accepts them, else with the given arrays."""
    try:
        return Tried("yes", _result_is_recorded(function, args, kwargs, _variable))
    except TracedValueError:
        raise
    except (TypeError, ValueError, IndexError):  # operands that must be integers
        _result_is_recorded(function, args, kwargs, lambda array: array)
        return Tried("yes")


def _result_is_recorded(
    function: Any, args: list[Any], kwargs: dict[str, Any], made: Callable[[Any], Any]
) -> str:
    """Return "yes" if the result of a traced call has a gradient, else "no".

    Returns "" for a call without array operands.
    """
    operands = [made(array) for array in _arrays_in([args, *kwargs.values()])]

    def body(proxies: list[Any], _: Any) -> tuple[list[Any], bool]:
        rest = iter(proxies)
        given, *named = _with_arrays([args, *kwargs.values()], lambda _: next(rest))
        before = [handles.read(p) for p in proxies]
        result = function(*given, **dict(zip(kwargs, named, strict=True)))
        if result is None:
            return [], any(
                handles.read(p) is not was for p, was in zip(proxies, before, strict=True)
            )
        listed = result if isinstance(result, list | tuple) else [result]
        return [], any(isinstance(r, Handle) and handles.read(r).node is not None for r in listed)

    with autograd.record():
        recorded = capture("example", body, [handles.read(o) for o in operands]).result
    return ("yes" if recorded else "no") if operands else ""


def _with_arrays(given: Any, replaced: Callable[[Any], Any]) -> Any:
    """Replace each array in a value, also in lists and tuples."""
    if isinstance(given, Handle):
        return replaced(given)
    return (
        type(given)([_with_arrays(g, replaced) for g in given])
        if type(given) in (list, tuple)
        else given
    )


def _variable(array: Any) -> Any:
    """Return numbers as a float variable; other values unchanged."""
    if array.dtype.kind not in "iufc":
        return array
    made = array.copy() if array.dtype.kind in "fc" else array.astype("float32")
    made.attach_grad()
    return made


# --- the page -------------------------------------------------------------------------------------


def page(known: Mapping[str, Tried] | None = None) -> str:
    """Return the page, as Markdown; `known` as for `statuses`."""
    return "\n".join(_lines({space: statuses(space, known) for space in SPACES}))


def _lines(found: Mapping[str, list[Status]]) -> Iterator[str]:
    yield "# NumPy's names\n"
    yield (
        f"Every public name of NumPy {onp.__version__}, and what it is here.  "
        "[numpy.md](numpy.md) says in words what is the same and"
    )
    yield (
        "what differs.  This page is written by `python -m npcompat.ops --numpy-names "
        "docs/numpy_names.md`.\n"
    )
    yield from ("| what a name is | | names |", "| --- | --- | --- |")
    for kind, meaning in MEANINGS.items():
        yield (
            f"| {kind} | {meaning} | "
            f"{sum(s.kind == kind for of_space in found.values() for s in of_space)} |"
        )
    yield from _COLUMNS
    for space, title in SPACES.items():
        yield f"## {title}\n"
        yield from (
            "| name | is | more arguments | runs on | compiled | gradient | not supported |",
            "| --- " * 7 + "|",
        )
        yield from map(_row, found[space])
        yield ""


def _row(s: Status) -> str:
    is_ = (
        s.kind
        if s.operator is None
        else f"[operator](operators/{file_of(s.chapter)}#{s.operator.name})"
    )
    cells = (
        f"`{s.name}`",
        is_,
        ", ".join(f"`{a}`" for a in s.added),
        s.backends,
        s.compiled,
        s.gradient,
        " ".join(s.gaps),
    )
    return "| " + " | ".join(cells) + " |"


__all__ = ["MEANINGS", "SPACES", "Status", "Tried", "names", "page", "statuses"]
