"""Conversion of expressions: calls, subscripts and truth tests become calls of the runtime."""

import ast

from npcompat._internal.source.definition import arguments
from npcompat._internal.source.jumps import PREFIX, is_runtime, located, runtime


def later(body: ast.expr) -> ast.Lambda:
    """Wrap an expression in a lambda, so that it is evaluated when it is called."""
    return ast.Lambda(arguments(), body)


def key_of(node: ast.expr) -> ast.expr:
    """Return the key of a subscript as an expression; slices become calls of `slice`."""
    if isinstance(node, ast.Slice):
        none = ast.Constant(None)
        parts = [node.lower or none, node.upper or none, node.step or none]
        return located(runtime("slice", *parts), node)
    if isinstance(node, ast.Tuple):
        return located(ast.Tuple([key_of(e) for e in node.elts], ast.Load()), node)
    return node


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    """Return the comparison of two values; `in` becomes a call."""
    if isinstance(op, ast.In | ast.NotIn):
        found = runtime("contained", left, right)
        return found if isinstance(op, ast.In) else runtime("negated", found)
    return ast.Compare(left, [op], [right])


class Expressions(ast.NodeTransformer):
    """Rewrite expressions; `first` is the name of the function's first argument, for `super()`."""

    def __init__(self, first: str | None) -> None:
        self.first = first

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if is_runtime(node.func):
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if not node.args and self.first is not None:
                node.args = [ast.Name("__class__", ast.Load()), ast.Name(self.first, ast.Load())]
            return node
        self.generic_visit(node)
        made = runtime("call", node.func, *node.args)
        made.keywords = node.keywords
        return located(made, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return located(runtime("getitem", node.value, key_of(node.slice)), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return located(runtime(name, *[later(v) for v in node.values]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return located(runtime("negated", node.operand), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        parts = node.test, later(node.body), later(node.orelse)
        return located(runtime("chosen", *parts), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return located(_comparison(node.left, node.ops[0], node.comparators[0]), node)
        left, right = PREFIX + "left", PREFIX + "right"
        parts: list[ast.expr] = [later(node.left)]
        for op, other in zip(node.ops, node.comparators, strict=True):
            test = _comparison(ast.Name(left, ast.Load()), op, ast.Name(right, ast.Load()))
            parts += [ast.Lambda(arguments(left, right), test), later(other)]
        return located(runtime("compared", *parts), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return located(runtime("made", node), node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = located(runtime("iterated", node.iter), node.iter)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.Starred:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = located(runtime("iterated", node.value), node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr == "flat" and isinstance(node.ctx, ast.Load):
            return located(runtime("made", node), node)  # an iterator, anew each time
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


__all__ = ["Expressions", "key_of", "later"]
