"""What arrays say of their memory, and the methods that NumPy's own machinery calls."""

from types import GenericAlias
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes, execution, lens
from npcompat._internal.handle import Handle, extra
from npcompat._internal.subclasses import instance, is_subclass
from npcompat.numpy._typing import ArrayLike, DTypeLike


class Memory(Handle):
    """The part of `ndarray` that is about bytes."""

    __slots__ = ()

    @property
    def data(self) -> memoryview:
        """The values as they are now, as a buffer that must not be written."""
        return _unwritten(self).data

    @property
    def ctypes(self) -> Any:
        """What NumPy has for `ctypes`: the address of the values as they are now, which must not be written; shape and strides."""
        return _unwritten(self, _Held).ctypes

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
        dispatch.layout(self).getfield(wanted, offset)  # NumPy's error where that can't be
        octets = self[..., None].view(onp.dtype("uint8"))
        return octets[..., offset : offset + wanted.itemsize].view(wanted)[..., 0]

    def setfield(self: Any, val: ArrayLike, /, dtype: DTypeLike, offset: int = 0) -> None:
        """Write values of another dtype into the bytes at an offset in each element; see `getfield`."""
        self.getfield(dtype, offset)[...] = val

    def __sizeof__(self: Any) -> int:
        """Bytes of the object: of the elements, unless it is a view, and of shape and strides."""
        return object.__sizeof__(self) + 16 * len(self.shape) + (self.nbytes if self._view is None else 0)

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def __setstate__(self: Any, state: tuple[Any, ...], /) -> None:
        if self._view is not None:
            raise ValueError("cannot set the state of a view: it does not own its data")
        host = onp.empty(0)
        host.__setstate__(state)  # what a pickle of NumPy's holds
        dispatch.write(self, execution.constant(host))
        extra(self).layout = None

    def __array_wrap__(self, array: ArrayLike, context: Any = None, return_scalar: bool = False, /) -> Any:
        """An array that was computed from this one, perhaps by NumPy, as one of this one's class."""
        made: Any = array if isinstance(array, Handle) else dispatch.array_of(onp.array(array))
        if is_subclass(type(self)):
            return made if type(made) is type(self) else instance(lens.plain_view(made, lens.whole(made)), type(self), self)
        made = lens.plain(made)
        return dispatch.as_scalar(made) if return_scalar else made

    def __array_finalize__(self, obj: Any, /) -> None:
        """Called for each new instance of a class derived from this one, with what it was made of; does nothing, as in NumPy."""

    __class_getitem__: Any = classmethod(GenericAlias)


class _Held(onp.ndarray[Any, Any]):
    """An array of NumPy's that keeps the one of ours whose values it shows."""

    source: Handle


def _unwritten(handle: Handle, kind: type[onp.ndarray[Any, Any]] = onp.ndarray) -> onp.ndarray[Any, Any]:
    shared = dispatch.to_host(handle).view(kind)
    shared.flags.writeable = False
    if isinstance(shared, _Held):
        shared.source = handle
    return shared


__all__ = ["Memory"]
