"""Conversion of functions: once for each code object, with the closure of each function."""

import types
from typing import Any

from npcompat._internal.source.definition import (
    UnconvertibleError,
    class_of,
    definition,
    in_factory,
)
from npcompat._internal.source.jumps import PREFIX, RUNTIME
from npcompat._internal.source.statements import converted as rewritten

_MADE: dict[types.CodeType, types.CodeType | str] = {}
"""Converted code by code; a text with the reason if it can't be converted."""
_ORIGINALS: dict[types.CodeType, types.CodeType | None] = {}
"""Original code by converted code; None for the body of a loop or an arm of a branch."""
_MARK = "_npcompat_converted"


def original(code: types.CodeType) -> types.CodeType | None:
    """Return the original of converted code; other code unchanged.

    None for the body of a loop or an arm of a branch, which is a part of a function.
    """
    return _ORIGINALS.get(code, code)


def is_converted(code: types.CodeType) -> bool:
    """Return True for code that conversion made."""
    return code in _ORIGINALS


def mark(function: Any) -> Any:
    """Mark a function that is defined in a converted one as converted; what a decorator has made of
    it is none.
    """
    if isinstance(function, types.FunctionType):
        function.__dict__[_MARK] = True
    return function


def reason(function: types.FunctionType) -> str:
    """Return the reason why a function is not converted; empty if it is."""
    found = _MADE.get(function.__code__, "")
    return found if isinstance(found, str) else ""


def converted(function: types.FunctionType, runtime: types.ModuleType) -> types.FunctionType:
    """Return the function with its loops and branches as calls of a runtime.

    A function that can't be converted is returned unchanged; `reason` says why.
    """
    if _MARK in function.__dict__:
        return function
    code = function.__code__
    made = _MADE.get(code)
    if made is None:
        try:
            made = _converted(function)
        except UnconvertibleError as error:
            made = str(error)
        except (RecursionError, SyntaxError, ValueError) as error:
            made = f"{type(error).__name__}: {error}"
        _MADE[code] = made
    if isinstance(made, str):
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = types.CellType(runtime)
    closure = tuple([cells[n] for n in made.co_freevars])
    found = types.FunctionType(
        made, function.__globals__, function.__name__, function.__defaults__, closure
    )
    found.__kwdefaults__ = function.__kwdefaults__
    found.__qualname__, found.__module__ = function.__qualname__, function.__module__
    found.__doc__ = function.__doc__
    found.__dict__.update(function.__dict__)
    return mark(found)  # type: ignore[no-any-return]


def _converted(function: types.FunctionType) -> types.CodeType:
    code = function.__code__
    owner = class_of(function.__qualname__)
    node = rewritten(definition(function), owner)
    if hasattr(node, "decorator_list"):
        node.decorator_list = []
    free = (*code.co_freevars, RUNTIME)
    made = in_factory(node, code, free, owner)
    if not set(made.co_freevars) <= set(free):
        raise UnconvertibleError("its variables are not those of its source")
    _note(made, code)
    return made


def _note(made: types.CodeType, code: types.CodeType | None) -> None:
    """Note the originals of converted code, and of the code objects in it."""
    _ORIGINALS[made] = code
    inner = [] if code is None else _functions(code)
    for part in made.co_consts:
        if isinstance(part, types.CodeType):
            _note(part, None if part.co_name.startswith(PREFIX) else _like(part, inner))
    if code is None:
        return
    for part in _parts(made):
        for nested in part.co_consts:
            if isinstance(nested, types.CodeType) and not nested.co_name.startswith(PREFIX):
                _note(nested, _like(nested, inner))


def _parts(code: types.CodeType) -> list[types.CodeType]:
    """Return the bodies and arms in converted code, at any depth."""
    found = []
    for part in code.co_consts:
        if isinstance(part, types.CodeType) and part.co_name.startswith(PREFIX):
            found += [part, *_parts(part)]
    return found


def _functions(code: types.CodeType) -> list[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _like(part: types.CodeType, originals: list[types.CodeType]) -> types.CodeType | None:
    """Return the original of a nested function; None for code that conversion has added."""
    for code in originals:
        if code.co_name == part.co_name and code.co_firstlineno == part.co_firstlineno:
            return code
    return None


__all__ = ["converted", "is_converted", "mark", "original", "reason"]
