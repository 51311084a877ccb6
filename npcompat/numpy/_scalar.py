"""NumPy's scalars: single elements, and results without axes."""

import struct
import sys
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core.handle import Handle, StoredHandle, Value
from npcompat._internal.dispatch import array_like, execution, handles
from npcompat._internal.dispatch.detaching import detached
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.indexing import lens
from npcompat._internal.native import fast_path
from npcompat.numpy import _printing
from npcompat.numpy._memory_order import check_order
from npcompat.numpy._ndarray import Array
from npcompat.numpy._protocols import NumPyDispatch
from npcompat.numpy._typing import ArrayLike, AxisLike, Casting, DTypeLike, Order


class ScalarMethods(Array):
    """Methods of scalars that differ from those of arrays without axes."""

    __slots__ = ()
    _immutable = True

    @property  # type: ignore[misc]
    def real(self) -> Any:
        """Real part."""
        return (
            handles.wrap_scalar(execution.run(lens.real.get, [handles.read(self)]))
            if self.dtype.kind == "c"
            else self
        )

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        """Imaginary part."""
        if self.dtype.kind == "c":
            return handles.wrap_scalar(execution.run(lens.imag.get, [handles.read(self)]))
        return handles.wrap_scalar(constant(onp.zeros((), self.dtype)))

    def copy(self, order: Order = "C") -> Any:
        """Return the scalar itself, as it is immutable."""
        check_order(order)
        return self

    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: Casting = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """Cast to a dtype; the result is a scalar."""
        return handles.as_scalar(Array.astype(self, dtype, order, casting, subok, copy))

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return a scalar of the same bytes, or an instance of a class of arrays."""
        return handles.as_scalar(Array.view(self, dtype, type))

    def byteswap(self, /, inplace: bool = False) -> Any:
        """Return a scalar with the bytes in the other order."""
        if inplace:
            raise ValueError("cannot byteswap a scalar in-place")
        return handles.as_scalar(Array.byteswap(self))

    def transpose(self, *axes: Any) -> Any:
        """Return the scalar itself."""
        return handles.wrap_scalar(handles.read(Array.transpose(self, *axes)))

    def squeeze(self, axis: AxisLike = None) -> Any:
        """Return the scalar itself."""
        return handles.wrap_scalar(handles.read(Array.squeeze(self, axis)))

    def detach(self) -> Any:
        """Return the same value, detached from the autograd graph."""
        return handles.wrap_scalar(detached(handles.read(self)))

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(handles.to_host(self).item()) if ndigits is None else self.round(ndigits)

    def __reduce__(self) -> Any:
        return _scalar_from_host, (self.asnumpy(),)

    def __setitem__(self, key: Any, new: ArrayLike) -> None:
        raise TypeError(f"'numpy.{self.dtype.name}' object does not support item assignment")

    def setfield(self, val: ArrayLike, /, dtype: DTypeLike, offset: int = 0) -> None:
        """Raise TypeError, as a scalar is immutable."""
        raise TypeError("Can't set fields in a non-void array scalar.")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Scalar(ScalarMethods, NumPyDispatch, StoredHandle):
    """Scalar that NumPy must not take for a number: it is recorded, traced or on XLA, or a bool.

    It is immutable, aliases nothing, and is hashable. For `isinstance` it has NumPy's scalar
    type.
    """

    __slots__ = ()

    def __new__(cls, *args: Any) -> Any:
        """Raise TypeError: the class is that of all dtypes."""
        raise TypeError(
            "type(x)(value) of a scalar that is recorded, traced, on XLA or a bool: its class is "
            "that of all dtypes; use x.dtype.type(value)"
        )

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.dtype.type

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's scalars that arrays lack, such as `is_integer`."""
        if hasattr(type(self), name):  # it has raised: `object.__new__` leaves slots unset
            raise AttributeError(f"scalar without a value: it has no {name!r}")
        if name.startswith("_") or not hasattr(self.dtype.type, name):
            raise AttributeError(f"'numpy.{self.dtype.name}' object has no attribute {name!r}")
        return getattr(handles.to_host(self)[()], name)

    def __hash__(self) -> int:  # type: ignore[override]
        handles.check_reader(self)
        return hash(handles.to_host(self)[()])

    def __repr__(self) -> str:
        return (
            _printing.array_repr(self)
            if language.is_tracer(handles.read(self).payload)
            else repr(handles.to_host(self)[()])
        )


class HostScalar(ScalarMethods):
    """Scalar on the host, of a class that derives from NumPy's of its dtype, too.

    Whatever takes NumPy's scalars takes it: `json`, `statistics`, PyArrow. Its number is stored
    twice: as NumPy stores it, and as the value of a handle. NumPy's functions, which know the
    former only, would drop what is recorded; so that is a `Scalar`.
    """

    __slots__ = ()
    __array_priority__ = -1.0
    """NumPy's arrays compute with it themselves (theirs is 0), NumPy's scalars leave that to it."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Convert a number, as the class of NumPy's does; an array for other array-likes."""
        number = cls._numpys(*args, **options)  # type: ignore[attr-defined]
        if not isinstance(number, onp.generic):
            return array_like.array_of(number)
        return cls.of_value(Value(onp.asarray(number)))

    @classmethod
    def of_value(cls, value: Value) -> Any:
        """Return a scalar that holds a value, whose payload is a host array of its dtype."""
        numpys: Any = cls._numpys  # type: ignore[attr-defined]
        handle = numpys.__new__(cls, value.payload[()])
        handle._value, handle._view, handle._extra = value, None, None
        return handle

    def __repr__(self) -> str:
        return repr(handles.to_host(self)[()])

    def __conform__(self, protocol: Any) -> Any:
        """Return what sqlite3 stores: what an adapter of NumPy's class gives, or the number.

        It looks for adapters by class, and would store the bytes of an integer.
        """
        number = handles.to_host(self)[()]
        adapter = sys.modules["sqlite3"].adapters.get((type(number), protocol))
        return number.item() if adapter is None else adapter(number)


_NUMPYS_OWN = (
    "__array__",
    "__array_interface__",
    "__array_struct__",
    "__bool__",
    "__complex__",
    "__float__",
    "__format__",
    "__hash__",
    "__index__",
    "__int__",
    "__str__",
    "data",
    "dtype",
    "item",
    "itemsize",
    "nbytes",
    "ndim",
    "shape",
    "size",
    "strides",
    "tobytes",
    "tolist",
)
"""Attributes that the classes of host scalars take from NumPy's."""
_OF_CLASSES = ("__dict__", "__slots__", "__weakref__", "__annotations__", "__module__")
"""Attributes of a class that its copy must not have."""
_OF_SEQUENCES = ("__contains__", "__delitem__", "__iter__", "__len__", "__setitem__")
"""Attributes of arrays that NumPy's scalars lack: what has them would be taken for a list."""
_SLOT = struct.calcsize("P")
_STORED = ("__weakref__", "_extra", "_value", "_view")


def _class_for(dtype: Any) -> Any:
    """Return the class of host scalars of a dtype.

    NumPy's class is its first base, by which NumPy finds the dtype; so what `HostScalar` has and
    inherits is copied, but what makes a sequence. It has the name of NumPy's class, and its slots
    lie where those of arrays do.
    """
    numpys: Any = onp.dtype(dtype).type
    filled = (fast_path.PADDED_SIZE - numpys.__basicsize__) // _SLOT
    members: dict[str, Any] = {}
    for kind in reversed(HostScalar.__mro__[:-1]):
        members.update(vars(kind))
    for name in (*_OF_CLASSES, *_OF_SEQUENCES, "__index__"):
        members.pop(name, None)
    if fast_path.native is None:  # C takes the slot away by which Python iterates
        members["__iter__"] = None
    members |= {name: getattr(numpys, name) for name in _NUMPYS_OWN if hasattr(numpys, name)}
    members |= {"__slots__": (*[f"_{i}" for i in range(filled)], *_STORED), "__module__": "numpy"}
    return type(numpys.__name__, (numpys, Handle), {**members, "_numpys": numpys})


_CODES = "bBhHiIlLqQefdFD"
_CLASSES: dict[int, Any] = {onp.dtype(code).num: _class_for(code) for code in _CODES}
HOST_SCALARS = tuple([_CLASSES.get(number) for number in range(24)])
"""Classes of host scalars by NumPy's type numbers; None for other dtypes."""


def _scalar_from_host(array: onp.ndarray[Any, Any]) -> Any:
    return handles.wrap_scalar(constant(array))


__all__ = ["HOST_SCALARS", "HostScalar", "Scalar"]
