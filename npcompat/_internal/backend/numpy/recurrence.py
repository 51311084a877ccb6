"""Recurrent networks on the host: loops over time that carry a state."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.support.kernel_table import register_kernel

Array = onp.ndarray[Any, Any]


@register_kernel("scan", backend="numpy")
def scan(
    step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any, reverse: bool = False
) -> tuple[Any, Any]:
    """Run `carry, out = step(carry, x)` over the leading axis of an array, or of a tuple of arrays.

    Returns the last carry, and the outputs in a list.
    """
    rows = list(zip(*xs, strict=True)) if isinstance(xs, tuple) else list(xs)
    outs: list[Any] = [None] * len(rows)
    for t in range(len(rows))[:: -1 if reverse else 1]:
        carry, outs[t] = step(carry, rows[t])
    return carry, outs


@register_kernel("recurrence", backend="numpy")
def recurrence(
    combine: Callable[[Any, Any], Any],
    cell: Callable[[Any, Any, Any], tuple[Any, Any]],
    reverse: bool,
    x: Array,
    h: Array,
    c: Array | None,
    weight: Array,
    bias: Array | None,
    projection: Array | None,
) -> tuple[Array, Array | None, Array, Array | None]:
    """Compute the states of a recurrent layer; see `backend/jax/kernels/recurrence.py`."""
    hs = onp.empty((len(x), *h.shape), h.dtype)
    cs = None if c is None else onp.empty((len(x), *c.shape), c.dtype)

    def step(state: Any, t: Any) -> tuple[Any, None]:
        h, c = state
        u = h @ weight.T
        h, c = cell(combine(x[t], u if bias is None else u + bias), h, c)
        if projection is not None:
            h = h @ projection.T
        hs[t] = h
        if cs is not None:
            cs[t] = c
        return (h, c), None

    (h, c), _ = scan(step, (h, c), onp.arange(len(x)), reverse)
    return hs, cs, h, c


__all__ = ["recurrence", "scan"]
