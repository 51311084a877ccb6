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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as onp

from npcompat import _older_functions
from npcompat._older_functions import expression
from npcompat._program_names import ProgramNames, Scopes, is_of_mxnet
from npcompat._program_values import (
    depth,
    is_integer,
    is_none,
    is_of_integers,
    length_of_shape,
    lengths,
)

_ARRAYS = ("mxnet.np", "mxnet.numpy", "mxnet.nd", "mxnet.ndarray")
"""Modules whose functions make arrays."""
_OLDER = ("mxnet.nd", "mxnet.ndarray")
_DRAWS = ("mxnet.np.random", "mxnet.numpy.random")
_DEFAULT_FLOATS = ("array", "arange", "full")
"""Functions whose results are float32 in MXNet also where integers are given."""
_OLDER_WORDS = frozenset(("exclude", "is_ascend", "num_outputs"))
"""Parameters of methods that only arrays of `nd` have."""
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
        Line to write, with all that is to change in it, or a text in parentheses where no single
        line does it.
    """

    line: int
    reason: str
    instead: str


class _Finder(ast.NodeVisitor):
    """Visitor of a program's syntax tree that collects its places."""

    def __init__(self, source: str) -> None:
        self._source, self._lines = source, source.splitlines()
        self._values: dict[str, ast.expr] = {}  # what was assigned last, by name
        self._loops: dict[str, str] = {}  # names of what loops run over, by their variables
        self._edits: dict[ast.AST, ast.AST | str] = {}  # what to write for a node
        self._found: list[tuple[ast.AST, str, str]] = []  # nodes, reasons, and hints if no edits
        self._replaced: set[ast.AST] = set()  # parts of what is replaced as a whole
        self._positions: set[ast.AST] = set()  # what integers are needed for, and names of it
        self._position_names: set[tuple[ast.AST | None, str]] = set()

    def find(self) -> list[Place]:
        """Return the places of the program."""
        tree = ast.parse(self._source)
        self._names, self._scopes = ProgramNames(tree), Scopes(tree)
        self._uses_older = self._names.uses(tree, _OLDER)
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript):
                self._note_positions(node.slice)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in _TAKERS:
                of_module = bool(self._names.path(node.func))  # whose first argument is the data
                for given in (*node.args[of_module:], *[k.value for k in node.keywords]):
                    self._note_positions(given)
        self.visit(tree)
        lines = self._edited_lines(tree)
        return [
            Place(node.lineno, reason, f"({hint})" if hint else lines[node.lineno])  # type: ignore[attr-defined]
            for node, reason, hint in self._found
        ]

    def _note_positions(self, node: ast.expr) -> None:
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            self._positions.add(part)
            if isinstance(part, ast.Name):
                self._position_names.add(self._scopes.binding(part))

    def _add(
        self, node: Any, reason: str, old: Any = None, new: Any = None, hint: str = ""
    ) -> None:
        """Add a place, where `new` is to be written for the node `old`; or in words, a hint."""
        if new is not None:
            self._edits[old] = new
        self._found.append((node if new is None else old, reason, hint))

    def _edited_lines(self, tree: ast.AST) -> dict[int, str]:
        """Return the lines in which there are edits, with all of them."""
        parts: dict[int, list[Any]] = {}

        def collect(node: Any, outer: int) -> None:
            if node in self._edits and node.lineno != outer:
                outer = node.lineno
                parts.setdefault(outer, []).append(node)
            for child in ast.iter_child_nodes(node):
                collect(child, outer)

        collect(tree, 0)
        replacer = _older_functions.Replacer(tree, self._edits, self._names.of)
        lines = {line: self._edited(line, nodes, replacer) for line, nodes in parts.items()}
        if self._names.added:
            self._add_imports()
            lines.update(
                {line: self._edited(line, nodes, replacer) for line, nodes in parts.items()}
            )
        return lines

    def _add_imports(self) -> None:
        """Write the imports of `np` and `npx` that are added: beside those of MXNet's own names."""
        imports = [n for n in self._edits if isinstance(n, ast.Import | ast.ImportFrom)]
        beside = [n for n in imports if getattr(n, "module", "") == "mxnet"]
        names = [(name, self._names.of(name)) for name in sorted(self._names.added)]
        text = ", ".join([name if name == own else f"{name} as {own}" for name, own in names])
        place = (beside or imports)[0]
        joint = ", " if beside else "; from npcompat import "
        self._edits[place] = f"{self._edits[place]}{joint}{text}"

    def _edited(self, line: int, nodes: Sequence[Any], replacer: _older_functions.Replacer) -> str:
        text = self._lines[line - 1].encode()
        for node in sorted(nodes, key=lambda n: -n.col_offset):
            new = replacer.text(node)
            if node.end_lineno != line:  # several lines become one
                text = text[: node.col_offset] + self._lines[node.end_lineno - 1].encode()
                rest = text[node.col_offset + node.end_col_offset :]
            else:
                rest = text[node.end_col_offset :]
            text = text[: node.col_offset] + new.encode() + rest
        return text.decode().strip()

    # --- names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "mxnet":
                renamed = "npcompat" + alias.name.removeprefix("mxnet")
                bound = alias.asname or ("mxnet" if "." not in alias.name else None)
                new = f"import {renamed}" + (f" as {bound}" if bound else "")
                self._add(node, "the package is npcompat", node, new)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not is_of_mxnet(node):
            return
        assert node.module is not None
        for alias in node.names:
            self._missing(node, f"{node.module}.{alias.name}")
        names = ", ".join([a.name + (f" as {a.asname}" if a.asname else "") for a in node.names])
        module = "npcompat" + node.module.removeprefix("mxnet")
        self._add(node, "the package is npcompat", node, f"from {module} import {names}")

    def _missing(self, node: ast.AST, path: str) -> bool:
        """Find a name that is not here, where it is known what to use."""
        _, _, name = path.partition(".")
        gone = name.partition(".")[0]
        if gone in _GONE:
            self._add(node, f"mxnet.{gone} is not here", hint=f"use {_GONE[gone]}")
            return True
        found: Any = importlib.import_module("npcompat")
        here = "mxnet"
        for part in name.split(".") if name else ():
            here = f"{here}.{part}"
            try:
                found = getattr(found, part)
            except AttributeError as error:
                _, _, instead = str(error).partition("; use ")
                if instead:
                    self._add(node, f"{here} is not here", hint=f"use {instead}")
                return bool(instead)
            if not isinstance(found, ModuleType):
                break
        return False

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node in self._replaced:
            return
        older = self._older(node)
        if older:
            new = _older_functions.reference(older)
            hint = "" if new else _older_functions.in_words(older)
            self._add(node, f"mx.nd.{older} is not here", node, new, hint)
            return
        path = self._names.path(node)
        if not (path and self._missing(node, path)):
            self.generic_visit(node)

    def _older(self, node: ast.AST) -> str:
        """The name of a function of `mx.nd` that is not here; empty for any other node."""
        space, _, name = self._names.path(node).rpartition(".")
        if space not in _OLDER or name in ("random", "linalg"):
            return ""
        return "" if hasattr(importlib.import_module("npcompat.ndarray"), name) else name

    def _older_call(self, node: ast.Call, name: str) -> None:
        """Find a call of a function of `mx.nd` that is not here or has other parameters."""
        new, hint = _older_functions.call(name, node)
        self._replaced.add(node.func)
        here = not self._older(node.func)
        reason = "has NumPy's parameters" if here else "is not here"
        self._add(node, f"mx.nd.{name} {reason}", node, new, hint)

    # --- calls

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [t for t in node.targets if isinstance(t, ast.Name)]
        if any([self._scopes.binding(name) in self._position_names for name in names]):
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
        if self._names.modules and isinstance(called, ast.Attribute) and called.attr == "detach":
            reason = "detach() returns an array without history, and leaves its array as it is"
            name = ast.unparse(called.value)
            over = self._loops.get(name)
            if over is None and isinstance(called.value, ast.Name | ast.Attribute):
                self._add(node, reason, node, f"{name} = {ast.unparse(node.value)}")
            elif over is None:
                self._add(node, reason, hint="give its result the name under which it is used")
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
        space, _, name = self._names.path(made.func).rpartition(".")
        if space in _DRAWS:
            return length_of_shape([k.value for k in made.keywords if k.arg == "size"])
        if space not in _ARRAYS:
            return 0
        if name == "array":
            return depth(made.args[0]) if made.args else 0
        if name in ("ones", "zeros", "empty", "full"):
            named = [k.value for k in made.keywords if k.arg == "shape"]
            return length_of_shape(made.args[:1] or named)
        return int(name in ("arange", "linspace"))

    def _element(self, target: ast.Subscript, value: ast.expr) -> None:
        """Find an element that is assigned an array with axes."""
        positions = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        whole = all(map(is_integer, positions)) and self._axes(target.value) == len(positions)
        if whole and self._axes(value):
            new = expression("x.item()", x=value)
            self._add(value, "an element is a number, as in NumPy", value, new)

    def _number(self, node: ast.Call) -> None:
        """Find `float(x)` and `int(x)` of an array with axes."""
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in ("float", "int")
            and len(node.args) == 1
            and self._axes(node.args[0])
        ):
            new = expression("x.item()", x=node.args[0])
            reason = f"{node.func.id} takes arrays without axes, as NumPy's"
            self._add(node, reason, node, new)

    def _bool(self, node: ast.Call) -> None:
        """Find methods of arrays that are called of `x.all()` and `np.any(x)`."""
        if not isinstance(node.func, ast.Attribute):
            return
        value, name = self._value(node.func.value), node.func.attr
        if not isinstance(value, ast.Call) or value.keywords:
            return
        space, _, function = self._names.path(value.func).rpartition(".")
        if not space and isinstance(value.func, ast.Attribute):
            function = value.func.attr
        is_bool = function in ("all", "any") and len(value.args) == int(space in _ARRAYS)
        if is_bool and self._names.modules and _is_of_arrays_only(name):
            new = expression("bool(x)", x=node.func.value)
            self._add(node, f"a bool has no {name}, as NumPy's", node, new)

    def _attached(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "attach_grad"):
            return
        draw = self._value(node.func.value)
        if draw is not node.func.value and self._is_number_drawn(draw):
            assert isinstance(draw, ast.Call)
            new = _call(draw, words={"size": ast.Tuple([], ast.Load())})
            self._add(draw, "a draw without a size is a number, as in NumPy", draw, new)

    def _is_number_drawn(self, node: ast.expr) -> bool:
        """Return True for a draw without a size, whose parameters are numbers."""
        if not isinstance(node, ast.Call) or node.args:
            return False
        space, _, name = self._names.path(node.func).rpartition(".")
        words = [k.arg != "size" and isinstance(k.value, ast.Constant) for k in node.keywords]
        return space in _DRAWS and name != "rand" and all(words)

    def visit_Call(self, node: ast.Call) -> None:
        space, _, name = self._names.path(node.func).rpartition(".")
        older = self._older(node.func)
        if older or (space in _OLDER and _older_functions.is_other(name, node)):
            self._older_call(node, older or name)
        elif space in _ARRAYS:
            self._call_of_numpy(node, name)
        elif space in ("mxnet.npx", "mxnet.numpy_extension") and name == "fully_connected":
            self._bias(node)
        self._keywords(node)
        self._attached(node)
        self._number(node)
        self._bool(node)
        if space.removeprefix("mxnet.") in ("nd.random", "ndarray.random"):
            self._draw(node, name)
        if name == "Perplexity" and node.args and not is_none(node.args[0]):
            new = _call(node, node.args[1:], {"ignore_label": node.args[0]})
            self._add(node, "the first argument is eps, as in MXNet 2", node, new)
        self._method(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "name_scope":
            self._add(node, "names are the attributes that lead to them", hint="remove the `with`")
        self.generic_visit(node)

    def _method(self, node: ast.Call) -> None:
        """Find methods of `nd` arrays that mean another thing here."""
        if not isinstance(node.func, ast.Attribute):
            return
        method, x = node.func.attr, node.func.value
        if self._uses_older and not self._names.path(node.func):
            self._method_of_any(node, method)
        made = self._value(x) if method in ("take", "flatten", "sort") else None
        if not (isinstance(made, ast.Call) and self._names.path(made.func).startswith("mxnet.nd")):
            return
        if method == "take" and len(node.args) == 1 and not node.keywords:
            new = expression("f(i, axis=0, mode='clip')", f=node.func, i=node.args[0])
            self._add(node, "take() without an axis takes elements, as in NumPy", node, new)
        elif method == "flatten" and not node.args and not node.keywords:
            new = expression("np.reshape(x, (len(x), -1))", x=x)
            self._add(node, "flatten() leaves one axis, as in NumPy", node, new)
        elif method == "sort" and not node.args and not node.keywords:
            new = expression("np.sort(x)", x=x)
            self._add(node, "sort() sorts in place, as in NumPy", node, new)

    def _method_of_any(self, node: ast.Call, method: str) -> None:
        """Find methods that arrays of `nd` and other arrays have, with other meanings."""
        words = {word.arg: word.value for word in node.keywords}
        shape = node.args or [words[n] for n in ("shape",) if n in words]
        if method == "reshape" and any([n < -1 or n == 0 for n in lengths(shape)]):
            hint = "use np.reshape(x, shape), with the lengths that the codes stand for"
            self._add(node, "0, -2, -3 and -4 in a shape have no meaning here", hint=hint)
        elif _OLDER_WORDS & set(words) or (method == "reshape" and "shape" in words):
            of = ast.Call(node.func, [node.func.value, *node.args], node.keywords)  # type: ignore[attr-defined]
            new, hint = _older_functions.call(method, of)
            self._add(node, "methods have NumPy's parameters", node, new, hint)
        elif method == "round" and not node.args and not words:
            hint = "halves away from zero: np.sign(x) * np.floor(np.abs(x) + 0.5)"
            self._add(node, "round() rounds halves to even, as in NumPy", hint=hint)
        elif method == "dot" and len(node.args) == 1:
            hint = "the same for at most two axes, else np.tensordot(x, y, axes=1)"
            self._add(node, "dot() contracts the last axis but one of the other", hint=hint)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Find sums of comparisons of `nd` arrays."""
        sides = [self._value(side) for side in (node.left, node.right)]
        if self._uses_older and isinstance(node.op, ast.Add | ast.Sub):
            if all([isinstance(side, ast.Compare) for side in sides]):
                new = expression("x.astype('float32')", x=node.left)
                self._add(node.left, "comparisons are bools, as in NumPy", node.left, new)
        self.generic_visit(node)

    def _draw(self, node: ast.Call, name: str) -> None:
        """Find a draw of `mx.nd.random` with a shape."""
        if all([word.arg != "shape" for word in node.keywords]):
            return
        self._replaced.add(node.func)
        words = {k.arg if k.arg != "shape" else "size": k.value for k in node.keywords}
        reason = "mx.nd.random is that of NumPy, whose draws have a size"
        if _older_functions.takes_draw(name, node.args, words):
            new = _call(expression(f"np.random.{name}()"), node.args, words)
            self._add(node, reason, node, new)
        else:
            self._add(node, reason, hint=f"see np.random.{name}, whose arguments are others")

    def _call_of_numpy(self, node: ast.Call, name: str) -> None:
        if name in _DEFAULT_FLOATS and "dtype" not in [k.arg for k in node.keywords]:
            if node in self._positions or not self._is_of_integers(node, name):
                return
            new = _call(node, words={"dtype": ast.Constant("float32")})
            self._add(node, "integers stay integers, as in NumPy", node, new)
        elif name == "stack" and node.args and isinstance(node.args[0], ast.GeneratorExp):
            listed = ast.ListComp(node.args[0].elt, node.args[0].generators)
            new = _call(node, [listed, *node.args[1:]])
            self._add(node, "a sequence is needed, as in NumPy", node, new)
        elif name in ("argmax", "argmin", "argsort"):
            new = expression("x.astype('float32')", x=node)
            self._add(node, f"{name} gives int64, in MXNet floats, if that matters", node, new)

    def _is_of_integers(self, node: ast.Call, name: str) -> bool:
        """Return True for a call whose array is of integers, if its dtype is not given."""
        words = {k.arg: k.value for k in node.keywords}
        if name == "arange":
            limits = [*node.args, *[words[n] for n in ("start", "stop", "step") if n in words]]
            known = [n for n in limits if not isinstance(n, ast.Name) or n.id in self._values]
            return all(is_of_integers(n, self._values) for n in known)
        of = {"array": 0, "full": 1}[name]
        if len(node.args) > of + 1:
            return False
        given = node.args[of] if len(node.args) > of else words.get(("object", "fill_value")[of])
        return given is not None and is_of_integers(given, self._values)

    def _bias(self, node: ast.Call) -> None:
        """Find a bias that MXNet ignores, as `no_bias` is True if not given."""
        words = {k.arg: k.value for k in node.keywords}
        bias = node.args[2] if len(node.args) > 2 else words.get("bias")
        if bias is None or is_none(bias) or None in words or {"no_bias"} & set(words):
            return
        kept = {str(name): value for name, value in words.items() if name != "bias"}
        if len(node.args) < 5:
            kept.update(zip(["num_hidden"], node.args[3:], strict=False))
            new = _call(ast.Call(node.func, [], []), node.args[:2], kept)
            reason = "MXNet ignores a bias without no_bias=False; give that if it is meant"
            self._add(node, reason, node, new)

    def _keywords(self, node: ast.Call) -> None:
        reasons = {word: self._reason_to_drop(node, word) for word in node.keywords}
        kept = [word for word, reason in reasons.items() if not reason]
        if len(kept) < len(reasons):
            reason = "; ".join(dict.fromkeys(filter(None, reasons.values())))
            base = self._edits.get(node, node)
            if isinstance(base, ast.Call):
                words = [word for word in base.keywords if not reasons.get(word)]
                self._add(node, reason, node, ast.Call(base.func, base.args, words))
        for word in kept:
            value = word.value.value if isinstance(word.value, ast.Constant) else None
            if word.arg == "kvstore" and value == "dist_async":
                reason = "gradients are summed in step with all devices"
                self._add(word.value, reason, word.value, ast.Constant("dist_sync"))
            elif word.arg == "pretrained" and value is True:
                self._add(node, "nothing is downloaded", hint="root= names the folder of the file")

    def _reason_to_drop(self, node: ast.Call, word: ast.keyword) -> str:
        """The reason to leave a keyword out; empty for one that stays."""
        path = self._names.path(node.func)
        value = word.value.value if isinstance(word.value, ast.Constant) else None
        if path.startswith("mxnet.gluon") and ".nn." in path and word.arg in ("prefix", "params"):
            if word.arg == "params" and not is_none(word.value):
                return "block.share_parameters(other.collect_params()) shares parameters"
            return "names of parameters are the attributes that lead to them"
        if value == "row_sparse" or (word.arg == "sparse_grad" and value is True):
            return "arrays and gradients are dense"
        return ""


def _call(
    node: Any, args: Sequence[ast.expr] | None = None, words: dict[Any, ast.expr] | None = None
) -> ast.expr:
    """Return a call with other arguments, if given, and further keywords."""
    added = [ast.keyword(name, value) for name, value in (words or {}).items()]
    return ast.Call(node.func, list(node.args if args is None else args), [*node.keywords, *added])


def _is_of_arrays_only(name: str) -> bool:
    """Return True for a method of arrays that NumPy's bools lack, as `asnumpy`."""
    arrays = importlib.import_module("npcompat.numpy").ndarray
    return hasattr(arrays, name) and not hasattr(onp.bool_, name)


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
