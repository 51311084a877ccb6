"""Find the places of an MXNet program that mean something else here: `python -m npcompat.migrate`.

Each place is printed with the line to write instead. The decisions behind them are the rows of
docs/from_mxnet.md; what depends on values (indices that are floats, gradients of integers), or on
shapes that the program does not spell out, is an error where the program runs.
"""

import argparse
import ast
import importlib
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as onp

_ARRAYS = ("mxnet.np", "mxnet.numpy", "mxnet.nd", "mxnet.ndarray")
"""Modules whose functions make arrays."""
_DRAWS = ("mxnet.np.random", "mxnet.numpy.random")
_DEFAULT_FLOATS = ("array", "arange", "full", "eye")
"""Functions whose results are float32 in MXNet also where integers are given."""
_TAKERS = ("take", "pick", "one_hot", "gather_nd", "embedding", "batch_take", "index_add")
"""Functions whose arrays of integers are positions."""
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
        self._values: dict[str, ast.expr] = {}  # what was assigned last, by name
        self._loops: dict[str, str] = {}  # names of what loops run over, by their variables
        self._replaced: set[ast.AST] = set()  # parts of what is replaced as a whole
        self._positions: set[ast.AST] = set()  # what integers are needed for, and names of it
        self._position_names: set[str] = set()

    def find(self) -> list[Place]:
        """Return the places of the program."""
        tree = ast.parse(self._source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._bind(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript):
                self._note_positions(node.slice)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in _TAKERS:
                of_module = bool(self._path(node.func))  # whose first argument is the data
                for given in (*node.args[of_module:], *[k.value for k in node.keywords]):
                    self._note_positions(given)
        self.visit(tree)
        return self.places

    def _note_positions(self, node: ast.expr) -> None:
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            self._positions.add(part)
            if isinstance(part, ast.Name):
                self._position_names.add(part.id)

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

    def _bind(self, node: ast.Import | ast.ImportFrom) -> None:
        """Note the names under which a program imports MXNet's modules."""
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name.partition(".")[0] == "mxnet":
                self._modules[alias.asname or "mxnet"] = alias.name if alias.asname else "mxnet"
        if isinstance(node, ast.ImportFrom) and _is_of_mxnet(node):
            for alias in node.names:
                self._modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "mxnet":
                renamed = "npcompat" + alias.name.removeprefix("mxnet")
                bound = alias.asname or ("mxnet" if "." not in alias.name else None)
                new = f"import {renamed}" + (f" as {bound}" if bound else "")
                self._add(node, "the package is npcompat", node, new)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not _is_of_mxnet(node):
            return
        assert node.module is not None
        for alias in node.names:
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
        if node in self._replaced:
            return
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
        if name in ("save", "load"):
            self._add(node, f"mx.nd.{name} is that of npx", node, f"npx.{name}")
            return
        for space in ("np", "npx"):
            if hasattr(importlib.import_module(f"npcompat.{_SPACES[space]}"), name):
                self._add(node, f"mx.nd.{name} is that of NumPy", node, f"{space}.{name}")
                return
        self._add(node, f"mx.nd.{name} is not here", hint="use the functions of np and npx")

    # --- calls

    def visit_Assign(self, node: ast.Assign) -> None:
        if any([isinstance(t, ast.Name) and t.id in self._position_names for t in node.targets]):
            self._positions.add(node.value)
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
            if isinstance(target, ast.Name):
                self._values[target.id] = node.value
            elif isinstance(target, ast.Subscript):
                self._element(target, node.value)

    def visit_For(self, node: ast.For) -> None:
        outside = dict(self._loops)
        if isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Name):
            self._loops[node.target.id] = node.iter.id
        self.generic_visit(node)
        self._loops = outside

    def visit_Expr(self, node: ast.Expr) -> None:
        """Find `x.detach()` whose result is not used."""
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if self._modules and isinstance(called, ast.Attribute) and called.attr == "detach":
            reason = "detach() returns an array without history, and leaves its array as it is"
            name = ast.unparse(called.value)
            over = self._loops.get(name)
            if over is None:
                new = f"{name} = {ast.unparse(node.value)}"
                self._add(node, reason, node, new)
            else:
                new = f"{over} = [{name}.detach() for {name} in {over}]"
                self._add(node, reason, hint=f"{new}, in place of the loop")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._values.pop(node.id, None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside, self._values = self._values, {}
        self.generic_visit(node)
        self._values = outside

    def _value(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for; any other expression itself."""
        return self._values.get(node.id, node) if isinstance(node, ast.Name) else node

    def _axes(self, node: ast.expr) -> int:
        """Number of axes of an array, where its making spells them out; else 0."""
        made = self._value(node)
        if not isinstance(made, ast.Call):
            return 0
        space, _, name = self._path(made.func).rpartition(".")
        if space in _DRAWS:
            return _length_of_shape([k.value for k in made.keywords if k.arg == "size"])
        if space not in _ARRAYS:
            return 0
        if name == "array":
            return _depth(made.args[0]) if made.args else 0
        if name in ("ones", "zeros", "empty", "full"):
            named = [k.value for k in made.keywords if k.arg == "shape"]
            return _length_of_shape(made.args[:1] or named)
        return int(name in ("arange", "linspace"))

    def _element(self, target: ast.Subscript, value: ast.expr) -> None:
        """Find an element that is assigned an array with axes."""
        positions = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        whole = all(map(_is_integer, positions)) and self._axes(target.value) == len(positions)
        if whole and self._axes(value):
            new = f"{ast.unparse(value)}.item()"
            self._add(value, "an element is a number, as in NumPy", value, new)

    def _number(self, node: ast.Call) -> None:
        """Find `float(x)` and `int(x)` of an array with axes."""
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in ("float", "int")
            and len(node.args) == 1
            and self._axes(node.args[0])
        ):
            new = f"{ast.unparse(node.args[0])}.item()"
            reason = f"{node.func.id} takes arrays without axes, as NumPy's"
            self._add(node, reason, node, new)

    def _bool(self, node: ast.Call) -> None:
        """Find methods of arrays that are called of `x.all()` and `np.any(x)`."""
        if not isinstance(node.func, ast.Attribute):
            return
        value, name = self._value(node.func.value), node.func.attr
        if not isinstance(value, ast.Call) or value.keywords:
            return
        space, _, function = self._path(value.func).rpartition(".")
        if not space and isinstance(value.func, ast.Attribute):
            function = value.func.attr
        is_bool = function in ("all", "any") and len(value.args) == int(space in _ARRAYS)
        if is_bool and self._modules and _is_of_arrays_only(name):
            new = f"bool({ast.unparse(node.func.value)})"
            self._add(node, f"a bool has no {name}, as NumPy's", node, new)

    def _attached(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "attach_grad"):
            return
        draw = self._value(node.func.value)
        if draw is not node.func.value and self._is_number_drawn(draw):
            assert isinstance(draw, ast.Call)
            words = ", ".join([*[ast.unparse(k) for k in draw.keywords], "size=()"])
            new = f"{ast.unparse(draw.func)}({words})"
            self._add(draw, "a draw without a size is a number, as in NumPy", draw, new)

    def _is_number_drawn(self, node: ast.expr) -> bool:
        """Return True for a draw without a size, whose parameters are numbers."""
        if not isinstance(node, ast.Call) or node.args:
            return False
        space, _, name = self._path(node.func).rpartition(".")
        words = [k.arg != "size" and isinstance(k.value, ast.Constant) for k in node.keywords]
        return space in _DRAWS and name != "rand" and all(words)

    def visit_Call(self, node: ast.Call) -> None:
        space, _, name = self._path(node.func).rpartition(".")
        if space in _ARRAYS:
            self._call_of_numpy(node, name)
        self._keywords(node)
        self._attached(node)
        self._number(node)
        self._bool(node)
        if space.removeprefix("mxnet.") in ("nd.random", "ndarray.random"):
            self._draw(node, name)
        if name == "Perplexity" and node.args and not _is_none(node.args[0]):
            new = f"ignore_label={ast.unparse(node.args[0])}"
            self._add(node, "the first argument is eps, as in MXNet 2", node.args[0], new)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "take"
            and len(node.args) == 1
            and not node.keywords
            and isinstance(made := self._value(node.func.value), ast.Call)
            and self._path(made.func).startswith("mxnet.nd")
        ):
            new = f"{ast.unparse(node.func)}({ast.unparse(node.args[0])}, axis=0, mode='clip')"
            self._add(node, "take() without an axis takes elements, as in NumPy", node, new)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "name_scope":
            self._add(node, "names are the attributes that lead to them", hint="remove the `with`")
        self.generic_visit(node)

    def _draw(self, node: ast.Call, name: str) -> None:
        """Find a draw of `mx.nd.random` with a shape."""
        if all([word.arg != "shape" for word in node.keywords]):
            return
        assert isinstance(node.func, ast.Attribute)
        self._replaced.add(node.func.value)
        words = [
            (k.arg if k.arg != "shape" else "size", ast.unparse(k.value)) for k in node.keywords
        ]
        given = [*map(ast.unparse, node.args), *[f"{arg}={value}" for arg, value in words]]
        new = f"np.random.{name}({', '.join(given)})"
        self._add(node, "mx.nd.random is that of NumPy, whose draws have a size", node, new)

    def _call_of_numpy(self, node: ast.Call, name: str) -> None:
        called = ast.unparse(node.func)
        positional = [ast.unparse(a) for a in node.args]
        named = [ast.unparse(k) for k in node.keywords]
        if name in _DEFAULT_FLOATS and "dtype" not in [k.arg for k in node.keywords]:
            if name == "eye" or not _is_of_integers(node.args[-1:]) or node in self._positions:
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
        reasons = {word: self._reason_to_drop(node, word) for word in node.keywords}
        kept = [word for word, reason in reasons.items() if not reason]
        if len(kept) < len(reasons):
            reason = "; ".join(dict.fromkeys(filter(None, reasons.values())))
            self._add(node, reason, node, ast.unparse(ast.Call(node.func, node.args, kept)))
        for word in kept:
            value = word.value.value if isinstance(word.value, ast.Constant) else None
            if word.arg == "kvstore" and value == "dist_async":
                reason = "gradients are summed in step with all devices"
                self._add(word.value, reason, word.value, "'dist_sync'")
            elif word.arg == "pretrained" and value is True:
                self._add(node, "nothing is downloaded", hint="root= names the folder of the file")

    def _reason_to_drop(self, node: ast.Call, word: ast.keyword) -> str:
        """The reason to leave a keyword out; empty for one that stays."""
        path = self._path(node.func)
        value = word.value.value if isinstance(word.value, ast.Constant) else None
        if path.startswith("mxnet.gluon") and ".nn." in path and word.arg in ("prefix", "params"):
            if word.arg == "params" and not _is_none(word.value):
                return "block.share_parameters(other.collect_params()) shares parameters"
            return "names of parameters are the attributes that lead to them"
        if value == "row_sparse" or (word.arg == "sparse_grad" and value is True):
            return "arrays and gradients are dense"
        return ""


def _is_of_mxnet(node: ast.ImportFrom) -> bool:
    return not node.level and str(node.module).partition(".")[0] == "mxnet"


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


def _is_integer(node: ast.AST) -> bool:
    return not isinstance(node, ast.Tuple | ast.List) and _is_of_integers([node])


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _length_of_shape(given: Sequence[ast.AST]) -> int:
    """Number of axes of a shape, where it is a literal: 2 for `(1, 1)`, 1 for `3`; else 0."""
    for node in given:
        return len(node.elts) if isinstance(node, ast.List | ast.Tuple) else int(_is_integer(node))
    return 0


def _depth(node: ast.AST) -> int:
    """Number of nested lists or tuples: 2 for `[[1, 2]]`."""
    depth = 0
    while isinstance(node, ast.List | ast.Tuple) and node.elts:
        node, depth = node.elts[0], depth + 1
    return depth


def _is_of_arrays_only(name: str) -> bool:
    """Return True for a method of arrays that NumPy's bools lack, as `asnumpy`."""
    arrays = importlib.import_module("npcompat.numpy").ndarray
    return hasattr(arrays, name) and not hasattr(onp.bool_, name)


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
    return sorted(dict.fromkeys(_Finder(source).find()), key=lambda place: place.line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the places of files; return 1 if there are any, and 2 if a file can't be read.

    Parameters
    ----------
    arguments : sequence of str, optional
        Names of the files; those of the command line if not given.
    """
    parser = argparse.ArgumentParser("python -m npcompat.migrate", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="files of an MXNet program")
    status = 0
    for file in parser.parse_args(arguments).files:
        try:
            with tokenize.open(file) as opened:
                found = places(opened.read())
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{file}: not read: {error}", file=sys.stderr)
            status = 2
            continue
        for place in found:
            print(f"{file}:{place.line}: {place.reason}\n    {place.instead}")
            status = max(status, 1)
    return status


__all__ = ["Place", "main", "places"]

if __name__ == "__main__":
    sys.exit(main())
