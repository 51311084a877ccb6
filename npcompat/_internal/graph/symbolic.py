"""Symbolic backend: an operator on symbols is a node of a graph, with inferred types.

A graph has no list of its nodes: a node refers to its inputs. Nodes are immutable, except that the
type of a variable may become known while the graph is built.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import type_inference
from npcompat._internal.support.errors import InferenceError, SymbolError

_SCALARS = frozenset((bool, int, float, complex))
_numbers = itertools.count()
_NO_LABELS: Mapping[str, str] = MappingProxyType({})
labels: ContextVar[Mapping[str, str]] = ContextVar("labels", default=_NO_LABELS)
"""Attributes that the user gives to nodes made now (`symbol.AttrScope`)."""
naming: ContextVar[Callable[[str | None, str], str]] = ContextVar("naming")
"""Function that names the nodes made now, given a name and a hint (`symbol.NameManager`)."""


class Node:
    """Variable, constant, or call of an operator on other nodes' outputs and Python scalars.

    `labels` are attributes of the user's.
    """

    __slots__ = ("attrs", "inputs", "labels", "name", "op", "outputs", "value")

    def __init__(
        self,
        name: str,
        outputs: tuple[TensorType, ...],
        op: Op | None = None,
        attrs: Attrs = (),
        inputs: tuple[Any, ...] = (),
        value: onp.ndarray[Any, Any] | None = None,
        labels: Mapping[str, str] = _NO_LABELS,
    ) -> None:
        self.name, self.outputs, self.labels = name, outputs, labels
        self.op, self.attrs, self.inputs = op, attrs, inputs
        self.value = value

    @property
    def is_variable(self) -> bool:
        """True if its value is given when the graph is bound."""
        return self.op is None and self.value is None and self not in STREAM


STREAM = (
    Node("random_key", (TensorType((2,), onp.dtype(onp.uint32)),)),
    Node("random_counter", (TensorType((), onp.dtype(onp.int64)),)),
)
"""State of the default random stream when a graph is run, from which its draws count."""


class Symbolic:
    """Output of a node: the payload of a symbol."""

    __slots__ = ("index", "node")

    def __init__(self, node: Node, index: int = 0) -> None:
        self.node, self.index = node, index

    @property
    def type(self) -> TensorType:
        """Type, as far as it is known."""
        return self.node.outputs[self.index]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Shape; lengths that are not known are symbols."""
        if self.type.shape is None or None in self.type.shape:
            raise InferenceError(
                f"symbol {self.node.name!r} is of type {self.type!r}, but its shape is needed: "
                "give shapes to variables"
            )
        return self.type.shape

    @property
    def dtype(self) -> onp.dtype[Any]:
        """Data type."""
        if self.type.dtype is None:
            raise InferenceError(
                f"symbol {self.node.name!r} is of type {self.type!r}, but its dtype is needed: "
                "give dtypes to variables"
            )
        found: onp.dtype[Any] = self.type.dtype
        return found

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def refine(self, known: TensorType) -> bool:
        """Refine the type of a variable, for nodes that are made later.

        Return False, and do nothing, for other nodes.
        """
        if self.node.is_variable:
            self.node.outputs = (self.type.joined(known, f"variable {self.node.name}"),)
        return self.node.is_variable

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> onp.ndarray[Any, Any]:
        raise SymbolError(
            f"the value of symbol {self.node.name!r} is asked for; it has one only when its graph "
            "is bound or evaluated"
        )


def constant(array: onp.ndarray[Any, Any]) -> Symbolic:
    """Make a constant of a graph."""
    kept = onp.array(array)
    return Symbolic(
        Node(f"constant{next(_numbers)}", (TensorType(kept.shape, kept.dtype),), value=kept)
    )


def operands(payloads: Iterable[Any]) -> tuple[Any, ...]:
    """Return the operands of a node: arrays become constants, Python scalars stay."""
    return tuple(
        [
            p if type(p) is Symbolic or type(p) in _SCALARS else constant(onp.asarray(p))
            for p in payloads
        ]
    )


def call(op: Op, inputs: tuple[Any, ...], attrs: Attrs, like: Node | None = None) -> Node:
    """Return the node of a call, with the name and the labels of another node, if one is given.

    Raises
    ------
    InferenceError
        If the types that are known contradict each other.
    """
    found = type_inference.infer(
        op, [p.type if type(p) is Symbolic else type(p) for p in inputs], attrs
    )
    if like is not None:
        return Node(like.name, found.outputs, op, attrs, inputs, labels=like.labels)
    short, namer = op.name.split("_", 2)[2], naming.get(None)
    name = f"{short}{next(_numbers)}" if namer is None else namer(None, short)
    return Node(name, found.outputs, op, attrs, inputs, labels=labels.get())


def run(op: Op, payloads: Sequence[Any], attrs: Attrs) -> Any:
    """Run an operator on operands of which some are symbols: return values of a new node."""
    node = call(op, operands(payloads), attrs)
    outs = tuple([Value(Symbolic(node, i)) for i in range(op.outputs)])
    return outs[0] if op.outputs == 1 else outs
