"""The mutable handle over an immutable value, and the view that has no value of its own.

Hot path: `ndarray` is created once per call, so a handle has three slots and everything rare lives
in `Extra`.
"""

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import changes
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import RefusedError

if TYPE_CHECKING:
    from npcompat._internal.core.graph_node import Leaf, Node
    from npcompat._internal.core.protocols import LensLike

clock = itertools.count(1)
"""Source of all versions of the process, so that no version occurs twice, even across traces."""


class Value:
    """Immutable value: a payload of some backend, and the tape node whose output `index` it is."""

    __slots__ = ("index", "node", "payload")

    def __init__(self, payload: Any, node: "Node | Leaf | None" = None, index: int = 0) -> None:
        self.payload = payload
        self.node = node
        self.index = index


class BorrowedValue(Value):
    """Value of a handle whose host buffer is borrowed by code that may write it.

    See `npcompat/_internal/dispatch/borrowed_buffers.py`. Values are immutable, so `payload` is a
    copy, which nothing writes.

    Attributes
    ----------
    buffer : numpy.ndarray
        The memory itself, to be read or written at once and not kept.
    users : int
        Number of borrowers at present.
    escaped : bool
        True if a former borrower may still write the memory.
    """

    __slots__ = ("buffer", "escaped", "users")

    def __init__(self, buffer: onp.ndarray[Any, Any], node: Any = None) -> None:
        self.buffer, self.users, self.escaped = buffer, 0, False
        self.node, self.index = node, 0

    @property
    def payload(self) -> Any:
        """Copy of the elements at this moment."""
        return self.buffer.copy(order="K")


def payload_now(value: Value) -> Any:
    """Return the payload to be used at once and not kept; a borrowed buffer is not copied."""
    return value.payload if type(value) is not BorrowedValue else value.buffer


class View:
    """Parent and lens of a view handle.

    `root` is the handle at the end of the chain of parents, `depth` steps away, which owns the
    value.
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
    """Rare attributes of a handle.

    `blank` is the version at which the handle, a gradient, was made or set to zero: while it is
    that, no backward has written it. `readonly` may be the reason, where the user does not know
    that the array is. `form` counts the shapes, dtypes and strides that the user has set.
    `has_variable_views` is True if `attach_grad` was called on a view of it.
    """

    __slots__ = (
        "blank",
        "form",
        "grad_handle",
        "has_variable_views",
        "layout",
        "leaf",
        "readonly",
        "version",
    )

    def __init__(self) -> None:
        self.leaf: Leaf | None = None
        self.grad_handle: Any = None
        self.readonly: bool | str = False
        self.layout: onp.ndarray[Any, Any] | None = None
        self.version = next(clock)
        self.blank = 0
        self.form = 0
        self.has_variable_views = False


class Handle:
    """Base class of arrays and scalars, on which the core works.

    It declares what `StoredHandle` stores, so that NumPy's scalar types, which are objects of
    another layout, can be bases beside it.
    """

    _immutable = False
    if TYPE_CHECKING:  # every subclass has them
        __slots__ = ("__weakref__", "_extra", "_value", "_view")
        _value: Value
        _view: View | None
        _extra: Extra | None

        @property
        def shape(self) -> tuple[int, ...]:
            """Lengths of the axes."""

        @property
        def dtype(self) -> onp.dtype[Any]:
            """Type of the elements."""

    else:
        __slots__ = ()


class StoredHandle(Handle, fast_path.Padded):
    """Handle with slots, of whatever layout: base class of `ndarray`."""

    __slots__ = ("__weakref__", "_extra", "_value", "_view")


def root_of(handle: Handle) -> Handle:
    """Return the handle that owns the value: of a view the root of its chain, else the handle."""
    return handle if handle._view is None else handle._view.root


def extra(handle: Handle) -> Extra:
    """Return the rare attributes of a handle, made at first use."""
    if handle._extra is None:
        handle._extra = Extra()
    return handle._extra


def has_history(handle: Handle) -> bool:
    """Return True for an array that was computed or written while recording."""
    root = root_of(handle)
    node, rare = root._value.node, root._extra
    return node is not None and (rare is None or node is not rare.leaf)


def note_variable_view(root: Handle) -> None:
    """Note that a view of an array has become a variable."""
    extra(root).has_variable_views = _variable_views[0] = True


def have_variable_views(handles: Iterable[Handle]) -> bool:
    """Return True if a view of one of the arrays, or of its root, is a variable."""
    return _variable_views[0] and any(map(_has_variable_views, handles))


def _has_variable_views(handle: Handle) -> bool:
    rare = root_of(handle)._extra
    return rare is not None and rare.has_variable_views


_variable_views = [False]
"""Holds True once a view has been a variable: few programs have any."""


def set_form(handle: Handle) -> None:
    """Note that an array has been given another shape, dtype or strides."""
    extra(handle).form += 1
    changes.note_form()


def form_of(handle: Handle) -> tuple[View | None, int]:
    """Return what an array has anew with each shape, dtype and strides that it is given."""
    return handle._view, 0 if handle._extra is None else handle._extra.form


def check_writeable(handle: Handle, text: str = "assignment destination is read-only") -> None:
    """Raise ValueError with this text for a read-only array, or RefusedError with the reason.

    A scalar raises TypeError. NumPy allows writing a view of an array that became read-only later,
    but not so what data have selected in a compiled function, which another array may have to see.
    """
    if handle._immutable:
        raise TypeError(f"'numpy.{handle.dtype.name}' object does not support item assignment")
    if handle._extra is not None and (reason := handle._extra.readonly):
        raise RefusedError(reason) if isinstance(reason, str) else ValueError(text)
    if (view := handle._view) is not None and (rare := view.root._extra) is not None:
        if isinstance(rare.readonly, str):
            raise RefusedError(rare.readonly)


def bump_version(handle: Handle) -> None:
    """Give the handle a new version after its value was replaced, so that views read it again."""
    if handle._extra is not None:
        handle._extra.version = next(clock)
