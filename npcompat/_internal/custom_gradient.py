"""Operators whose gradient is a Python function: `autograd.Function`.

Eager, the node's pullback is that function.  In a trace the enclosing program may be differentiated from outside, so
the function is traced, too, and becomes the custom derivative of an identity on the outputs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes, execution, modes
from npcompat._internal.backend import jax_control as control
from npcompat._internal.handle import Handle, Value
from npcompat._internal.op import Op
from npcompat._internal.tape import Node, PythonPullback
from npcompat._internal.trace import Trace, capture

Python = Callable[..., Any]


def call(name: str, forward: Python, backward: Python, inputs: Sequence[Handle]) -> Any:
    """Apply `forward` to arrays, with `backward` as its gradient."""
    mode = modes.current()
    values = [dispatch.read(x) for x in inputs]
    with modes.changed(recording=False):
        result = forward(*inputs)
    single = isinstance(result, Handle)
    outs = [dispatch.read(r) for r in ((result,) if single else result)]
    mask = tuple([v.node is not None for v in values])
    if not mode.recording or not any(mask):
        return result
    if mode.trace is None:
        outs = _recorded(name, backward, values, mask, outs)
    else:
        outs = _traced(name, backward, values, outs)
    made = [dispatch.wrap(v) for v in outs]
    return made[0] if single else tuple(made)


def _gradients(name: str, backward: Python, cotangents: Sequence[Handle], inputs: Sequence[Value]) -> list[Value]:
    """What `backward` returns, checked: one gradient of the right shape for each input."""
    returned = backward(*cotangents)
    grads = (returned,) if isinstance(returned, Handle) else tuple(returned)
    if len(grads) != len(inputs):
        raise ValueError(f"{name}.backward: expected {len(inputs)} gradients, one for each input, got {len(grads)}")
    for i, (grad, x) in enumerate(zip(grads, inputs, strict=True)):
        if grad.shape != x.payload.shape:
            raise ValueError(f"{name}.backward: gradient {i}: expected shape {x.payload.shape}, as its input has, got {grad.shape}")
    return [dispatch.read(g) for g in grads]


def _recorded(name: str, backward: Python, inputs: list[Value], mask: tuple[bool, ...], outs: list[Value]) -> list[Value]:
    zeros = [(v.payload.shape, v.payload.dtype) for v in outs]

    def pull(cotangents: Sequence[Value | None], create_graph: bool) -> list[Value]:
        given = []
        for cotangent, (shape, dtype) in zip(cotangents, zeros, strict=True):
            given.append(dispatch.array_of(onp.zeros(shape, dtype)) if cotangent is None else dispatch.wrap(cotangent))
        grads = _gradients(name, backward, given, inputs)
        return [g for g, wanted in zip(grads, mask, strict=True) if wanted]

    node = Node(Op(name, backward), (), inputs, mask, PythonPullback(pull), len(outs))
    return [Value(v.payload, node if dtypes.is_inexact(v.payload.dtype) else None, i) for i, v in enumerate(outs)]


def _traced(name: str, backward: Python, inputs: list[Value], outs: list[Value]) -> list[Value]:
    def body(proxies: list[Any], trace: Trace) -> tuple[Sequence[Value], Any]:
        return _gradients(name, backward, proxies, inputs), None

    with modes.changed(recording=False):
        found = capture(f"{name}_backward", body, [Value(v.payload) for v in outs])
    if found.written:
        raise NotImplementedError(f"{name}.backward writes an array from outside: not supported in compiled functions")
    if found.errors:
        raise NotImplementedError(f"{name}.backward indexes with arrays: not supported in compiled functions")
    op = control.with_gradient(name, found.op, len(inputs), len(outs), len(found.reads))
    result = execution.run(op, [*inputs, *outs, *[dispatch.read(h) for h in found.reads]])
    return [result] if op.outputs == 1 else list(result)
