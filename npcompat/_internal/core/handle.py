"""The mutable handle over an immutable value, and the view that has no value of its own.

Hot path: `ndarray` is created once per call, so a handle has three slots and everything rare lives
in `Extra`.
"""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as onp

if TYPE_CHECKING:
    from npcompat._internal.core.graph_node import Leaf, Node
    from npcompat._internal.core.protocols import LensLike

clock = itertools.count(1)
"""Versions come from one clock, so that a version is never given twice, also not across traces."""


class Value:
    """An immutable value: a payload of some backend, and the tape node that produced it (output
    `index` of it).
    """

    __slots__ = ("index", "node", "payload")

    def __init__(self, payload: Any, node: "Node | Leaf | None" = None, index: int = 0) -> None:
        self.payload = payload
        self.node = node
        self.index = index


class BorrowedValue(Value):
    """The value of a handle whose buffer on the host is lent to somebody who may write it.

    See `npcompat/_internal/dispatch/borrowed_buffers.py`. Whoever asks for the payload gets a copy,
    which nobody writes.

    Attributes
    ----------
    buffer : numpy.ndarray
        The memory itself: to look at and to write, not to keep.
    users : int
        How many have borrowed it.
    escaped : bool
        True if one who has given it back may still write it.
    """

    __slots__ = ("buffer", "escaped", "users")

    def __init__(self, buffer: onp.ndarray[Any, Any], node: Any = None) -> None:
        self.buffer, self.users, self.escaped = buffer, 0, False
        self.node, self.index = node, 0

    @property
    def payload(self) -> Any:
        """The elements as they are now."""
        return self.buffer.copy(order="K")


def payload_now(value: Value) -> Any:
    """The payload, to be looked at now and not kept: memory that is lent is not copied."""
    return value.payload if type(value) is not BorrowedValue else value.buffer


class View:
    """What a view handle looks at: a parent handle through a lens; `root` owns the value at the end
    of the chain, `depth` steps away.
    """

    __slots__ = ("cached", "depth", "lens", "parent", "root", "version")

    def __init__(self, parent: "Handle", lens: "LensLike") -> None:
        self.parent = parent
        self.lens = lens
        above = parent._view
        self.root: Handle
        if above is None:
            self.root, self.depth = parent, 1
        else:
            self.root, self.depth = above.root, above.depth + 1
        self.version = 0
        self.cached: Value | None = None


class Extra:
    """The rare attributes of a handle.

    `blank` is the version at which the handle, a gradient, was made or set to zero: while it is
    that, no backward has written it.
    """

    __slots__ = ("blank", "grad_handle", "layout", "leaf", "readonly", "version")

    def __init__(self) -> None:
        self.leaf: Leaf | None = None
        self.grad_handle: Any = None
        self.readonly = False
        self.layout: onp.ndarray[Any, Any] | None = None
        self.version = next(clock)
        self.blank = 0


class Handle:
    """The part of `ndarray` that the core works on."""

    __slots__ = ("__weakref__", "_extra", "_value", "_view")
    _value: Value
    _view: View | None
    _extra: Extra | None
    if TYPE_CHECKING:  # every subclass has them

        @property
        def shape(self) -> tuple[int, ...]:
            """Lengths of the axes."""

        @property
        def dtype(self) -> onp.dtype[Any]:
            """Type of the elements."""


def root_of(handle: Handle) -> Handle:
    """The handle that owns the value which this one looks at: itself, if it is no view."""
    return handle if handle._view is None else handle._view.root


def extra(handle: Handle) -> Extra:
    """The handle's rare attributes, made at first use."""
    if handle._extra is None:
        handle._extra = Extra()
    return handle._extra


def bump_version(handle: Handle) -> None:
    """Say that the handle's value was replaced, so that views read it again."""
    if handle._extra is not None:
        handle._extra.version = next(clock)
