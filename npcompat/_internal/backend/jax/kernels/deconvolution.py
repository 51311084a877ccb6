"""Transposed convolution on XLA."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("conv_transpose_nd", backend="jax")
def conv_transpose_nd(
    x: Any,
    weight: Any,
    stride: Sequence[int],
    pad: Sequence[tuple[int, int]],
    dilate: Sequence[int],
    groups: int,
    layout: str,
) -> Any:
    """Transposed convolution: the adjoint of `conv_nd` in its data.

    It is a convolution of the data, spread by the strides, with the mirrored filters. `pad` says
    how many elements are cut off (negative: added) at both ends of each spatial axis.
    """
    channel = layout.index("C")
    spatial = [i for i, letter in enumerate(layout) if letter not in "NC"]
    inputs, filters = weight.shape[0] // groups, weight.shape[channel]
    mirrored = jnp.moveaxis(jnp.flip(weight, spatial), channel, 1)
    grouped = jnp.reshape(mirrored, (groups, inputs, filters, *mirrored.shape[2:]))
    forwards = jnp.reshape(
        jnp.swapaxes(grouped, 1, 2), (groups * filters, inputs, *mirrored.shape[2:])
    )
    reach = [(mirrored.shape[i + 2] - 1) * d for i, d in enumerate(dilate)]
    return lax.conv_general_dilated(
        x,
        forwards,
        window_strides=(1,) * len(spatial),
        padding=[(r - low, r - high) for r, (low, high) in zip(reach, pad, strict=True)],
        lhs_dilation=stride,
        rhs_dilation=dilate,
        dimension_numbers=(layout, "OI" + "".join(layout[i] for i in spatial), layout),
        feature_group_count=groups,
    )
