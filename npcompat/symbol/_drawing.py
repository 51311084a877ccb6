"""Graphs as text: a listing, and Graphviz's DOT language."""

from collections.abc import Sequence
from typing import Any

from npcompat._internal.core.tensor_type import TensorType, shown
from npcompat._internal.graph.symbolic import Node, Symbolic
from npcompat.symbol._graph import ordered


def listing(heads: Sequence[Symbolic]) -> str:
    """Return one line for each node, in topological order, and one for the outputs."""
    lines = []
    for node in ordered(heads):
        kinds = ", ".join(map(_kind, node.outputs))
        lines.append(f"{node.name} = {_what(node)}: {kinds}")
    return "\n".join([*lines, f"outputs: {', '.join(map(_name, heads))}"])


def dot(heads: Sequence[Symbolic]) -> str:
    """Return the graph in Graphviz's DOT language, for `dot -Tsvg`."""
    nodes = ordered(heads)
    numbers = {id(n): i for i, n in enumerate(nodes)}
    lines = ["digraph {", "  node [shape=box];"]
    for node in nodes:
        shape = "" if node.op is not None else ", shape=oval"
        lines.append(
            f"  n{numbers[id(node)]} "
            f"[label={_quoted(f'{node.name}{chr(10)}{_what(node, False)}')}{shape}];"
        )
    for node in nodes:
        for p in node.inputs:
            if type(p) is Symbolic:
                lines.append(
                    f"  n{numbers[id(p.node)]} -> n{numbers[id(node)]} "
                    f"[label={_quoted(_kind(p.type))}];"
                )
    return "\n".join([*lines, "}"])


def _what(node: Node, operands: bool = True) -> str:
    if node.op is None:
        return (
            "variable" if node.is_variable else "random state" if node.value is None else "constant"
        )
    attrs = [
        f"{n}={v!r}"
        for (n, d), v in zip(node.op.attrs.items(), node.op.named(node.attrs).values(), strict=True)
        if repr(v) != repr(d)
    ]
    inputs = [_name(p) if type(p) is Symbolic else repr(p) for p in node.inputs] if operands else []
    return f"{node.op.name}({', '.join([*inputs, *attrs])})"


def _name(p: Any) -> str:
    return p.node.name if len(p.node.outputs) == 1 else f"{p.node.name}[{p.index}]"


def _kind(found: TensorType) -> str:
    return f"{shown(found.shape)} {'?' if found.dtype is None else found.dtype}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


__all__ = ["dot", "listing"]
