"""Graph traversals: topological order, type inference and evaluation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import fusion_groups
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Op
from npcompat._internal.core.tensor_type import TensorType, substituted
from npcompat._internal.dispatch import execution, handles, type_inference
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.graph.symbolic import STREAM, Node, Symbolic
from npcompat._internal.random import stream
from npcompat._internal.support.errors import InferenceError


def ordered(heads: Iterable[Symbolic]) -> list[Node]:
    """Return the nodes that the heads depend on, in topological order."""
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
    """Return the variables in the order of their use; raises for duplicate names."""
    found = [n for n in ordered(heads) if n.is_variable]
    names = [n.name for n in found]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        raise ValueError(
            f"several variables are named {', '.join(sorted(twice))}; the variables of a graph "
            "are told apart by name"
        )
    return found


def overwritten(heads: Iterable[Symbolic]) -> dict[str, Symbolic]:
    """Return the variables that the graph overwrites, by name, with their new values."""
    found: dict[str, Symbolic] = {}
    for node in ordered(heads):
        for output, operand in () if node.op is None else node.op.overwrites:
            variable = stands_for(node.inputs[operand])
            if variable is not None:
                found[variable.name] = Symbolic(node, output)
    return found


def stands_for(operand: Any) -> Node | None:
    """Return the variable whose current or updated value an operand is, or None."""
    while type(operand) is Symbolic:
        node = operand.node
        if node.is_variable:
            return node
        if node.op is None:
            return None
        before = dict(node.op.overwrites).get(operand.index)
        operand = None if before is None else node.inputs[before]
    return None


def inferred(
    heads: Sequence[Symbolic], given: Mapping[str, TensorType]
) -> dict[int, tuple[TensorType, ...]]:
    """Infer the types of each node's outputs, by node id, for given types of variables.

    Types of other variables are inferred, too. Raises InferenceError at a contradiction.
    """
    nodes = ordered(heads)
    known = {
        n.name: n.outputs[0].joined(given.get(n.name, TensorType()), f"variable {n.name}")
        for n in nodes
        if n.is_variable
    }
    while True:
        types: dict[int, tuple[TensorType, ...]] = {}
        before = dict(known)
        for node in nodes:
            if node.op is None:
                types[id(node)] = (known[node.name],) if node.is_variable else node.outputs
                continue
            lengths = lengths_of(nodes, known)
            inputs = [
                types[id(p.node)][p.index] if type(p) is Symbolic else type(p) for p in node.inputs
            ]
            try:
                found = type_inference.infer(node.op, inputs, substituted(node.attrs, lengths))
            except InferenceError as error:
                raise InferenceError(f"{node.name}: {error}") from None
            types[id(node)] = found.outputs
            for p, completed in zip(node.inputs, found.inputs, strict=True):
                if type(p) is Symbolic and p.node.is_variable and isinstance(completed, TensorType):
                    known[p.node.name] = known[p.node.name].joined(
                        completed, f"variable {p.node.name}"
                    )
        if known == before:
            return types


def lengths_of(nodes: Iterable[Node], types: Mapping[str, TensorType]) -> dict[str, int]:
    """Return the values of symbolic lengths for given types of variables.

    Raises
    ------
    InferenceError
        If one symbol would stand for two lengths.
    """
    found: dict[str, int] = {}
    for node in nodes:
        if (
            not node.is_variable
            or (shape := types[node.name].shape) is None
            or node.outputs[0].shape is None
        ):
            continue
        for declared, actual in zip(node.outputs[0].shape, shape, strict=True):
            name = str(declared)
            if (
                type(declared) is int
                or declared is None
                or type(actual) is not int
                or not name.isidentifier()
            ):
                continue
            if found.setdefault(name, actual) != actual:
                raise InferenceError(
                    f"variable {node.name}: {name} is {found[name]} elsewhere, given {actual}"
                )
    return found


def evaluated(heads: Sequence[Symbolic], values: Mapping[str, Value]) -> list[Value]:
    """Compute the values of the heads for given values of variables; operators run as usual.

    Random draws are those that the same functions would make now, in the order in which the graph
    was built.
    """
    nodes = ordered(heads)
    lengths = lengths_of(
        nodes, {name: TensorType(v.payload.shape, v.payload.dtype) for name, v in values.items()}
    )
    draws = sorted(
        [n for n in nodes if n.op is stream.position_of_draw and _counts_from_stream(n)],
        key=lambda n: n.attrs,
    )
    order = {id(n): (i,) for i, n in enumerate(draws)}

    def call(node: Node, op: Op, inputs: Sequence[Value]) -> Any:
        return execution.run(op, inputs, order.get(id(node)) or substituted(node.attrs, lengths))

    if not draws:
        return _computed(heads, nodes, values, constant, Value, call)
    state = {
        n.name: handles.read(handle)
        for n, handle in zip(STREAM, stream.default.state(), strict=True)
    }
    found = _computed(heads, nodes, {**values, **state}, constant, Value, call)
    stream.default.advance(len(draws))
    return found


def _counts_from_stream(node: Node) -> bool:
    (counter,) = node.inputs
    return type(counter) is Symbolic and counter.node in STREAM


def as_function(heads: Sequence[Symbolic]) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return the graph as a function of XLA arrays or tracers, by names of variables."""
    nodes = ordered(heads)
    if any([n in STREAM for n in nodes]):
        raise NotImplementedError(
            "a program without npcompat can't draw random numbers: export the graph in prediction "
            "mode"
        )

    def call(node: Node, op: Op, inputs: Sequence[Any]) -> Any:
        return language.function(op, node.attrs)(*inputs)

    return lambda arrays: _computed(heads, nodes, arrays, xla.asarray, lambda number: number, call)


def _computed(
    heads: Sequence[Symbolic],
    nodes: Sequence[Node],
    values: Mapping[str, Any],
    of_constant: Callable[[Any], Any],
    of_number: Callable[[complex], Any],
    call: Callable[[Node, Op, Sequence[Any]], Any],
) -> list[Any]:
    """Compute the heads, node by node, from the values of variables."""
    made: dict[int, Sequence[Any]] = {}
    for node in nodes:
        if node.op is None:
            made[id(node)] = (values[node.name] if node.value is None else of_constant(node.value),)
            continue
        out = call(
            node,
            node.op,
            [
                made[id(p.node)][p.index] if type(p) is Symbolic else of_number(p)
                for p in node.inputs
            ],
        )
        made[id(node)] = (out,) if node.op.outputs == 1 else out
    return [made[id(h.node)][h.index] for h in heads]


def fusable(heads: Sequence[Symbolic]) -> list[list[Node]]:
    """Return groups of nodes that can be fused, by the patterns of their operators."""
    called = [(n, n.op) for n in ordered(heads) if n.op is not None]
    numbers = {id(n): i for i, (n, _) in enumerate(called)}
    sources = [
        [numbers.get(id(p.node)) for p in n.inputs if type(p) is Symbolic] for n, _ in called
    ]
    step = fusion_groups.Step
    steps = [
        step(op.pattern, tuple([i for i in found if i is not None]))
        for (_, op), found in zip(called, sources, strict=True)
    ]
    results = [numbers[id(h.node)] for h in heads if id(h.node) in numbers]
    return [[called[i][0] for i in group] for group in fusion_groups.groups(steps, results)]


__all__ = [
    "as_function",
    "evaluated",
    "fusable",
    "inferred",
    "lengths_of",
    "ordered",
    "overwritten",
    "stands_for",
    "variables",
]
