"""Conversion of a program's source: NumPy is npcompat, and calls go over the border."""

import ast
import importlib.util
from collections.abc import Collection
from types import CodeType
from typing import Any

ACROSS, KEY, ITEM = "__npcompat_across__", "__npcompat_key__", "__npcompat_item__"
ASSIGNED = "__npcompat_assigned__"
"""Names in the globals of a converted module: `across`, `key`, `item` and `assigned` of the
border."""
OF_CLASSES = {"isinstance": "__npcompat_isinstance__", "issubclass": "__npcompat_issubclass__"}
"""Names there of `is_instance` and `is_subclass`, by the functions of Python that they replace."""
JIT = "__npcompat_jit__"
"""Name there of the decorator that compiles a function."""
_OF = "__npcompat_of__"
_PYTHONS = frozenset(
    """
    super locals globals vars eval exec len print range type repr str int float
    bool list dict set tuple enumerate zip getattr setattr hasattr delattr id iter next open input
    """.split()  # noqa: SIM905 (a list of names is read as text)
)


def _ours(module: str) -> str | None:
    """The module of ours that stands for one of NumPy; None if NumPy's own is taken."""
    parts = module.split(".")
    if parts[0] != "numpy":
        return None
    name = ".".join(["npcompat", *parts])
    try:
        return name if importlib.util.find_spec(name) is not None else None
    except ModuleNotFoundError:
        return None


class _Converter(ast.NodeTransformer):
    def __init__(self, compiled: Collection[str]) -> None:
        self._compiled = compiled
        self._numba: set[str] = set()  # names of numba, and of what is imported from it
        self._by_numba: set[str] = set()  # functions of the program that numba compiles
        self._ints: list[set[str]] = [set()]  # names that loops over `range` bind, by function

    # --- imports

    def visit_Import(self, node: ast.Import) -> Any:
        made: list[ast.stmt] = []
        for alias in node.names:
            ours = _ours(alias.name)
            if ours is None:
                made.append(ast.Import([alias]))
            elif alias.asname is not None or alias.name == "numpy":
                made.append(ast.Import([ast.alias(ours, alias.asname or "numpy")]))
            else:  # `import numpy.linalg` binds `numpy`
                made.append(ast.Import([ast.alias(ours, "_")]))
                made.append(ast.Import([ast.alias("npcompat.numpy", "numpy")]))
        return [ast.copy_location(m, node) for m in made]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        ours = None if node.level or node.module is None else _ours(node.module)
        if ours is not None:
            node.module = ours
        return node

    # --- the border

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id in _PYTHONS:
            return node
        if isinstance(called, ast.Name) and called.id in OF_CLASSES:
            called.id = OF_CLASSES[called.id]
            return node
        operands = [called]
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            operands.append(ast.Name(called.value.id, ast.Load()))
        node.func = ast.copy_location(ast.Call(ast.Name(ACROSS, ast.Load()), operands, []), called)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if self._is_simple(node.slice):
            return node
        of, given = node.value, _as_expression(node.slice)
        if isinstance(of, ast.Name):
            of = ast.Name(of.id, ast.Load())
        elif isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Call(ast.Name(ITEM, ast.Load()), [of, given], []), node)
        else:  # the object is evaluated once
            node.value = ast.copy_location(ast.NamedExpr(ast.Name(_OF, ast.Store()), of), of)
            of = ast.Name(_OF, ast.Load())
        node.slice = ast.copy_location(
            ast.Call(ast.Name(KEY, ast.Load()), [of, given], []), node.slice
        )
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            of = ast.Call(ast.Name(ASSIGNED, ast.Load()), [node.value], [])
            node.value = ast.copy_location(of, node.value)
        return node

    def _is_simple(self, key: ast.expr) -> bool:
        """Return True for a key of numbers, texts and slices of them, in which there is no
        array.
        """
        if isinstance(key, ast.Constant):
            return True
        if isinstance(key, ast.Name):
            return key.id in self._ints[-1]
        if isinstance(key, ast.UnaryOp):
            return isinstance(key.op, ast.USub | ast.UAdd) and self._is_simple(key.operand)
        if isinstance(key, ast.BinOp):
            return self._is_simple(key.left) and self._is_simple(key.right)
        if isinstance(key, ast.Slice):
            parts = (key.lower, key.upper, key.step)
            return all([p is None or self._is_simple(p) for p in parts])
        if isinstance(key, ast.Tuple):
            return all([self._is_simple(k) for k in key.elts])
        return False

    # --- functions that numba compiles

    def visit_Module(self, node: ast.Module) -> ast.AST:
        for part in ast.walk(node):
            if isinstance(part, ast.Import):
                names = [a for a in part.names if a.name.partition(".")[0] == "numba"]
                self._numba.update([a.asname or "numba" for a in names])
            elif isinstance(part, ast.ImportFrom) and (part.module or "").split(".")[0] == "numba":
                self._numba.update([a.asname or a.name for a in part.names])
        for part in ast.walk(node) if self._numba else ():
            if isinstance(part, ast.FunctionDef) and any(map(self._is_numbas, part.decorator_list)):
                self._by_numba.add(part.name)
            elif isinstance(part, ast.Call) and self._is_numbas(part.func):
                self._by_numba.update([a.id for a in part.args if isinstance(a, ast.Name)])
        return self.generic_visit(node)

    def _is_numbas(self, node: ast.expr) -> bool:
        """Return True for `njit`, `numba.njit`, and calls of them."""
        while isinstance(node, ast.Call | ast.Attribute):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self._numba

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if node.name in self._by_numba else self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node if any(map(self._is_numbas, node.decorator_list)) else self.generic_visit(node)

    # --- names of ints

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module):
            return super().generic_visit(node)
        self._ints.append(_loop_indices(node))
        super().generic_visit(node)
        self._ints.pop()
        if isinstance(node, ast.FunctionDef) and node.name in self._compiled:
            node.decorator_list.append(ast.copy_location(ast.Name(JIT, ast.Load()), node))
        return node


def _as_expression(key: ast.expr) -> ast.expr:
    """A key as an expression: slices are calls of `slice`."""
    if isinstance(key, ast.Slice):
        parts = [p or ast.Constant(None) for p in (key.lower, key.upper, key.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), parts, []), key)
    if isinstance(key, ast.Tuple):
        key.elts = [_as_expression(k) for k in key.elts]
    return key


def _loop_indices(function: ast.AST) -> set[str]:
    """Names that a function binds as indices of loops over `range`, and in no other way."""
    bound: dict[str, list[bool]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            over = node.iter
            is_range = (
                isinstance(over, ast.Call)
                and isinstance(over.func, ast.Name)
                and over.func.id == "range"
            )
            bound.setdefault(node.target.id, []).append(is_range)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, [])
        elif isinstance(node, ast.arg):
            bound.setdefault(node.arg, []).append(False)
    stores: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id] = stores.get(node.id, 0) + 1
    return {n for n, how in bound.items() if how and all(how) and stores.get(n, 0) == len(how)}


def converted(source: str | bytes, file: str, compiled: Collection[str] = ()) -> CodeType:
    """Compile the source of a program's module, converted; lines are those of the source.

    Functions whose names are in `compiled` become compiled functions.
    """
    tree: Any = converted_tree(ast.parse(source, file), compiled)
    code: CodeType = compile(tree, file, "exec", dont_inherit=True)
    return code


def converted_tree(tree: ast.AST, compiled: Collection[str] = ()) -> ast.AST:
    """Convert the syntax tree of a module or of a notebook's cell."""
    found: ast.AST = _Converter(compiled).visit(tree)
    return ast.fix_missing_locations(found)


__all__ = ["ACROSS", "ASSIGNED", "ITEM", "JIT", "KEY", "OF_CLASSES", "converted", "converted_tree"]
