"""Memory order of new arrays: the argument `order=`, and the order of copies."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles, late_bound
from npcompat._internal.dispatch.memory_layout import in_c_order, lay_out
from npcompat.numpy._typing import Order


def check_order(order: str | None) -> Order:
    """Check an argument `order`; None means 'K'."""
    if order is None:
        return "K"
    if order in ("C", "K"):
        return cast(Order, order)
    if order not in ("K", "A", "C", "F", "k", "a", "c", "f"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return cast(Order, order.upper())


def check_c_or_f(order: str | None) -> Order:
    """Check the order of an array without a prototype; None means 'C'."""
    checked = check_order("C" if order is None else order)
    if checked not in ("C", "F"):
        raise ValueError(f"only 'C' or 'F' order is permitted (got {order!r})")
    return checked


def letter(order: str | None, handle: Handle) -> Literal["C", "F"]:
    """Resolve an order to 'C' or 'F' for this array; None means 'C'."""
    checked = check_order("C" if order is None else order)
    if checked == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if checked == "A":
        return "F" if handles.layout(handle).flags.fnc else "C"
    return checked


def has_order(handle: Handle, order: Order) -> bool:
    """Return True if an array lies in an order; 'K' and 'A' accept any."""
    if order not in ("C", "F") or (order == "C" and in_c_order(handle)):
        return True
    flags = handles.layout(handle).flags
    return bool(flags.c_contiguous if order == "C" else flags.f_contiguous)


def in_order(made: Any, order: Order, source: Any = None) -> Any:
    """Lay out a new array, which is not a view, in a memory order.

    For 'K' and 'A' it is that of NumPy's copy of the source. Without a source, the array is
    returned unchanged.
    """
    # Graph tracing has no memory order.
    if (
        not isinstance(made, late_bound.ndarray)
        or type(made) is late_bound.symbol
        or len(made.shape) < 2
    ):
        return made
    if order in ("C", "F"):
        if has_order(made, order):
            return made
        wanted = onp.empty(made.shape, made.dtype, order="F" if order == "F" else "C")
    elif source is None or (in_c_order(made) and isinstance(source, Handle) and in_c_order(source)):
        return made
    else:
        proto = handles.layout(source) if isinstance(source, Handle) else source
        wanted = onp.empty_like(proto, made.dtype, order=order, subok=False, shape=made.shape)
    lay_out(made, wanted)
    return made


def columns_of(found: Sequence[onp.ndarray[Any, Any]]) -> tuple[Any, ...]:
    """Return NumPy's results as arrays: columns of one array, as positions are, as its views."""
    whole = found[0].base if found else None
    if (
        type(whole) is not onp.ndarray
        or whole.shape != (*found[0].shape, len(found))
        or any([f.base is not whole for f in found])
    ):
        return tuple(map(array_like.array_of, found))
    made = array_like.array_of(whole)
    return tuple([made[..., i] for i in range(len(found))])


def common_order(operands: Any) -> Order:
    """Resolve order 'A' of a result: 'F' if all operands are in Fortran order only, else 'C'."""
    layouts = [handles.layout(a) if isinstance(a, Handle) else onp.asarray(a) for a in operands]
    return (
        "F"
        if all([a.flags.f_contiguous for a in layouts]) and any([a.flags.fnc for a in layouts])
        else "C"
    )


__all__ = [
    "check_c_or_f",
    "check_order",
    "columns_of",
    "common_order",
    "has_order",
    "in_order",
    "letter",
]
