"""Records of the tape: nodes, leaves and pullbacks, which hang on values.

A node points to its input values, never to its outputs or to a handle, so a graph is freed by
reference counts as soon as its last value goes.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from npcompat._internal.core.op import Attrs, Op

if TYPE_CHECKING:
    from npcompat._internal.core.handle import Handle, Value

sequence = itertools.count()
"""Ages of nodes and leaves: a node is younger than its inputs."""


class Leaf:
    """Tape node of a variable: the handle of its gradient, and the `grad_req`."""

    __slots__ = ("grad", "request", "sequence", "variable")
    released = False

    def __init__(
        self, grad: "Handle | None", request: str, variable: "Handle | None" = None
    ) -> None:
        self.grad, self.request, self.sequence = grad, request, next(sequence)
        self.variable = None if variable is None else weakref.ref(variable)


class PythonPullback:
    """A gradient written by a user: `pull(cotangents, create_graph)` over values."""

    __slots__ = ("pull",)

    def __init__(self, pull: "Callable[[Sequence[Value | None], bool], Sequence[Value]]") -> None:
        self.pull = pull


LATER = object()
"""Pullback of an operator that ran on the host: backward makes it from the inputs."""


class Node:
    """Record of one application of an operator on the tape."""

    __slots__ = ("__weakref__", "attrs", "inputs", "mask", "op", "outputs", "pullback", "sequence")

    def __init__(
        self,
        op: Op,
        attrs: Attrs,
        inputs: "Sequence[Value]",
        mask: tuple[bool, ...],
        pullback: Any,
        outputs: int,
    ) -> None:
        self.op, self.attrs, self.inputs, self.mask = op, attrs, tuple(inputs), mask
        self.pullback, self.outputs, self.sequence = pullback, outputs, next(sequence)

    def release(self) -> None:
        """Drop the inputs and the pullback, after which the node can't be walked again."""
        self.inputs, self.pullback = (), None

    @property
    def released(self) -> bool:
        """True once backward has walked the node and dropped what it needed."""
        return self.pullback is None
