"""Type aliases of arguments.

Type checkers see the full types. At run time they are `Any`, which costs no imports and keeps the
signatures that `help` prints short.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex

import numpy as onp

if TYPE_CHECKING:
    from types import EllipsisType

    from numpy.typing import DTypeLike as _NumpysDTypeLike

    from npcompat._internal.core.handle import Handle

    class _SupportsArray(Protocol):
        """Object with NumPy's conversion method, such as an array of another library."""

        def __array__(self) -> onp.ndarray[Any, Any]:
            """Return the values as a NumPy array."""

    NDArrayLike = Handle | onp.ndarray[Any, Any] | onp.generic | _SupportsArray
    """Array of this library, of NumPy, or of another one with `__array__`; NumPy's scalars."""
    ArrayLike = NDArrayLike | bool | int | float | complex | str | bytes | Sequence["ArrayLike"]
    """Array, Python scalar, or nested sequences of them, which `np.asarray` converts.

    `np.array` accepts any other object as well, for an array of objects.
    """
    DTypeLike = _NumpysDTypeLike | None
    """Dtype, its name, or the class of its scalars; None for the default."""
    Out = (
        Handle
        | onp.ndarray[Any, Any]
        | tuple[Handle | onp.ndarray[Any, Any] | None, ...]
        | EllipsisType
        | None
    )
    """Array for the result, or a tuple with one for each output; `...` returns no scalars."""
else:
    NDArrayLike = ArrayLike = DTypeLike = Out = Any

AxisLike = SupportsIndex | Sequence[SupportsIndex] | None
ShapeLike = SupportsIndex | Sequence[SupportsIndex]
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe", "same_value"]
Order = Literal["K", "A", "C", "F"]
NoValue: Any = onp._NoValue
"""Default of arguments for which None has another meaning in NumPy."""

__all__ = [
    "ArrayLike",
    "AxisLike",
    "Casting",
    "DTypeLike",
    "NDArrayLike",
    "NoValue",
    "Order",
    "Out",
    "ShapeLike",
]
