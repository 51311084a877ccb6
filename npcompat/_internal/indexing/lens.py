"""Lenses: the ways in which NumPy's views look at a base, each a `get` and a `put` operator.

What is a view and what a copy, which shape it has and which error is raised, NumPy decides itself,
on the handle's layout (see `dispatch.layout`).
"""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import Resolution, Type, strong
from npcompat._internal.core.handle import Extra, Handle, View, extra, payload_now
from npcompat._internal.core.index_spec import FULL, host_index
from npcompat._internal.core.op import Attrs, Op, operator
from npcompat._internal.core.protocols import LensLike
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.subclasses import inherit, is_subclass
from npcompat._internal.native import fast_path

Array = onp.ndarray[Any, Any]
Look = Callable[[Array, Attrs, tuple[int, ...]], Array]


class Lens:
    """`get(base, *operands)` and `put(base, new, *operands)`, and `look(array, attrs, operands)`:
    NumPy's own view.
    """

    __slots__ = ("attrs", "get", "look", "operands", "put")

    def __init__(
        self, get: Op, put: Op | None, attrs: Attrs, look: Look, operands: tuple[Any, ...] = ()
    ) -> None:
        self.get, self.put, self.attrs, self.look, self.operands = get, put, attrs, look, operands

    def on_host(self, array: Array) -> Array:
        """The part of a NumPy array that the lens looks at, as a view."""
        return self.look(array, self.attrs, self.operands)

    def same(self, other: "Lens") -> bool:
        """Whether both look at the same part in the same way."""
        return (
            self.get is other.get and self.attrs == other.attrs and self.operands == other.operands
        )


def view(parent: Handle, lens: LensLike) -> Any:
    """A handle that looks at the parent through the lens, of the parent's class."""
    if type(parent) is late_bound.ndarray:
        return plain_view(parent, lens)
    if type(parent) is late_bound.scalar:  # nothing looks at a scalar
        parent = handles.wrap(parent._value)
    return inherit(plain_view(parent, lens), parent)


def cached_view(parent: Handle, lens: Lens) -> Any:
    """`view`, for a public function that returns it (see `apply.apply_cached`).

    It says by this that nothing of the array has decided on the lens but its class, dtype and
    shape, and that it lies in C order.
    """
    return fast_path.cache_view(parent, lens, view(parent, lens))


def plain_view(parent: Handle, lens: LensLike) -> Any:
    """The same as a plain array, whatever class of arrays the parent is of."""
    handle = object.__new__(
        late_bound.ndarray if type(parent) is not late_bound.symbol else late_bound.symbol
    )
    handle._extra = None
    handle._view = View(parent, lens)
    extra(handle._view.root)
    if handle._view.depth > DEEPEST:
        shorten(handle)
    rare = parent._extra
    if lens.put is None or (rare is not None and rare.readonly):
        handle._extra = Extra()
        handle._extra.readonly = True
    if modes.current().recording:
        handles.read(handle)  # a view belongs to the graph from where it is made
    return handle


DEEPEST = 32
"""Views in a chain, as in a loop over `a = a[1:]`, from which on it is replaced by one or two
lenses: each read and write walks the chain.
"""


def shorten(view: Handle) -> None:
    """Let a view look at its root through at most two lenses, if both have elements of one dtype.

    The root's axes are brought into the order of its memory first, where `strided` counts. A chain
    with views of another dtype in it, or of lengths that are not known, stays as it is.
    """
    looking: Any = view._view
    root = looking.root
    if type(view) is late_bound.symbol or isinstance(_payload(root), xla.Unknown):
        return
    memory, found = handles.layout(root), handles.layout(view)
    size = memory.itemsize
    if memory.dtype != found.dtype or not size or any([s % size for s in found.strides]):
        return
    axes = tuple(sorted(range(memory.ndim), key=lambda i: (-memory.strides[i], i)))
    if not memory.transpose(axes).flags.c_contiguous:
        return
    start = _address(found) - _address(memory) if found.size else 0
    if start % size or not 0 <= start <= memory.nbytes:
        return
    last = strided(found.shape, tuple([s // size for s in found.strides]), start // size)
    if looking.lens.put is None:
        last = Lens(last.get, None, last.attrs, last.look)
    above = root
    if axes != tuple(range(memory.ndim)):
        above = plain_view(root, transpose(axes))
    view._view = View(above, last)


def _payload(root: Handle) -> Any:
    return payload_now(root._value)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


# --- basic indexing -------------------------------------------------------------------------------


@operator("_npi_index_get", order="K", pattern="injective", scalars=True)
def index_get(xp: Any, a: Any, *starts: Any, spec: Any) -> Any:
    """The part of `a` that a basic index covers; start positions are operands.

    Parameters
    ----------
    *starts : int
        Where each slice begins, and integers of the index.
    spec : tuple
        What the index does with each axis.
    """
    return xp.index_get(a, starts, spec)


def as_written(types: tuple[Type, ...], attrs: Any) -> Resolution:
    """What is written gets the dtype of what it is written into."""
    return [None, types[0], *[strong(t) for t in types[2:]]], types[0]  # type: ignore[list-item]


@operator("_npi_index_put", order="K", pattern="injective", rule=as_written)
def _index_put(xp: Any, a: Any, new: Any, *starts: Any, spec: Any) -> Any:
    """`a` with the part that a basic index covers replaced.

    Parameters
    ----------
    *starts : int
        Where each slice begins, and integers of the index.
    spec : tuple
        What the index does with each axis.
    """
    return xp.index_put(a, new, starts, spec)


def plain(array: Any) -> Any:
    """The array itself; of an instance of a subclass, a view that is a plain array."""
    return plain_view(array, whole(array)) if is_subclass(type(array)) else array


def inheriting(copied: Any, source: Any) -> Any:
    """What was copied from an array, of its class: as in NumPy, a view of a plain array."""
    return (
        inherit(plain_view(copied, whole(copied)), source) if is_subclass(type(source)) else copied
    )


def whole(array: Any) -> Lens:
    """The lens of all that there is of an array."""
    return index((), ((FULL,),) * len(array.shape))


def index(starts: tuple[Any, ...], spec: tuple[tuple[int, ...], ...]) -> Lens:
    """The lens of a basic index: `spec` says what it does with each axis, `starts` where."""
    return Lens(index_get, _index_put, (spec,), _look_at_index, starts)


def _look_at_index(array: Array, attrs: Attrs, starts: tuple[int, ...]) -> Array:
    found: Array = array[(*host_index(starts, attrs[0]), ...)]
    return found


# --- rearrangements -------------------------------------------------------------------------------


@operator("_npi_transpose", order="K", pattern="injective")
def _transpose(xp: Any, a: Any, *, axes: Any = None) -> Any:
    """Axes in another order."""
    return xp.transpose(a, axes)


@operator("_npi_transpose_put", order="K", pattern="injective")
def _transpose_put(xp: Any, a: Any, new: Any, *, axes: Any = None) -> Any:
    """The array whose transpose is `new`."""
    return xp.transpose(new, None if axes is None else tuple(onp.argsort(axes)))


@operator("_npi_reshape", order="K", pattern="injective")
def _reshape(xp: Any, a: Any, *, shape: Any) -> Any:
    """The elements in C order, in another shape."""
    return xp.reshape(a, shape)


@operator("_npi_reshape_put", order="K", pattern="injective")
def _reshape_put(xp: Any, a: Any, new: Any, *, shape: Any) -> Any:
    """The array of the shape of `a` whose elements are those of `new`."""
    return xp.shaped_back(new, a.shape)


@operator("_npi_diagonal", order="K", pattern="injective")
def _diagonal(xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal over two axes, as the last axis."""
    return xp.diagonal(a, offset, axis1, axis2)


@operator("_npi_diagonal_put", order="K", pattern="injective")
def _diagonal_put(
    xp: Any, a: Any, new: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """`a` with the diagonal over two axes replaced."""
    axis1, axis2 = axis1 % a.ndim, axis2 % a.ndim
    length = new.shape[-1]
    rest = [i for i in range(a.ndim) if i not in (axis1, axis2)]
    front = xp.transpose(a, (axis1, axis2, *rest))
    rows = onp.arange(length) + max(-offset, 0)
    columns = onp.arange(length) + max(offset, 0)
    written = xp.set_static(front, (rows, columns), xp.moveaxis(new, -1, 0))
    return xp.transpose(written, tuple(onp.argsort((axis1, axis2, *rest))))


@operator("_npi_real", pattern="elementwise")
def _real(xp: Any, a: Any) -> Any:
    """The real part."""
    return xp.real(a)


@operator("_npi_real_put", pattern="broadcast")
def _real_put(xp: Any, a: Any, new: Any) -> Any:
    """`a` with its real part replaced."""
    return xp.set_real(a, new)


@operator("_npi_imag", pattern="elementwise")
def _imag(xp: Any, a: Any) -> Any:
    """The imaginary part."""
    return xp.imag(a)


@operator("_npi_imag_put", pattern="broadcast")
def _imag_put(xp: Any, a: Any, new: Any) -> Any:
    """`a` with its imaginary part replaced."""
    return xp.set_imag(a, new)


@operator(
    "_npi_view", order="K", pattern="injective", rule=lambda types, attrs: ([None], attrs["dtype"])
)
def _view(xp: Any, a: Any, *, dtype: Any) -> Any:
    """The bytes along the last axis read as elements of another dtype."""
    return xp.reinterpret(a, dtype)


@operator(
    "_npi_view_put",
    order="K",
    pattern="injective",
    rule=lambda types, attrs: ([None, attrs["dtype"]], types[0]),
)
def _view_put(xp: Any, a: Any, new: Any, *, dtype: Any) -> Any:
    """`new`, whose elements have another dtype, as memory of the dtype of `a`."""
    return xp.reinterpret(new, a.dtype)


@operator("_npi_broadcast_to", order="K", pattern="broadcast")
def _broadcast_to(xp: Any, a: Any, *, shape: Any) -> Any:
    """The array repeated to a larger shape."""
    return xp.broadcast_to(a, shape)


@operator("_npi_as_strided", order="K", pattern="injective")
def _as_strided(xp: Any, a: Any, *, shape: Any, strides: Any, offset: Any) -> Any:
    """The elements at `offset + index @ strides` of the array in C order, strides counted in
    elements.

    Parameters
    ----------
    strides : tuple of int
        Distance to the next element along each axis, in elements.
    offset : int
        Where the first element is.
    """
    if 0 in shape:
        return xp.zeros(shape, a.dtype)
    return xp.take(xp.reshape(a, (-1,)), _places(xp, shape, strides, offset))


@operator("_npi_as_strided_put", order="K", pattern="injective")
def _as_strided_put(xp: Any, a: Any, new: Any, *, shape: Any, strides: Any, offset: Any) -> Any:
    """`a` with the elements at `offset + index @ strides` replaced.

    Parameters
    ----------
    strides : tuple of int
        Distance to the next element along each axis, in elements.
    offset : int
        Where the first element is.
    """
    if xp.name != "numpy" and overlapping(shape, strides):
        raise NotImplementedError(
            "as_strided: a view whose elements overlap can't be written on XLA; write the array "
            "that it looks at"
        )
    if 0 in shape:
        return a
    return xp.shaped_back(
        xp.set_static(xp.reshape(a, (-1,)), (_places(xp, shape, strides, offset),), new), a.shape
    )


def _places(xp: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    found = xp.full(shape, offset, dtype=onp.int64)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        found = found + xp.reshape(
            xp.arange(length, dtype=onp.int64) * stride, (-1,) + (1,) * (len(shape) - axis - 1)
        )
    return found


def overlapping(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements may share memory, where strides are counted in elements."""
    reach = 0
    for stride, length in sorted(
        (abs(s), n) for s, n in zip(strides, shape, strict=True) if n != 1
    ):
        if stride <= reach:
            return True
        reach += stride * (length - 1)
    return False


def strided(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Lens:
    """The lens of `as_strided` on an array in C order."""
    return Lens(_as_strided, _as_strided_put, (shape, strides, offset), _look_strided)


def _look_strided(array: Array, attrs: Attrs, _: tuple[int, ...]) -> Array:
    shape, strides, offset = attrs
    return onp.lib.stride_tricks.as_strided(
        array.reshape(-1)[offset:], shape, [s * array.itemsize for s in strides]
    )


def transpose(axes: tuple[int, ...] | None) -> Lens:
    """The lens of `transpose`."""
    return Lens(_transpose, _transpose_put, (axes,), lambda a, attrs, _: a.transpose(attrs[0]))


reversed_axes = transpose(None)


def reshape(shape: tuple[int, ...]) -> Lens:
    """The lens of a reshape that NumPy can do without copying."""
    return Lens(_reshape, _reshape_put, (shape,), lambda a, attrs, _: a.reshape(attrs[0]))


def diagonal(offset: int, axis1: int, axis2: int) -> Lens:
    """The lens of `diagonal`."""
    return Lens(_diagonal, _diagonal_put, (offset, axis1, axis2), _look_at_diagonal)


def _look_at_diagonal(array: Array, attrs: Attrs, _: tuple[int, ...]) -> Array:
    found = array.diagonal(*attrs)
    found.flags.writeable = (
        array.flags.writeable
    )  # (NumPy's diagonal is read-only; whether ours is, its handle says)
    return found


real = Lens(_real, _real_put, (), lambda a, *_: a.real)
imag = Lens(_imag, _imag_put, (), lambda a, *_: a.imag)


def reinterpreted(dtype: onp.dtype[Any]) -> Lens:
    """The lens of `view(dtype)`."""
    return Lens(_view, _view_put, (dtype,), lambda a, attrs, _: a.view(attrs[0]))


def broadcast_to(shape: tuple[int, ...]) -> Lens:
    """The lens of `broadcast_to`, which only reads."""
    return Lens(_broadcast_to, None, (shape,), lambda a, attrs, _: onp.broadcast_to(a, attrs[0]))


def reshaped(handle: Handle, shape: tuple[int, ...]) -> Any:
    """`handle.reshape(shape)` in C order: a view where NumPy gives one, else a copy.

    `shape` may contain one -1.
    """
    if in_c_order(handle) and not isinstance(payload := payload_now(handle._value), xla.Unknown):
        final = _complete(payload.shape, shape)
        if final is not None:
            return cached_view(handle, reshape(final))
    if (
        type(handle) is late_bound.symbol
        and (final := _complete(handles.read(handle).payload.shape, shape)) is not None
    ):
        copy = apply(
            _reshape, (handle,), (final,)
        )  # whether NumPy would give a view is not known: it can't be written
        extra(copy).readonly = True
        return copy
    if (
        isinstance(handles.read(handle).payload, xla.Unknown)
        and type(handle) is not late_bound.symbol
    ):
        if in_c_order(handle):
            return view(handle, reshape(shape))
        copy = apply(_reshape, (handle,), (shape,))
        extra(copy).readonly = True  # as above
        return copy
    before = handles.layout(handle)
    after = before.reshape(shape)
    if after.base is None or (after.size and not onp.may_share_memory(before, after)):
        return apply(_reshape, (handle,), (after.shape,))
    return view(handle, reshape(after.shape))


def _complete(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...] | None:
    """The new shape with -1 filled in; None where it does not fit (NumPy will say how)."""
    size = 1
    for n in old:
        size *= n
    known = 1
    for n in new:
        if n != -1:
            known *= n
    if known < 0 or new.count(-1) > 1:
        return None
    if -1 in new:
        if known == 0 or size % known:
            return None
        return tuple([size // known if n == -1 else n for n in new])
    return new if known == size else None
