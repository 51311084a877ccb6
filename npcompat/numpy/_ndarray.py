"""The public array class: NumPy's methods on the mutable handle."""

from collections.abc import Iterator
from pickle import PickleBuffer
from typing import Any, cast

import numpy as onp
from numpy._globals import _CopyMode

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import (
    StoredHandle,
    Value,
    extra,
    payload_now,
    root_of,
    set_form,
)
from npcompat._internal.core.op import as_shape
from npcompat._internal.dispatch import array_like, backends, devices, handles, writes
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.masked_array import MaskedPayload
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.pending_errors import raise_pending
from npcompat._internal.dispatch.subclasses import inherit, instance, is_subclass
from npcompat._internal.indexing import entry, lens
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import TracedValueError
from npcompat.numpy import (
    _arithmetic,
    _buffers,
    _diagonals,
    _manipulation,
    _printing,
    _repeating,
    _rounding,
    _selection,
    _sorting,
)
from npcompat.numpy._arrow import ArrowProtocol
from npcompat.numpy._creation import asarray, copy_of
from npcompat.numpy._flags import Flags, Flat
from npcompat.numpy._fluent import Fluent
from npcompat.numpy._inline_text import InlineText
from npcompat.numpy._memory import Memory, _shape, check_not_lent, look_at, views_of
from npcompat.numpy._memory_order import check_c_or_f, check_order, has_order, in_order
from npcompat.numpy._ndarray_gradients import Gradients
from npcompat.numpy._ndarray_reductions import Reductions
from npcompat.numpy._ndarray_selection import Selection
from npcompat.numpy._operators import InPlaceOperators, Operators
from npcompat.numpy._protocols import NumPyDispatch, Protocols
from npcompat.numpy._typing import ArrayLike, AxisLike, Casting, DTypeLike, NoValue, Order, Out
from npcompat.numpy._ufunc import _cast
from npcompat.numpy._unbound import special

_apply = apply


class Array(Selection, Reductions, Gradients, Operators, Protocols, Memory, Fluent):
    """Base of arrays and scalars: NumPy's methods on a handle."""

    __slots__ = ()
    __array_priority__ = 1000.0

    # --- attributes

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        if self._view is None:
            payload = payload_now(self._value)
            if type(payload) is MaskedPayload:  # its length is one of the running trace
                payload = handles.read(self).payload
            found: tuple[int, ...] = payload.shape
            return found
        try:
            return handles.layout(self).shape
        except TracedValueError:  # a view of a masked array, whose length is traced
            selected: tuple[int, ...] = handles.read(self).payload.shape
            return selected

    @shape.setter
    def shape(self, shape: Any) -> None:
        views, before = views_of(self), self.shape
        reshaped = lens.reshaped(self, _shape((shape,)))
        if reshaped._view is None:
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy "
                "with the desired shape."
            )
        if self._view is None:
            layout = handles.layout(self).reshape(reshaped.shape)
            writes.write(self, handles.read(reshaped))
            extra(self).layout = None if layout.flags.c_contiguous else layout
            look_at(views, lens.reshaped(self, before) if views else self)
        else:
            look_at(views, self._look_through(reshaped._view.lens))
        set_form(self)

    @property
    def dtype(self) -> onp.dtype[Any]:
        """Data type of the elements.

        Setting it reinterprets the bytes as elements of another type, as `view` does.
        """
        if self._view is None:
            return onp.dtype(payload_now(self._value).dtype)
        try:
            return handles.layout(self).dtype
        except TracedValueError:
            return onp.dtype(handles.read(self).payload.dtype)

    @dtype.setter
    def dtype(self, dtype: DTypeLike) -> None:
        views, before = views_of(self), self.dtype
        found: Any = self.view(dtypes.canonical(dtype))
        if self._view is None:
            if found.dtype != before:
                check_not_lent(self, "set the dtype of")
            writes.write(self, handles.read(found))
            extra(self).layout = None
            look_at(views, self.view(before) if views else self)
        else:
            look_at(views, self._look_through(found._view.lens))
        set_form(self)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def flags(self) -> Flags:
        """Memory layout flags: `writeable`, `owndata`, `c_contiguous`, `f_contiguous`."""
        return Flags(self)

    def setflags(
        self, write: bool | None = None, align: bool | None = None, uic: bool | None = None
    ) -> None:
        """Set the array read-only, or writeable again if its base is."""
        if align is not None or uic is not None:
            raise NotImplementedError("setflags: only write= can be set")
        if write is not None:
            self.flags.writeable = write

    @property
    def device(self) -> devices.Place:
        """Device of the values, or their layout on several (`npx.Sharding`)."""
        return devices.device_of(self)

    ctx = context = device

    @property
    @fast_path.call_cached
    def T(self) -> "ndarray":
        """Transpose: the axes reversed, a view."""
        made: ndarray = (
            lens.cached_view(self, lens.reversed_axes)
            if type(self) is ndarray
            else self.transpose()
        )
        return made

    @property
    def mT(self) -> "ndarray":
        """Matrix transpose: the last two axes exchanged, a view."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    @fast_path.call_cached
    def real(self) -> "ndarray":
        """Real part: a view, the array itself if it is real."""
        whole = cast("ndarray", self)
        return lens.cached_view(self, lens.real) if self.dtype.kind == "c" else whole

    @real.setter
    def real(self, new: ArrayLike) -> None:
        self.real[...] = asarray(new)

    @property
    @fast_path.call_cached
    def imag(self) -> "ndarray":
        """Imaginary part: a view; read-only zeros if the array is real."""
        if self.dtype.kind == "c":
            return lens.cached_view(self, lens.imag)
        zeros: ndarray = in_order(array_like.array_of(onp.zeros(self.shape, self.dtype)), "A", self)
        zeros.setflags(write=False)
        return inherit(zeros, self)

    @imag.setter
    def imag(self, new: ArrayLike) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = new

    @property
    def flat(self) -> Flat:
        """Flat iterator: the elements in C order, to iterate over, index and assign."""
        return Flat._over(self)

    @flat.setter
    def flat(self, new: ArrayLike) -> None:
        Flat._over(self)[...] = new

    # --- indexing and iteration

    @special("get")
    def __getitem__(self, key: Any) -> "ndarray":
        return entry.getitem(self, key)

    @special("set")
    def __setitem__(self, key: Any, new: ArrayLike) -> None:
        entry.setitem(self, key, new)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> "Iterator[ndarray]":
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        on_device = len(self.shape) == 1 and handles.current_array(self) is None
        return (
            self._elements()
            if on_device and modes.current().may_touch_host_buffers
            else (self[i] for i in range(len(self)))
        )

    def _elements(self) -> Iterator[Any]:
        """Iterate over the elements of a 1-d array on XLA.

        They are copied to the host together, and again if the array has changed.
        """
        seen: Any = None
        host: Any = None
        for i in range(self.shape[0]):
            payload = handles.read(self).payload
            if payload is not seen or type(payload) is onp.ndarray:
                seen, host = payload, handles.to_host(self)
            yield (
                handles.wrap_scalar(Value(onp.array(host[i])))
                if dtypes.on_devices(host.dtype)
                else host[i]
            )

    def __contains__(self, item: Any) -> bool:
        return bool(onp.any(self == item))

    # --- printing

    def __format__(self, specification: str) -> str:
        if self.ndim == 0:
            return format(handles.to_host(self)[()], specification)
        if specification:
            raise TypeError(
                f"unsupported format string passed to numpy.{type(self).__name__}.__format__"
            )
        return str(self)

    def __repr__(self) -> str:
        return _printing.text_of_repr(self)

    def __str__(self) -> str:
        return _printing.text_of_str(self)

    def __reduce_ex__(self, protocol: Any, /) -> Any:
        if protocol >= 5 and type(self) is ndarray and self.dtype.isbuiltin == 1:
            memory = fast_path.export(self)
            if memory.flags.forc and not memory.dtype.hasobject and memory.dtype.kind not in "Mm":
                order = "C" if memory.flags.c_contiguous else "F"
                octets = PickleBuffer(memory if order == "C" else memory.T)
                described = octets, memory.dtype, memory.shape, order
                return _from_pickled, described
        return self.__reduce__()

    def __reduce__(self) -> tuple[Any, ...]:
        host = handles.to_host(self)
        if is_subclass(type(self)):  # NumPy's three parts, to which classes add state of their own
            return _empty_of, (type(self),), host.__reduce__()[2]
        return _from_host, (host,)

    def __copy__(self) -> "ndarray":
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> "ndarray":
        if not self.dtype.hasobject:
            return self.copy("K")
        copied: ndarray = array_like.array_of(handles.to_host(self).__deepcopy__(memo))
        return inherit(copied, self)

    def wait_to_read(self) -> None:
        """Block until the values are computed."""
        # Views of host memory are always ready.
        if not isinstance(handles.read(root_of(self)).payload, onp.ndarray):
            payload = handles.read(self).payload
            if not isinstance(payload, onp.ndarray):
                backends.wait(payload)
        raise_pending()

    # --- copies, casts, devices

    @fast_path.copying
    def copy(self, order: Order = "C") -> "ndarray":
        """Return a copy, which owns its memory."""
        made: ndarray = copy_of(self, check_order(order))
        return made if type(self) is ndarray else inherit(made, self)

    @fast_path.call_cached
    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: Casting = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> "ndarray":
        """Cast to a dtype.

        Raises
        ------
        TypeError
            If `casting` does not allow it.
        """
        order, wanted, own = check_order(order), dtypes.canonical(dtype), self.dtype
        if type(copy) is not bool and isinstance(copy, _CopyMode):
            raise ValueError(
                "_CopyMode enum is not allowed for astype function. Use true/false instead."
            )
        by_values = casting == "same_value"
        if by_values:
            # Raise NumPy's error if a value would change.
            handles.to_host(self).astype(wanted, casting=casting)
            casting = "unsafe"
        if casting != "unsafe" and not onp.can_cast(own, wanted, casting):
            raise TypeError(
                f"Cannot cast array data from {own!r} to {wanted!r} according to the rule "
                f"'{casting}'"
            )
        if wanted.kind == "T" and wanted is not own:  # each StringDType instance owns an arena
            return inherit(
                array_like.array_of(handles.to_host(self).astype(wanted, order)),
                self if subok else None,
            )
        if wanted == own:
            stays = not copy and (self.flags.forc if order == "A" else has_order(self, order))
            source: Any = self if subok else lens.plain(self)
            return source if stays else inherit(copy_of(self, order), source)
        if own.kind == "c":
            dtypes.warn_of_lost_parts(own, wanted)
        elif order != "F" and not by_values and in_c_order(self) and type(self) is ndarray:
            return apply_cached(_cast, (self,), (wanted,))
        made = _apply(_cast, (self if subok else lens.plain(self),), (wanted,))
        return made if order != "F" and in_c_order(self) else in_order(made, order, self)

    def copyto(self, other: "ndarray | devices.Place") -> "ndarray":
        """Copy the values into another array, or to a device (MXNet's direction of `copyto`)."""
        if isinstance(other, devices.Place):
            return devices.moved(self.copy(), other)
        if not hasattr(other, "__setitem__"):
            raise TypeError(f"copyto: expected an array or a Device, got {type(other).__name__}")
        other[...] = self
        return other

    def to_device(self, device: Any, /, *, stream: Any = None) -> "ndarray":
        """Return the array on another device; itself if it is there already."""
        if stream is not None:
            raise NotImplementedError("to_device(stream=...): streams belong to XLA")
        return devices.moved(self, device)

    def as_in_context(self, context: Any) -> "ndarray":
        """Return the array on another device; alias of `to_device`."""
        return self.to_device(context)

    def as_in_ctx(self, ctx: Any) -> "ndarray":
        """Return the array on another device; alias of `to_device`."""
        return self.to_device(ctx)

    # --- shape

    @fast_path.call_cached
    def reshape(
        self, *shape: Any, order: Order = "C", copy: bool | None = None, newshape: Any = NoValue
    ) -> "ndarray":
        """Return the array in another shape: a view where NumPy returns one."""
        return _manipulation.reshape(
            self, _shape(shape) if newshape is NoValue else newshape, order=order, copy=copy
        )

    @fast_path.call_cached
    def transpose(self, *axes: Any) -> "ndarray":
        """Permute the axes (reversed, if none is given), a view."""
        order: Any = (
            axes[0]
            if len(axes) == 1 and (axes[0] is None or onp.iterable(axes[0]))
            else axes or None
        )
        return _manipulation.transpose(self, order)

    @fast_path.call_cached
    def swapaxes(self, axis1: int, axis2: int, /) -> "ndarray":
        """Exchange two axes, a view."""
        return _manipulation.swapaxes(self, axis1, axis2)

    @fast_path.call_cached
    def ravel(self, order: Order = "C") -> "ndarray":
        """Flatten to one axis: a view where NumPy returns one."""
        return _manipulation.ravel(self, order)

    def flatten(self, order: Order = "C") -> "ndarray":
        """Flatten to one axis, a copy."""
        return _manipulation.ravel(self, order).copy()

    @fast_path.call_cached
    def squeeze(self, axis: AxisLike = None) -> "ndarray":
        """Remove axes of length 1, a view."""
        return _manipulation.squeeze(self, axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "ndarray":
        """Return the diagonal over two axes, a read-only view."""
        return _diagonals.diagonal(self, offset, axis1, axis2)

    def repeat(self, repeats: ArrayLike, axis: int | None = None) -> "ndarray":
        """Repeat each element."""
        return _repeating.repeat(self, repeats, axis)

    def take(
        self, indices: ArrayLike, axis: int | None = None, out: Any = None, mode: str = "raise"
    ) -> "ndarray":
        """Gather the elements at positions along an axis."""
        return _selection.take(self, indices, axis, out, mode)

    # --- sorting and rounding

    def sort(
        self,
        axis: int = -1,
        kind: Any = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> None:
        """Sort in place along an axis."""
        self[...] = _sorting.sort(self, axis, kind, order, stable=stable, descending=descending)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> "ndarray":
        """Clip the values to an interval."""
        return _rounding.clip(self, min, max, out, **kwargs)

    def round(self, decimals: int = 0, out: Any = None) -> "ndarray":
        """Round to a number of decimals."""
        return _rounding.round(self, decimals, out)

    def conj(self, out: Out = None, /) -> "ndarray":
        """Compute the complex conjugate; a real array is returned as it is without `out`."""
        if self.dtype.kind in "USMmV" and not dtypes.on_devices(self.dtype):
            raise TypeError("cannot conjugate non-numeric dtype")
        return (
            _arithmetic.conjugate(self, out=out)
            if out is not None or self.dtype.kind in "cO"
            else cast("ndarray", self)
        )

    conjugate = conj

    def __round__(self, ndigits: int | None = None) -> "ndarray":
        return self.round(ndigits or 0)


class ndarray(
    InPlaceOperators,
    ArrowProtocol,
    InlineText,
    Array,
    NumPyDispatch,
    StoredHandle,
    fast_path.Buffered,
):
    """N-dimensional array: NumPy's interface over a backend.

    Slices, transposes and reshapes are views, writing is in place, and every operation can be
    recorded, compiled and placed on an accelerator. Arrays are made with `np.array`, `np.zeros` and
    their siblings.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the new array, whose values are zero.
    dtype : dtype, optional
        Its dtype; the default float if not given.
    buffer, offset, strides : optional
        An array, of which the new one is a view that begins at an offset in bytes and has strides,
        or bytes, which are copied.
    order : {'C', 'F'}, optional
        Memory order.

    Examples
    --------
    >>> a = np.zeros((2, 3))
    >>> row = a[0]
    >>> row += 1
    >>> a
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """

    __slots__ = ()

    def __new__(
        cls,
        shape: Any,
        dtype: DTypeLike = None,
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: Order | None = None,
    ) -> "ndarray":
        wanted = dtypes.canonical(float if dtype is None else dtype)
        if buffer is not None:
            made: ndarray = _buffers.over(
                buffer, as_shape(shape), wanted, offset, strides, check_c_or_f(order)
            )
        elif strides is not None:
            if len(strides) != len(as_shape(shape)):
                raise ValueError(
                    f"strides, if given, must be the same length as shape: got {strides} and "
                    f"{shape}"
                )
            raise NotImplementedError(
                "ndarray(strides=) without a buffer: memory layout can't be chosen"
            )
        else:
            # Elements of object arrays are None.
            host = (
                onp.ndarray(shape, wanted)
                if wanted.hasobject or not wanted.itemsize
                else onp.zeros(shape, wanted)
            )
            # Without a buffer the offset is ignored, as in NumPy.
            made = in_order(array_like.array_of(host), check_c_or_f(order))
        return made if cls is ndarray else instance(made, cls, None)


fast_path.answer_attributes(Array)


def _from_pickled(
    memory: Any, dtype: onp.dtype[Any], shape: tuple[int, ...], order: Order
) -> "ndarray":
    """Make an array of pickled bytes, copied: who unpickles may keep the buffer and write it."""
    host = onp.frombuffer(memory, dtype).reshape(shape, order=order)  # type: ignore[arg-type]
    return array_like.array_of(host.copy(order))


def _from_host(array: onp.ndarray[Any, Any], kind: type | None = None) -> ndarray:
    # Copy arrays over out-of-band pickle buffers, which are shared. Older pickles have a `kind`.
    made: ndarray = array_like.array_of(array if array.base is None else array.copy())
    return made if kind is None else instance(made, kind, None)


def _empty_of(kind: type[ndarray]) -> ndarray:
    """Return an array of a class without elements, whose state is set next."""
    return ndarray.__new__(kind, (0,))


__all__ = ["ndarray"]
