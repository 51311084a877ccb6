"""Information on dtypes and devices, as the standard has it."""

from dataclasses import dataclass
from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat.numpy._protocols import NamespaceInfo


@dataclass(frozen=True)
class _FloatInfo:
    """Limits of a floating-point dtype, as numbers of Python."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def finfo(type: Any, /) -> _FloatInfo:
    """Limits of a floating-point dtype, as numbers of Python.

    Parameters
    ----------
    type : dtype or ndarray
        Floating-point dtype, real or complex; a complex one has the limits of its parts.

    Returns
    -------
    object
        With the attributes `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`.

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.finfo(xp.float64).eps
    2.220446049250313e-16
    """
    found = np.finfo(type.dtype if isinstance(type, np.ndarray) else type)
    return _FloatInfo(
        bits=int(found.bits),
        eps=float(found.eps),
        max=float(found.max),
        min=float(found.min),
        smallest_normal=float(found.smallest_normal),
        dtype=onp.dtype(found.dtype),
    )


class _Devices(tuple[Any, ...]):
    """Devices: a tuple, to which a list can be added.

    Until version 2025.12 of the standard they were a list, and SciPy adds another.
    """

    def __add__(self, other: Any) -> Any:
        return [*self, *other] if isinstance(other, list) else super().__add__(other)


class _StandardInfo(NamespaceInfo):
    """Inspection object of the standard: `__array_namespace_info__`."""

    def devices(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Return the devices of this process."""
        return _Devices(super().devices())


def __array_namespace_info__() -> _StandardInfo:  # noqa: N807 (the standard names it so)
    """Return the inspection object of the array API.

    Examples
    --------
    >>> from npcompat import array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int64')
    """
    return _StandardInfo()


__all__ = ["__array_namespace_info__", "finfo"]
