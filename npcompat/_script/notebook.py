"""IPython's extension `%load_ext npcompat`: cells run on npcompat, as programs under the runner."""

import ast
from types import CodeType
from typing import Any

import numpy as onp

from npcompat import np, npx
from npcompat._script import importer
from npcompat._script.source import PROGRAM, converted_tree, holding


class CellConverter:
    """Transformer of the syntax trees of cells, in IPython's list of them."""

    def visit(self, tree: ast.AST) -> ast.AST:
        """Convert the tree of one cell."""
        return converted_tree(tree, importer.COMPILED)


def _marking(kind: Any) -> Any:
    """Return a class of IPython's compilers whose code can be sent to other processes."""

    class Compiler(kind):  # type: ignore[misc]
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            found = super().__call__(*args, **kwargs)
            return holding(found, importer.MARK) if isinstance(found, CodeType) else found

    return Compiler


def load(shell: Any) -> None:
    """Run the cells of an IPython shell, and the modules that they import, on npcompat.

    Names that stand for NumPy already stand for npcompat's from now on; arrays stay what they are.
    """
    if any([isinstance(t, CellConverter) for t in shell.ast_transformers]):
        return
    npx.set_np(dtype=True)
    importer.install()
    shell.user_ns[PROGRAM] = True
    for name, value in list(shell.user_ns.items()):
        if value is onp:
            shell.user_ns[name] = np
    shell.ast_transformers.append(CellConverter())
    shell.compile.__class__ = _marking(type(shell.compile))


def unload(shell: Any) -> None:
    """End what `load` began; names and modules that are imported stay."""
    shell.ast_transformers[:] = [
        t for t in shell.ast_transformers if not isinstance(t, CellConverter)
    ]
    shell.compile.__class__ = type(shell.compile).__base__
    importer.uninstall()
    npx.reset_np()


__all__ = ["CellConverter", "load", "unload"]
