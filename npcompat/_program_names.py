"""Names of an MXNet program: those of MXNet's modules, and of `np` and `npx` in lines to write."""

import ast
from collections.abc import Iterator, Sequence


class ProgramNames:
    """Names that a program binds.

    Attributes
    ----------
    modules : dict
        MXNet's modules, by their names in the program.
    added : set of str
        `np` and `npx`, where lines that are written need an import that the program has not.
    """

    def __init__(self, program: ast.AST) -> None:
        self.modules: dict[str, str] = {}
        self.added: set[str] = set()
        for node in ast.walk(program):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._bind(node)
        self._others = set(_other_names(program))

    def _bind(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name.partition(".")[0] == "mxnet":
                self.modules[alias.asname or "mxnet"] = alias.name if alias.asname else "mxnet"
        if isinstance(node, ast.ImportFrom) and is_of_mxnet(node):
            for alias in node.names:
                self.modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def path(self, node: ast.AST) -> str:
        """Return the path of a name in MXNet, such as `mxnet.np.array`; empty for any other."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return ""
        return ".".join([self.modules[node.id], *reversed(parts)])

    def uses(self, program: ast.AST, modules: Sequence[str]) -> bool:
        """Return True if a program uses one of these modules of MXNet, or a name of one."""
        paths = [self.path(n) for n in ast.walk(program) if isinstance(n, ast.Attribute | ast.Name)]
        return any([path == m or path.startswith(f"{m}.") for path in paths for m in modules])

    def of(self, space: str) -> str:
        """Return the program's name of `np` or `npx`, whose import is added where it has none."""
        paths = {name: path for name, path in self.modules.items() if name not in self._others}
        longer = {"np": "mxnet.numpy", "npx": "mxnet.numpy_extension"}[space]
        for wanted, suffix in ((f"mxnet.{space}", ""), (longer, ""), ("mxnet", f".{space}")):
            for name, path in paths.items():
                if path == wanted:
                    return name + suffix
        self.added.add(space)
        return f"mx{space}" if space in self._others else space


class Scopes:
    """Scopes of a program's names: the function that binds a name, or the program itself."""

    def __init__(self, program: ast.AST) -> None:
        self._outer: dict[ast.AST, ast.AST | None] = {}  # the scope of each node
        self._bound: dict[ast.AST | None, set[str]] = {None: set()}
        self._visit(program, None)

    def _visit(self, node: ast.AST, scope: ast.AST | None) -> None:
        for child in ast.iter_child_nodes(node):
            self._outer[child] = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                self._bound[child] = set()
                self._visit(child, child)
                continue
            if isinstance(child, ast.arg):
                self._bound[scope].add(child.arg)
            elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                self._bound[scope].add(child.id)
            self._visit(child, scope)

    def binding(self, name: ast.Name) -> tuple[ast.AST | None, str]:
        """Return the scope that binds a name, and the name."""
        scope = self._outer[name]
        while scope is not None and name.id not in self._bound[scope]:
            scope = self._outer[scope]
        return scope, name.id


def _other_names(program: ast.AST) -> Iterator[str]:
    """Iterate over the names that a program binds to something else than modules of MXNet."""
    for node in ast.walk(program):
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and not is_of_mxnet(node)
        ):
            for alias in node.names:
                if alias.name.partition(".")[0] != "mxnet":
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def is_of_mxnet(node: ast.ImportFrom) -> bool:
    """Return True for an import of names of MXNet."""
    return not node.level and str(node.module).partition(".")[0] == "mxnet"


__all__ = ["ProgramNames", "Scopes", "is_of_mxnet"]
