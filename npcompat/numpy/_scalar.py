"""NumPy's scalars: single elements, and results without axes."""

from typing import Any

import numpy as onp

from npcompat._internal.autograd import tape
from npcompat._internal.backend.jax import language
from npcompat._internal.dispatch import execution, handles
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.indexing import lens
from npcompat.numpy import _printing
from npcompat.numpy._memory_order import check_order
from npcompat.numpy._ndarray import Array
from npcompat.numpy._typing import ArrayLike, AxisLike, Casting, DTypeLike, Order


class Scalar(Array):
    """NumPy scalar: a single element, or a result without axes.

    It is immutable, aliases nothing, and is hashable. For `isinstance` it has NumPy's scalar
    type.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.dtype.type

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
        return handles.as_scalar(super().astype(dtype, order, casting, subok, copy))

    def transpose(self, *axes: Any) -> Any:
        """Return the scalar itself."""
        return handles.wrap_scalar(handles.read(super().transpose(*axes)))

    def squeeze(self, axis: AxisLike = None) -> Any:
        """Return the scalar itself."""
        return handles.wrap_scalar(handles.read(super().squeeze(axis)))

    def detach(self) -> Any:
        """Return the same value, detached from the autograd graph."""
        return handles.wrap_scalar(tape.detached(handles.read(self)))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's scalars that arrays lack, such as `is_integer`."""
        if hasattr(type(self), name):  # it has raised: `object.__new__` leaves slots unset
            raise AttributeError(f"scalar without a value: it has no {name!r}")
        if name.startswith("_") or not hasattr(self.dtype.type, name):
            raise AttributeError(f"'numpy.{self.dtype.name}' object has no attribute {name!r}")
        return getattr(handles.to_host(self)[()], name)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(handles.to_host(self)[()])

    def __repr__(self) -> str:
        return (
            _printing.array_repr(self)
            if language.is_tracer(handles.read(self).payload)
            else repr(handles.to_host(self)[()])
        )

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self.item()) if ndigits is None else self.round(ndigits)

    def __reduce__(self) -> Any:
        return _scalar_from_host, (self.asnumpy(),)

    def __setitem__(self, key: Any, new: ArrayLike) -> None:
        raise TypeError(f"'numpy.{self.dtype.name}' object does not support item assignment")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _scalar_from_host(array: onp.ndarray[Any, Any]) -> Any:
    return handles.wrap_scalar(constant(array))


__all__ = ["Scalar"]
