"""Backward: reverse-mode differentiation over the tape, from heads to gradients of variables."""

import heapq
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.autograd.whole_graph import (
    Gradients,
    accumulate,
    gradients_at_once,
    nodes_on_host,
)
from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.graph_node import LATER, Leaf, Node, PythonPullback
from npcompat._internal.core.handle import Handle, Value, root_of
from npcompat._internal.core.observer import Observer
from npcompat._internal.core.op import Attrs, Op, from_function
from npcompat._internal.dispatch import masked_array
from npcompat._internal.dispatch.array_like import as_value
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import read, wrap
from npcompat._internal.dispatch.pending_errors import raise_pending
from npcompat._internal.dispatch.placement import host_payload, new_value, set_node, transfer_to_xla
from npcompat._internal.dispatch.writes import write
from npcompat._internal.indexing.assigned_value import fitted
from npcompat._internal.support.errors import AutogradError


def renew(leaf: Leaf) -> None:
    """Make the new value of a variable a leaf again, if it was written while recording."""
    handle = None if leaf.variable is None else leaf.variable()
    if (
        handle is None
        or handle._extra is None
        or handle._extra.leaf is not leaf
        or handle._view is not None
    ):
        return
    if handle._value.node is not leaf:
        set_node(handle, leaf)


def pull(node: Node, cotangents: Sequence[Value | None], create_graph: bool) -> Sequence[Value]:
    """Return the gradients of a node's masked inputs from those of its outputs (None: zero)."""
    if isinstance(node.pullback, PythonPullback):
        return node.pullback.pull(cotangents, create_graph)
    if create_graph or node.pullback is LATER:
        present = tuple([c is not None for c in cotangents])
        op = _pullback_op(node.op, node.attrs, node.mask, present)
        grads = run(op, [*node.inputs, *[c for c in cotangents if c is not None]])
        return (grads,) if op.outputs == 1 else grads
    mode = modes.current()
    name = node.op.name
    payloads = [
        None
        if c is None
        else transfer_to_xla(p, mode, name)
        if type(p := c.payload) is onp.ndarray
        else p
        for c in cotangents
    ]
    return [new_value(g) for g in _pulled(node, payloads, mode.observer)]


def _pulled(node: Node, cotangents: Sequence[Any], observer: Observer | None) -> Sequence[Any]:
    if observer is not None:
        with modes.changed(observer=observer.outer):
            found: Sequence[Any] = observer.program(
                f"{node.op.name}_pullback",
                [c for c in cotangents if c is not None],
                partial(_pulled, node, cotangents, observer.outer),
            )
        return found
    try:
        pulled: Sequence[Any] = node.pullback.pull(node.pullback.arrays, cotangents)
        if sharding.several[0]:
            sharding.block_on_cpu_mesh(pulled)
        return pulled
    finally:
        language.exit_x64_scope()


_pullback_ops: dict[Any, Op] = {}


def _pullback_op(op: Op, attrs: Attrs, mask: tuple[bool, ...], given: tuple[bool, ...]) -> Op:
    key = (op, attrs, mask, given, modes.current().numpy_dtypes)
    found = _pullback_ops.get(key)
    if found is None:
        found = _pullback_ops[key] = language.pullback_op(op, attrs, mask, given)
    return found


def _ones(xp: Any, x: Any) -> Any:
    return xp.ones_like(x)


_ones_like = from_function("_npi_one_cotangent", _ones)


def gradients(
    heads: Sequence[Value],
    head_grads: Sequence[Value | None],
    retain_graph: bool,
    create_graph: bool,
) -> Gradients:
    """Compute the gradients of all leaves on which the heads depend, by the leaves' ids.

    Nothing is written, and no node is released, until the whole walk has succeeded.
    """
    _note_in_trace()
    if not create_graph and (nodes := nodes_on_host(heads)):
        with modes.recorded(False):
            at_once = gradients_at_once(heads, head_grads, nodes)
        if at_once is not None:
            if not retain_graph:
                for ran in nodes:
                    ran.release()
            return at_once
    with modes.recorded(create_graph):
        walk = _Walk(create_graph)
        for head, grad in zip(heads, head_grads, strict=True):
            walk.send(head, run(_ones_like, [head]) if grad is None else grad)
        walk.run()
    if not retain_graph:
        for node in walk.walked:
            node.release()
    return walk.found


def _note_in_trace() -> None:
    if modes.current().trace is not None:
        trace_notes.differentiates()


def gradients_at(
    heads: Sequence[Value],
    head_grads: Sequence[Value | None],
    places: Sequence[tuple[Leaf | Node, int]],
    retain_graph: bool,
    create_graph: bool,
) -> list[Value | None]:
    """Gradients at variables and at outputs of nodes; None where the heads do not depend on one.

    Between the heads and these outputs the graph is walked, and no further.
    """
    if all([isinstance(node, Leaf) for node, _ in places]):
        found = gradients(heads, head_grads, retain_graph, create_graph)
        return [found[id(node)][1] if id(node) in found else None for node, _ in places]
    _note_in_trace()
    with modes.recorded(create_graph):
        walk = _Walk(create_graph, places, [h.node for h in heads])
        for head, grad in zip(heads, head_grads, strict=True):
            walk.send(head, run(_ones_like, [head]) if grad is None else grad)
        walk.run()
    if not retain_graph:
        for node in walk.walked:
            node.release()
    return [walk.asked.get((id(node), index)) for node, index in places]


def _leading(heads: Sequence[Any], targets: set[int]) -> set[int]:
    """Nodes, by their ids, from which a walk back comes to one of the targets."""
    leading, seen = set(targets), set[int]()
    waiting = [(node, False) for node in heads]
    while waiting:
        node, done = waiting.pop()
        if not isinstance(node, Node):
            continue
        if done:
            if node.released or any(
                [id(v.node) in leading for v in node.inputs if v.node is not None]
            ):
                leading.add(id(node))
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting += [(v.node, False) for v in node.inputs if v.node is not None]
    return leading


class _Walk:
    """Walk over nodes from the youngest to the oldest.

    A node is walked after all nodes that use its outputs, which are younger.

    Attributes
    ----------
    found : dict
        Leaves that were reached, with their gradients.
    walked : list of Node
        Nodes that were walked.
    asked : dict
        Gradients of the outputs that were asked for, by the node's id and the output's number.
    """

    def __init__(
        self,
        create_graph: bool,
        places: Sequence[tuple[Leaf | Node, int]] = (),
        heads: Sequence[Any] = (),
    ) -> None:
        self._create_graph = create_graph
        self._places = {(id(node), index) for node, index in places}
        self._targets = {key for key, _ in self._places}
        self._leading = _leading(heads, self._targets) if places else None
        self.asked: dict[tuple[int, int], Value] = {}
        self.found: Gradients = {}
        self.walked: list[Node] = []
        self._waiting: dict[int, tuple[Leaf | Node, list[Value | None]]] = {}
        self._ages: list[tuple[int, int]] = []

    def send(self, value: Value, grad: Value) -> None:
        """Accumulate a gradient of a value."""
        node = value.node
        if node is None or (self._leading is not None and id(node) not in self._leading):
            return
        entry = self._waiting.get(id(node))
        if entry is None:
            slots: list[Value | None] = [None] * (node.outputs if isinstance(node, Node) else 1)
            entry = self._waiting[id(node)] = (node, slots)
            heapq.heappush(self._ages, (-node.sequence, id(node)))
        before = entry[1][value.index]
        entry[1][value.index] = grad if before is None else run(accumulate, [before, grad])

    def run(self) -> None:
        """Walk until no node waits."""
        while self._ages:
            _, key = heapq.heappop(self._ages)
            node, slots = self._waiting.pop(key)
            if key in self._targets:
                for index, slot in enumerate(slots):
                    if slot is not None and (key, index) in self._places:
                        self.asked[key, index] = slot
            if isinstance(node, Leaf):
                assert slots[0] is not None
                self.found[key] = (node, slots[0])
            elif key not in self._targets or self._goes_on(node):
                self._pull(node, slots)

    def _goes_on(self, node: Node) -> bool:
        """Return True if what was asked for was computed of something else that was."""
        assert self._leading is not None
        return any([id(v.node) in self._leading for v in node.inputs if v.node is not None])

    def _pull(self, node: Node, slots: list[Value | None]) -> None:
        """Run the pullback of a node, and send the gradients to its inputs."""
        if node.released:
            raise AutogradError(
                f"backward through {node.op.name} a second time: its graph was freed by the first "
                "one; pass retain_graph=True to the first backward"
            )
        self.walked.append(node)
        wanted = [i for i, m in enumerate(node.mask) if m]
        reached = _reached(node, slots) if any([_is_made(node.inputs[i]) for i in wanted]) else None
        for i, gradient in zip(wanted, pull(node, slots, self._create_graph), strict=True):
            if reached is None or i in reached or not _is_made(node.inputs[i]):
                self.send(node.inputs[i], gradient)


def _is_made(value: Value) -> bool:
    """Return True for what an operator has made, False for a variable."""
    return isinstance(value.node, Node)


def _reached(node: Node, slots: Sequence[Value | None]) -> frozenset[int] | None:
    """Return the inputs of a program on which the outputs depend that have gradients.

    What made the others may have been freed, as for what a block adds to an array of its own.
    None if all inputs of an operator count.
    """
    if node.op.dependence is None:
        return None
    given = [i for i, slot in enumerate(slots) if slot is not None]
    outputs = node.op.dependence()
    return frozenset().union(*[outputs[i] for i in given])


def backward(
    heads: Sequence[Handle],
    head_grads: Sequence[Handle | None] | None,
    retain_graph: bool,
    create_graph: bool = False,
) -> None:
    """Replace, or add to, the gradient of every variable on which the heads depend."""
    values, grads = head_values(heads, head_grads)
    found = gradients(values, grads, retain_graph or create_graph, create_graph)
    for leaf, grad in found.values():
        if leaf.request == "outside":
            raise AutogradError(
                "backward inside a compiled function reached what was recorded before it was "
                "called; call backward outside, "
                "or compute what is differentiated inside"
            )
        if leaf.grad is None or leaf.request == "null":
            continue
        if modes.current().trace is None and type(root_of(leaf.grad)._value.payload) is onp.ndarray:
            raise_pending()  # the gradient is read here
            grad = Value(host_payload(grad), grad.node, grad.index)
        if leaf.request == "add":
            grad = run(accumulate, [read(leaf.grad), grad])
        with modes.recorded(create_graph):
            write(leaf.grad, grad)
    if not (retain_graph or create_graph):
        for leaf, _ in found.values():
            renew(leaf)


def _head_value(head: Handle) -> Value:
    """Return the value of a head; a view of what was recorded is read as part of the graph."""
    if head._view is None:
        return read(head)
    root = root_of(head)
    node = root._value.node
    if node is None or (root._extra is not None and node is root._extra.leaf):
        return read(head)
    with modes.recorded(True):
        return read(head)


def head_values(
    heads: Sequence[Handle], head_grads: Sequence[Handle | None] | None
) -> tuple[list[Value], list[Value | None]]:
    """Return the heads' values and gradients, after checks."""
    values = [_head_value(h) for h in heads]
    if head_grads is None:
        head_grads = [None] * len(values)
    if len(head_grads) != len(heads):
        raise ValueError(
            f"head_grads: expected {len(heads)} gradients, one for each head, got {len(head_grads)}"
        )
    grads = [None if grad is None else as_value(grad) for grad in head_grads]
    for i, (value, grad) in enumerate(zip(values, grads, strict=True)):
        if type(value.payload) is masked_array.MaskedPayload:
            values[i], grads[i] = masked_array.head(
                value, run(_ones_like, [value]) if grad is None else grad
            )
    for value in values:
        if value.node is None:
            raise AutogradError(
                "backward of an array that was not recorded: compute it inside `with "
                "autograd.record():` from an array "
                "on which attach_grad() was called"
            )
    return values, [
        None if g is None else _head_gradient(v.payload, g)
        for v, g in zip(values, grads, strict=True)
    ]


def _head_gradient(head: Any, grad: Value) -> Value:
    """Return the gradient of a head in the head's dtype, after checks."""
    shape = onp.shape(grad.payload)
    if shape != head.shape:
        raise ValueError(
            f"head gradient: expected shape {head.shape}, as its head has, got {shape}"
        )
    dtype = getattr(grad.payload, "dtype", None)
    if dtype == head.dtype:
        return grad
    if dtype is not None and dtype.kind == "c" and head.dtype.kind != "c":
        raise TypeError(f"head gradient: expected dtype {head.dtype}, as its head has, got {dtype}")
    return fitted(wrap(grad), head.shape, head.dtype)
