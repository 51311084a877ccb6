"""Conversion of statements: bodies of loops and arms of branches become functions."""

import ast
import itertools
from typing import Any

from npcompat._internal.source.definition import NO_TYPES, UnconvertibleError, arguments
from npcompat._internal.source.expressions import Expressions, key_of, later
from npcompat._internal.source.jumps import (
    PREFIX,
    Jumps,
    assign,
    is_runtime,
    load,
    located,
    runtime,
    without_returns,
)
from npcompat._internal.source.names import (
    Liveness,
    Names,
    stored,
    targets_of,
    used_in_functions,
)

_IN_PLACE = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.BitAnd: "iand",
    ast.MatMult: "imatmul",
}

_REFUSED: tuple[type[ast.AST], ...] = (
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.AsyncFunctionDef,
    ast.Global,
    ast.Nonlocal,
    ast.NamedExpr,
    ast.Match,
    ast.ClassDef,
    ast.Delete,
    ast.TryStar,
)
_READS_VARIABLES = frozenset(("locals", "eval", "exec", "vars", "dir", "globals"))
_ITEM, _VALUE = PREFIX + "item", PREFIX + "value"


def check(node: ast.AST) -> None:
    """Raise UnconvertibleError for a function with a construct that can't be converted."""
    for inner in ast.walk(node):
        if isinstance(inner, _REFUSED):
            raise UnconvertibleError(
                f"line {getattr(inner, 'lineno', '?')}: {type(inner).__name__.lower()}"
            )
        if isinstance(inner, ast.Name) and inner.id in _READS_VARIABLES:
            raise UnconvertibleError(f"line {inner.lineno}: {inner.id}")


def converted(
    node: ast.FunctionDef | ast.Lambda, owner: str | None
) -> ast.FunctionDef | ast.Lambda:
    """Rewrite a function, defined in the body of the class `owner` if that is not None, so that
    its loops and branches are calls of the runtime.

    Raises
    ------
    UnconvertibleError
        If the function has a construct that can't be converted.
    """
    check(node)
    if isinstance(node, ast.Lambda):
        node.body = Expressions(_first(node.args)).visit(node.body)
        return node
    return _Function(itertools.count(), owner).converted(node)


def _first(given: ast.arguments) -> str | None:
    every = [*given.posonlyargs, *given.args]
    return every[0].arg if every else None


class _Function:
    """Conversion of one function."""

    def __init__(self, numbers: "itertools.count[int]", owner: str | None) -> None:
        self._numbers, self._owner = numbers, owner
        self._states: Names = set()

    def converted(self, node: ast.FunctionDef) -> ast.FunctionDef:
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        parameters = {a.arg for a in every if a is not None}
        self._expressions = Expressions(_first(given))
        docstring, body = _split_docstring(node.body)
        if not body:
            return node
        body = Jumps().without(without_returns(body))
        enclosed = used_in_functions(body)
        Liveness(enclosed).before(body, set(enclosed))
        made = self._block(body)
        unbound = self._states - parameters
        made = [_Loads(unbound).visit(s) for s in made] if unbound else made
        begin = [assign(n, runtime("Unbound", ast.Constant(n)), body[0]) for n in sorted(unbound)]
        node.body = [*docstring, *begin, *made]
        return node

    def _fresh(self, what: str) -> str:
        return f"{PREFIX}{what}{next(self._numbers)}"

    def _private(self, attribute: str) -> ast.Constant:
        """Return the name of an attribute; Python puts the class before that of a private one."""
        owner = (self._owner or "").lstrip("_")
        if owner and attribute.startswith("__") and not attribute.endswith("__"):
            attribute = f"_{owner}{attribute}"
        return ast.Constant(attribute)

    def _expression(self, node: ast.expr) -> Any:
        return self._expressions.visit(node)

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [made for s in statements for made in self._statement(s)]

    def _statement(self, s: ast.stmt) -> list[ast.stmt]:
        visit = getattr(self, "_" + type(s).__name__.lower(), None)
        if visit is None:
            return [s]
        made = visit(s)
        found: list[ast.stmt] = made if isinstance(made, list) else [made]
        for statement in found:
            if not hasattr(statement, "lineno"):
                located(statement, s)
        return found

    # --- loops and branches

    def _state(self, statement: Any, bound: Names) -> list[str]:
        """Return the names that a loop or branch binds and that are used later, sorted."""
        names = sorted(bound & statement.alive)
        self._states |= set(names)
        return names

    def _accessors(self, names: list[str], like: ast.stmt) -> tuple[list[ast.stmt], ast.expr]:
        """Return functions that get and set variables, and an expression for both."""
        get, put = self._fresh("get"), self._fresh("put")
        found = ast.Return(ast.Tuple([load(n) for n in names], ast.Load()))
        binds: list[ast.stmt] = [ast.Pass()]
        if names:
            targets = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            binds = [ast.Nonlocal(list(names)), ast.Assign([targets], load(_VALUE))]
        made = [self._defined(get, [found], like), self._defined(put, binds, like, _VALUE)]
        for accessor in made:
            accessor.accessor = True  # type: ignore[attr-defined]
        variables = ast.Tuple([load(get), load(put), _constant(tuple(names))], ast.Load())
        return [*made], variables

    def _defined(
        self, name: str, body: list[ast.stmt], like: ast.stmt, *parameters: str
    ) -> ast.FunctionDef:
        made = ast.FunctionDef(name, arguments(*parameters), body, [], None, None, **NO_TYPES)
        return located(made, like)

    def _body(
        self,
        what: str,
        statements: list[ast.stmt],
        like: ast.stmt,
        *parameters: str,
    ) -> ast.FunctionDef:
        """Return a function with these statements, whose variables are those of the outer one."""
        bound = sorted(stored(statements))
        self._states |= set(bound)
        inner = self._block(statements) or [ast.Pass()]
        if bound:
            inner.insert(0, ast.Nonlocal(bound))
        return self._defined(self._fresh(what), inner, like, *parameters)

    def _where(self, s: ast.stmt) -> ast.expr:
        return _constant((s.lineno, s.col_offset))

    def _if(self, s: ast.If) -> list[ast.stmt]:
        names = self._state(s, stored([*s.body, *s.orelse]))
        accessors, variables = self._accessors(names, s)
        then = self._body("then", s.body, s)
        otherwise = self._body("else", s.orelse, s)
        test = self._expression(s.test)
        unused = tuple([i for i, n in enumerate(names) if n not in s.after])  # type: ignore[attr-defined]
        arms = load(then.name), load(otherwise.name)
        call = runtime("branch", test, *arms, variables, _constant(unused))
        return [*accessors, then, otherwise, located(ast.Expr(call), s)]

    def _while(self, s: ast.While) -> list[ast.stmt]:
        names = self._state(s, stored(s.body))
        accessors, variables = self._accessors(names, s)
        body = self._body("body", s.body, s)
        test: ast.expr = self._expression(s.test)
        flag = s.flag  # type: ignore[attr-defined]
        if flag:
            self._states.add(flag)
            test = runtime("both", later(runtime("negated", load(flag))), later(test))
        call = runtime(
            "while_loop", later(test), load(body.name), variables, *self._about(s, names)
        )
        return [*accessors, body, located(ast.Expr(call), s)]

    def _about(self, s: Any, names: list[str]) -> list[ast.expr]:
        """Return a loop's line, and the variables that each round binds before it uses them."""
        first = tuple([i for i, n in enumerate(names) if n not in s.entry])
        return [self._where(s), _constant(first)]

    def _for(self, s: ast.For) -> list[ast.stmt]:
        targets, nested = targets_of(s), _depth(s.body)
        names = self._state(s, stored(s.body) | targets)
        accessors, variables = self._accessors(names, s)
        bind = located(ast.Assign([s.target], load(_ITEM)), s)
        body = self._body("body", [bind, *s.body], s, _ITEM)
        flag = s.flag  # type: ignore[attr-defined]
        going: ast.expr = ast.Constant(None)
        if flag:
            self._states.add(flag)
            going = later(runtime("negated", load(flag)))
        call = runtime(
            "for_loop",
            self._expression(s.iter),
            load(body.name),
            variables,
            *self._about(s, names),
            going,
            _constant(nested),
        )
        return [*accessors, body, located(ast.Expr(call), s)]

    # --- assignments

    def _assign(self, s: ast.Assign) -> list[ast.stmt]:
        value = self._expression(s.value)
        if len(s.targets) == 1:
            return self._stored(s.targets[0], value, s)
        name = self._fresh("value")
        made = [assign(name, value, s)]
        for target in s.targets:
            made += self._stored(target, load(name), s)
        return made

    def _stored(self, target: ast.expr, value: ast.expr, like: ast.stmt) -> list[ast.stmt]:
        if isinstance(target, ast.Tuple | ast.List):
            if not isinstance(value, ast.Tuple):
                value = located(runtime("iterated", value), like)
            if all([isinstance(e, ast.Name | ast.Starred) for e in target.elts]):
                return [located(ast.Assign([target], value), like)]
            if any([isinstance(e, ast.Starred) for e in target.elts]):
                raise UnconvertibleError(f"line {like.lineno}: a starred item among others")
            names = [self._fresh("part") for _ in target.elts]
            parts = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            made: list[ast.stmt] = [located(ast.Assign([parts], value), like)]
            for element, name in zip(target.elts, names, strict=True):
                made += self._stored(element, load(name), like)
            return made
        if isinstance(target, ast.Subscript):
            name = self._fresh("value")  # Python evaluates it before the array and the key
            call = runtime(
                "setitem",
                self._expression(target.value),
                key_of(self._expression(target.slice)),
                load(name),
            )
            return [assign(name, value, like), located(ast.Expr(call), like)]
        if isinstance(target, ast.Attribute):
            name = self._fresh("value")
            owner = self._expression(target.value)
            call = runtime("set_attribute", owner, self._private(target.attr), load(name))
            return [assign(name, value, like), located(ast.Expr(call), like)]
        return [located(ast.Assign([target], value), like)]

    def _annassign(self, s: ast.AnnAssign) -> list[ast.stmt]:
        if s.value is None:
            return [located(ast.Pass(), s)]
        return self._assign(located(ast.Assign([s.target], s.value), s))

    def _augassign(self, s: ast.AugAssign) -> list[ast.stmt]:
        operation = ast.Constant(_IN_PLACE[type(s.op)])
        value = later(self._expression(s.value))
        if isinstance(s.target, ast.Subscript):
            owner = self._expression(s.target.value)
            key = key_of(self._expression(s.target.slice))
            call = runtime("update_item", owner, key, operation, value)
            return [located(ast.Expr(call), s)]
        if isinstance(s.target, ast.Attribute):
            owner = self._expression(s.target.value)
            call = runtime(
                "update_attribute", owner, self._private(s.target.attr), operation, value
            )
            return [located(ast.Expr(call), s)]
        name = s.target.id
        return [assign(name, runtime("updated", load(name), operation, value), s)]

    # --- other statements

    def _raise(self, s: ast.Raise) -> ast.stmt:
        if s.exc is None or s.cause is not None:
            return s
        return located(ast.Expr(runtime("raise_error", self._expression(s.exc))), s)

    def _assert(self, s: ast.Assert) -> ast.stmt:
        message = ast.Constant(None) if s.msg is None else later(self._expression(s.msg))
        return located(ast.Expr(runtime("check", self._expression(s.test), message)), s)

    def _functiondef(self, s: ast.FunctionDef) -> list[ast.stmt]:
        _Function(self._numbers, self._owner).converted(s)
        return [s, assign(s.name, runtime("mark", load(s.name)), s)]

    def _with(self, s: ast.With) -> ast.stmt:
        for item in s.items:
            entered = self._expression(item.context_expr)
            item.context_expr = located(runtime("entered", entered), entered)
        s.body = self._block(s.body)
        return s

    def _try(self, s: ast.Try) -> ast.stmt:
        s.body = [located(ast.Expr(runtime("trying")), s), *self._block(s.body)]
        s.orelse, s.finalbody = self._block(s.orelse), self._block(s.finalbody)
        for handler in s.handlers:
            handler.body = self._block(handler.body)
        return s

    def _return(self, s: ast.Return) -> ast.stmt:
        return located(ast.Return(None if s.value is None else self._expression(s.value)), s)

    def _expr(self, s: ast.Expr) -> ast.stmt:
        return located(ast.Expr(self._expression(s.value)), s)


def _constant(value: Any) -> ast.Constant:
    """Return a constant, which may be a tuple."""
    return ast.Constant(value)


def _split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[:1], body[1:]
    return [], body


class _Loads(ast.NodeTransformer):
    """Transformer that checks at each use of a variable that it is bound."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if hasattr(node, "accessor") else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            return located(runtime("load", node), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_runtime(node.func) and getattr(node.func, "attr", "") == "returned":
            return node  # `returned` handles an unbound value itself
        return self.generic_visit(node)


def _depth(statements: list[ast.stmt]) -> int:
    """Return how deep loops are nested in statements."""
    deepest = 0
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        inside = _depth([part for body in parts for part in body if isinstance(part, ast.stmt)])
        deepest = max(deepest, inside + isinstance(statement, ast.For | ast.While))
    return deepest


__all__ = ["converted"]
