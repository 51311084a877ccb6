"""Conversion of `break`, `continue` and `return` to flags that guard the statements after them."""

import ast
import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

from npcompat._internal.source.definition import UnconvertibleError

PREFIX = "_npc_"
"""Prefix of names that conversion makes."""
RETURNED, RETURNS = PREFIX + "returned", PREFIX + "returns"
Node = TypeVar("Node", bound=ast.AST)


RUNTIME = PREFIX + "runtime"
"""Name of the module whose functions converted code calls in place of loops and branches."""


def runtime(function: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function of the runtime."""
    return ast.Call(ast.Attribute(load(RUNTIME), function, ast.Load()), list(arguments), [])


def is_runtime(node: ast.expr) -> bool:
    """Return True for a function of the runtime."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == RUNTIME
    )


def load(name: str) -> ast.Name:
    """Return the node that loads a name."""
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
    """Return `name = value`, with the position of another node."""
    return located(ast.Assign([ast.Name(name, ast.Store())], value), like)


def located(node: Node, like: ast.AST) -> Node:
    """Give a new node the position of another one."""
    return ast.copy_location(node, like)


def unless(flags: Sequence[str], body: list[ast.stmt], like: ast.AST) -> ast.stmt:
    """Return `if not (flag or flag): body`."""
    tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in flags]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return located(ast.If(test, body, []), like)


def contains(statements: Sequence[ast.stmt], kinds: Any, in_loops: bool = True) -> bool:
    """Return True if statements contain one of these kinds, outside nested functions and classes.

    With `in_loops=False`, bodies of loops don't count, either.
    """
    for s in statements:
        if isinstance(s, kinds):
            return True
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            continue
        inner = [getattr(s, field, None) for field in ("body", "orelse", "finalbody")]
        if not in_loops and isinstance(s, ast.For | ast.While):
            inner = inner[1:]
        inner += [h.body for h in getattr(s, "handlers", ())]
        if any([isinstance(i, list) and contains(i, kinds, in_loops) for i in inner]):
            return True
    return False


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Return True if every path through statements ends in a return or raise."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def without_returns(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function with all nested returns moved to its end.

    Until then a variable holds the value, and a flag tells that the function has returned.
    """
    if not any([contains([s], ast.Return) and not isinstance(s, ast.Return) for s in body]):
        return body
    first, end = body[0], body[-1]
    always = _ends(body)
    made = _returning(body, False)
    value = runtime("returned", load(RETURNED), ast.Constant(always))
    return [
        assign(RETURNS, ast.Constant(False), first),
        assign(RETURNED, runtime("Unbound", ast.Constant(RETURNED)), first),
        *made,
        located(ast.Return(value), end),
    ]


def _returning(statements: list[ast.stmt], in_loop: bool) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for n, s in enumerate(statements):
        if isinstance(s, ast.Return):
            made.append(assign(RETURNED, s.value or ast.Constant(None), s))
            made.append(assign(RETURNS, ast.Constant(True), s))
            if in_loop:
                made.append(located(ast.Break(), s))
            return made
        made.append(s)
        if not contains([s], ast.Return):
            continue
        rest = statements[n + 1 :]
        if isinstance(s, ast.If):
            if not in_loop and (_ends(s.body) or _ends(s.orelse)):
                # the statements after the branch move into the arm that does not return
                going = s.orelse if _ends(s.body) else s.body
                going += rest
                s.body, s.orelse = _returning(s.body, False), _returning(s.orelse, False)
                return made
            s.body, s.orelse = _returning(s.body, in_loop), _returning(s.orelse, in_loop)
            if in_loop:
                continue
        elif isinstance(s, ast.For | ast.While):
            s.body = _returning(s.body, True)
            s.orelse = _returning(s.orelse, in_loop)
            if in_loop:
                made.append(located(ast.If(load(RETURNS), [located(ast.Break(), s)], []), s))
                continue
        elif isinstance(s, ast.With):
            s.body = _returning(s.body, in_loop)
            if in_loop:
                continue
        else:
            raise UnconvertibleError(f"line {s.lineno}: return within {type(s).__name__.lower()}")
        if rest:
            made.append(unless([RETURNS], _returning(rest, in_loop), s))
        return made
    return made


class Jumps:
    """Replacement of `break` and `continue` by flags; a loop's `flag` is that of its `break`."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def without(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements with flags in place of jumps."""
        made: list[ast.stmt] = []
        for s in statements:
            self._within(s)
            if isinstance(s, ast.For | ast.While):
                made += self._loop(s)
            else:
                made.append(s)
        return made

    def _within(self, s: ast.stmt) -> None:
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            return
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(s, field, None)
            if isinstance(inner, list):
                setattr(s, field, self.without(inner))
        for handler in getattr(s, "handlers", ()):
            handler.body = self.without(handler.body)

    def _loop(self, s: ast.For | ast.While) -> list[ast.stmt]:
        number = next(self._numbers)
        breaks = f"{PREFIX}break{number}" if contains(s.body, ast.Break, False) else None
        skips = f"{PREFIX}continue{number}" if contains(s.body, ast.Continue, False) else None
        s.flag = breaks  # type: ignore[union-attr]
        after, s.orelse = s.orelse, []
        made: list[ast.stmt] = []
        if breaks or skips:
            s.body = _guarded(s.body, breaks, skips)
            if skips:
                s.body.insert(0, assign(skips, ast.Constant(False), s))
            if breaks:
                made.append(assign(breaks, ast.Constant(False), s))
        made.append(s)
        if after:
            made += [unless([breaks], after, s)] if breaks else after
        return made


def _guarded(statements: list[ast.stmt], breaks: str | None, skips: str | None) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for n, s in enumerate(statements):
        if isinstance(s, ast.Break | ast.Continue):
            flag = breaks if isinstance(s, ast.Break) else skips
            assert flag is not None
            made.append(assign(flag, ast.Constant(True), s))
            return made
        made.append(s)
        nested = isinstance(s, ast.For | ast.While | ast.FunctionDef | ast.ClassDef)
        if nested or not contains([s], (ast.Break, ast.Continue), False):
            continue
        if isinstance(s, ast.If):
            s.body = _guarded(s.body, breaks, skips)
            s.orelse = _guarded(s.orelse, breaks, skips)
        elif isinstance(s, ast.With):
            s.body = _guarded(s.body, breaks, skips)
        else:
            kind = type(s).__name__.lower()
            raise UnconvertibleError(f"line {s.lineno}: break or continue within {kind}")
        rest = _guarded(statements[n + 1 :], breaks, skips)
        if rest:
            made.append(unless([f for f in (breaks, skips) if f], rest, s))
        return made
    return made


__all__ = [
    "PREFIX",
    "RUNTIME",
    "Jumps",
    "assign",
    "is_runtime",
    "load",
    "located",
    "runtime",
    "without_returns",
]
