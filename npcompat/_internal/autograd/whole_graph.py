"""Gradients of a graph that ran on the host: one XLA program recomputes and differentiates it.

Programs are cached by the structure of a graph and the types of its inputs. If new graphs keep
coming, they are walked node by node, since a program for each would take long to compile; so is a
large graph until it has come WALKS times.
"""

from collections.abc import Sequence
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.core.graph_node import LATER, Leaf, Node
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Op, from_function
from npcompat._internal.dispatch.execution import run


def _add(xp: Any, x: Any, y: Any) -> Any:
    return xp.add(x, y)


accumulate = from_function("_npi_accumulate", _add)


Gradients = dict[int, tuple[Leaf, Value]]
_programs: dict[Any, Op | int] = {}
"""By graph: its program, or how many times it is walked before it becomes one."""
LARGE = 512
"""Nodes of a graph from which it is walked at first: XLA compiles 800 writes for half a minute."""
WALKS = 8
"""Number of times a large graph is walked."""
_NEW_KINDS = 8
_budget = [_NEW_KINDS]


def forget_programs() -> None:
    """Drop the programs of whole graphs; called when the computes of operators have changed."""
    _programs.clear()


def nodes_on_host(heads: Sequence[Value]) -> list[Node]:
    """Return the nodes on which the heads depend, in the order of recording.

    The list is empty if one of them did not run on the host.
    """
    nodes: dict[int, Node] = {}
    stack = [head.node for head in heads]
    if not all([type(node) is Node for node in stack]):
        return []
    while stack:
        node = stack.pop()
        if type(node) is not Node or node.sequence in nodes:
            continue
        if node.pullback is not LATER:
            return []
        nodes[node.sequence] = node
        stack += [v.node for v in node.inputs if v.node is not None]
    return [nodes[s] for s in sorted(nodes)]


def _as_steps(
    nodes: Sequence[Node], position: dict[int, int]
) -> tuple[tuple[language.Step, ...], list[Value]]:
    """Return a graph as hashable steps, and its input values."""
    inputs: list[Value] = []
    places: dict[int, int] = {}
    steps = []
    for node in nodes:
        operands: list[Any] = []
        for value in node.inputs:
            maker = position.get(id(value.node))
            if maker is not None:
                operands.append((maker, value.index))
                continue
            place = places.get(id(value))
            if place is None:
                place = places[id(value)] = len(inputs)
                inputs.append(value)
            operands.append(place)
        steps.append((node.op, node.attrs, tuple(operands)))
    return tuple(steps), inputs


def _walks(nodes: int) -> int:
    """Return how many times a new graph of so many nodes is walked before it becomes a program."""
    if nodes > LARGE:
        return WALKS
    return 1 if _budget[0] == 0 else 0


def gradients_at_once(
    heads: Sequence[Value], head_grads: Sequence[Value | None], nodes: Sequence[Node]
) -> Gradients | None:
    """Compute the gradients of a graph that ran on the host by one program.

    Return None for a new graph after many new ones that did not repeat, and for a large one that has
    come less than WALKS times. It is walked node by node, which compiles no program for the whole.
    """
    position = {id(node): i for i, node in enumerate(nodes)}
    steps, inputs = _as_steps(nodes, position)
    leaves = tuple([i for i, v in enumerate(inputs) if v.node is not None])
    ends = tuple([(position[id(head.node)], head.index) for head in heads])
    present = tuple([grad is not None for grad in head_grads])
    types = tuple(
        [(p.shape, p.dtype) if hasattr(p := v.payload, "dtype") else type(p) for v in inputs]
    )
    key = (steps, types, leaves, ends, present, modes.current().numpy_dtypes)
    op = _programs.get(key)
    if isinstance(op, Op):
        _budget[0] = _NEW_KINDS
    else:
        if len(_programs) >= 256:
            _programs.clear()
        walks = _walks(len(nodes)) if op is None else op
        if walks:
            _programs[key] = walks - 1
            return None
        _budget[0] = max(_budget[0] - 1, 0)
        op = _programs[key] = language.graph_gradient_op(steps, len(inputs), leaves, ends, present)
    grads = run(op, [*inputs, *[g for g in head_grads if g is not None]])
    found: Gradients = {}
    for i, grad in zip(leaves, (grads,) if op.outputs == 1 else grads, strict=True):
        leaf: Any = inputs[i].node
        before = found.get(id(leaf))
        found[id(leaf)] = leaf, grad if before is None else run(accumulate, [before[1], grad])
    return found
