"""Memory attributes of arrays, and the protocol methods that NumPy calls."""

import gc
import math
import sys
import weakref
from types import GenericAlias
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import BorrowedValue, Handle, View, extra, root_of, set_form
from npcompat._internal.core.op import as_shape
from npcompat._internal.dispatch import array_like, borrowed_buffers, handles, late_bound, writes
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.dispatch.subclasses import instance, is_subclass
from npcompat._internal.indexing import lens
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import AddressNotImplementedError
from npcompat.numpy import _buffers
from npcompat.numpy._typing import ArrayLike, DTypeLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class _Probe:
    def references(self) -> int:
        return sys.getrefcount(self)


def _references_of_one_name() -> int:
    """Return the reference count inside a method whose object has one name."""
    probe = _Probe()
    return probe.references()


_ALONE = _references_of_one_name()


class _SetProbe:
    """Array whose setter counts the references to it, as `views_of` does."""

    counted = 0

    @property
    def form(self) -> None:
        """Nothing."""

    @form.setter
    def form(self, _: None) -> None:
        _SetProbe.counted = _references(self)


def _references(array: Any) -> int:
    return sys.getrefcount(array)


def _references_in_a_setter() -> int:
    """Return the reference count in a function that a setter calls, of an object with one name."""
    probe = _SetProbe()
    probe.form = None
    return _SetProbe.counted


_ALONE_IN_A_SETTER = _references_in_a_setter()


def views_of(array: Any) -> list[View]:
    """Return the views that look at an array directly, for a setter's first statement.

    Nothing but the collector lists them, which takes milliseconds. It is not asked where the array
    has one name and nothing else refers to it, or owns its memory and has never had a view.
    """
    never = array._view is None and array._extra is None
    if never or sys.getrefcount(array) <= _ALONE_IN_A_SETTER:
        return []
    return [v for v in gc.get_referrers(array) if type(v) is View and v.parent is array]


def look_at(views: list[View], former: Any) -> None:
    """Let views look at what their array was before it was given another form."""
    depth = 1 if former._view is None else former._view.depth + 1
    for view in views:
        view.parent, view.depth = former, depth
        view.version, view.cached = 0, None


def check_not_lent(a: Handle, what: str) -> None:
    """Raise BufferError if something else looks into the memory of an array."""
    if type(root_of(a)._value) is BorrowedValue:
        raise BufferError(
            f"cannot {what} this array: something made by numpy.asarray(), memoryview() or DLPack "
            "looks into its memory"
        )


class Memory(Handle):
    """Mixin of `ndarray` for buffers, strides, base and resizing."""

    __slots__ = ()

    @property
    def data(self) -> memoryview:
        """Memoryview of the memory, which each side can write where `numpy.asarray` can."""
        if type(self) in late_bound.scalars:
            return handles.to_host(self).data.toreadonly()
        return memoryview(fast_path.export(self))

    @property
    def ctypes(self: Any) -> Any:
        """NumPy's `ctypes` object: address, shape and strides of the memory.

        The address is that of the memory for as long as the array lives.

        Raises
        ------
        AddressNotImplementedError
            For an array that is recorded or on XLA: what is written to an address can't be refused,
            and would reach whatever else means the same memory.
        """
        if type(self) in late_bound.scalars:
            raise AttributeError(f"'numpy.{self.dtype.name}' object has no attribute 'ctypes'")
        memory = borrowed_buffers.pinned(self)
        if memory is None:
            memory = fast_path.export(self)
        if not memory.flags.writeable and self.flags.writeable:
            raise AddressNotImplementedError(
                "ctypes: an array that is recorded, or on XLA, has no address that may be written; "
                "take `numpy.asarray(a).ctypes` to read it, or that of a copy, `a.asnumpy()`, and "
                "write what comes of it back by `a[...] = copy`"
            )
        return memory.ctypes

    def _look_through(self: Any, look: lens.Lens) -> Any:
        """Become a view, through a lens, of this view's former self, which is returned."""
        parent = object.__new__(late_bound.ndarray)
        parent._view, parent._extra = self._view, self._extra
        self._view, self._extra = View(parent, look), None
        self.setflags(write=parent.flags.writeable)
        return parent

    @property
    def strides(self: Any) -> tuple[int, ...]:
        """Strides: bytes from one element to the next along each axis, as in NumPy's layout."""
        return handles.layout(self).strides

    @strides.setter
    def strides(self: Any, strides: Any) -> None:
        views = views_of(self)
        wanted = handles.layout(self).view()
        wanted.strides = strides  # NumPy's warning, and its error if strides leave the memory
        if self.strides == wanted.strides:
            return
        if self._view is None:
            raise NotImplementedError(
                "strides: those of an array that owns its memory can't be changed; use "
                "np.lib.stride_tricks.as_strided"
            )
        found = _buffers.strided(self, wanted)._view
        former = object.__new__(late_bound.ndarray)
        former._view, former._extra = self._view, None
        self._view, self._extra = found, extra(self)
        look_at(views, former)
        set_form(self)

    @property
    def base(self: Any) -> Any:
        """Array whose memory this view shares, or object of others over whose memory it was made;
        None if the array owns its memory.
        """
        if self._view is None:
            return _owner_of(self._value)
        if type(self) is late_bound.ndarray:
            return self._view.root
        # For subclasses, NumPy collapses the chain of views only within the same class.
        found = self._view.parent
        while found._view is not None and type(found._view.parent) is type(self):
            found = found._view.parent
        return found

    def getfield(self: Any, dtype: DTypeLike, offset: int = 0) -> "ndarray":
        """Return a view of a field: the bytes at an offset, read as another dtype.

        Parameters
        ----------
        dtype : dtype
            The dtype to read; not larger than the elements.
        offset : int
            Offset of the field in bytes.

        Examples
        --------
        >>> np.array([1 + 2j]).getfield("float32", 4)
        array([2.])
        """
        wanted = dtypes.canonical(dtype)
        handles.layout(self).getfield(wanted, offset)  # raise NumPy's error if this is impossible
        octets = self[..., None].view(onp.dtype("uint8"))
        return octets[..., offset : offset + wanted.itemsize].view(wanted)[..., 0]

    def setfield(self: Any, val: ArrayLike, /, dtype: DTypeLike, offset: int = 0) -> None:
        """Write values of another dtype to the bytes at an offset; see `getfield`."""
        self.getfield(dtype, offset)[...] = val

    def resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
        """Change shape and size in place.

        At the end of the memory, zeros are added or elements are cut off.

        Parameters
        ----------
        *new_shape : int, or tuple of int
            The new lengths.
        refcheck : bool
            If True, refuse if more than one name refers to the array, which could be a
            view of it. As in NumPy, debuggers hold references, too.

        Raises
        ------
        ValueError
            If the size changes and the array is a view or is referred to.

        Examples
        --------
        >>> a = np.array([1, 2, 3])
        >>> a.resize(2, 2)
        >>> a
        array([[1, 2],
               [3, 0]])
        """
        references = sys.getrefcount(self)
        if type(refcheck) is not bool and not hasattr(refcheck, "__index__"):
            raise TypeError(
                f"'{type(refcheck).__name__}' object cannot be interpreted as an integer"
            )
        if not new_shape or new_shape == (None,):
            return
        shape = _shape(new_shape)
        if any(n < 0 for n in shape):
            raise ValueError("negative dimensions not allowed")
        check_not_lent(self, "resize")
        if math.prod(shape) != self.size:
            if self._view is not None:
                raise ValueError("cannot resize this array: it does not own its data")
            if refcheck and (references > _ALONE or weakref.getweakrefcount(self)):
                raise ValueError(
                    "cannot resize an array that references or is referenced\nby another object "
                    "in this way.\n"
                    "Use the np.resize function to get a new resized copy or\n set refcheck=False "
                    "to disable this check"
                )
        elif self._view is not None:
            self.shape = shape
            return
        if _is_live(self):
            _resize_live(self, shape)
            return
        resized = onp.empty_like(handles.layout(self))  # keeps the memory order
        resized[...] = handles.to_host(self)
        resized.resize(shape, refcheck=False)
        writes.write(self, constant(resized))
        extra(self).layout = None if resized.flags.c_contiguous else resized
        set_form(self)

    def __sizeof__(self: Any) -> int:
        """Return the size in bytes of the object; elements count unless it is a view."""
        return (
            object.__sizeof__(self)
            + 16 * len(self.shape)
            + (self.nbytes if self._view is None else 0)
        )

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def __setstate__(self: Any, state: tuple[Any, ...], /) -> None:
        if self._view is not None:
            raise ValueError("cannot set the state of a view: it does not own its data")
        host = onp.empty(0)
        host.__setstate__(state)  # the state in a NumPy pickle
        writes.write(self, constant(host))
        extra(self).layout = None
        set_form(self)

    def __array_wrap__(
        self, array: ArrayLike, context: Any = None, return_scalar: bool = False, /
    ) -> Any:
        """Return an array computed from this one, perhaps by NumPy, in this one's class."""
        made: Any = array if isinstance(array, Handle) else array_like.array_of(onp.array(array))
        if is_subclass(type(self)):
            return (
                made
                if type(made) is type(self)
                else instance(lens.plain_view(made, lens.whole(made)), type(self), self)
            )
        made = lens.plain(made)
        return handles.as_scalar(made) if return_scalar else made

    def __array_finalize__(self, obj: Any, /) -> None:
        """Hook for subclasses, called for each new instance with its source.

        As in NumPy, the base class does nothing.
        """

    __class_getitem__: Any = classmethod(GenericAlias)


def _is_live(a: Any) -> bool:
    """Return True for what is being recorded, or was made in the function that is compiled."""
    mode = modes.current()
    if mode.recording and a._value.node is not None:
        return True
    return mode.trace is not None and not mode.trace.outside(a)


def _resize_live(a: Any, shape: tuple[int, ...]) -> None:
    """Resize an array by operators, so that gradients flow and values need not be known."""
    in_c = handles.layout(a).flags.c_contiguous
    order, size = "C" if in_c else "F", math.prod(shape)
    made = array_like.array_of(onp.zeros(size, a.dtype))
    kept = min(size, a.size)
    made[:kept] = a.ravel(order)[:kept]
    made = made.reshape(shape, order=order)
    writes.write(a, handles.read(made))
    extra(a).layout = None if in_c else onp.empty_like(handles.layout(a), shape=shape, order="F")
    set_form(a)


def _owner_of(value: Any) -> Any:
    """Return the object over whose memory a value was made, such as a bytearray; None if NumPy's
    arrays, or ours, own it.
    """
    if type(value) is not BorrowedValue:
        return None
    owner: Any = value.buffer
    while isinstance(owner, onp.ndarray):
        owner = owner.base
    return owner


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape that is given as one argument or as several."""
    return as_shape(shape[0] if len(shape) == 1 else shape)


__all__ = ["Memory"]
