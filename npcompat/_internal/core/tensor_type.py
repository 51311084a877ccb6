"""Partial types of arrays: each dimension, the rank and the dtype may be unknown.

A dimension is an int, a symbolic expression of names, or None if it is unknown. A name means the
same length wherever it stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.support.errors import InferenceError
from npcompat._internal.support.lazy_import import LazyModule

dims: Any = LazyModule("npcompat._internal.backend.jax.symbolic_dims")
Dim = Any
"""An int, a symbolic expression, or None."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """Shape and dtype of an array, as far as they are known.

    Parameters
    ----------
    shape : tuple, optional
        A dimension is an int, a name or expression of names such as ``"2*batch"``, or None if it is
        not known. The same name means the same length wherever it stands. Without a shape the rank
        is unknown, too.
    dtype : dtype, optional
        None if it is not known.

    Examples
    --------
    >>> ops.TensorType(("batch", 8, None), "float32")
    TensorType((batch, 8, ?), float32)
    >>> ops.TensorType()
    TensorType(?, ?)
    """

    shape: tuple[Dim, ...] | None = None
    dtype: Any = None

    def __post_init__(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", tuple(map(dimension, self.shape)))
        if self.dtype is not None:
            object.__setattr__(self, "dtype", dtypes.canonical(self.dtype))

    @property
    def known(self) -> bool:
        """True if the dtype is known, and each dimension is an int."""
        return (
            self.dtype is not None
            and self.shape is not None
            and all([type(d) is int for d in self.shape])
        )

    @property
    def symbols(self) -> frozenset[str]:
        """The names in the shape."""
        return frozenset().union(
            *[dims.symbols(d) for d in self.shape or () if type(d) is not int and d is not None]
        )

    def substituted(self, lengths: Mapping[str, int]) -> "TensorType":
        """Return the type with some symbols replaced by lengths."""
        if self.shape is None:
            return self
        return TensorType(substituted(self.shape, lengths), self.dtype)

    def joined(self, other: "TensorType", what: str = "") -> "TensorType":
        """Return the type that holds the knowledge of both.

        Raises
        ------
        InferenceError
            If they contradict each other; `what` says whose types they are.
        """
        if None not in (self.dtype, other.dtype) and self.dtype != other.dtype:
            raise InferenceError(f"{what}: expected dtype {self.dtype}, given {other.dtype}")
        dtype = self.dtype if other.dtype is None else other.dtype
        if self.shape is None or other.shape is None:
            return TensorType(other.shape if self.shape is None else self.shape, dtype)
        if len(self.shape) != len(other.shape) or any(
            [
                type(a) is int and type(b) is int and a != b
                for a, b in zip(self.shape, other.shape, strict=True)
            ]
        ):
            raise InferenceError(
                f"{what}: expected shape {shown(self.shape)}, given {shown(other.shape)}"
            )
        return TensorType(
            tuple([_better(a, b) for a, b in zip(self.shape, other.shape, strict=True)]), dtype
        )

    def __repr__(self) -> str:
        return f"TensorType({shown(self.shape)}, {'?' if self.dtype is None else self.dtype})"

    def to_json(self) -> dict[str, Any]:
        """Return the type as a dict for JSON."""
        shape = (
            None
            if self.shape is None
            else [d if d is None or type(d) is int else str(d) for d in self.shape]
        )
        return {"shape": shape, "dtype": None if self.dtype is None else self.dtype.name}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "TensorType":
        """Return the type from a dict that `to_json` made."""
        return cls(None if found["shape"] is None else tuple(found["shape"]), found["dtype"])


def dimension(given: Any) -> Dim:
    """Return a dimension from an int, a text, a symbol or None."""
    if given is None or type(given) is int:
        found = given
    elif isinstance(given, str):
        found = dims.parse(given)
    elif hasattr(given, "__index__"):
        found = int(given)
    elif dims.is_symbolic(given):
        return given
    else:
        raise TypeError(f"a dimension is an int, a name, or None, got {given!r}")
    if type(found) is int and found < 0:
        raise ValueError(
            f"a dimension can't be negative, got {found}; None means that it is not known"
        )
    return found


def substituted(found: Any, lengths: Mapping[str, int]) -> Any:
    """Replace symbols by lengths in a shape, or in an attribute that contains dimensions."""
    if type(found) is tuple:
        return tuple([substituted(part, lengths) for part in found])
    return dims.substituted(found, lengths) if is_symbolic(found) else found


def symbols_in(found: Any) -> frozenset[str]:
    """Return the names of the symbols in an attribute."""
    if type(found) is tuple:
        return frozenset().union(*map(symbols_in, found))
    return frozenset(dims.symbols(found)) if is_symbolic(found) else frozenset()


def is_symbolic(found: Any) -> bool:
    """True if an attribute is a symbolic expression."""
    return type(found).__name__ == "_DimExpr" and bool(dims.is_symbolic(found))


def _better(a: Dim, b: Dim) -> Dim:
    """Return the more specific of two dimensions: an int before a symbol before None."""
    if a is None or type(b) is int:
        return b
    return a


def shown(shape: Sequence[Dim] | None) -> str:
    """Return a shape as text, with a question mark for each unknown dimension."""
    if shape is None:
        return "?"
    parts = ["?" if d is None else str(d) for d in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


__all__ = ["TensorType", "dimension", "dims", "is_symbolic", "shown", "substituted", "symbols_in"]
