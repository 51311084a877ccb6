"""Names for the types of arguments."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import numpy as onp

ArrayLike = Any
"""An array, a scalar, or anything that `np.asarray` accepts."""
DTypeLike = Any
"""A dtype, its name, or the class of its scalars; None for the default."""
AxisLike = SupportsIndex | Sequence[SupportsIndex] | None
ShapeLike = SupportsIndex | Sequence[SupportsIndex]
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe", "same_value"]
Order = Literal["K", "A", "C", "F"]
NoValue: Any = onp._NoValue
"""The default of arguments that NumPy tells apart from None."""

__all__ = ["ArrayLike", "AxisLike", "Casting", "DTypeLike", "NoValue", "Order", "ShapeLike"]
