"""Classes of `a.flags` and `a.flat`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value, extra, root_of
from npcompat._internal.core.op import operator
from npcompat._internal.core.retained_outputs import materialize
from npcompat._internal.dispatch import array_like, execution, handles, late_bound, writes
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import lens
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_OTHERS = {"CA": "carray", "FA": "farray", "B": "behaved", "FORTRAN": "f_contiguous"}
_NAMES = {
    "C": "c_contiguous",
    "F": "f_contiguous",
    "O": "owndata",
    "W": "writeable",
    "A": "aligned",
    "X": "writebackifcopy",
}


class Flags:
    """Memory layout flags of an array, as NumPy would lay it out."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def writeable(self) -> bool:
        """True if the array may be written."""
        return self._handle._extra is None or not self._handle._extra.readonly

    @writeable.setter
    def writeable(self, wanted: bool) -> None:
        view = self._handle._view
        if (
            wanted
            and view is not None
            and (view.lens.put is None or not Flags(view.parent).writeable)
        ):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        extra(self._handle).readonly = not wanted
        if view is None:
            materialize(self._handle._value)  # so that programs that write the array check the flag

    @property
    def owndata(self) -> bool:
        """True if the array is not a view, nor over memory of others."""
        handle: Any = self._handle
        return handle.base is None

    @property
    def c_contiguous(self) -> bool:
        """True if the elements are contiguous in C order."""
        return handles.layout(self._handle).flags.c_contiguous

    @property
    def f_contiguous(self) -> bool:
        """True if the elements are contiguous in Fortran order."""
        return handles.layout(self._handle).flags.f_contiguous

    @property
    def fortran(self) -> bool:
        """Alias of `f_contiguous`."""
        return self.f_contiguous

    @property
    def contiguous(self) -> bool:
        """Alias of `c_contiguous`."""
        return self.c_contiguous

    @property
    def forc(self) -> bool:
        """True if the elements are contiguous in C or Fortran order."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """True if the elements are contiguous in Fortran order and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def behaved(self) -> bool:
        """True if the array is aligned and writeable."""
        return self.aligned and self.writeable

    @property
    def carray(self) -> bool:
        """True if the array is aligned, writeable and in C order."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """True if the array is aligned, writeable and in Fortran order only."""
        return self.behaved and self.fnc

    @property
    def aligned(self) -> bool:
        """True if the elements are aligned for their dtype; fields of records may not be."""
        return handles.layout(self._handle).flags.aligned

    writebackifcopy = False

    def __getitem__(self, name: str) -> bool:
        attribute = _NAMES.get(name) or _OTHERS.get(name, name.lower())
        if attribute not in (*_NAMES.values(), *_OTHERS.values(), "contiguous", "forc", "fnc"):
            raise KeyError("Unknown flag")
        found: bool = getattr(self, attribute)
        return found

    def __setitem__(self, name: str, wanted: bool) -> None:
        if name.lower() not in ("w", "writeable"):
            raise KeyError("Unknown flag")
        self.writeable = wanted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        return all([getattr(self, name) == getattr(other, name) for name in _NAMES.values()])

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"  {name.upper()} : {getattr(self, name)}\n" for name in _NAMES.values()]
        return "".join(lines)


class Flat:
    """Flat iterator over the elements of an array in C order, as `a.flat`."""

    __slots__ = ("_base", "_handle", "_position")
    _base: Any
    _handle: Any
    _position: int

    def __new__(cls) -> "Flat":
        raise TypeError("cannot create 'numpy.flatiter' instances: use `a.flat`")

    @classmethod
    def _over(cls, handle: Any, base: Any = None) -> "Flat":
        """Create an iterator over an array, which may be `base` broadcast."""
        if len(handle.shape) > 32:
            raise RuntimeError(
                f"this function only supports 32 dimensions but the array has {len(handle.shape)}"
            )
        made = object.__new__(cls)
        made._handle, made._position = handle, 0
        made._base = handle if base is None else base
        return made

    @property
    def base(self) -> "ndarray":
        """Array iterated over."""
        return self._base

    @property
    def index(self) -> int:
        """Number of elements taken so far."""
        return self._position

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of the next element."""
        return tuple(int(i) for i in onp.unravel_index(self._position, self._handle.shape))

    def __len__(self) -> int:
        size: int = self._handle.size
        return size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> "ndarray":
        if self._position >= len(self):
            raise StopIteration
        self._position += 1
        return self[self._position - 1]

    def _key(self, key: Any) -> Any:
        """Convert an index that NumPy's flat iterator accepts to one of the raveled array.

        Other indices give its errors and warnings.
        """
        numpys = onp.array(handles.to_host(key)) if isinstance(key, Handle) else key
        handles.layout(self._handle).flat[numpys]
        if type(key) is tuple:
            key = key[0] if key else Ellipsis
        if type(key) is int or isinstance(key, slice) or key is Ellipsis:
            return key
        return onp.arange(len(self)).flat[numpys]

    def __eq__(self, other: object) -> Any:
        return self[:] == other

    def __ne__(self, other: object) -> Any:
        return self[:] != other

    def __lt__(self, other: ArrayLike) -> Any:
        return self[:] < other

    def __le__(self, other: ArrayLike) -> Any:
        return self[:] <= other

    def __gt__(self, other: ArrayLike) -> Any:
        return self[:] > other

    def __ge__(self, other: ArrayLike) -> Any:
        return self[:] >= other

    __hash__ = None  # type: ignore[assignment]

    def _is_recorded(self) -> bool:
        return modes.current().recording and root_of(self._handle)._value.node is not None

    def __getitem__(self, key: Any) -> "ndarray":
        host = None if self._is_recorded() else handles.current_array(self._handle)
        if host is not None:
            found = host.flat[handles.to_host(key) if isinstance(key, Handle) else key]
            if type(found) is onp.ndarray:
                return handles.wrap(Value(found))
            return (
                handles.wrap_scalar(Value(onp.asarray(found)))
                if dtypes.on_devices(host.dtype)
                else found
            )
        found = lens.reshaped(self._handle, (-1,))[
            key if modes.current().trace is not None else self._key(key)
        ]
        return (
            found.copy() if type(found) is late_bound.ndarray and found._view is not None else found
        )

    def __setitem__(self, key: Any, new: Any) -> None:
        if not Flags(self._handle).writeable:
            raise ValueError("underlying array is read-only")
        if isinstance(new, list | tuple):  # elements that are recorded have gradients
            new = array_like.joined_value(new, self._handle.dtype) or new
            new = handles.wrap(new) if isinstance(new, Value) else new
        operands = [handles.read(new)] if isinstance(new, Handle) else []
        with writes.lock_of(self._handle):
            target = writes.buffer(self._handle, *operands)
            if target is not None:
                if isinstance(new, Handle):
                    new = (
                        handles.to_host(new)[()]
                        if type(new) in late_bound.scalars
                        else handles.to_host(new)
                    )
                target.flat[handles.to_host(key) if isinstance(key, Handle) else key] = new
                return
        if isinstance(key, tuple) and not key:
            raise IndexError(
                "Assigning to a flat iterator with a 0-D index is not supported; use `a.flat[...] "
                "= value`"
            )
        if modes.current().trace is None:
            key = self._key(key)
        flat = lens.reshaped(self._handle, (-1,))
        wanted = onp.empty(flat.shape, onp.bool_)[key]
        if type(wanted) is onp.bool_ and not isinstance(new, Handle | TracedNumber):
            if not array_like.is_unknown(new):
                one = onp.empty(1, flat.dtype)
                one.flat[0] = new  # with NumPy's errors
                new = one[0]
        if not isinstance(new, Handle) and not onp.isscalar(new):
            new = array_like.joined(new, flat.dtype)
            new = new if isinstance(new, Handle) else array_like.array_of(new)
        if isinstance(new, Handle) and not wanted.size:
            # Raise NumPy's error for an impossible cast.
            onp.empty(0, handles.layout(new).dtype).astype(flat.dtype)
            return
        if type(wanted) is onp.bool_ and onp.shape(new):
            raise ValueError("Error setting single item of array.")
        value = array_like.as_value(new)
        if getattr(value.payload, "size", 1) == 0:
            return  # NumPy writes nothing of nothing
        if getattr(value.payload, "size", 1) != 1:
            value = execution.run(_cycled, [value], (wanted.shape,))
        flat[key] = handles.wrap(value) if hasattr(value.payload, "shape") else new
        if flat._view is None:  # not in C order: the flat array is a copy
            self._handle[...] = lens.reshaped(flat, self._handle.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> onp.ndarray[Any, Any]:
        host = handles.to_host(self._handle)
        found = onp.array(host, dtype).reshape(-1)
        found.flags.writeable = host.flags.c_contiguous and Flags(self._handle).writeable
        return found

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    def copy(self) -> "ndarray":
        """Copy the elements to an array of one axis."""
        return lens.reshaped(self._handle, (-1,)).copy()


@operator("_npi_cycled")
def _cycled(xp: Any, a: Any, *, shape: Any) -> Any:
    """Repeat the elements until a shape is filled."""
    size = 1
    for n in shape:
        size *= n
    return xp.reshape(xp.resize(xp.ravel(a), (size,)), shape)


__all__ = ["Flags", "Flat"]
