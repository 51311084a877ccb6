"""Symbols: functions of `np` and `npx`, and blocks, build a graph of arrays without values.

    x = symbol.var("x", shape=("batch", 8), dtype="float32")
    y = np.tanh(np.matmul(x, symbol.var("w")))
    y.list_arguments(), y.infer_shape(x=(4, 8), w=(8, 2))
    y.bind(args={"x": ..., "w": ...}).forward()

There are no other functions of symbols: an operator on symbols is a node.
"""

from typing import Any

from npcompat._internal.support import old_paths
from npcompat.symbol import _files
from npcompat.symbol._executor import Executor
from npcompat.symbol._scopes import AttrScope, NameManager, Prefix
from npcompat.symbol._symbol import Graph, Group, Symbol, var

Variable = var


def load_json(json_str: str) -> Symbol | Group:
    """Load a graph from text that `tojson` wrote: a symbol, or a group of several outputs.

    Raises
    ------
    DefinitionError
        If the text is damaged, of another version, or names operators that are not known here.
    """
    return _one_or_several(_files.from_json(json_str))


def load(fname: Any) -> Symbol | Group:
    """Load a graph from a file that `save` wrote: a symbol, or a group of several outputs."""
    return _one_or_several(_files.load(fname))


def _one_or_several(heads: Any) -> Any:
    found = Group(heads)
    return found[0] if len(found) == 1 else found


__all__ = [
    "AttrScope",
    "Executor",
    "Graph",
    "Group",
    "NameManager",
    "Prefix",
    "Symbol",
    "Variable",
    "load",
    "load_json",
    "var",
]

__getattr__ = old_paths.names_of(__name__)
