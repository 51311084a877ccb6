"""Lenses: the kinds of NumPy's views, each with an operator `get` and an operator `put`.

NumPy decides itself, on the handle's layout (`dispatch.handles.layout`), if a result is a view or a
copy, its shape, and the error to raise.
"""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
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
    """Lens of a view: the operators `get(base, *operands)` and `put(base, new, *operands)`.

    `look(array, attrs, operands)` returns NumPy's view of a NumPy array.
    """

    __slots__ = ("attrs", "get", "look", "operands", "put")

    def __init__(
        self, get: Op, put: Op | None, attrs: Attrs, look: Look, operands: tuple[Any, ...] = ()
    ) -> None:
        self.get, self.put, self.attrs, self.look, self.operands = get, put, attrs, look, operands

    def on_host(self, array: Array) -> Array:
        """Return NumPy's view of a NumPy array through the lens."""
        return self.look(array, self.attrs, self.operands)

    def same(self, other: "Lens") -> bool:
        """True if both lenses select the same part in the same way."""
        return (
            self.get is other.get and self.attrs == other.attrs and self.operands == other.operands
        )


def view(parent: Handle, lens: LensLike) -> Any:
    """Return a view of the parent through a lens, of the parent's class."""
    if type(parent) is late_bound.ndarray:
        return plain_view(parent, lens)
    if type(parent) in late_bound.scalars:  # scalars are not viewed: view a new array instead
        parent = handles.wrap(parent._value)
    return inherit(plain_view(parent, lens), parent)


def cached_view(parent: Handle, lens: Lens) -> Any:
    """Return `view(parent, lens)` as the last step of a public function, and let calls skip it.

    The function promises that its lens depends on the array only through class, dtype and shape,
    and that the array lies in C order. Later calls with such arrays don't run it (see
    `apply.apply_cached`).
    """
    return fast_path.cache_view(parent, lens, view(parent, lens))


def plain_view(parent: Handle, lens: LensLike) -> Any:
    """Return a view of the parent through a lens as a plain array, whatever the parent's class."""
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
        handle._extra.readonly = (rare is not None and rare.readonly) or True
    if modes.current().recording:
        handles.read(handle)  # record the view here, not at its first use
    return handle


DEEPEST = 32
"""Depth of a chain of views, as in a loop over `a = a[1:]`, above which it is shortened.

Each read and write walks the chain; one or two lenses replace it.
"""


def shorten(view: Handle) -> None:
    """Replace the chain of a view by at most two lenses on its root.

    `strided` counts in C order, so a transpose may come first. A chain with views of another dtype,
    or with unknown lengths, stays unchanged.
    """
    looking: Any = view._view
    root = looking.root
    if type(view) is late_bound.symbol or isinstance(_payload(root), language.Unknown):
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
    """Return the part of `a` that a basic index selects; start positions are operands.

    Parameters
    ----------
    *starts : int
        Start positions of slices, and integers of the index.
    spec : tuple
        Effect of the index on each axis.
    """
    return xp.index_get(a, starts, spec)


def as_written(types: tuple[Type, ...], attrs: Any) -> Resolution:
    """Type rule of writes: the new values are cast to the dtype of the first operand."""
    return [None, types[0], *[strong(t) for t in types[2:]]], types[0]  # type: ignore[list-item]


@operator("_npi_index_put", order="K", pattern="injective", rule=as_written)
def _index_put(xp: Any, a: Any, new: Any, *starts: Any, spec: Any) -> Any:
    """Return `a` with the part that a basic index selects replaced.

    Parameters
    ----------
    *starts : int
        Start positions of slices, and integers of the index.
    spec : tuple
        Effect of the index on each axis.
    """
    return xp.index_put(a, new, starts, spec)


def plain(array: Any) -> Any:
    """Return an array as a plain array: itself, or a plain view of an instance of a subclass."""
    return plain_view(array, whole(array)) if is_subclass(type(array)) else array


def inheriting(copied: Any, source: Any) -> Any:
    """Return a copy as an instance of the class of `source`: as in NumPy, a view of the copy."""
    return (
        inherit(plain_view(copied, whole(copied)), source) if is_subclass(type(source)) else copied
    )


def whole(array: Any) -> Lens:
    """Return the lens of a whole array, `a[...]`."""
    return index((), ((FULL,),) * len(array.shape))


def index(starts: tuple[Any, ...], spec: tuple[tuple[int, ...], ...]) -> Lens:
    """Return the lens of a basic index, with its effect on each axis and its start positions."""
    return Lens(index_get, _index_put, (spec,), _look_at_index, starts)


def _look_at_index(array: Array, attrs: Attrs, starts: tuple[int, ...]) -> Array:
    found: Array = array[(*host_index(starts, attrs[0]), ...)]
    return found


# --- rearrangements -------------------------------------------------------------------------------


@operator("_npi_transpose", order="K", pattern="injective")
def _transpose(xp: Any, a: Any, *, axes: Any = None) -> Any:
    """Permute the axes."""
    return xp.transpose(a, axes)


@operator("_npi_transpose_put", order="K", pattern="injective")
def _transpose_put(xp: Any, a: Any, new: Any, *, axes: Any = None) -> Any:
    """Return the array whose transpose is `new`."""
    return xp.transpose(new, None if axes is None else tuple(onp.argsort(axes)))


@operator("_npi_reshape", order="K", pattern="injective")
def _reshape(xp: Any, a: Any, *, shape: Any) -> Any:
    """Reshape in C order."""
    return xp.reshape(a, shape)


@operator("_npi_reshape_put", order="K", pattern="injective")
def _reshape_put(xp: Any, a: Any, new: Any, *, shape: Any) -> Any:
    """Return the elements of `new` in the shape of `a`."""
    return xp.shaped_back(new, a.shape)


@operator("_npi_diagonal", order="K", pattern="injective")
def _diagonal(xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonal over two axes, as the last axis."""
    return xp.diagonal(a, offset, axis1, axis2)


@operator("_npi_diagonal_put", order="K", pattern="injective")
def _diagonal_put(
    xp: Any, a: Any, new: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """Return `a` with the diagonal over two axes replaced."""
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
    """Return the real part."""
    return xp.real(a)


@operator("_npi_real_put", pattern="broadcast")
def _real_put(xp: Any, a: Any, new: Any) -> Any:
    """Return `a` with its real part replaced."""
    return xp.set_real(a, new)


@operator("_npi_imag", pattern="elementwise")
def _imag(xp: Any, a: Any) -> Any:
    """Return the imaginary part."""
    return xp.imag(a)


@operator("_npi_imag_put", pattern="broadcast")
def _imag_put(xp: Any, a: Any, new: Any) -> Any:
    """Return `a` with its imaginary part replaced."""
    return xp.set_imag(a, new)


@operator(
    "_npi_view", order="K", pattern="injective", rule=lambda types, attrs: ([None], attrs["dtype"])
)
def _view(xp: Any, a: Any, *, dtype: Any) -> Any:
    """Read the bytes along the last axis as elements of another dtype."""
    return xp.reinterpret(a, dtype)


@operator(
    "_npi_view_put",
    order="K",
    pattern="injective",
    rule=lambda types, attrs: ([None, attrs["dtype"]], types[0]),
)
def _view_put(xp: Any, a: Any, new: Any, *, dtype: Any) -> Any:
    """Read the bytes of `new` as elements of the dtype of `a`."""
    return xp.reinterpret(new, a.dtype)


@operator("_npi_broadcast_to", order="K", pattern="broadcast")
def _broadcast_to(xp: Any, a: Any, *, shape: Any) -> Any:
    """Broadcast to a larger shape."""
    return xp.broadcast_to(a, shape)


@operator("_npi_as_strided", order="K", pattern="injective")
def _as_strided(xp: Any, a: Any, *, shape: Any, strides: Any, offset: Any) -> Any:
    """Return the elements at `offset + index @ strides` of the array in C order.

    Parameters
    ----------
    strides : tuple of int
        Distance to the next element along each axis, in elements.
    offset : int
        Position of the first element.
    """
    if 0 in shape:
        return xp.zeros(shape, a.dtype)
    return xp.take(xp.reshape(a, (-1,)), _places(xp, shape, strides, offset))


@operator("_npi_as_strided_put", order="K", pattern="injective")
def _as_strided_put(xp: Any, a: Any, new: Any, *, shape: Any, strides: Any, offset: Any) -> Any:
    """Return `a` with the elements at `offset + index @ strides` replaced.

    Parameters
    ----------
    strides : tuple of int
        Distance to the next element along each axis, in elements.
    offset : int
        Position of the first element.
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
    """True if elements of such an array may share memory; strides are counted in elements."""
    reach = 0
    for stride, length in sorted(
        (abs(s), n) for s, n in zip(strides, shape, strict=True) if n != 1
    ):
        if stride <= reach:
            return True
        reach += stride * (length - 1)
    return False


def strided(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Lens:
    """Return the lens of `as_strided` on an array in C order."""
    return Lens(_as_strided, _as_strided_put, (shape, strides, offset), _look_strided)


def _look_strided(array: Array, attrs: Attrs, _: tuple[int, ...]) -> Array:
    shape, strides, offset = attrs
    return onp.lib.stride_tricks.as_strided(
        array.reshape(-1)[offset:], shape, [s * array.itemsize for s in strides]
    )


def transpose(axes: tuple[int, ...] | None) -> Lens:
    """Return the lens of `transpose`."""
    return Lens(_transpose, _transpose_put, (axes,), lambda a, attrs, _: a.transpose(attrs[0]))


reversed_axes = transpose(None)


def reshape(shape: tuple[int, ...]) -> Lens:
    """Return the lens of a reshape that NumPy does without a copy."""
    return Lens(_reshape, _reshape_put, (shape,), lambda a, attrs, _: a.reshape(attrs[0]))


def diagonal(offset: int, axis1: int, axis2: int) -> Lens:
    """Return the lens of `diagonal`."""
    return Lens(_diagonal, _diagonal_put, (offset, axis1, axis2), _look_at_diagonal)


def _look_at_diagonal(array: Array, attrs: Attrs, _: tuple[int, ...]) -> Array:
    found = array.diagonal(*attrs)
    found.flags.writeable = (
        array.flags.writeable
    )  # NumPy's diagonal is read-only; an npcompat handle has a flag of its own
    return found


real = Lens(_real, _real_put, (), lambda a, *_: a.real)
imag = Lens(_imag, _imag_put, (), lambda a, *_: a.imag)


def reinterpreted(dtype: onp.dtype[Any]) -> Lens:
    """Return the lens of `view(dtype)`."""
    return Lens(_view, _view_put, (dtype,), lambda a, attrs, _: a.view(attrs[0]))


def broadcast_to(shape: tuple[int, ...]) -> Lens:
    """Return the lens of `broadcast_to`, which is read-only."""
    return Lens(_broadcast_to, None, (shape,), lambda a, attrs, _: onp.broadcast_to(a, attrs[0]))


def reshaped(handle: Handle, shape: tuple[int, ...]) -> Any:
    """Return `handle.reshape(shape)` in C order: a view if NumPy returns one, else a copy.

    `shape` may contain one -1.
    """
    if in_c_order(handle) and not isinstance(
        payload := payload_now(handle._value), language.Unknown
    ):
        final = _complete(payload.shape, shape)
        if final is not None:
            return cached_view(handle, reshape(final))
    if (
        type(handle) is late_bound.symbol
        and (final := _complete(handles.read(handle).payload.shape, shape)) is not None
    ):
        copy = apply(
            _reshape, (handle,), (final,)
        )  # read-only, since it is not known if NumPy would return a view
        extra(copy).readonly = True
        return copy
    if (
        isinstance(handles.read(handle).payload, language.Unknown)
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
    """Return the new shape with -1 filled in; None if it does not fit, for which NumPy raises."""
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
