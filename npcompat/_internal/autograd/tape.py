"""The tape: recording of operators as nodes, which the values that they produced refer to.

There is no list of nodes. A node refers to its input values, never to its outputs or to a handle,
so a graph is freed by reference counts as soon as its last value is.
"""

from collections.abc import Sequence
from typing import Any

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import changes, dtypes, modes
from npcompat._internal.core.graph_node import LATER, Leaf, Node
from npcompat._internal.core.handle import Handle, Value, bump_version, extra, note_variable_view
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import RECORDED
from npcompat._internal.core.retained_outputs import clear
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.calls import call
from npcompat._internal.dispatch.handles import read
from npcompat._internal.dispatch.numpy_errors import explained
from npcompat._internal.dispatch.placement import set_node


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
        apart = sharding.are_apart(error)
        together = sharding.on_common_mesh(payloads, op.layout) if apart else None
        if together is None:
            raise explained(op, payloads, attrs, error) from error
        out, pullback = program(*together)
    if sharding.several[0]:
        sharding.block_on_cpu_mesh(out)
    return attach(op, attrs, values, mask, pullback, out)


def attach(
    op: Op, attrs: Attrs, values: Sequence[Value], mask: tuple[bool, ...], pullback: Any, out: Any
) -> Any:
    """Wrap recorded outputs in values with a node; integer outputs get none."""
    carries = op.differentiable_outputs
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


def attach_leaf(handle: Handle, grad: Handle | None, request: str) -> None:
    """Make the handle a variable, whose gradient backward writes into `grad`."""
    if request not in ("write", "add", "null"):
        raise ValueError(f"grad_req: expected 'write', 'add' or 'null', got {request!r}")
    if late_bound.is_host_scalar(handle):
        raise TypeError(
            "attach_grad on a scalar: NumPy takes it for a number, so that gradients would be lost; "
            "make an array of it: x = np.array(x)"
        )
    value = read(handle)
    if not dtypes.is_inexact(value.payload.dtype):
        raise TypeError(
            f"attach_grad on an array of {value.payload.dtype}: only floats have gradients; use "
            ".astype('float32') first"
        )
    rare = extra(handle)
    rare.leaf = None if request == "null" else Leaf(grad, request, handle)
    rare.grad_handle = grad
    if grad is not None:
        clear(grad)
    changes.note()
    if handle._view is None:
        set_node(handle, rare.leaf)
    else:
        handle._view.cached = None
        note_variable_view(handle._view.root)
    bump_version(handle)


__all__ = ["attach", "attach_leaf", "record"]
