"""Transposed convolution on the host."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.support.kernel_table import register_kernel

Array = onp.ndarray[Any, Any]


@register_kernel("conv_transpose_nd", backend="numpy")
def conv_transpose_nd(
    x: Array,
    weight: Array,
    stride: Sequence[int],
    pad: Sequence[tuple[int, int]],
    dilate: Sequence[int],
    groups: int,
    layout: str,
) -> Array:
    """Transposed convolution: the adjoint of `conv_nd` in its data.

    Each element adds its multiple of the filters to its window of the result. `pad` says how many
    elements are cut off (negative: added) at both ends of each spatial axis.
    """
    channel = layout.index("C")
    x, weight = onp.moveaxis(x, channel, 1), onp.moveaxis(weight, channel, 1)
    kernel, sizes = weight.shape[2:], x.shape[2:]
    inputs, filters = x.shape[1] // groups, weight.shape[1]
    spread = [s * (n - 1) + 1 for n, s in zip(sizes, stride, strict=True)]
    whole = [n + (k - 1) * d for n, k, d in zip(spread, kernel, dilate, strict=True)]
    y = onp.zeros(
        (
            x.shape[0],
            groups * filters,
            *[n + max(0, -high) for n, (_, high) in zip(whole, pad, strict=True)],
        ),
        x.dtype,
    )
    for g, at in itertools.product(range(groups), itertools.product(*map(range, kernel))):
        own = slice(g * inputs, (g + 1) * inputs)
        place: tuple[Any, ...] = (own, slice(None), *at)
        part = onp.moveaxis(onp.tensordot(x[:, own], weight[place], (1, 0)), -1, 1)
        window = [
            slice(k * d, k * d + n, s)
            for k, d, n, s in zip(at, dilate, spread, stride, strict=True)
        ]
        y[(slice(None), slice(g * filters, (g + 1) * filters), *window)] += part
    kept = [
        slice(low, n - high if high > 0 else None)
        for n, (low, high) in zip(whole, pad, strict=True)
    ]
    return onp.moveaxis(y[(slice(None), slice(None), *kept)], 1, channel)
