"""Pixel values of images: conversion to tensors, normalization, and color adjustment."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._image_layout import (
    LUMA,
    coloured,
    on_backend_of,
    pictures,
    saturated,
    uniform,
    working,
)

# --- tensors --------------------------------------------------------------------------------------

_float32 = onp.dtype("float32")


@operator("_npx_image_to_tensor", rule=lambda types, attrs: ([None], _float32), pattern="injective")
def _to_tensor(xp: Any, x: Any) -> Any:
    """Move channels first, and divide by 255."""
    return xp.astype(xp.moveaxis(x, -1, -3), _float32) / 255


def to_tensor(data: ArrayLike) -> ndarray:
    """Convert images of values 0 to 255 to float32 of 0 to 1, with channels first.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.

    Returns
    -------
    ndarray of float32, shape (C, H, W) or (N, C, H, W)

    Examples
    --------
    >>> npx.image.to_tensor(np.full((4, 2, 3), 255, dtype="uint8")).shape
    (3, 4, 2)
    """
    return apply(_to_tensor, (pictures(data, "to_tensor"),))


@operator("_npx_image_normalize", rule=dtypes.promote)
def _normalize(xp: Any, x: Any, *, mean: tuple[float, ...], std: tuple[float, ...]) -> Any:
    """Standardize each channel: (x - mean) / std."""
    shape = (-1, 1, 1)
    return (x - xp.reshape(xp.asarray(mean, x.dtype), shape)) / xp.reshape(
        xp.asarray(std, x.dtype), shape
    )


def channel_values(value: ArrayLike) -> tuple[float, ...]:
    """Return one number, or one for each channel, as a tuple of Python floats."""
    numbers: Any = handles.to_host(value) if isinstance(value, Handle) else value
    return tuple(map(float, onp.ravel(numbers)))


def _per_channel(value: ArrayLike, channels: int, name: str) -> tuple[float, ...]:
    found = channel_values(value)
    if len(found) not in (1, channels):
        raise ValueError(
            f"normalize: expected one {name}, or one for each of {channels} channels, got "
            f"{len(found)}"
        )
    return found


def normalize(
    data: ArrayLike, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0
) -> ndarray:
    """Standardize the channels of float images: (x - mean) / std.

    Parameters
    ----------
    data : array_like of float, shape (C, H, W) or (N, C, H, W)
        Images, as returned by `to_tensor`.
    mean, std : float or sequence of float
        One value for all channels, or one for each.

    Examples
    --------
    >>> npx.image.normalize(np.ones((2, 1, 1)), mean=(0.0, 1.0), std=2).ravel()
    array([0.5, 0. ])
    """
    data = np.asarray(data)
    if data.ndim not in (3, 4):
        raise ValueError(
            f"normalize: expected pictures (C, H, W) or (N, C, H, W), got shape {data.shape}"
        )
    if not dtypes.is_float(onp.dtype(data.dtype)):
        raise TypeError(
            f"normalize: expected float pictures, as to_tensor makes them, got dtype {data.dtype}"
        )
    deviations = _per_channel(std, data.shape[-3], "std")
    if 0 in deviations:
        raise ValueError(f"normalize: std must not be 0, got {std}")
    return apply(_normalize, (data,), (_per_channel(mean, data.shape[-3], "mean"), deviations))


# --- colours --------------------------------------------------------------------------------------


def _recoloured(xp: Any, x: Any, matrix: Any, offset: Any) -> Any:
    """Multiply each pixel, as a row, by a matrix (..., C, C), and add an offset (..., C).

    Integers are rounded and clipped to their range.
    """
    dtype = onp.dtype(x.dtype)
    colours = xp.matmul(xp.astype(x, working(dtype)), xp.expand_dims(matrix, -3))
    return saturated(xp, colours + xp.expand_dims(offset, (-2, -3)), dtype)


def _kept(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    return [dtype, working(dtype), working(dtype)], dtype


@operator("_npx_image_recolor", rule=_kept)
def _recolor(xp: Any, x: Any, matrix: Any, offset: Any) -> Any:
    """Color transform: each pixel times a matrix, plus an offset.

    Parameters
    ----------
    matrix : array
        Matrix that colors, as rows, are multiplied by.
    offset : array
        Added to the product.
    """
    return _recoloured(xp, x, matrix, offset)


def recolored(data: Any, matrix: Any, offset: Any = None) -> ndarray:
    """Multiply the colors of images, as rows, by a matrix (..., C, C); add an offset (..., C)."""
    return apply(
        _recolor, (data, matrix, onp.zeros(data.shape[-1], "float32") if offset is None else offset)
    )


_GREY = onp.tile(onp.array(LUMA)[:, None], (1, 3))
_TO_YIQ = onp.array([LUMA, (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112)])
_FROM_YIQ = onp.linalg.inv(_TO_YIQ)
_STAYS, _COSINE, _SINE = (
    (_FROM_YIQ @ onp.array(part) @ _TO_YIQ).T
    for part in (
        [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 0, 0], [0, 0, -1], [0, 1, 0]],
    )
)
BRIGHTNESS, CONTRAST, SATURATION, HUE = range(4)


def _matrix(xp: Any, kind: int, factor: Any, channels: int) -> Any:
    """Return the color matrix of one kind of adjustment, for factors of any shape."""
    factor = xp.expand_dims(factor, (-1, -2))

    def known(values: Any) -> Any:
        return xp.asarray(values, factor.dtype)

    same = known(onp.eye(channels))
    if kind in (BRIGHTNESS, CONTRAST):
        return factor * same
    if channels == 1:
        return same + 0 * factor
    if kind == SATURATION:
        return factor * same + (1 - factor) * known(_GREY)
    angle = 2 * math.pi * factor
    return known(_STAYS) + xp.cos(angle) * known(_COSINE) + xp.sin(angle) * known(_SINE)


def _ordered(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    return [dtype, working(dtype), onp.dtype("int64")], dtype


@operator("_npx_image_adjust", rule=_ordered)
def _adjust(xp: Any, x: Any, factors: Any, order: Any, *, kinds: tuple[int, ...]) -> Any:
    """Color adjustments by factors (..., kinds), in a given order (..., kinds).

    Parameters
    ----------
    factors : array
        Factors, for each image and kind.
    order : array of int
        Order in which the kinds are applied.
    kinds : tuple of int
        Kinds of adjustments.
    """
    channels = x.shape[-1]
    matrices = xp.stack(
        [_matrix(xp, kind, factors[..., i], channels) for i, kind in enumerate(kinds)], axis=-3
    )
    luma = xp.asarray(LUMA if channels == 3 else (1.0,), factors.dtype)
    for step in range(len(kinds)):
        now = order[..., step, None]
        matrix = xp.take_along(matrices, xp.expand_dims(now, (-1, -2)), -3)[..., 0, :, :]
        offset = xp.zeros(channels, factors.dtype)
        if CONTRAST in kinds:
            mean = xp.mean(xp.matmul(xp.astype(x, factors.dtype), luma), axis=(-1, -2))
            factor = factors[..., kinds.index(CONTRAST)]
            offset = xp.expand_dims(
                xp.where(now[..., 0] == kinds.index(CONTRAST), (1 - factor) * mean, 0), -1
            )
        x = _recoloured(xp, x, matrix, offset)
    return x


def adjusted(data: Any, kind: int, factor: Any) -> ndarray:
    """Adjust colors by one kind of adjustment, with a factor for each image; 1 is the identity."""
    with on_backend_of(data):
        return apply(
            _adjust,
            (data, np.expand_dims(factor, -1), onp.zeros((*data.shape[:-3], 1), "int64")),
            ((kind,),),
        )


def _jittered(data: ArrayLike, kind: int, low: float, high: float, what: str) -> Any:
    data = coloured(data, what)
    if not 0 <= low <= high:
        raise ValueError(f"{what}: expected 0 <= min_factor <= max_factor, got {low} and {high}")
    return adjusted(data, kind, uniform(data, float(low), float(high)))


def random_brightness(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Random brightness: multiplies each image by a random factor.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images of 1 or 3 channels; the result has their dtype, and integers are rounded and clipped
        to their range.
    min_factor, max_factor : float
        Range of the factor.

    Examples
    --------
    >>> npx.image.random_brightness(np.full((1, 1, 1), 200, dtype="uint8"), 2, 2).ravel()
    array([255], dtype=uint8)
    """
    return _jittered(data, BRIGHTNESS, min_factor, max_factor, "random_brightness")


def random_contrast(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Random contrast: scales the difference from the mean luma by a random factor.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        As for `random_brightness`.
    min_factor, max_factor : float
        Range of the factor; 0 makes all pixels gray.

    Examples
    --------
    >>> npx.image.random_contrast(np.array([[[0.0], [2.0]]]), 2, 2).ravel()
    array([-1.,  3.])
    """
    return _jittered(data, CONTRAST, min_factor, max_factor, "random_contrast")


def random_saturation(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Random saturation: scales the difference of pixels from their luma by a random factor.

    The luma is that of ITU-R BT.601.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        As for `random_brightness`; images of 1 channel stay as they are.
    min_factor, max_factor : float
        Range of the factor; 0 converts images to grayscale.

    Examples
    --------
    >>> npx.image.random_saturation(np.array([[[255, 0, 0]]], dtype="uint8"), 0, 0).ravel()
    array([76, 76, 76], dtype=uint8)
    """
    return _jittered(data, SATURATION, min_factor, max_factor, "random_saturation")


def random_hue(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Random hue: rotates colors about the gray axis of YIQ (NTSC) by a random share of a turn.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        As for `random_brightness`; images of 1 channel stay as they are.
    min_factor, max_factor : float
        Range of the share; 0 and 1 are the identity.

    Examples
    --------
    >>> npx.image.random_hue(np.array([[[90, 60, 30]]], dtype="uint8"), 1, 1).ravel()
    array([90, 60, 30], dtype=uint8)
    """
    return _jittered(data, HUE, min_factor, max_factor, "random_hue")


def random_color_jitter(
    data: ArrayLike,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
) -> ndarray:
    """Color jitter: random brightness, contrast, saturation and hue, in random order.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        As for `random_brightness`.
    brightness, contrast, saturation, hue : float
        Amounts: the factors lie between `max(0, 1 - x)` and `1 + x`.

    Examples
    --------
    >>> x = np.full((2, 2, 3), 100, dtype="uint8")
    >>> npx.image.random_color_jitter(x, brightness=0.1, hue=0.2).dtype
    dtype('uint8')
    """
    data = coloured(data, "random_color_jitter")
    asked = {BRIGHTNESS: brightness, CONTRAST: contrast, SATURATION: saturation, HUE: hue}
    if min(asked.values()) < 0:
        raise ValueError(
            "random_color_jitter: expected numbers that are not negative, got "
            f"{list(asked.values())}"
        )
    kinds = [kind for kind, amount in asked.items() if amount]
    if not kinds:
        return data.copy()
    low = onp.array([max(0.0, 1 - asked[k]) for k in kinds], "float32")
    high = onp.array([1.0 + asked[k] for k in kinds], "float32")
    drawn = uniform(data, 0.0, 1.0, (2, len(kinds)))
    with on_backend_of(data):
        factors = low + (high - low) * drawn[..., 0, :]
        return apply(_adjust, (data, factors, np.argsort(drawn[..., 1, :], -1)), (tuple(kinds),))


# --- lighting -------------------------------------------------------------------------------------

EIGENVALUES = (55.46, 4.794, 1.148)
EIGENVECTORS = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))
"""Principal components of the colors of ImageNet, of values 0 to 255."""
_COMPONENTS = (onp.array(EIGENVECTORS) * onp.array(EIGENVALUES)).T.astype("float32")


def lit(data: Any, alpha: Any) -> ndarray:
    """Add multiples (..., 3) of the principal components of ImageNet's colors to images."""
    if data.shape[-1] == 1:
        return data.copy()
    with on_backend_of(data):
        return recolored(data, onp.eye(3, dtype="float32"), np.matmul(alpha, _COMPONENTS))


def adjust_lighting(data: ArrayLike, alpha: ArrayLike) -> ndarray:
    """Lighting adjustment: adds principal components of ImageNet's colors.

    Krizhevsky et al., 2012.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images of values 0 to 255; those of 1 channel stay as they are.
    alpha : array_like, shape (3,) or (N, 3)
        Coefficients of the components.

    Examples
    --------
    >>> npx.image.adjust_lighting(np.full((1, 1, 3), 100, dtype="uint8"), (0.1, 0, 0)).ravel()
    array([97, 97, 97], dtype=uint8)
    """
    data = coloured(data, "adjust_lighting")
    alpha = np.asarray(alpha, dtype=None if hasattr(alpha, "dtype") else "float32")
    if alpha.shape not in ((3,), (*data.shape[:-3], 3)):
        raise ValueError(
            "adjust_lighting: expected alpha of shape (3,), or 3 numbers for each picture, got "
            f"shape {alpha.shape}"
        )
    return lit(data, alpha)


def random_lighting(data: ArrayLike, alpha_std: float = 0.05) -> ndarray:
    """Random lighting: PCA color augmentation, with random coefficients for each image.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images of values 0 to 255.
    alpha_std : float
        Standard deviation of the coefficients.

    Examples
    --------
    >>> npx.image.random_lighting(np.full((1, 1, 3), 100, dtype="uint8"), 0).ravel()
    array([100, 100, 100], dtype=uint8)
    """
    data = coloured(data, "random_lighting")
    if alpha_std < 0:
        raise ValueError(f"random_lighting: alpha_std must not be negative, got {alpha_std}")
    with on_backend_of(data):
        return lit(data, np.random.normal(0.0, float(alpha_std), (*data.shape[:-3], 3)))


def greyed(data: Any, p: float, shares: Sequence[float] = LUMA) -> ndarray:
    """Convert images of 3 channels to grayscale with a probability, by weights of the channels."""
    chosen = uniform(data, 0.0, 1.0, (1, 1)) < p
    with on_backend_of(data):
        grey = onp.tile(onp.array(shares, "float32")[:, None], (1, 3))
        return recolored(data, np.where(chosen, grey, onp.eye(3, dtype="float32")))


__all__ = [
    "adjust_lighting",
    "normalize",
    "random_brightness",
    "random_color_jitter",
    "random_contrast",
    "random_hue",
    "random_lighting",
    "random_saturation",
    "to_tensor",
]
