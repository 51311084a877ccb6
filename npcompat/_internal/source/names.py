"""Names that nodes of a syntax tree load and store, and liveness analysis of names."""

import ast
from collections.abc import Iterable, Sequence

Names = set[str]


def loaded(node: ast.AST) -> Names:
    """Return the names that are loaded anywhere in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


class _Stores(ast.NodeVisitor):
    """Visitor that collects the names that statements bind in their function."""

    def __init__(self) -> None:
        self.found: Names = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.found.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.found.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:  # `name: type` alone binds nothing
            self.generic_visit(node)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.found.update([(a.asname or a.name).split(".")[0] for a in node.names])
        elif not isinstance(node, _COMPREHENSIONS):
            super().visit(node)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored(statements: Iterable[ast.stmt]) -> Names:
    """Return the names that statements bind, outside comprehensions and nested functions."""
    visitor = _Stores()
    for statement in statements:
        visitor.visit(statement)
    return visitor.found


def targets_of(loop: ast.For) -> Names:
    """Return the names that a `for` binds in each round."""
    return stored([ast.Assign([loop.target], ast.Constant(0))])


_CONSUMERS = frozenset(
    ("all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple")
)
"""Builtins that take all items of a generator before they return."""


def used_in_functions(statements: Sequence[ast.stmt]) -> Names:
    """Return the names that nested functions, and generators that may run later, load."""
    found: Names = set()
    consumed: set[int] = set()
    for node in ast.walk(ast.Module(list(statements), [])):  # outer nodes first
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _CONSUMERS:
            consumed.update(map(id, node.args))
        if isinstance(node, ast.FunctionDef | ast.Lambda) or (
            isinstance(node, ast.GeneratorExp) and id(node) not in consumed
        ):
            found |= loaded(node)
    return found


class Liveness:
    """Liveness analysis, which notes in each loop and branch the names that are used later.

    - `alive` of a loop: names used after it or in a later round; `entry`: names that a round uses
      before it binds them.
    - `alive` of a branch: names used in an arm or after the branch; `after`: only the latter.

    Names in `always` count as used everywhere.
    """

    def __init__(self, always: Names) -> None:
        self.always = always

    def before(
        self, statements: Sequence[ast.stmt], after: Names, handled: Iterable[str] = ()
    ) -> Names:
        """Return the names alive before statements, given those alive after them.

        `handled` are those that are alive where an exception in the statements is caught.
        """
        outer = self.always
        self.always = outer.union(handled)
        for statement in reversed(statements):
            after = self._before_one(statement, after | self.always)
        found = after | self.always
        self.always = outer
        return found

    def _before_one(self, s: ast.stmt, after: Names) -> Names:
        if isinstance(s, ast.If):
            entry = self.before(s.body, after) | self.before(s.orelse, after)
            s.alive, s.after = entry | after, set(after)  # type: ignore[attr-defined]
            return loaded(s.test) | entry
        if isinstance(s, ast.While | ast.For):
            return self._before_loop(s, after)
        if isinstance(s, ast.With):
            after = self.before(s.body, after, after)  # its context may catch exceptions
            for item in reversed(s.items):
                if item.optional_vars is not None:
                    after = after - stored([ast.Expr(item.optional_vars)])
                after = after | loaded(item.context_expr)
            return after
        if isinstance(s, ast.Try):
            end = self.before(s.finalbody, after)
            caught = set(end)
            for handler in s.handlers:
                caught |= self.before(handler.body, end, end) - {handler.name or ""}
                caught |= set() if handler.type is None else loaded(handler.type)
            return self.before(s.body, self.before(s.orelse, end, end), caught) | caught
        if isinstance(s, ast.Return | ast.Raise):
            return loaded(s)
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            return after | {s.target.id} | loaded(s.value)
        if isinstance(s, ast.FunctionDef):
            return (after - {s.name}) | loaded(s)
        return (after - stored([s])) | loaded(s)

    def _before_loop(self, s: ast.While | ast.For, after: Names) -> Names:
        flag = getattr(s, "flag", None)
        head = after | ({flag} if flag else set()) | self.always
        bound = targets_of(s) if isinstance(s, ast.For) else set()
        if isinstance(s, ast.While):
            head |= loaded(s.test)
        while True:
            inside = self.before(s.body, head) - bound
            if inside <= head:
                break
            head = head | inside
        s.alive, s.entry = head, inside  # type: ignore[union-attr]
        return head | loaded(s.iter) if isinstance(s, ast.For) else head


__all__ = ["Liveness", "Names", "loaded", "stored", "targets_of", "used_in_functions"]
