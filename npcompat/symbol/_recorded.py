"""Conversion of recorded computations to symbols."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.compile.program import program_of
from npcompat._internal.core import modes
from npcompat._internal.core.graph_node import Leaf
from npcompat._internal.core.graph_node import Node as Recorded
from npcompat._internal.core.handle import Handle, Value, root_of
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
    outputs: dict[tuple[int, int], Symbolic] = {}
    for node in nodes:
        operands = symbolic.operands([_operand(v, made, outputs) for v in node.inputs])
        if REGISTRY.get(node.op.name) is node.op:
            made[id(node)] = symbolic.call(node.op, operands, node.attrs)
        else:
            for index, found in _of_compiled(node, operands).items():
                outputs[id(node), index] = found
    return handles.wrap(Value(_output(head, made, outputs)))


def _operand(value: Value, made: dict[int, Node], outputs: dict[tuple[int, int], Symbolic]) -> Any:
    return host_payload(value) if value.node is None else _output(value, made, outputs)


def _output(
    value: Value, made: dict[int, Node], outputs: dict[tuple[int, int], Symbolic]
) -> Symbolic:
    if id(value.node) in made:
        return Symbolic(made[id(value.node)], value.index)
    return outputs[id(value.node), value.index]


graph_of_block: list[Callable[[Any], AbstractContextManager[Any] | None]] = []
"""Holds the function that returns the context in which a block, of which this is a method, is called
on symbols, None for other functions; `gluon` fills it in.
"""


def _of_compiled(node: Recorded, operands: Sequence[Any]) -> dict[int, Symbolic]:
    """Return outputs of a compiled function by number: it is called once more, on symbols.

    Parameters of a block are variables of its own. What another function reads from outside means
    symbols meanwhile, if it is a variable.
    """
    program = program_of(node.op)
    block = program and next(filter(None, [of(program.function) for of in graph_of_block]), None)
    if program is None or program.form is None or (program.writes and block is None):
        raise NotImplementedError(
            f"get_symbol: {node.op.name} is a compiled function that writes arrays, draws, or takes "
            "views or numbers, or has a gradient written in Python: it is no operator of a graph"
        )
    found, reads = program.captured, program.reads
    if found.changed:
        raise NotImplementedError(f"get_symbol: {node.op.name} writes one of its arguments")
    symbols = [handles.wrap(Value(p)) for p in operands]
    read = zip(reads, symbols, node.inputs, strict=False)
    replaced = [] if block else [(h, s) for h, s, v in read if v.node is not None]
    before = [(handle, handle._value) for handle, _ in replaced]
    try:
        for handle, symbol in replaced:
            handle._value = handles.read(symbol)
        mode = modes.changed(recording=False, training=program.training)
        with mode, block or nullcontext():
            args, kwargs = program.form(symbols[len(reads) :])
            leaves, _ = language.flatten(program.function(*args, **kwargs))
            sources = zip(leaves, program.outputs.sources, strict=True)
            return {
                len(found.written) + slot: handles.read(root_of(leaf)).payload
                for leaf, (kind, slot, _) in sources
                if kind == "value"
            }
    finally:
        for handle, value in before:
            handle._value = value


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
            waiting.append((value, True))
            waiting.extend([(v, False) for v in reversed(node.inputs)])
    return list(found.values()), list(leaves.values())


__all__ = ["graph_of_block", "of_recorded"]
