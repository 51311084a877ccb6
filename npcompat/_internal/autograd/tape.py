"""The tape: nodes that hang on the values they produced, and the walk back over them.

There is no list of nodes to leak. A node points to its input values, never to its outputs or to a
handle, so a graph is freed by reference counts as soon as its last value goes.
"""

import heapq
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import changes, dtypes, modes
from npcompat._internal.core.graph_node import LATER, Leaf, Node, PythonPullback
from npcompat._internal.core.handle import Handle, Value, extra, root_of, touch
from npcompat._internal.core.observer import Observer
from npcompat._internal.core.op import Attrs, Op, from_function, operator
from npcompat._internal.core.program_cache import RECORDED
from npcompat._internal.dispatch import masked_array
from npcompat._internal.dispatch.array_like import as_value
from npcompat._internal.dispatch.calls import call
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import read, wrap
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.dispatch.placement import fresh, host_payload, place, sent
from npcompat._internal.dispatch.writes import write
from npcompat._internal.indexing.assigned_value import fitted
from npcompat._internal.support.errors import AutogradError


def renew(leaf: Leaf) -> None:
    """Make a variable that was written while recording, after backward, one with its new value."""
    handle = None if leaf.variable is None else leaf.variable()
    if (
        handle is None
        or handle._extra is None
        or handle._extra.leaf is not leaf
        or handle._view is not None
    ):
        return
    if handle._value.node is not leaf:
        handle._value = fresh(handle._value.payload, leaf)


def pull(node: Node, cotangents: Sequence[Value | None], create_graph: bool) -> Sequence[Value]:
    """Gradients of a node's inputs in the mask, from those of its outputs (None: zero)."""
    if isinstance(node.pullback, PythonPullback):
        return node.pullback.pull(cotangents, create_graph)
    if create_graph or node.pullback is LATER:
        given = tuple([c is not None for c in cotangents])
        op = _pullback_op(node.op, node.attrs, node.mask, given)
        grads = run(op, [*node.inputs, *[c for c in cotangents if c is not None]])
        return (grads,) if op.outputs == 1 else grads
    mode = modes.current()
    name = node.op.name
    payloads = [
        None if c is None else sent(p, mode, name) if type(p := c.payload) is onp.ndarray else p
        for c in cotangents
    ]
    return [fresh(g) for g in _pulled(node, payloads, mode.observer)]


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
        return pulled
    finally:
        xla.exit_x64_scope()


_pullback_ops: dict[Any, Op] = {}


def _pullback_op(op: Op, attrs: Attrs, mask: tuple[bool, ...], given: tuple[bool, ...]) -> Op:
    key = (op, attrs, mask, given, modes.current().numpy_dtypes)
    found = _pullback_ops.get(key)
    if found is None:
        found = _pullback_ops[key] = xla.pullback_op(op, attrs, mask, given)
    return found


def record(
    op: Op,
    values: Sequence[Value],
    payloads: Sequence[Any],
    attrs: Attrs,
    backend: Any,
    mode: modes.Mode,
) -> Any:
    """Run an operator with its pullback, and put a node on the outputs that can have gradients."""
    mask = tuple([v.node is not None for v in values])
    if backend is host:
        out = None if attrs else host.quick(op, payloads, mode.numpy_dtypes)
        return attach(
            op,
            attrs,
            values,
            mask,
            LATER,
            call(op, payloads, attrs, (), host, mode) if out is None else out,
        )
    key = (attrs, mask)
    programs = op.programs.table(RECORDED, backend.name, mode.numpy_dtypes)
    program = programs.get(key)
    if program is None:
        program = programs[key] = backend.forward_and_pullback(op, attrs, mask)
    try:
        out, pullback = program(*payloads)
    except (TypeError, ValueError, IndexError) as error:
        raise explained(op, payloads, attrs, error) from error
    return attach(op, attrs, values, mask, pullback, out)


def attach(
    op: Op, attrs: Attrs, values: Sequence[Value], mask: tuple[bool, ...], pullback: Any, out: Any
) -> Any:
    """Values for recorded outputs, with their node."""
    carries = op.carries
    if op.outputs == 1:
        if not dtypes.is_inexact(out.dtype) or not (carries is None or carries[0]):
            return Value(out)
        return Value(out, Node(op, attrs, values, mask, pullback, 1))
    node = Node(op, attrs, values, mask, pullback, op.outputs)
    made = [
        Value(o, node, i)
        if dtypes.is_inexact(o.dtype) and (carries is None or carries[i])
        else Value(o)
        for i, o in enumerate(out)
    ]
    return tuple(made)


def _add(xp: Any, x: Any, y: Any) -> Any:
    return xp.add(x, y)


def _ones(xp: Any, x: Any) -> Any:
    return xp.ones_like(x)


_accumulate = from_function("_npi_accumulate", _add)
_ones_like = from_function("_npi_one_cotangent", _ones)


# --- a graph at once ------------------------------------------------------------------------------

Gradients = dict[int, tuple[Leaf, Value]]
_programs: dict[Any, Op | None] = {}

_PATIENCE = 8
_patience = [_PATIENCE]


def forget_programs() -> None:
    """Forget the programs of whole graphs; to be called when operators compute otherwise than
    before.
    """
    _programs.clear()


def _nodes_on_host(heads: Sequence[Value]) -> list[Node]:
    """The nodes that the heads depend on, in the order of recording; none if some of them did not
    run on the host.
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
) -> tuple[tuple[xla.Step, ...], list[Value]]:
    """A graph as it is compared and compiled, and the values that it begins with."""
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


def _at_once(
    heads: Sequence[Value], head_grads: Sequence[Value | None], nodes: Sequence[Node]
) -> Gradients | None:
    """The gradients of a graph that ran on the host: one program computes it again and
    differentiates it.

    None for a graph of a new kind, after many kinds that did not come again: it is walked node by
    node, which compiles nothing that depends on the whole.
    """
    position = {id(node): i for i, node in enumerate(nodes)}
    steps, inputs = _as_steps(nodes, position)
    leaves = tuple([i for i, v in enumerate(inputs) if v.node is not None])
    ends = tuple([(position[id(head.node)], head.index) for head in heads])
    given = tuple([grad is not None for grad in head_grads])
    types = tuple(
        [(p.shape, p.dtype) if hasattr(p := v.payload, "dtype") else type(p) for v in inputs]
    )
    key = (steps, types, leaves, ends, given, modes.current().numpy_dtypes)
    op = _programs.get(key)
    if op is not None:
        _patience[0] = _PATIENCE
    else:
        if len(_programs) >= 256:
            _programs.clear()
        if key not in _programs and _patience[0] == 0:
            _programs[key] = None
            return None
        _patience[0] = max(_patience[0] - 1, 0)
        op = _programs[key] = xla.graph_gradient_op(steps, len(inputs), leaves, ends, given)
    grads = run(op, [*inputs, *[g for g in head_grads if g is not None]])
    found: Gradients = {}
    for i, grad in zip(leaves, (grads,) if op.outputs == 1 else grads, strict=True):
        leaf: Any = inputs[i].node
        before = found.get(id(leaf))
        found[id(leaf)] = leaf, grad if before is None else run(_accumulate, [before[1], grad])
    return found


def gradients(
    heads: Sequence[Value],
    head_grads: Sequence[Value | None],
    retain_graph: bool,
    create_graph: bool,
) -> Gradients:
    """Walk back from the heads; the gradient of every leaf they depend on, by the leaf's id.

    Nothing is written and nothing released until the whole walk has succeeded.
    """
    if not create_graph and (nodes := _nodes_on_host(heads)):
        with modes.changed(recording=False):
            at_once = _at_once(heads, head_grads, nodes)
        if at_once is not None:
            if not retain_graph:
                for ran in nodes:
                    ran.release()
            return at_once
    found: Gradients = {}
    waiting: dict[int, tuple[Leaf | Node, list[Value | None]]] = {}
    heap: list[tuple[int, int]] = []

    def send(value: Value, grad: Value) -> None:
        node = value.node
        if node is None:
            return
        entry = waiting.get(id(node))
        if entry is None:
            slots: list[Value | None] = [None] * (node.outputs if isinstance(node, Node) else 1)
            entry = waiting[id(node)] = (node, slots)
            heapq.heappush(heap, (-node.sequence, id(node)))
        index = value.index
        before = entry[1][index]
        entry[1][index] = grad if before is None else run(_accumulate, [before, grad])

    with modes.changed(recording=create_graph):
        for head, grad in zip(heads, head_grads, strict=True):
            send(head, run(_ones_like, [head]) if grad is None else grad)
        walked = []
        while heap:
            _, key = heapq.heappop(heap)
            node, slots = waiting.pop(key)
            if isinstance(node, Leaf):
                assert slots[0] is not None
                found[key] = (node, slots[0])
                continue
            if node.released:
                raise AutogradError(
                    f"backward through {node.op.name} a second time: its graph was freed by the "
                    "first one; "
                    "pass retain_graph=True to the first backward"
                )
            walked.append(node)
            wanted = [v for v, m in zip(node.inputs, node.mask, strict=True) if m]
            for value, gradient in zip(wanted, pull(node, slots, create_graph), strict=True):
                send(value, gradient)
    if not retain_graph:
        for node in walked:
            node.release()
    return found


def backward(
    heads: Sequence[Handle],
    head_grads: Sequence[Handle | None] | None,
    retain_graph: bool,
    create_graph: bool = False,
) -> None:
    """Add to, or replace, the gradient of every variable that the heads depend on."""
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
            grad = Value(host_payload(grad), grad.node, grad.index)
        if leaf.request == "add":
            grad = run(_accumulate, [read(leaf.grad), grad])
        with modes.changed(recording=create_graph):
            write(leaf.grad, grad)
    if not (retain_graph or create_graph):
        for leaf, _ in found.values():
            renew(leaf)


def head_values(
    heads: Sequence[Handle], head_grads: Sequence[Handle | None] | None
) -> tuple[list[Value], list[Value | None]]:
    """The heads' values and gradients, checked."""
    values = [read(h) for h in heads]
    if head_grads is None:
        head_grads = [None] * len(values)
    if len(head_grads) != len(heads):
        raise ValueError(
            f"head_grads: expected {len(heads)} gradients, one for each head, got {len(head_grads)}"
        )
    grads = [None if grad is None else as_value(grad) for grad in head_grads]
    for i, (value, grad) in enumerate(zip(values, grads, strict=True)):
        if type(value.payload) is masked_array.Selected:
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
    """The gradient of a head, checked, in the head's dtype."""
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


@operator("_npi_stop_gradient", pattern="elementwise", differentiable=False)
def _stop_gradient(xp: Any, x: Any) -> Any:
    """The value, cut off from differentiation."""
    return xp.stop_gradient(x)


def detached(value: Value) -> Value:
    """The same payload without its node; inside a trace also cut off from the derivative of the
    whole program.
    """
    if modes.current().trace is None:
        return Value(value.payload)
    result: Value = run(_stop_gradient, [value])
    return result


def attach_leaf(handle: Handle, grad: Handle | None, request: str) -> None:
    """Make the handle a variable: from now on what is recorded of it leads to `grad`."""
    if request not in ("write", "add", "null"):
        raise ValueError(f"grad_req: expected 'write', 'add' or 'null', got {request!r}")
    value = read(handle)
    if not dtypes.is_inexact(value.payload.dtype):
        raise TypeError(
            f"attach_grad on an array of {value.payload.dtype}: only floats have gradients; use "
            ".astype('float32') first"
        )
    rare = extra(handle)
    rare.leaf = None if request == "null" else Leaf(grad, request, handle)
    rare.grad_handle = grad
    changes.note()
    if handle._view is None:
        handle._value = fresh(value.payload, rare.leaf)
    else:
        handle._view.cached = None
    touch(handle)


__all__ = [
    "Leaf",
    "Node",
    "attach",
    "attach_leaf",
    "backward",
    "gradients",
    "head_values",
    "place",
    "record",
]
