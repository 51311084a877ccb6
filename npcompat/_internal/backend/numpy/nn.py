"""Network operators on the host.

Special functions that NumPy lacks are computed by XLA.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as onp
from numpy.lib.stride_tricks import sliding_window_view

from npcompat._internal.core.dtypes import lowest
from npcompat._internal.support.kernel_table import register_kernel, register_kernels

Array = onp.ndarray[Any, Any]


def _across(name: str) -> Callable[[Array], Array]:
    def on_xla(x: Array) -> Array:
        with jax.enable_x64(True):
            return onp.asarray(getattr(jax.scipy.special, name)(x))

    return on_xla


erf = _across("erf")
erfinv = _across("erfinv")
gamma = _across("gamma")
gammaln = _across("gammaln")
digamma = _across("digamma")


@register_kernel("relu", backend="numpy")
def relu(x: Array) -> Array:
    """Rectified linear unit."""
    result: Array = onp.maximum(x, x.dtype.type(0))
    return result


@register_kernel("sigmoid", backend="numpy")
def sigmoid(x: Array) -> Array:
    """Logistic function 1 / (1 + exp(-x)) without overflow."""
    small = onp.exp(-onp.abs(x))
    result: Array = onp.where(x >= 0, 1, small).astype(x.dtype) / (1 + small)
    return result


@register_kernel("rsqrt", backend="numpy")
def rsqrt(x: Array) -> Array:
    """Reciprocal square root."""
    result: Array = x.dtype.type(1) / onp.sqrt(x)
    return result


def _windows(
    x: Array, window: Sequence[int], stride: Sequence[int], dilate: Sequence[int]
) -> Array:
    """All windows of the spatial axes (from the third on): their axes come last."""
    axes = tuple(range(2, x.ndim))
    covered = tuple((w - 1) * d + 1 for w, d in zip(window, dilate, strict=True))
    everywhere = sliding_window_view(x, covered, axis=axes)
    steps = [slice(None, None, s) for s in stride] + [slice(None, None, d) for d in dilate]
    found: Array = everywhere[(slice(None), slice(None), *steps)]
    return found


@register_kernel("conv_nd", backend="numpy")
def conv_nd(
    x: Array,
    weight: Array,
    stride: Sequence[int],
    pad: Sequence[int],
    dilate: Sequence[int],
    groups: int,
    layout: str,
) -> Array:
    """Convolution (cross-correlation) of a batch with filters.

    The filters' layout is the data's with O for N and I for C.
    """
    channel = layout.index("C")
    x, weight = onp.moveaxis(x, channel, 1), onp.moveaxis(weight, channel, 1)
    x = onp.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]])
    windows = _windows(x, weight.shape[2:], stride, dilate)
    spatial = len(stride)
    per_input, per_output = x.shape[1] // groups, weight.shape[0] // groups
    summed = (1, *range(2 + spatial, 2 + 2 * spatial))
    parts = [
        onp.tensordot(
            windows[:, g * per_input : (g + 1) * per_input],
            weight[g * per_output : (g + 1) * per_output],
            (summed, tuple(range(1, 2 + spatial))),
        )
        for g in range(groups)
    ]
    return onp.moveaxis(onp.concatenate(parts, axis=-1), -1, channel)


@register_kernel("pool_nd", backend="numpy")
def pool_nd(
    x: Array,
    kind: str,
    window: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[tuple[int, int]],
) -> Array:
    """Maximum (`max`) or sum (`sum`) of each window.

    Arguments have one entry for each axis of `x`.
    """
    fill = 0 if kind == "sum" else lowest(x.dtype)
    padded = onp.pad(x, pad, constant_values=fill)
    # axes whose window has length 1 may be empty
    axes = tuple([axis for axis, length in enumerate(window) if length != 1])
    everywhere = sliding_window_view(padded, tuple([window[axis] for axis in axes]), axis=axes)
    windows = everywhere[tuple(slice(None, None, s) for s in stride)]
    inner = tuple(range(x.ndim, x.ndim + len(axes)))
    result: Array = windows.sum(inner, dtype=x.dtype) if kind == "sum" else windows.max(inner)
    return result


@register_kernel("take_along", backend="numpy")
def take_along(x: Array, positions: Array, axis: int) -> Array:
    """Compute `take_along_axis` for positions that are in range."""
    return onp.take_along_axis(x, positions, axis)


take_one = take_along
register_kernels(
    "numpy",
    erf=erf,
    erfinv=erfinv,
    gamma=gamma,
    gammaln=gammaln,
    digamma=digamma,
    take_one=take_one,
)


@register_kernel("top_positions", backend="numpy")
def top_positions(x: Array, k: int, ascending: bool) -> Array:
    """Positions of the k largest (smallest) elements along the last axis, in order.

    Equal elements keep their order.
    """
    if ascending:
        return onp.argsort(x, axis=-1, stable=True)[..., :k]
    backwards = onp.argsort(x[..., ::-1], axis=-1, stable=True)[..., ::-1]
    result: Array = (x.shape[-1] - 1 - backwards)[..., :k]
    return result
