"""Conversion of recorded computations to symbols."""

from collections.abc import Sequence
from typing import Any

from npcompat._internal.core.graph_node import Leaf
from npcompat._internal.core.graph_node import Node as Recorded
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.placement import host_payload
from npcompat._internal.graph import symbolic
from npcompat._internal.graph.symbolic import Node, Symbolic
from npcompat._internal.support.errors import AutogradError
from npcompat.symbol._symbol import Symbol


def of_recorded(array: Handle) -> Symbol:
    """Convert a recorded array to a symbol, with variables named `var0`, `var1`, ...

    Variables are numbered in the order of their use; other operands are constants.
    """
    head = handles.read(array)
    if head.node is None:
        raise AutogradError(
            "get_symbol: the array was not recorded: compute it inside `with autograd.record():` "
            "from a variable"
        )
    nodes, leaves = _ordered(head)
    made: dict[int, Node] = {}
    for i, value in enumerate(leaves):
        made[id(value.node)] = Node(
            f"var{i}", (TensorType(value.payload.shape, value.payload.dtype),)
        )
    for node in nodes:
        made[id(node)] = symbolic.call(
            node.op, symbolic.operands([_operand(v, made) for v in node.inputs]), node.attrs
        )
    return handles.wrap(Value(Symbolic(made[id(head.node)], head.index)))


def _operand(value: Value, made: dict[int, Node]) -> Any:
    if value.node is not None:
        return Symbolic(made[id(value.node)], value.index)
    return host_payload(value)


def _ordered(head: Value) -> tuple[Sequence[Recorded], list[Value]]:
    """Return the recorded nodes in topological order, and one value for each variable."""
    found: dict[int, Recorded] = {}
    leaves: dict[int, Value] = {}
    waiting: list[tuple[Value, bool]] = [(head, False)]
    while waiting:
        value, entered = waiting.pop()
        node = value.node
        if isinstance(node, Leaf):
            leaves.setdefault(id(node), value)
        elif node is not None and id(node) not in found:
            if entered:
                found[id(node)] = node
                continue
            if node.released:
                raise AutogradError(
                    "get_symbol: backward has used this graph: call it with retain_graph=True"
                )
            if REGISTRY.get(node.op.name) is not node.op:
                raise NotImplementedError(
                    f"get_symbol: {node.op.name} is a compiled function or has a gradient written "
                    "in Python, and is no operator of a graph"
                )
            waiting.append((value, True))
            waiting.extend([(v, False) for v in reversed(node.inputs)])
    return list(found.values()), list(leaves.values())


__all__ = ["of_recorded"]
