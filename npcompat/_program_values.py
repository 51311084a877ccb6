"""Values of a program's expressions, as far as its source spells them out."""

import ast
from collections.abc import Mapping, Sequence

_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr)
_WHOLE_CALLS = ("len", "range", "int", "bool", "ord")
_PASSES = ("sorted", "list", "tuple", "reversed", "min", "max", "sum", "abs")
"""Functions of Python whose numbers are those of their arguments."""


def is_of_integers(node: ast.AST, values: Mapping[str, ast.expr] | None = None) -> bool:
    """Return True for an expression of integers or bools: `3`, `[[1], [2]]`, `range(n)`, `[0] * n`.

    Parameters
    ----------
    node : ast.AST
        The expression.
    values : mapping, optional
        What names stand for.
    """
    values = values or {}

    def whole(part: ast.AST) -> bool:
        return is_of_integers(part, values)

    match node:
        case ast.Constant():
            return type(node.value) in (int, bool)
        case ast.List() | ast.Tuple():
            return bool(node.elts) and all(map(whole, node.elts))
        case ast.UnaryOp():
            return isinstance(node.op, ast.Not) or whole(node.operand)
        case ast.BinOp():
            return isinstance(node.op, _WHOLE) and whole(node.left) and whole(node.right)
        case ast.IfExp():
            return whole(node.body) and whole(node.orelse)
        case ast.Compare():
            return True
        case ast.Starred():
            return whole(node.value)
        case ast.ListComp() | ast.GeneratorExp():
            names = {g.target.id: g.iter for g in node.generators if isinstance(g.target, ast.Name)}
            return is_of_integers(node.elt, {**values, **names})
        case ast.Call(func=ast.Name(id=name)) if name in _WHOLE_CALLS:
            return True
        case ast.Call(func=ast.Name(id=name)) if name in _PASSES:
            return bool(node.args) and all(map(whole, node.args))
        case ast.Name() if node.id in values:
            rest = {name: value for name, value in values.items() if name != node.id}
            return is_of_integers(values[node.id], rest)
    return False


def is_integer(node: ast.AST) -> bool:
    """Return True for a number that is a literal integer, with its sign."""
    return not isinstance(node, ast.Tuple | ast.List) and is_of_integers(node)


def is_none(node: ast.AST) -> bool:
    """Return True for `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def length_of_shape(given: Sequence[ast.AST]) -> int:
    """Return the number of axes of a literal shape: 2 for `(1, 1)`, 1 for `3`; else 0."""
    for node in given:
        return len(node.elts) if isinstance(node, ast.List | ast.Tuple) else int(is_integer(node))
    return 0


def lengths(given: Sequence[ast.expr]) -> list[int]:
    """Return the literal lengths in a shape, given as one argument or several: -2 of `(-2, n)`."""
    nodes = (
        given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
    )
    found = []
    for node in nodes:
        sign, number = 1, node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, number = -1, node.operand
        if isinstance(number, ast.Constant) and type(number.value) is int:
            found.append(sign * number.value)
    return found


def depth(node: ast.AST) -> int:
    """Return the number of nested lists or tuples: 2 for `[[1, 2]]`."""
    found = 0
    while isinstance(node, ast.List | ast.Tuple) and node.elts:
        node, found = node.elts[0], found + 1
    return found


__all__ = ["depth", "is_integer", "is_none", "is_of_integers", "length_of_shape", "lengths"]
