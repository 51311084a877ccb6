"""Conversion of a program's source: NumPy is npcompat, and calls go over the border."""

import ast
import importlib.util
import linecache
from collections.abc import Collection
from functools import lru_cache, update_wrapper
from types import CodeType, FunctionType
from typing import Any, cast

ACROSS, KEY, ITEM = "__npcompat_across__", "__npcompat_key__", "__npcompat_item__"
ASSIGNED = "__npcompat_assigned__"
"""Names among the builtins: `across`, `key`, `item` and `assigned` of the border."""
OF_PYTHON = {
    "isinstance": "__npcompat_isinstance__",
    "issubclass": "__npcompat_issubclass__",
    "setattr": "__npcompat_setattr__",
}
"""Names there of functions of the border, by the functions of Python that they replace."""
JIT = "__npcompat_jit__"
"""Name there of the decorator that compiles a function."""
AS_ARRAY = "__npcompat_as_array__"
"""Name there of the decorator of methods `__array__`, whose results packages take."""
_BOUND = frozenset((ACROSS, KEY, ITEM, ASSIGNED, JIT, AS_ARRAY, *OF_PYTHON.values()))
PROGRAM = "__npcompat_program__"
"""Name in the globals of converted source."""
_PYTHONS = frozenset(
    """
    super locals globals vars eval exec len print range type repr str int float
    bool list dict set tuple enumerate zip getattr hasattr delattr id iter next open input
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
        if isinstance(called, ast.Name) and called.id in OF_PYTHON:
            called.id = OF_PYTHON[called.id]
            return node
        operands = [called]
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            operands.append(ast.Name(called.value.id, ast.Load()))
        node.func = ast.copy_location(ast.Call(ast.Name(ACROSS, ast.Load()), operands, []), called)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        simple = self._is_simple(node.slice)
        self.generic_visit(node)
        of = node.value
        if not isinstance(node.ctx, ast.Load):
            if not (simple and isinstance(of, ast.Name) and not _has_text(node.slice)):
                node.value = self._assigned(of)
            return node
        if simple:
            return node
        given = _as_expression(node.slice)
        if not isinstance(of, ast.Name):
            return ast.copy_location(ast.Call(ast.Name(ITEM, ast.Load()), [of, given], []), node)
        node.slice = ast.copy_location(
            ast.Call(ast.Name(KEY, ast.Load()), [ast.Name(of.id, ast.Load()), given], []),
            node.slice,
        )
        return node

    def _assigned(self, of: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.Name(ASSIGNED, ast.Load()), [of], []), of)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            node.value = self._assigned(node.value)
        return node

    # --- annotations, which others read, stay what they are

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        returns, node.returns = node.returns, None
        found = self.generic_visit(node)
        node.returns = returns
        if node.name == "__array__":
            node.decorator_list.append(ast.copy_location(ast.Name(AS_ARRAY, ast.Load()), node))
        return found

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    # --- keys

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


def _has_text(key: ast.expr) -> bool:
    """Return True for the key of a column of a table, or of a dict."""
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    return any([isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts])


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


def converted(
    source: str | bytes, file: str, compiled: Collection[str] = (), constant: Any = None
) -> CodeType:
    """Compile the source of a program's module, converted; lines are those of the source.

    Functions whose names are in `compiled` become compiled functions. `constant` is held by all
    code that calls the border.
    """
    tree: Any = converted_tree(ast.parse(source, file), compiled)
    tree.body.insert(_after_imports_from_future(tree.body), _MARK)
    code: CodeType = compile(tree, file, "exec", dont_inherit=True)
    _SOURCES[file] = source
    return code if constant is None else holding(code, constant)


def holding(code: CodeType, constant: Any) -> CodeType:
    """Return code that holds a constant wherever it calls the border, also in code within it.

    Other code stays what its source compiles to, by which it is known again.
    """
    held = [holding(c, constant) if isinstance(c, CodeType) else c for c in code.co_consts]
    if not _BOUND.isdisjoint(code.co_names):
        held.append(constant)
    return code.replace(co_consts=tuple(held))


_MARK = ast.fix_missing_locations(ast.parse(f"{PROGRAM} = True").body[0])


def _after_imports_from_future(body: list[ast.stmt]) -> int:
    """Return the place of the first statement that may stand before others: after the docstring,
    too.
    """
    for i, statement in enumerate(body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and getattr(statement, "module", None) != "__future__":
            return i
    return len(body)


def is_programs(function: FunctionType) -> bool:
    """Return True for a function of a program, also for one that it makes by `exec`."""
    return PROGRAM in function.__globals__


def converted_tree(tree: ast.AST, compiled: Collection[str] = ()) -> ast.AST:
    """Convert the syntax tree of a module or of a notebook's cell."""
    found: ast.AST = _Converter(compiled).visit(tree)
    return ast.fix_missing_locations(found)


_SOURCES: dict[str, str | bytes] = {}
"""Source of the modules that were converted, by file."""


def original(function: FunctionType) -> FunctionType:
    """Return a function of a program as it was written, for what compiles its code by itself.

    Other functions, and those of which the file has several at one place, are returned as they are.
    """
    if not isinstance(function, FunctionType) or not is_programs(function):
        return function
    code = function.__code__
    found = [c for c in _codes(code.co_filename) if _place(c) == _place(code)]
    if len(found) > 1:
        found = [c for c in found if _end(c) == _end(code)]
    if len(found) != 1:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple([cells[name] for name in found[0].co_freevars])
    made = FunctionType(
        found[0], function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return cast("FunctionType", update_wrapper(made, function))


def _codes(file: str) -> list[CodeType]:
    """Return the code of all functions in a file of the program, as they are written there."""
    source = _SOURCES.get(file)
    if source is None:  # a cell of a notebook
        source = "".join(linecache.getlines(file))
    return _codes_of(source, file)


@lru_cache(maxsize=64)
def _codes_of(source: str | bytes, file: str) -> list[CodeType]:
    found: list[CodeType] = [compile(source, file, "exec", dont_inherit=True)]
    for code in found:
        found.extend([c for c in code.co_consts if isinstance(c, CodeType)])
    return found


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _end(code: CodeType) -> tuple[int, int]:
    """Return where the last expression of a function ends."""
    return max([(line or 0, column or 0) for _, line, _, column in code.co_positions()])


__all__ = [
    "ACROSS",
    "ASSIGNED",
    "AS_ARRAY",
    "ITEM",
    "JIT",
    "KEY",
    "OF_PYTHON",
    "PROGRAM",
    "converted",
    "converted_tree",
    "holding",
    "is_programs",
    "original",
]
