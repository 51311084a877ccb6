"""Names that a function's code uses, and those that it reads."""

import ast
import builtins
import dis
import inspect
import linecache
import operator
import re
import string
import textwrap
import tokenize
import types
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any


def names_of(code: types.CodeType) -> set[str]:
    """Return the names of variables and attributes in code, and strings that may be such names.

    Those of comprehensions and functions within it are among them: what they see is at hand here.
    """
    found = _KNOWN_NAMES.get(code)
    if found is None:
        texts = [t for c in code.co_consts for t in (c if type(c) is tuple else (c,))]
        found = {*code.co_names, *[t for t in texts if type(t) is str and t.isidentifier()]}
        if found & _FORMATTING:
            found |= _formatted_names(texts)
        asked = _asked_names(code) if found & _ASKING else None
        if asked is not None:
            found = (found - _ASKING) | {ASKED + name for name in asked}
        if _catches(code):
            found |= {ASKED + name for name in found if not name.startswith(ASKED)}
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                found |= names_of(inner)
        _KNOWN_NAMES[code] = found
        if len(_KNOWN_NAMES) > 4096:
            _KNOWN_NAMES.clear()
    return found


ASKED = "?"
"""Prefix of a name that may be missing: code asks for it by `getattr` or `hasattr`, or catches the
error."""
_ASKING = {"getattr", "hasattr"}
_FORMATTING = {"format", "format_map"}


def asked_of(names: set[str]) -> set[str]:
    """Return the names that may be missing, without the prefix."""
    return {name.removeprefix(ASKED) for name in names if name.startswith(ASKED)}


def _formatted_names(texts: Sequence[Any]) -> set[str]:
    """Return the attributes that the templates of `str.format` among texts read."""
    found = set()
    waiting = [t for t in texts if type(t) is str]
    while waiting:
        try:
            fields = [*string.Formatter().parse(waiting.pop())]
        except ValueError:  # no template
            continue
        for _, field, specification, _ in fields:
            found.update(re.findall(r"\.(\w+)", field or ""))
            if specification:  # it may have fields of its own
                waiting.append(specification)
    return found


def _catches(code: types.CodeType) -> bool:
    """Return True if code may catch exceptions: those that only pass a `with` don't count."""
    if "suppress" in code.co_names:
        return True
    if not code.co_exceptiontable:
        return False
    names = [i.opname for i in dis.get_instructions(code)]
    handlers = [after for name, after in pairwise(names) if name == "PUSH_EXC_INFO"]
    return any([after != "WITH_EXCEPT_START" for after in handlers])


def _asked_names(code: types.CodeType) -> set[str] | None:
    """Return the names that `getattr` and `hasattr` are called with; None if not all are literal."""
    tree = _parsed(code)
    if tree is None:
        return None
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _is_asking(n.func)]
    literal = [c.args[1] for c in calls if len(c.args) > 1 and isinstance(c.args[1], ast.Constant)]
    used = [n for n in ast.walk(tree) if _is_asking(n)]
    if len(literal) < len(calls) or len(used) > len(calls):
        return None
    return {str(a.value) for a in literal}


def _is_asking(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _ASKING


def _parsed(code: types.CodeType) -> ast.Module | None:
    """Return the source of code as a tree, if there is one that can be parsed."""
    if code.co_filename.startswith("<") and not linecache.getlines(code.co_filename):
        return None  # of a string: `inspect` would look through all modules for it
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError, TypeError, tokenize.TokenError):  # other text than the code
        return None


@lru_cache(maxsize=4096)
def builtins_in(code: types.CodeType) -> frozenset[str]:
    """Return the names of Python's builtins that code reads, which a global variable may hide."""
    read = [
        i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    return frozenset(read) & vars(builtins).keys()


_KNOWN_NAMES: dict[types.CodeType, set[str]] = {}


def names_of_getters(values: Sequence[Any]) -> set[str]:
    """Return the attributes that the `operator.attrgetter` objects among values read."""
    getters = [v for v in values if type(v) is operator.attrgetter]
    return {n for getter in getters for path in getter.__reduce__()[1] for n in path.split(".")}


MUTATORS: frozenset[str] = frozenset(
    ("append", "extend", "add", "update", "insert", "appendleft", "clear")
)
"""Methods of containers that only write: a call does not count as a read."""


class _Reads(ast.NodeVisitor):
    """Visitor that collects the names of variables and attributes that code reads."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.attr)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            self._written(node.func.value)
            for argument in (*node.args, *[k.value for k in node.keywords]):
                self.visit(argument)
        else:
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._written(node.target)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
        else:
            self._written(node)

    def _written(self, node: ast.expr) -> None:
        """Visit a written target: objects on the way to it are read, its own name is not."""
        if isinstance(node, ast.Subscript):
            self.visit(node.slice)
            self._written(node.value)
        elif isinstance(node, ast.Attribute):
            self.visit(node.value)
        elif not isinstance(node, ast.Name):
            self.visit(node)


_KNOWN_READS: dict[types.CodeType, set[str] | None] = {}


def read_names(code: types.CodeType) -> set[str] | None:
    """Return the names that a function reads, by its source if that can be parsed."""
    if code not in _KNOWN_READS:
        if len(_KNOWN_READS) > 4096:
            _KNOWN_READS.clear()
        tree = _parsed(code)
        if tree is None:
            _KNOWN_READS[code] = _reads_of_lambda(code)
        else:
            reads = _Reads()
            reads.visit(tree)
            _KNOWN_READS[code] = reads.found | _with_class(reads.found, code)
    return _KNOWN_READS[code]


def _with_class(names: set[str], code: types.CodeType) -> set[str]:
    """Return private names as the code has them, after the name of the class (`_Net__mode`)."""
    private = tuple([n for n in names if n.startswith("__") and not n.endswith("__")])
    used = {n.removeprefix(ASKED) for n in names_of(code)} if private else set()
    return {n for n in used if n.startswith("_") and n.endswith(private)}


def _reads_of_lambda(code: types.CodeType) -> set[str] | None:
    """Return all names of a function without parsable source, as if it read them all."""
    return {*code.co_names, *code.co_freevars, *code.co_varnames}


__all__ = ["MUTATORS", "asked_of", "builtins_in", "names_of", "names_of_getters", "read_names"]
