"""Methods of arrays for selection, sorting, in-place writes and files."""

import builtins
import operator as python
import os
import pickle
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles, subclasses
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.indexing import lens
from npcompat._internal.native.fast_path import call_cached
from npcompat._internal.support import atomic_file
from npcompat.numpy import _assignment, _packing, _selection, _sorting
from npcompat.numpy._typing import ArrayLike, Out

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _check_bits(a: Any, dtype: onp.dtype[Any]) -> None:
    """Raise if a recorded array is read as other floats: bits have no derivative.

    Real numbers read as complex ones of the same precision, and the other way, have one.
    """
    if not (modes.current().recording and dtypes.is_inexact(a.dtype) and dtypes.is_inexact(dtype)):
        return
    parts = [onp.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d for d in (a.dtype, dtype)]
    if parts[0] != parts[1] and handles.read(a).node is not None:
        raise TypeError(
            f"view: the bytes of a recorded {a.dtype} array have no derivative as {dtype}; give it "
            "`x.detach()`, or convert the numbers by `astype`"
        )


class Selection:
    """Mixin of `ndarray` for selection and writing."""

    __slots__ = ()

    def view(self: Any, dtype: Any = None, type: Any = None) -> "ndarray":
        """Return a new array object over the same elements.

        With a dtype, their bytes are reinterpreted as elements of that dtype.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype to read; the last axis gets shorter or longer if its elements have another
            size.
        type : type, optional
            The class of the result: one derived from `np.ndarray`, or from NumPy's own arrays, such
            as `np.recarray`, of which the result is an instance over the same memory, read-only
            where `numpy.asarray` of the array is, and a copy if there are objects. It may also be
            given as the only argument.
        """
        if isinstance(dtype, builtins.type) and issubclass(dtype, Handle | onp.ndarray):
            dtype, type = None, dtype
        if type is not None and not issubclass(type, Handle):
            if not issubclass(type, onp.ndarray):
                raise TypeError(f"view: `type` must be a class of arrays, got {type!r}")
            read = self.view(dtype)
            return (read.asnumpy() if read.dtype.hasobject else onp.asarray(read)).view(type)
        if dtype is None:
            found = lens.whole(self)
        else:
            wanted = dtypes.canonical(dtype)
            handles.layout(self).view(wanted)  # raise NumPy's error if this is impossible
            _check_bits(self, wanted)
            found = lens.reinterpreted(wanted)
        if type is None or type is builtins.type(self):
            return lens.view(self, found)
        made = lens.plain_view(self, found)
        return subclasses.instance(made, type, self) if subclasses.is_subclass(type) else made

    @call_cached
    def argsort(
        self: Any,
        axis: int | None = -1,
        kind: Any = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> "ndarray":
        """Return the indices that sort along an axis."""
        return _sorting.argsort(self, axis, kind, order, stable=stable, descending=descending)

    def searchsorted(self: Any, v: ArrayLike, side: str = "left", sorter: Any = None) -> "ndarray":
        """Find the indices at which inserted values keep the array sorted."""
        return _sorting.searchsorted(self, v, side, sorter)

    def nonzero(
        self: Any, *, size: Any = None, fill_value: ArrayLike | None = None
    ) -> "tuple[ndarray, ...]":
        """Return the indices of the elements that are not zero, one array per axis."""
        return _selection.nonzero(self, size=size, fill_value=fill_value)

    def argpartition(
        self: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> "ndarray":
        """Return the indices that partition along an axis."""
        return _sorting.argpartition(self, kth, axis, kind, order)

    def partition(
        self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Partition in place along an axis, as `np.partition`."""
        self[...] = _sorting.partition(self, kth, python.index(axis), kind, order)

    def choose(self: Any, /, *choices: Any, out: Out = None, mode: str = "raise") -> "ndarray":
        """Choose each element from the choice that this array names, as `np.choose`.

        Choices are several arguments or one sequence.
        """
        return _selection.choose(self, choices[0] if len(choices) == 1 else choices, out, mode)

    def compress(
        self: Any,
        /,
        condition: ArrayLike,
        axis: int | None = None,
        out: Out = None,
        *,
        size: Any = None,
        fill_value: ArrayLike | None = None,
    ) -> "ndarray":
        """Return the slices along an axis for which a condition holds."""
        return _selection.compress(condition, self, axis, out, size=size, fill_value=fill_value)

    def put(self: Any, indices: ArrayLike, values: ArrayLike, /, mode: str = "raise") -> None:
        """Write values at flat indices (C order)."""
        _assignment.put(self, indices, values, mode)

    def fill(self: Any, value: ArrayLike) -> None:
        """Set every element to one value."""
        if self.dtype.kind == "O" or getattr(value, "shape", ()) or isinstance(value, list | tuple):
            held = onp.empty((), self.dtype)
            # Raise NumPy's error for an invalid element.
            held[()] = handles.to_host(value) if isinstance(value, Handle) else value
            value = array_like.array_of(held)
        self[...] = value

    def byteswap(self: Any, /, inplace: bool = False) -> "ndarray":
        """Swap the bytes of each element (byte order), in a copy or in place; without a derivative."""
        swapped = apply(_packing.byteswap, (self,))
        if not inplace:
            return swapped
        self[...] = swapped
        return self

    def tofile(self: Any, fid: Any, /, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file in C order: bytes, or text with a separator.

        An error leaves an older file, given by path, as it was.
        """
        if not isinstance(fid, str | bytes | os.PathLike):
            self.asnumpy().tofile(fid, sep, format)
            return
        with atomic_file.opened(os.fsdecode(fid)) as file:
            self.asnumpy().tofile(file, sep, format)

    def dump(self: Any, /, file: Any) -> None:
        """Write a pickle of the array to a file, given by path or open."""
        if isinstance(file, str | bytes | os.PathLike):
            atomic_file.write(os.fsdecode(file), Selection.dumps(self))
        else:
            file.write(Selection.dumps(self))

    def dumps(self: Any, /) -> bytes:
        """Return a pickle of the array."""
        return pickle.dumps(self, protocol=2)


__all__ = ["Selection"]
