"""Powers of integers: NumPy refuses negative ones."""

from typing import Any

import numpy as onp

from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like, handles, late_bound
from npcompat.numpy._checks import refuse
from npcompat.numpy._empty_slices import is_empty
from npcompat.numpy._other_classes import overrides

_TEXT = "Integers to negative integer powers are not allowed."


@operator("_npi_any_negative", pattern="reduction", differentiable=False)
def _any_negative(xp: Any, x: Any) -> Any:
    """Return True if any element is negative."""
    return xp.any(x < 0)


def _kind(x: Any) -> str:
    """Return the kind of an operand's dtype, 'V' for an operand without dtype."""
    dtype = onp.dtype(type(x)) if type(x) in (bool, int, complex) else getattr(x, "dtype", None)
    return getattr(dtype, "kind", "V")


def refuse_negative_powers(x1: Any, x2: Any, computed_in: Any = None) -> None:
    """Raise ValueError for integers raised to negative integer powers, as NumPy does.

    In a compiled function the error is raised when a result is read.

    Parameters
    ----------
    x1, x2 : array_like
        Bases and exponents.
    computed_in : dtype, optional
        The dtype of the result, if it does not follow from the operands.
    """
    if computed_in is not None and onp.dtype(computed_in).kind not in "iub":
        return
    if not late_bound.ordinary.issuperset((type(x1), type(x2))) and (
        overrides(x1) or overrides(x2)
    ):
        return  # their class computes
    x1, x2 = [
        handles.wrap(array_like.as_value(x)) if type(x) in (list, tuple) else x for x in (x1, x2)
    ]
    if (
        type(x2) is float
        or (type(x2) is int and x2 >= 0)
        or _kind(x2) != "i"
        or _kind(x1) not in "iub"
    ):
        return
    if hasattr(x1, "shape") and is_empty(x1):
        return
    numbers = [x for x in (x1, x2) if hasattr(x, "dtype") or type(x) is int]
    if onp.result_type(*[getattr(x, "dtype", x) for x in numbers]).kind not in "iu":
        return  # uint64 with a signed integer promotes to float
    if type(x2) is int:
        raise ValueError(_TEXT)
    refuse(_any_negative, (x2,), (), ValueError, _TEXT)


__all__ = ["refuse_negative_powers"]
