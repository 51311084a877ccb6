"""Find the places of an MXNet program that mean something else here: `python -m npcompat.migrate`.

Each place is printed with the line to write instead. The decisions behind them are the rows of
docs/from_mxnet.md; what depends on values (indices that are floats, gradients of integers) is an
error where the program runs.
"""

import argparse
import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEFAULT_FLOATS = ("array", "arange", "full", "eye")
"""Functions whose results are float32 in MXNet also where integers are given."""
_GONE = {
    "io": "gluon.data.DataLoader, or image.ImageIter",
    "profiler": "npx.profile",
    "callback": "the handlers of gluon.contrib.estimator",
    "model": "gluon.contrib.estimator",
    "mod": "gluon.contrib.estimator",
    "module": "gluon.contrib.estimator",
    "engine": "npx.jit, or hybridize()",
    "kv": "gluon.Trainer",
    "kvstore": "gluon.Trainer",
}
"""Names of the module `mxnet` that are not here, with what to use."""


@dataclass(frozen=True)
class Place:
    """One place of a program.

    Parameters
    ----------
    line : int
        Number of the line, from 1.
    reason : str
        Difference between MXNet and npcompat.
    instead : str
        Line to write, or a text in parentheses where no single line does it.
    """

    line: int
    reason: str
    instead: str


class _Finder(ast.NodeVisitor):
    """Visitor of a program's syntax tree that collects its places."""

    def __init__(self, source: str) -> None:
        self.places: list[Place] = []
        self._source, self._lines = source, source.splitlines()
        self._modules: dict[str, str] = {}  # names of the program, and MXNet's modules
        self._draws: dict[str, ast.Call] = {}  # names of draws without a size

    def _add(self, node: Any, reason: str, old: Any = None, new: str = "", hint: str = "") -> None:
        """Add a place, whose line is that of the program with `new` for the node `old`."""
        instead = f"({hint})"
        if old is not None:
            text = self._lines[node.lineno - 1]
            part = ast.get_source_segment(self._source, old)
            if part is not None and part in text:
                instead = text.replace(part, new, 1).strip()
            else:
                instead = new
        self.places.append(Place(node.lineno, reason, instead))

    # --- names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "mxnet":
                self._modules[alias.asname or "mxnet"] = alias.name if alias.asname else "mxnet"
                renamed = "npcompat" + alias.name.removeprefix("mxnet")
                bound = alias.asname or ("mxnet" if "." not in alias.name else None)
                new = f"import {renamed}" + (f" as {bound}" if bound else "")
                self._add(node, "the package is npcompat", node, new)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module is None or node.module.partition(".")[0] != "mxnet" or node.level:
            return
        for alias in node.names:
            self._modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            if node.module == "mxnet" and alias.name in _GONE:
                self._add(node, f"mxnet.{alias.name} is not here", hint=f"use {_GONE[alias.name]}")
        names = ", ".join([a.name + (f" as {a.asname}" if a.asname else "") for a in node.names])
        module = "npcompat" + node.module.removeprefix("mxnet")
        self._add(node, "the package is npcompat", node, f"from {module} import {names}")

    def _path(self, node: ast.AST) -> str:
        """The path of a name in MXNet, such as `mxnet.np.array`; empty for any other."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._modules:
            return ""
        return ".".join([self._modules[node.id], *reversed(parts)])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        _, _, name = path.partition(".")
        if name in _GONE:
            self._add(node, f"mxnet.{name} is not here", hint=f"use {_GONE[name]}")
        elif name.startswith(("nd.", "ndarray.")) and name.count(".") == 1:
            self._older_array(node, name.partition(".")[2])
        self.generic_visit(node)

    def _older_array(self, node: ast.Attribute, name: str) -> None:
        if hasattr(importlib.import_module("npcompat.ndarray"), name):
            return
        for space in ("np", "npx"):
            if hasattr(importlib.import_module(f"npcompat.{_SPACES[space]}"), name):
                self._add(node, f"mx.nd.{name} is that of NumPy", node, f"{space}.{name}")
                return
        self._add(node, f"mx.nd.{name} is not here", hint="use the functions of np and npx")

    # --- calls

    def visit_Assign(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            self._draws.pop(target.id, None)
            if isinstance(value, ast.Call) and "size" not in [k.arg for k in value.keywords]:
                space = self._path(value.func).rpartition(".")[0]
                constant = all([isinstance(k.value, ast.Constant) for k in value.keywords])
                known = space in ("mxnet.np.random", "mxnet.numpy.random") and constant
                if known and not value.args and self._path(value.func)[-5:] != ".rand":
                    self._draws[target.id] = value
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside, self._draws = self._draws, {}
        self.generic_visit(node)
        self._draws = outside

    def _attached(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "attach_grad"):
            return
        variable = node.func.value
        draw = self._draws.pop(variable.id, None) if isinstance(variable, ast.Name) else None
        if draw is not None:
            words = ", ".join([*[ast.unparse(k) for k in draw.keywords], "size=()"])
            new = f"{ast.unparse(draw.func)}({words})"
            self._add(draw, "a draw without a size is a number, as in NumPy", draw, new)

    def visit_Call(self, node: ast.Call) -> None:
        space, _, name = self._path(node.func).rpartition(".")
        if space in ("mxnet.np", "mxnet.numpy", "mxnet.nd"):
            self._call_of_numpy(node, name)
        self._keywords(node)
        self._attached(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "name_scope":
            self._add(node, "names are the attributes that lead to them", hint="remove the `with`")
        self.generic_visit(node)

    def _call_of_numpy(self, node: ast.Call, name: str) -> None:
        called = ast.unparse(node.func)
        positional = [ast.unparse(a) for a in node.args]
        named = [ast.unparse(k) for k in node.keywords]
        if name in _DEFAULT_FLOATS and "dtype" not in [k.arg for k in node.keywords]:
            if name == "eye" or not _is_of_integers(node.args[-1:]):
                return
            if name == "array" and len(node.args) > 1:
                return
            new = f"{called}({', '.join([*positional, *named, 'dtype=' + repr('float32')])})"
            self._add(node, "integers stay integers, as in NumPy", node, new)
        elif name == "stack" and _is_generator(node.args[:1]):
            inside = f"[{positional[0].removeprefix('(').removesuffix(')')}]"
            new = f"{called}({', '.join([inside, *positional[1:], *named])})"
            self._add(node, "a sequence is needed, as in NumPy", node, new)
        elif name in ("argmax", "argmin", "argsort"):
            new = f"{ast.unparse(node)}.astype('float32')"
            self._add(node, f"{name} gives int64, in MXNet floats, if that matters", node, new)

    def _keywords(self, node: ast.Call) -> None:
        of_mxnet = self._path(node.func).startswith("mxnet.gluon")
        for word in node.keywords:
            value = word.value.value if isinstance(word.value, ast.Constant) else None
            if of_mxnet and word.arg in ("prefix", "params") and ".nn." in self._path(node.func):
                kept = [w for w in node.keywords if w is not word]
                new = ast.unparse(ast.Call(node.func, node.args, kept))
                hint = "block.share_parameters(other.collect_params()) shares"
                reason = "names of parameters are the attributes that lead to them"
                reason += f"; {hint}" if word.arg == "params" else ""
                self._add(node, reason, node, new)
            elif word.arg == "kvstore" and value == "dist_async":
                reason = "gradients are summed in step with all devices"
                self._add(word.value, reason, word.value, "'dist_sync'")
            elif value == "row_sparse" or (word.arg == "sparse_grad" and value is True):
                kept = [w for w in node.keywords if w is not word]
                new = ast.unparse(ast.Call(node.func, node.args, kept))
                self._add(node, "arrays and gradients are dense", node, new)
            elif word.arg == "pretrained" and value is True:
                self._add(node, "nothing is downloaded", hint="root= names the folder of the file")


_SPACES = {"np": "numpy", "npx": "numpy_extension"}


def _is_of_integers(nodes: Sequence[ast.AST]) -> bool:
    """Return True for literals of integers: 3, [1, 2], ((1,), (2,))."""

    def leaves(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.List | ast.Tuple):
            for element in node.elts:
                yield from leaves(element)
        elif isinstance(node, ast.UnaryOp):
            yield node.operand
        else:
            yield node

    found = [leaf for node in nodes for leaf in leaves(node)]
    return bool(found) and all(
        [isinstance(leaf, ast.Constant) and type(leaf.value) is int for leaf in found]
    )


def _is_generator(nodes: Sequence[ast.AST]) -> bool:
    return bool(nodes) and isinstance(nodes[0], ast.GeneratorExp)


def places(source: str) -> list[Place]:
    """Find the places of an MXNet program that mean something else here.

    Parameters
    ----------
    source : str
        Text of the program.

    Returns
    -------
    list of Place
        In the order of their lines.

    Examples
    --------
    >>> from npcompat import migrate
    >>> found = migrate.places("from mxnet import np\\nx = np.array([1, 2])")
    >>> [(p.line, p.instead) for p in found]
    [(1, 'from npcompat import np'), (2, "x = np.array([1, 2], dtype='float32')")]
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(dict.fromkeys(finder.places), key=lambda place: place.line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the places of files; return 1 if there are any.

    Parameters
    ----------
    arguments : sequence of str, optional
        Names of the files; those of the command line if not given.
    """
    parser = argparse.ArgumentParser("python -m npcompat.migrate", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="files of an MXNet program")
    count = 0
    for file in parser.parse_args(arguments).files:
        for place in places(file.read_text()):
            print(f"{file}:{place.line}: {place.reason}\n    {place.instead}")
            count += 1
    return int(count > 0)


__all__ = ["Place", "main", "places"]

if __name__ == "__main__":
    sys.exit(main())
