"""Operators whose gradient is a Python function: `autograd.Function`, `npx.Custom`,
`operator.CustomOp`.

In eager mode the function is the node's pullback. In a trace the enclosing program may be
differentiated as a whole. So the function is traced, too, and becomes the custom derivative of an
identity on the outputs.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import custom_ops, language
from npcompat._internal.compile.capture import Captured, capture
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.graph_node import Node, PythonPullback
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import array_like, execution, handles
from npcompat._internal.support.errors import AutogradError, SymbolError

Python = Callable[..., Any]
Backward = Callable[[Sequence[Handle], Sequence[Handle], Sequence[Handle]], Any]
"""Function of inputs, outputs and output gradients that returns the gradients of the inputs."""


def call(
    name: str,
    forward: Python,
    backward: Backward,
    inputs: Sequence[Handle],
    label: str = "backward",
) -> Any:
    """Apply `forward` to arrays, with `backward` as its gradient.

    Errors name the gradient `name.label`.
    """
    mode = modes.current()
    values = [handles.read(x) for x in inputs]
    roots = [x if x._view is None else x._view.root for x in inputs]
    before = [root._value for root in roots]
    with modes.changed(recording=False):
        result = forward(*inputs)
    if mode.recording:
        _check_unwritten(name, roots, before)
    single = isinstance(result, Handle)
    outs = [handles.read(r) for r in ((result,) if single else result)]
    mask = tuple([v.node is not None for v in values])
    if not mode.recording or not any(mask):
        return result
    if mode.trace is None:
        outs = _recorded(f"{name}.{label}", backward, values, mask, outs)
    else:
        outs = _traced(f"{name}.{label}", backward, values, outs)
    made = [handles.wrap(v) for v in outs]
    return made[0] if single else tuple(made)


def _check_unwritten(name: str, roots: Sequence[Handle], before: Sequence[Value]) -> None:
    """Raise if a function has written one of its inputs that was recorded; the input is restored."""
    for i, (root, value) in enumerate(zip(roots, before, strict=True)):
        leaf = None if root._extra is None else root._extra.leaf
        written = root._value.payload is not value.payload
        if value.node is not None and value.node is not leaf and written:
            root._value = value
            raise AutogradError(
                f"{name}: forward writes its input {i}, which was recorded, so that its gradient "
                "would be lost; write into a copy of it"
            )


def gradients(name: str, returned: Any, inputs: Sequence[Any]) -> list[Value]:
    """Check the gradients that a `backward` returned, and cast them to the dtypes of the inputs.

    There must be one for each input, of the same shape; None stands for zeros.
    """
    grads: Sequence[Any] = [returned] if isinstance(returned, Handle) else list(returned)
    if len(grads) != len(inputs):
        raise ValueError(
            f"{name}: expected {len(inputs)} gradients, one for each input, got {len(grads)}"
        )
    for i, grad in enumerate(grads):
        if grad is not None and not isinstance(grad, Handle):
            raise TypeError(
                f"{name}: gradient {i}: expected an npcompat ndarray or None, got "
                f"{type(grad).__name__}"
            )
    found = []
    for i, (grad, x) in enumerate(zip(grads, inputs, strict=True)):
        if grad is None:
            grad = array_like.array_of(onp.zeros(x.shape, x.dtype))
        elif grad.shape != x.shape:
            raise ValueError(
                f"{name}: gradient {i}: expected shape {x.shape}, as its input has, got "
                f"{grad.shape}"
            )
        elif grad.dtype != x.dtype and dtypes.is_inexact(x.dtype):
            grad = grad.astype(x.dtype)
        found.append(handles.read(grad))
    return found


def _recorded(
    name: str, backward: Backward, inputs: list[Value], mask: tuple[bool, ...], outs: list[Value]
) -> list[Value]:
    payloads = [v.payload for v in outs]

    def values() -> list[Value]:
        """Return the outputs; they own the node, so the node must not own them."""
        found = node_of()
        return [
            Value(p, found if dtypes.is_inexact(p.dtype) else None, i)
            for i, p in enumerate(payloads)
        ]

    def pull(cotangents: Sequence[Value | None], create_graph: bool) -> list[Value]:
        head_grads = []
        for cotangent, p in zip(cotangents, payloads, strict=True):
            head_grads.append(
                array_like.array_of(onp.zeros(p.shape, p.dtype))
                if cotangent is None
                else handles.wrap(cotangent)
            )
        returned = backward(
            list(map(handles.wrap, inputs)), list(map(handles.wrap, values())), head_grads
        )
        grads = gradients(name, returned, [v.payload for v in inputs])
        return [g for g, wanted in zip(grads, mask, strict=True) if wanted]

    node = Node(Op(name, backward), (), inputs, mask, PythonPullback(pull), len(outs))
    node_of = weakref.ref(node)
    return values()


def _traced(name: str, backward: Backward, inputs: list[Value], outs: list[Value]) -> list[Value]:
    a, b = len(inputs), len(inputs) + len(outs)

    def body(proxies: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
        return gradients(name, backward(proxies[:a], proxies[a:b], proxies[b:]), proxies[:a]), None

    with modes.changed(recording=False):
        found = capture(name, body, [Value(v.payload) for v in (*inputs, *outs, *outs)])
    if found.written:
        raise NotImplementedError(
            f"{name} writes an array from outside: not supported in compiled functions"
        )
    if found.errors:
        raise NotImplementedError(
            f"{name} indexes with arrays: not supported in compiled functions"
        )
    op = custom_ops.with_gradient(name, _outputs_of(found), len(inputs), len(outs))
    result = execution.run(op, [*inputs, *outs, *[handles.read(h) for h in found.reads]])
    return [result] if op.outputs == 1 else list(result)


def _outputs_of(found: Captured) -> custom_ops.Function:
    """Return a function of captured arrays and arguments that computes only the outputs."""
    function = language.function(found.op, ())

    def outputs(*arrays: Any) -> Sequence[Any]:
        out = function(*arrays)
        return found.split((out,) if found.op.outputs == 1 else tuple(out))[0]

    return outputs


def of_payloads(name: str, python: Callable[..., Sequence[Handle]]) -> custom_ops.Function:
    """Convert a Python function of npcompat arrays to one of XLA's arrays and tracers.

    Raise SymbolError if the function reads or writes an array from outside.
    """

    def function(*payloads: Any) -> Sequence[Any]:
        def body(proxies: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
            return [handles.read(r) for r in python(*proxies)], None

        with modes.changed(recording=False):
            found = capture(name, body, [Value(p) for p in payloads])
        if found.reads or found.written:
            raise SymbolError(
                f"{name} is a node of a graph, but its function uses an array from outside: make "
                "that an input"
            )
        return _outputs_of(found)(*payloads)

    return function
