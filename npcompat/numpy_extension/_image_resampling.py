"""Image resizing: one operator, which crops a window of each image and resizes it.

A pixel of the result is a weighted mean of the pixels around its position in the window. When an
image shrinks, the filter is widened accordingly, so that no pixel is skipped. This is Pillow's
definition (Pillow handbook, "Concepts: Filters"); on the host Pillow itself resizes 8-bit images.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as onp

from npcompat._internal.backend import pillow
from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy import random
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension._image_layout import on_backend_of, saturated, working

NEAREST, BILINEAR, BICUBIC, AREA, LANCZOS, AUTOMATIC, RANDOM = 0, 1, 2, 3, 4, 9, 10


# --- weights --------------------------------------------------------------------------------------


def _triangle(xp: Any, t: Any) -> Any:
    return xp.maximum(1 - xp.abs(t), 0.0)


def _cubic(xp: Any, t: Any) -> Any:
    """Cubic convolution kernel with a = -1/2 (Keys, 1981)."""
    t = xp.abs(t)
    near, far = (1.5 * t - 2.5) * t * t + 1, ((-0.5 * t + 2.5) * t - 4) * t + 2
    return xp.where(t < 1, near, xp.where(t < 2, far, 0.0))


def _box(xp: Any, t: Any) -> Any:
    return xp.where((t > -0.5) & (t <= 0.5), 1.0, 0.0)


def _lanczos(xp: Any, t: Any) -> Any:
    """Lanczos kernel with three lobes."""
    # Replacing values near 0 avoids 0 / 0; the kernel is 1 there to within rounding.
    angle = math.pi * xp.where(xp.abs(t) < 1e-6, 1e-6, t)
    return xp.where(xp.abs(t) < 3, 3 * xp.sin(angle) * xp.sin(angle / 3) / (angle * angle), 0.0)


_FILTERS: tuple[Callable[[Any, Any], Any], ...] = (_box, _triangle, _cubic, _box, _lanczos)


def _weights(xp: Any, start: Any, length: Any, size: int, result: int, interp: int) -> Any:
    """Return a matrix (..., result, size) of the weights of input pixels in output pixels."""
    start, length = xp.expand_dims(start, (-1, -2)), xp.expand_dims(length, (-1, -2))
    pixels, results = xp.arange(size), xp.arange(result)[:, None]
    if interp == NEAREST:
        return xp.astype(pixels == start + (2 * results + 1) * length // (2 * result), onp.float64)
    inside = (pixels >= start) & (pixels < start + length)
    scale = xp.astype(length, onp.float64) / result
    centres = (xp.astype(results, onp.float64) + 0.5) * scale
    weights = _FILTERS[interp](
        xp,
        (xp.astype(pixels - start, onp.float64) - centres + 0.5) * (1.0 / xp.maximum(scale, 1.0)),
    )
    weights = xp.where(inside, weights, 0.0)
    return weights * (1.0 / xp.sum(weights, axis=-1, keepdims=True))


def _in_fixed_point(xp: Any, weights: Any) -> Any:
    return xp.sign(weights) * xp.floor(xp.abs(weights) * 2**22 + 0.5) / 2**22


# --- the operator ---------------------------------------------------------------------------------


def _kept(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    return [dtype, onp.dtype("int64")], dtype


def _resample_on_host(xp: Any, x: Any, window: Any, *, width: int, height: int, interp: int) -> Any:
    """Resample on the host, 8-bit images by Pillow."""
    if x.dtype != onp.uint8 or interp == NEAREST or 0 in x.shape:
        return _resample_compute(xp, x, window, width=width, height=height, interp=interp)
    out = onp.empty((*x.shape[:-3], height, width, x.shape[-1]), onp.uint8)
    for index in onp.ndindex(x.shape[:-3]):
        left, top, across, down = window[index]
        out[index] = pillow.resized(
            x[index][top : top + down, left : left + across], width, height, interp
        )
    return out


def _resample_compute(xp: Any, x: Any, window: Any, *, width: int, height: int, interp: int) -> Any:
    """Crop a window (left, top, width, height) of each image, and resize it.

    Parameters
    ----------
    window : array
        Left, top, width and height of each window.
    width : int
        Width of the result.
    height : int
        Height of the result.
    interp : int
        0 nearest, 1 bilinear, 2 area, 3 bicubic, 4 Lanczos.
    """
    dtype = onp.dtype(x.dtype)
    across = _weights(xp, window[..., 0], window[..., 2], x.shape[-2], width, interp)
    down = _weights(xp, window[..., 1], window[..., 3], x.shape[-3], height, interp)
    if (
        dtype == onp.uint8
    ):  # Pillow's fixed-point weights have 22 fractional bits; float64 sums of them are equal
        across, down = _in_fixed_point(xp, across), _in_fixed_point(xp, down)
        within = onp.dtype("float64")
    else:
        within = working(dtype)
        across, down = xp.astype(across, within), xp.astype(down, within)
    rows = xp.matmul(xp.expand_dims(across, -3), xp.astype(x, within))
    if not dtypes.is_float(dtype):
        rows = xp.astype(saturated(xp, rows, dtype), within)
    lead, channels = x.shape[:-3], x.shape[-1]
    whole = xp.matmul(down, xp.reshape(rows, (*lead, x.shape[-3], width * channels)))
    return saturated(xp, xp.reshape(whole, (*lead, height, width, channels)), dtype)


_resample = operator("_npx_image_resample", rule=_kept, kernels={"numpy": _resample_on_host})(
    _resample_compute
)


# --- its callers ----------------------------------------------------------------------------------


def interpolation(interp: int, old: tuple[int, int], new: tuple[int, int]) -> int:
    """Return the interpolation of a code: 9 chooses by the sizes (width, height), 10 at random."""
    if interp == AUTOMATIC:
        if new[0] > old[0] and new[1] > old[1]:
            return BICUBIC
        return AREA if new[0] < old[0] and new[1] < old[1] else BILINEAR
    if interp == RANDOM:
        return int(random.randint(0, 5))
    if interp not in range(5):
        raise ValueError(
            "interp must be 0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area), 4 (Lanczos), "
            f"9 (by the sizes) or 10 (one of 0 to 4 at random), got {interp!r}"
        )
    return int(interp)


def resampled(data: Any, window: Any, size: tuple[int, int], interp: int) -> ndarray:
    """Crop windows (left, top, width, height), and resize them to (width, height).

    `interp` is 0 to 4.
    """
    with on_backend_of(data):
        return apply(_resample, (data, window), (*size, interp))


def full_window(data: Any) -> onp.ndarray[Any, Any]:
    """Return the window that covers each image."""
    height, width = data.shape[-3:-1]
    return onp.broadcast_to(onp.array([0, 0, width, height]), (*data.shape[:-3], 4))


def resized(data: Any, width: int, height: int, interp: int, what: str) -> ndarray:
    """Resize images."""
    old = data.shape[-2], data.shape[-3]
    if width < 1 or height < 1:
        raise ValueError(f"{what}: expected a positive width and height, got {width} and {height}")
    if 0 in old:
        raise ValueError(f"{what}: a picture of {old[0]} x {old[1]} pixels can't be resized")
    return resampled(
        data,
        full_window(data),
        (int(width), int(height)),
        interpolation(interp, old, (width, height)),
    )


def pair(size: Any, what: str) -> tuple[int, int]:
    """Return a size as (width, height), from a number or a pair."""
    found = (size, size) if isinstance(size, int | onp.integer) else tuple(size)
    if len(found) != 2 or any(int(n) != n or n < 1 for n in found):
        raise ValueError(f"{what}: expected a positive number or (width, height), got {size!r}")
    return int(found[0]), int(found[1])


def by_short_edge(data: Any, size: Any, what: str) -> tuple[int, int]:
    """Return the (width, height) of images resized to a shorter edge, at the same aspect ratio."""
    size, _ = pair(size, what)
    height, width = data.shape[-3:-1]
    return (
        (size, max(1, height * size // width))
        if height > width
        else (max(1, width * size // max(height, 1)), size)
    )


__all__ = ["by_short_edge", "full_window", "interpolation", "pair", "resampled", "resized"]
