"""Walks over graphs: their order, their types once variables have types, and their values once variables have values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from npcompat._internal import execution, inference
from npcompat._internal.backend import jax as xla
from npcompat._internal.backend.symbolic import Node, Symbolic
from npcompat._internal.errors import InferenceError
from npcompat._internal.handle import Value
from npcompat._internal.tensortype import TensorType, substituted


def ordered(heads: Iterable[Symbolic]) -> list[Node]:
    """The nodes that the heads need, each after those that it needs."""
    found: dict[int, Node] = {}
    waiting: list[tuple[Node, bool]] = [(h.node, False) for h in reversed(list(heads))]
    while waiting:
        node, entered = waiting.pop()
        if id(node) in found:
            continue
        if entered:
            found[id(node)] = node
            continue
        waiting.append((node, True))
        waiting.extend([(p.node, False) for p in reversed(node.inputs) if type(p) is Symbolic])
    return list(found.values())


def variables(heads: Iterable[Symbolic]) -> list[Node]:
    """The variables, in the order in which they are needed; two of one name are refused."""
    found = [n for n in ordered(heads) if n.is_variable]
    names = [n.name for n in found]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        raise ValueError(f"several variables are named {', '.join(sorted(twice))}; the variables of a graph are told apart by name")
    return found


def inferred(heads: Sequence[Symbolic], given: Mapping[str, TensorType]) -> dict[int, tuple[TensorType, ...]]:
    """The types of each node's outputs, by the node's id, where variables have the types given by name.

    Types of variables that follow from the others are found, too.  Raises InferenceError at a contradiction.
    """
    nodes = ordered(heads)
    known = {n.name: n.outputs[0].joined(given.get(n.name, TensorType()), f"variable {n.name}") for n in nodes if n.is_variable}
    while True:
        types: dict[int, tuple[TensorType, ...]] = {}
        before = dict(known)
        for node in nodes:
            if node.op is None:
                types[id(node)] = (known[node.name],) if node.is_variable else node.outputs
                continue
            lengths = lengths_of(nodes, known)
            inputs = [types[id(p.node)][p.index] if type(p) is Symbolic else type(p) for p in node.inputs]
            try:
                found = inference.infer(node.op, inputs, substituted(node.attrs, lengths))
            except InferenceError as error:
                raise InferenceError(f"{node.name}: {error}") from None
            types[id(node)] = found.outputs
            for p, completed in zip(node.inputs, found.inputs, strict=True):
                if type(p) is Symbolic and p.node.is_variable and isinstance(completed, TensorType):
                    known[p.node.name] = known[p.node.name].joined(completed, f"variable {p.node.name}")
        if known == before:
            return types


def lengths_of(nodes: Iterable[Node], types: Mapping[str, TensorType]) -> dict[str, int]:
    """What the symbols in the variables' shapes stand for, where the variables have these types.

    Raises
    ------
    InferenceError
        If one symbol would stand for two lengths.
    """
    found: dict[str, int] = {}
    for node in nodes:
        if not node.is_variable or (shape := types[node.name].shape) is None or node.outputs[0].shape is None:
            continue
        for declared, actual in zip(node.outputs[0].shape, shape, strict=True):
            name = str(declared)
            if type(declared) is int or declared is None or type(actual) is not int or not name.isidentifier():
                continue
            if found.setdefault(name, actual) != actual:
                raise InferenceError(f"variable {node.name}: {name} is {found[name]} elsewhere, given {actual}")
    return found


def evaluated(heads: Sequence[Symbolic], values: Mapping[str, Value]) -> list[Value]:
    """The values of the heads, where variables have the values given by name; the operators run as they do on any values."""
    nodes = ordered(heads)
    types = {name: TensorType(v.payload.shape, v.payload.dtype) for name, v in values.items()}
    lengths = lengths_of(nodes, types)
    made: dict[int, Sequence[Value]] = {}
    for node in nodes:
        if node.is_variable:
            made[id(node)] = (values[node.name],)
        elif node.op is None:
            assert node.value is not None
            made[id(node)] = (execution.constant(node.value),)
        else:
            inputs = [made[id(p.node)][p.index] if type(p) is Symbolic else Value(p) for p in node.inputs]
            out = execution.run(node.op, inputs, substituted(node.attrs, lengths))
            made[id(node)] = (out,) if node.op.outputs == 1 else out
    return [made[id(h.node)][h.index] for h in heads]


def as_function(heads: Sequence[Symbolic]) -> Callable[[Mapping[str, Any]], list[Any]]:
    """The graph as a plain function of XLA arrays or tracers, given by the names of the variables."""
    nodes = ordered(heads)

    def function(arrays: Mapping[str, Any]) -> list[Any]:
        made: dict[int, Sequence[Any]] = {}
        for node in nodes:
            if node.op is None:
                made[id(node)] = (arrays[node.name] if node.is_variable else xla.asarray(node.value),)
                continue
            inputs = [made[id(p.node)][p.index] if type(p) is Symbolic else p for p in node.inputs]
            out = xla.function(node.op, node.attrs)(*inputs)
            made[id(node)] = (out,) if node.op.outputs == 1 else out
        return [made[id(h.node)][h.index] for h in heads]

    return function


__all__ = ["as_function", "evaluated", "inferred", "lengths_of", "ordered", "variables"]
