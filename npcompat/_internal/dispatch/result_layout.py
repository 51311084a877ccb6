"""Memory layout of the results of traced operators: that which they have on the host.

XLA gives results in C order. On the host they lie as NumPy's, often in the order of their operands,
and that decides whether a reshape is a view of them. So an operator whose results may lie in another
order runs on the host on small stand-ins of its operands, and its results show the order of the
axes.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.calls import on_host_outside_trace
from npcompat._internal.dispatch.memory_layout import in_c_order, lay_out
from npcompat._internal.dispatch.placement import SCALARS
from npcompat._internal.dispatch.traced_number import TracedNumber

_LONGEST = 6
"""Length of the axes of stand-ins, at most; `diff` leaves an axis with less, which tells no order."""


def lay_out_as_on_host(
    op: Op, args: Sequence[Any], values: Sequence[Value], attrs: Attrs, results: Sequence[Any]
) -> None:
    """Lay out the results of an operator as they lie on the host, within a trace.

    None stands for a result that was written into an array of the caller's.
    """
    if modes.current().trace is None or op.in_c_order or op.only_on_xla:
        return
    if any([isinstance(v.payload, language.Unknown) for v in values]):
        return  # selected by a mask: there is no memory yet
    if op.order is None and all([not isinstance(a, Handle) or in_c_order(a) for a in args]):
        return
    if not all([r is None or _has_known_shape(r) for r in results]):
        return
    kinds = tuple([_kind(a, v.payload) for a, v in zip(args, values, strict=True)])
    for result, axes in zip(results, _orders_on_host(op, attrs, kinds), strict=False):
        if result is not None and len(axes) == result.ndim and list(axes) != sorted(axes):
            lay_out(result, empty_in(axes, result.shape, result.dtype))


def _has_known_shape(result: Any) -> bool:
    return isinstance(result, Handle) and all([type(n) is int for n in result.shape])


_Kind = tuple[tuple[int, ...], Any, tuple[int, ...], tuple[int, ...]]
"""Shape of a stand-in, its dtype, its axes as they lie in memory, and those that are repeated."""


def _kind(a: Any, payload: Any) -> _Kind | type:
    if type(payload) in SCALARS:
        return type(payload)
    shape = tuple([min(n, _LONGEST) if type(n) is int else _LONGEST for n in payload.shape])
    if not isinstance(a, Handle) or len(shape) < 2 or in_c_order(a) or not _is_known(a):
        return shape, payload.dtype, tuple(range(len(shape))), ()
    layout = handles.layout(a)
    repeated = [
        i for i, (n, s) in enumerate(zip(shape, layout.strides, strict=True)) if n > 1 and s == 0
    ]
    return shape, payload.dtype, tuple(axes_as_in_memory(layout)), tuple(repeated)


def _is_known(handle: Handle) -> bool:
    """Return True if no view of the chain begins where a number says that is not known yet."""
    while (seen := handle._view) is not None:
        if any([isinstance(start, TracedNumber) for start in seen.lens.operands]):
            return False
        handle = seen.parent
    return True


@lru_cache(4096)
def _orders_on_host(
    op: Op, attrs: Attrs, kinds: tuple[_Kind | type, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return the orders of the axes of an operator's results; empty if stand-ins don't fit it."""
    try:
        made = on_host_outside_trace(
            op, [*map(_stand_in, kinds)], attrs, modes.current().numpy_dtypes
        )
    except (ValueError, IndexError):  # the attributes are for the lengths of the operands
        return ()
    return tuple(
        [tuple(axes_as_in_memory(m)) for m in (made if type(made) in (tuple, list) else (made,))]
    )


def _stand_in(kind: _Kind | type) -> Any:
    if isinstance(kind, type):
        return kind(1)
    shape, dtype, axes, repeated = kind
    made = empty_in(axes, [1 if i in repeated else n for i, n in enumerate(shape)], dtype)
    made[...] = 1
    return onp.broadcast_to(made, shape)


def empty_in(axes: Sequence[int], shape: Sequence[int], dtype: Any) -> onp.ndarray[Any, Any]:
    """Return an array whose axes lie in memory in an order, the slowest first."""
    made = onp.empty([shape[i] for i in axes], dtype)
    return made.transpose([axes.index(i) for i in range(len(axes))])


def axes_in_memory(handle: Handle) -> tuple[int, ...]:
    """Return the axes of an array as they lie in memory, the slowest first; empty for C order."""
    if len(handle.shape) < 2 or in_c_order(handle) or not _is_known(handle):
        return ()
    axes = axes_as_in_memory(handles.layout(handle))
    return tuple(axes) if axes != sorted(axes) else ()


def axes_as_in_memory(layout: onp.ndarray[Any, Any]) -> list[int]:
    """Return the axes in the order in which NumPy walks memory, the slowest first.

    They are sorted by strides, from the last axis on; an axis of stride 0 is compared with none.
    """
    fastest_first: list[int] = []
    for axis in range(layout.ndim - 1, -1, -1):
        place = len(fastest_first)
        for i in range(len(fastest_first) - 1, -1, -1):
            faster, stride = abs(layout.strides[fastest_first[i]]), abs(layout.strides[axis])
            if faster and stride:
                if faster <= stride:
                    break
                place = i
        fastest_first.insert(place, axis)
    return fastest_first[::-1]


__all__ = ["axes_as_in_memory", "axes_in_memory", "empty_in", "lay_out_as_on_host"]
