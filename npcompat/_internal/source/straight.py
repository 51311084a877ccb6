"""Straight-line functions, which need no conversion.

They have no loops, branches and calls of user code, and don't ask for the value of an array.
"""

import dis
import types
from typing import Any, NamedTuple

from npcompat._internal.support.errors import is_library


class _Uses(NamedTuple):
    """Facts about code: `decides` if it jumps or calls unnamed functions; the names it loads."""

    decides: bool
    variables: frozenset[str]
    enclosed: frozenset[str]


_KNOWN: dict[types.CodeType, _Uses] = {}
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_ASKING = frozenset(("all", "any", "bool", "float", "int", "max", "min", "round"))
"""Builtin functions that ask for values."""


def _uses(code: types.CodeType) -> _Uses:
    found = _KNOWN.get(code)
    if found is None:
        decides = any([isinstance(c, types.CodeType) for c in code.co_consts])
        variables, enclosed = set(), set()
        before = ""
        for instruction in dis.get_instructions(code):
            name = instruction.opname
            if "JUMP" in name or name in (
                "FOR_ITER",
                "SEND",
                "RAISE_VARARGS",
                "SETUP_WITH",
                "CONTAINS_OP",
            ):
                decides = True
            elif name in _GLOBALS:
                variables.add(str(instruction.argval))
                decides = decides or instruction.argval in _ASKING
            elif name == "LOAD_DEREF":
                enclosed.add(str(instruction.argval))
            elif "LOAD_FAST" in name and before == "PUSH_NULL":
                decides = True  # a call of a variable
            elif name == "PUSH_NULL" and "LOAD_FAST" in before:
                decides = True
            before = name
        found = _KNOWN[code] = _Uses(decides, frozenset(variables), frozenset(enclosed))
        while len(_KNOWN) > 4096:
            del _KNOWN[next(iter(_KNOWN))]
    return found


def is_straight(function: types.FunctionType) -> bool:
    """Return True for a function without loops and branches that calls only libraries."""
    uses = _uses(function.__code__)
    if uses.decides:
        return False
    if not all(map(is_plain, function.__defaults__ or ())):
        return False
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            if name in uses.enclosed and not is_plain(cell.cell_contents):
                return False
        except ValueError:
            return False
    variables = function.__globals__
    return all([is_plain(variables[n]) for n in uses.variables if n in variables])


_VALUES = (bool, int, float, complex, str, bytes, type(None))


def is_plain(value: Any) -> bool:
    """Return True for constants, and for modules, functions and objects of libraries."""
    if type(value) in _VALUES:
        return True
    if isinstance(value, types.ModuleType):
        return is_library(getattr(value, "__file__", None) or "<frozen builtins>")
    if isinstance(value, types.FunctionType):
        return is_library(value.__code__.co_filename)
    if isinstance(value, types.BuiltinFunctionType):
        return True
    if type(value) is types.MethodType:
        return is_plain(value.__func__)
    kind = value if isinstance(value, type) else type(value)
    return kind.__module__.partition(".")[0] in _LIBRARIES and not hasattr(value, "function")


_LIBRARIES = frozenset(("npcompat", "numpy", "jax", "jaxlib", "ml_dtypes"))

__all__ = ["is_plain", "is_straight"]
