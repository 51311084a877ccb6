"""Network operators on XLA: convolution, pooling, dropout masks."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jax.random import random_bits as noise
from npcompat._internal.backend.jax.random.threefry import wrapped
from npcompat._internal.core.dtypes import lowest
from npcompat._internal.support.kernel_table import register_kernel, register_kernels

sigmoid, rsqrt = jax.nn.sigmoid, lax.rsqrt
register_kernels(
    "jax",
    sigmoid=sigmoid,
    rsqrt=rsqrt,
)


@register_kernel("relu", backend="jax")
def relu(x: Any) -> Any:
    """Rectified linear unit; its derivative at zero is zero."""
    return x if x.dtype == onp.bool_ else jax.nn.relu(x)


@register_kernel("conv_nd", backend="jax")
def conv_nd(
    x: Any,
    weight: Any,
    stride: Sequence[int],
    pad: Sequence[int],
    dilate: Sequence[int],
    groups: int,
    layout: str,
) -> Any:
    """Convolution (cross-correlation) of a batch with filters.

    The filters' layout is the data's with O for N and I for C.
    """
    filters = layout.replace("C", "I").replace("N", "O")
    return lax.conv_general_dilated(
        x,
        weight,
        window_strides=stride,
        padding=[(p, p) for p in pad],
        rhs_dilation=dilate,
        dimension_numbers=(layout, filters, layout),
        feature_group_count=groups,
    )


@register_kernel("pool_nd", backend="jax")
def pool_nd(
    x: Any, kind: str, window: Sequence[int], stride: Sequence[int], pad: Sequence[tuple[int, int]]
) -> Any:
    """Maximum (`max`) or sum (`sum`) of each window.

    Arguments have one entry for each axis of `x`. The windows are computed axis by axis, from
    strided parts. XLA's own windows take twice to five times as long on the CPU, most of all the
    derivative of the maximum.
    """
    neutral = onp.zeros((), x.dtype) if kind == "sum" else lowest(x.dtype)
    if any(p != (0, 0) for p in pad):
        x = lax.pad(x, neutral, [(*p, 0) for p in pad])
    for axis in reversed(range(x.ndim)):
        size, step = window[axis], stride[axis]
        if size > _MOST_PARTS:
            along, steps = [[n if i == axis else 1 for i in range(x.ndim)] for n in (size, step)]
            x = lax.reduce_window(
                x, neutral, lax.add if kind == "sum" else lax.max, along, steps, "VALID"
            )
        elif size > 1 or step > 1:
            last = (x.shape[axis] - size) // step * step
            parts = [lax.slice_in_dim(x, i, i + last + 1, step, axis) for i in range(size)]
            larger = _larger if jnp.issubdtype(x.dtype, jnp.inexact) else lax.max
            x = functools.reduce(lax.add if kind == "sum" else larger, parts)
    return x


_MOST_PARTS = 16
"""Longest window whose strided parts are combined one by one."""


@jax.custom_jvp
def _larger(x: Any, y: Any) -> Any:
    """Larger of each two elements; nan if one of them is.

    The first of two equal elements has the whole derivative.
    """
    return lax.max(x, y)


@_larger.defjvp
def _tangent_of_larger(operands: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    x, y = operands
    return _larger(x, y), lax.select((x >= y) | (x != x), *tangents)


@register_kernel("take_along", backend="jax")
def take_along(x: Any, positions: Any, axis: int) -> Any:
    """Compute `take_along_axis` for positions that are in range."""
    return jnp.take_along_axis(x, positions, axis, mode="promise_in_bounds")


@register_kernel("take_one", backend="jax")
@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def take_one(x: Any, positions: Any, axis: int) -> Any:
    """Compute `take_along` for one position along the axis.

    Its derivative compares positions, which XLA fuses; it does not fuse a scatter.
    """
    return take_along(x, positions, axis)


@take_one.defjvp
def _tangent_of_one(
    axis: int, operands: tuple[Any, Any], tangents: tuple[Any, Any]
) -> tuple[Any, Any]:
    x, positions = operands
    there = lax.broadcasted_iota(positions.dtype, x.shape, axis) == positions
    return take_one(x, positions, axis), jnp.sum(
        jnp.where(there, tangents[0], 0), axis, keepdims=True, dtype=x.dtype
    )


@register_kernel("top_positions", backend="jax")
def top_positions(x: Any, k: int, ascending: bool) -> Any:
    """Positions of the k largest (smallest) elements along the last axis, in order.

    Equal elements keep their order.
    """
    if ascending or x.dtype == onp.bool_:
        return jnp.argsort(x, axis=-1, stable=True, descending=not ascending)[..., :k]
    return lax.top_k(x, k)[1]


@register_kernel("keep_mask", backend="jax")
def keep_mask(key: Any, counter: Any, keep: float, shape: Sequence[int]) -> Any:
    """Dropout mask: True with probability `keep`, from draw `counter` of the stream `key`."""
    at = jax.random.fold_in(wrapped(key), counter.astype(jnp.uint32))
    threshold = min(round(keep * 2**32), 2**32 - 1)
    return noise.bits(at, tuple(shape), jnp.uint32) < jnp.asarray(threshold, jnp.uint32)
