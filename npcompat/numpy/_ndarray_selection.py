"""Methods of arrays that read, pick, write and rearrange elements, and that write files."""

import builtins
import operator as python
import os
import pickle
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles, subclasses
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.indexing import lens
from npcompat._internal.native.fast_path import remembering
from npcompat._internal.support import atomic_file
from npcompat.numpy import _packing, _selection, _sorting
from npcompat.numpy._typing import ArrayLike


class Selection:
    """The part of `ndarray` that selects."""

    __slots__ = ()

    def view(self: Any, dtype: Any = None, type: Any = None) -> Any:
        """The same elements as another array object; with a dtype, their bytes read as elements of
        that dtype.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype to read; the last axis gets shorter or longer if its elements have another
            size.
        type : type, optional
            The class of the result: one derived from `np.ndarray`, or from NumPy's own arrays, such
            as `np.recarray`, of which the result is an instance that holds a copy. It may also be
            given as the only argument.
        """
        if isinstance(dtype, builtins.type) and issubclass(dtype, Handle | onp.ndarray):
            dtype, type = None, dtype
        if type is not None and not issubclass(type, Handle):
            if not issubclass(type, onp.ndarray):
                raise TypeError(f"view: `type` must be a class of arrays, got {type!r}")
            return self.view(dtype).asnumpy().view(type)
        if dtype is None:
            found = lens.whole(self)
        else:
            wanted = dtypes.canonical(dtype)
            handles.layout(self).view(wanted)  # NumPy's error where that can't be
            found = lens.reinterpreted(wanted)
        if type is None or type is builtins.type(self):
            return lens.view(self, found)
        made = lens.plain_view(self, found)
        return subclasses.instance(made, type, self) if subclasses.is_subclass(type) else made

    @remembering
    def argsort(
        self: Any,
        axis: int | None = -1,
        kind: Any = None,
        order: Any = None,
        *,
        stable: bool | None = None,
    ) -> Any:
        """The positions that would sort along an axis."""
        return _sorting.argsort(self, axis, kind, order, stable=stable)

    def searchsorted(self: Any, v: ArrayLike, side: str = "left", sorter: Any = None) -> Any:
        """Where to insert values so that the array stays sorted."""
        return _sorting.searchsorted(self, v, side, sorter)

    def nonzero(self: Any, *, size: Any = None, fill_value: ArrayLike = None) -> Any:
        """Positions of the elements that are not zero, one array for each axis."""
        return _selection.nonzero(self, size=size, fill_value=fill_value)

    def argpartition(
        self: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Any:
        """The positions that rearrange as `partition` does."""
        return _sorting.argpartition(self, kth, axis, kind, order)

    def partition(
        self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Rearrange in place along an axis: the `kth` is where sorting would put it, none larger
        before it.
        """
        self[...] = _sorting.partition(self, kth, python.index(axis), kind, order)

    def choose(self: Any, /, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """At each place, the element of the choice that this array names there; choices may also be
        given as one sequence.
        """
        return _selection.choose(self, choices[0] if len(choices) == 1 else choices, out, mode)

    def compress(
        self: Any,
        /,
        condition: ArrayLike,
        axis: int | None = None,
        out: Any = None,
        *,
        size: Any = None,
        fill_value: ArrayLike = None,
    ) -> Any:
        """The slices along an axis for which a condition holds."""
        return _selection.compress(condition, self, axis, out, size=size, fill_value=fill_value)

    def put(self: Any, indices: ArrayLike, values: ArrayLike, /, mode: str = "raise") -> None:
        """Write values at positions among all elements in C order."""
        _selection.put(self, indices, values, mode)

    def fill(self: Any, value: ArrayLike) -> None:
        """Set every element to one value."""
        if self.dtype.kind == "O" or getattr(value, "shape", ()) or isinstance(value, list | tuple):
            held = onp.empty((), self.dtype)
            held[()] = (
                handles.to_host(value) if isinstance(value, Handle) else value
            )  # NumPy's error for what is no element
            value = array_like.array_of(held)
        self[...] = value

    def byteswap(self: Any, /, inplace: bool = False) -> Any:
        """The elements with their bytes in the other order; in place, or copied."""
        swapped = apply(_packing.byteswap, (self,))
        if not inplace:
            return swapped
        self[...] = swapped
        return self

    def tofile(self: Any, fid: Any, /, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file in C order: their bytes, or with a separator text."""
        self.asnumpy().tofile(fid, sep, format)

    def dump(self: Any, /, file: Any) -> None:
        """Write a pickle of the array to a file, given by path or open."""
        if isinstance(file, str | bytes | os.PathLike):
            atomic_file.write(os.fsdecode(file), Selection.dumps(self))
        else:
            file.write(Selection.dumps(self))

    def dumps(self: Any, /) -> bytes:
        """A pickle of the array."""
        return pickle.dumps(self, protocol=2)


__all__ = ["Selection"]
