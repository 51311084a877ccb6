"""What arrays say of their memory, and the methods that NumPy's own machinery calls."""

import math
import sys
import weakref
from types import GenericAlias
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle, View, extra
from npcompat._internal.core.op import as_shape
from npcompat._internal.dispatch import array_like, handles, late_bound, writes
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.dispatch.subclasses import instance, is_subclass
from npcompat._internal.indexing import lens
from npcompat.numpy import _buffers
from npcompat.numpy._typing import ArrayLike, DTypeLike


class _Probe:
    def references(self) -> int:
        return sys.getrefcount(self)


def _references_of_one_name() -> int:
    """What a method counts when one name refers to its object."""
    probe = _Probe()
    return probe.references()


_ALONE = _references_of_one_name()


class Memory(Handle):
    """The part of `ndarray` that is about bytes."""

    __slots__ = ()

    @property
    def data(self) -> memoryview:
        """The values as they are now, as a buffer that must not be written."""
        return _unwritten(self).data

    @property
    def ctypes(self) -> Any:
        """What NumPy has for `ctypes`: the address of the values as they are now, which must not be
        written; shape and strides.
        """
        return _unwritten(self, _Held).ctypes

    def _look_through(self: Any, look: lens.Lens) -> None:
        """Become a view of what this view was until now."""
        parent = object.__new__(late_bound.ndarray)
        parent._view, parent._extra = self._view, self._extra
        self._view, self._extra = View(parent, look), None
        self.setflags(write=parent.flags.writeable)

    @property
    def strides(self: Any) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis, as NumPy would lay the array out."""
        return handles.layout(self).strides

    @strides.setter
    def strides(self: Any, strides: Any) -> None:
        wanted = handles.layout(self).view()
        wanted.strides = strides  # NumPy's warning, and its error where memory would be left
        if self.strides == wanted.strides:
            return
        if self._view is None:
            raise NotImplementedError(
                "strides: those of an array that owns its memory can't be changed; use "
                "np.lib.stride_tricks.as_strided"
            )
        found = _buffers.strided(self, wanted)._view
        self._view, self._extra = found, extra(self)

    @property
    def base(self: Any) -> Any:
        """The array whose memory this one looks at; None if it owns its own."""
        if self._view is None or type(self) is late_bound.ndarray:
            return None if self._view is None else self._view.root
        found = (
            self._view.parent
        )  # of a class of users', NumPy names the last one along the views of the same class
        while found._view is not None and type(found._view.parent) is type(self):
            found = found._view.parent
        return found

    def getfield(self: Any, dtype: DTypeLike, offset: int = 0) -> Any:
        """The bytes at an offset in each element, read as elements of another dtype: a view.

        Parameters
        ----------
        dtype : dtype
            The dtype to read; not larger than the elements.
        offset : int
            Where it begins, in bytes.

        Examples
        --------
        >>> np.array([1 + 2j]).getfield("float32", 4)
        array([2.])
        """
        wanted = dtypes.canonical(dtype)
        handles.layout(self).getfield(wanted, offset)  # NumPy's error where that can't be
        octets = self[..., None].view(onp.dtype("uint8"))
        return octets[..., offset : offset + wanted.itemsize].view(wanted)[..., 0]

    def setfield(self: Any, val: ArrayLike, /, dtype: DTypeLike, offset: int = 0) -> None:
        """Write values of another dtype into the bytes at an offset in each element; see
        `getfield`.
        """
        self.getfield(dtype, offset)[...] = val

    def resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
        """Change shape and size in place: elements are added as zeros, or cut off, at the end of
        the memory.

        Parameters
        ----------
        *new_shape : int, or tuple of int
            The new lengths.
        refcheck : bool
            Whether to refuse if anything but one name refers to the array, which could be a view of
            it. As in NumPy, debuggers hold references, too.

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
        resized = onp.empty_like(handles.layout(self))  # elements follow each other as in memory
        resized[...] = handles.to_host(self)
        resized.resize(shape, refcheck=False)
        writes.write(self, constant(resized))
        extra(self).layout = None if resized.flags.c_contiguous else resized

    def __sizeof__(self: Any) -> int:
        """Bytes of the object: of the elements, unless it is a view, and of shape and strides."""
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
        host.__setstate__(state)  # what a pickle of NumPy's holds
        writes.write(self, constant(host))
        extra(self).layout = None

    def __array_wrap__(
        self, array: ArrayLike, context: Any = None, return_scalar: bool = False, /
    ) -> Any:
        """An array that was computed from this one, perhaps by NumPy, as one of this one's class."""
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
        """Called for each new instance of a class derived from this one, with what it was made of;
        does nothing, as in NumPy.
        """

    __class_getitem__: Any = classmethod(GenericAlias)


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one argument or as several."""
    return as_shape(shape[0] if len(shape) == 1 else shape)


class _Held(onp.ndarray[Any, Any]):
    """An array of NumPy's that keeps the one of ours whose values it shows."""

    source: Handle


def _unwritten(
    handle: Handle, kind: type[onp.ndarray[Any, Any]] = onp.ndarray
) -> onp.ndarray[Any, Any]:
    shared = handles.to_host(handle).view(kind)
    shared.flags.writeable = False
    if isinstance(shared, _Held):
        shared.source = handle
    return shared


__all__ = ["Memory"]
