"""The syntax tree of a function, found in its file and verified by its compiled code."""

import ast
import copy
import linecache
import types
from collections.abc import Sequence
from typing import Any

FUTURE_ANNOTATIONS = 0x1000000


class UnconvertibleError(Exception):
    """Error for a function that can't be converted; its text is the reason."""


Definition = ast.FunctionDef | ast.Lambda


def definition(function: types.FunctionType) -> Definition:
    """Return a copy of the node of a function or lambda.

    A line may hold several functions, and a file may have changed since it was imported. So a node
    counts only if it compiles to the same code as the function's.

    Raises
    ------
    UnconvertibleError
        If there is no source, or the source is another function's.
    """
    code = function.__code__
    nodes, imported = _candidates(code, function.__globals__)
    for node in nodes:
        if _same(_compiled(node, code, function.__qualname__, imported), code):
            found: Definition = copy.deepcopy(node)
            return found
    raise UnconvertibleError("its source is not found")


_FILES: dict[str, tuple[list[str], dict[tuple[str, int], list[Definition]], list[str]]] = {}
"""By file: its lines, its functions by name and first line, and the names that it imports."""


def _candidates(
    code: types.CodeType, variables: dict[str, Any]
) -> tuple[list[Definition], list[str]]:
    """Return nodes with a function's name and first line, and names that its file imports."""
    lines = linecache.getlines(code.co_filename, variables)
    if not lines:
        raise UnconvertibleError("its source is not there")
    known = _FILES.get(code.co_filename)
    if known is None or (known[0] is not lines and known[0] != lines):
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError) as error:
            raise UnconvertibleError(f"its file can't be parsed: {error}") from None
        found: dict[tuple[str, int], list[Definition]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
                found.setdefault((node.name, first), []).append(node)
            elif isinstance(node, ast.Lambda):
                found.setdefault(("<lambda>", node.lineno), []).append(node)
        known = _FILES[code.co_filename] = (lines, found, _imported(tree.body))
        while len(_FILES) > 256:
            del _FILES[next(iter(_FILES))]
    return known[1].get((code.co_name, code.co_firstlineno), []), known[2]


def _imported(statements: list[ast.stmt]) -> list[str]:
    """Return the names that a module imports; Python compiles calls of their attributes otherwise."""
    found = []
    for s in statements:
        if isinstance(s, ast.Import | ast.ImportFrom):
            found += [(a.asname or a.name).split(".")[0] for a in s.names if a.name != "*"]
        elif not isinstance(s, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                found += _imported(getattr(s, field, []))
            for handler in getattr(s, "handlers", ()):
                found += _imported(handler.body)
    return found


def _compiled(
    node: Definition, code: types.CodeType, qualname: str, imported: list[str]
) -> types.CodeType | None:
    """Compile an unchanged node with the free variables of a code."""
    inner = copy.deepcopy(node)
    if isinstance(inner, ast.FunctionDef):
        inner.decorator_list = []
    try:
        return in_factory(inner, code, code.co_freevars, class_of(qualname), imported)
    except (SyntaxError, ValueError, UnconvertibleError):
        return None


def class_of(qualname: str) -> str | None:
    """Return the name of the class in whose body a function is defined, or None."""
    parts = qualname.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else None


def in_factory(
    node: Definition,
    code: types.CodeType,
    free: tuple[str, ...],
    owner: str | None,
    imported: Sequence[str] = (),
) -> types.CodeType:
    """Compile a node inside a function with the variables `free`, and inside the class `owner`.

    Defaults and annotations are removed: the original function has evaluated them already.
    """
    _strip(node)
    made: list[ast.stmt] = [node if isinstance(node, ast.FunctionDef) else ast.Expr(node)]
    if owner is not None:  # private names are mangled with the class's name
        made = [ast.ClassDef(owner, [], [], made, [], **NO_TYPES)]
        if owner not in free:  # the function may use the class by its name
            made.insert(0, ast.Global([owner]))
    factory = ast.FunctionDef("factory", arguments(*free), made, [], None, None, **NO_TYPES)
    imports: list[ast.stmt] = [ast.Import([ast.alias(n)]) for n in imported]
    module = ast.Module([*imports, factory], [])
    ast.fix_missing_locations(module)
    outer = compile(
        module,
        code.co_filename,
        "exec",
        dont_inherit=True,
        flags=code.co_flags & FUTURE_ANNOTATIONS,
    )
    waiting: list[types.CodeType] = [outer]
    for _ in range(2 if owner is None else 3):
        waiting = [c for w in waiting for c in w.co_consts if isinstance(c, types.CodeType)]
    for found in waiting:
        if found.co_name == code.co_name:
            return found
    raise UnconvertibleError("its source compiles to no function")


NO_TYPES: dict[str, Any] = {"type_params": []}


def arguments(*names: str) -> ast.arguments:
    """Return positional arguments of these names."""
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def _strip(node: Definition) -> None:
    parameters = node.args
    parameters.defaults = [ast.Constant(None) for _ in parameters.defaults]
    parameters.kw_defaults = [
        None if d is None else ast.Constant(None) for d in parameters.kw_defaults
    ]
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        every = [
            *parameters.posonlyargs,
            *parameters.args,
            *parameters.kwonlyargs,
            parameters.vararg,
            parameters.kwarg,
        ]
        for argument in every:
            if argument is not None:
                argument.annotation = None


def _same(one: types.CodeType | None, other: types.CodeType) -> bool:
    """Return True for code objects that are equal except for line numbers."""
    if one is None:
        return False
    if (
        one.co_code != other.co_code
        or one.co_names != other.co_names
        or one.co_varnames != other.co_varnames
        or one.co_freevars != other.co_freevars
        or one.co_cellvars != other.co_cellvars
        or len(one.co_consts) != len(other.co_consts)
    ):
        return False
    for a, b in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
            if not _same(a, b):
                return False
        elif type(a) is not type(b) or _text(a) != _text(b):
            return False
    return True


def _text(constant: object) -> str:
    """Return a constant as text, which tells 0.0 from -0.0; a set's has no order.

    Sets that are read from a file of compiled code iterate in another order.
    """
    if isinstance(constant, frozenset):
        return f"frozenset({sorted(map(_text, constant))})"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_text, constant))})"
    return repr(constant)


__all__ = [
    "NO_TYPES",
    "Definition",
    "UnconvertibleError",
    "arguments",
    "class_of",
    "definition",
    "in_factory",
]
