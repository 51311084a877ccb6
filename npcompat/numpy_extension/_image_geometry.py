"""Crop, flip, resize and rotate images (H, W, C) and batches (N, H, W, C)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._image_layout import on_backend_of, pictures, uniform
from npcompat.numpy_extension._image_resampling import (
    by_short_edge,
    interpolation,
    pair,
    resampled,
    resized,
)

# --- flips and crops ------------------------------------------------------------------------------


def flip_left_right(data: ArrayLike) -> ndarray:
    """Flip images horizontally.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.

    Examples
    --------
    >>> npx.image.flip_left_right(np.arange(3).reshape(1, 3, 1)).ravel()
    array([2, 1, 0])
    """
    return np.flip(pictures(data, "flip_left_right"), -2).copy()


def flip_top_bottom(data: ArrayLike) -> ndarray:
    """Flip images vertically.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.

    Examples
    --------
    >>> npx.image.flip_top_bottom(np.arange(3).reshape(3, 1, 1)).ravel()
    array([2, 1, 0])
    """
    return np.flip(pictures(data, "flip_top_bottom"), -3).copy()


def _flipped_at_random(data: ArrayLike, p: float, axis: int, what: str) -> Any:
    data = pictures(data, what)
    if not 0 <= p <= 1:
        raise ValueError(f"{what}: p is a probability, got {p}")
    chosen = uniform(data, 0.0, 1.0, (1, 1, 1)) < p
    return np.where(chosen, np.flip(data, axis), data)


def random_flip_left_right(data: ArrayLike, p: float = 0.5) -> ndarray:
    """Random horizontal flip, drawn for each image of a batch.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.
    p : float
        Probability.

    Examples
    --------
    >>> npx.image.random_flip_left_right(np.arange(3).reshape(1, 3, 1), p=1).ravel()
    array([2, 1, 0])
    """
    return _flipped_at_random(data, p, -2, "random_flip_left_right")


def random_flip_top_bottom(data: ArrayLike, p: float = 0.5) -> ndarray:
    """Random vertical flip, drawn for each image of a batch.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.
    p : float
        Probability.

    Examples
    --------
    >>> npx.image.random_flip_top_bottom(np.arange(3).reshape(3, 1, 1), p=1).ravel()
    array([2, 1, 0])
    """
    return _flipped_at_random(data, p, -3, "random_flip_top_bottom")


def crop(data: ArrayLike, x: int, y: int, width: int, height: int) -> ndarray:
    """Crop a window of images.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images.
    x, y : int
        The left and the upper edge.
    width, height : int
        Size of the window, which must lie in the image.

    Examples
    --------
    >>> npx.image.crop(np.arange(9).reshape(3, 3, 1), 1, 0, 2, 1).ravel()
    array([1, 2])
    """
    data = pictures(data, "crop")
    across, down = data.shape[-2], data.shape[-3]
    if min(x, y) < 0 or min(width, height) < 1 or x + width > across or y + height > down:
        raise ValueError(
            f"crop: {width} x {height} pixels at ({x}, {y}) are not within a picture of {across} "
            f"x {down}"
        )
    return data[..., y : y + height, x : x + width, :].copy()


def window_at(data: Any, left: Any, top: Any, width: int, height: int) -> ndarray:
    """Crop a window of each image at the positions (left, top), arrays of the batch's shape.

    The windows must lie within the images.
    """
    rows = np.expand_dims(top, -1) + onp.arange(height)
    columns = np.expand_dims(left, -1) + onp.arange(width)
    index = (np.expand_dims(rows, -1), np.expand_dims(columns, -2))
    return data[(onp.arange(len(data))[:, None, None], *index)] if data.ndim == 4 else data[index]


def resize(
    data: ArrayLike, size: int | tuple[int, int], keep_ratio: bool = False, interp: int = 1
) -> ndarray:
    """Resize images.

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images; the result has their dtype, integers are rounded.
    size : int or (int, int)
        Width and height.  One number means both or, with `keep_ratio`, the shorter edge.
    keep_ratio : bool
        Whether one number is the length of the shorter edge.
    interp : {0, 1, 2, 3, 4, 9, 10}
        0: the nearest pixel; 1: bilinear; 2: bicubic (Keys, a = -1/2); 3: mean of the area; 4:
        Lanczos (3 lobes); 9: bicubic to enlarge, area to shrink, else bilinear; 10: one of 0 to 4
        at random, not in compiled functions. When shrinking, 1, 2 and 4 are antialiased, as in
        Pillow. On the host Pillow resizes 8-bit images; other arrays and compiled functions compute
        the same weights.

    Examples
    --------
    >>> npx.image.resize(np.array([[[0.0], [4.0]]]), (4, 1)).ravel()
    array([0., 1., 3., 4.])
    >>> npx.image.resize(np.zeros((20, 40, 3), dtype="uint8"), 10, keep_ratio=True, interp=3).shape
    (10, 20, 3)
    """
    data = pictures(data, "resize")
    by_edge = keep_ratio and isinstance(size, int | onp.integer)
    width, height = by_short_edge(data, size, "resize") if by_edge else pair(size, "resize")
    return resized(data, width, height, interp, "resize")


def random_windows(
    data: Any, area: tuple[float, float], ratio: tuple[float, float], trials: int
) -> ndarray:
    """Draw a random window (left, top, width, height) for each image.

    Its share of the area is uniform, its aspect ratio log-uniform (Szegedy et al., 2015). The first
    of several trials that fits into the image is used; if none does, the largest central window of
    an admitted aspect ratio.
    """
    height, width = data.shape[-3:-1]
    drawn = uniform(data, 0.0, 1.0, (trials, 4))
    with on_backend_of(data):
        pixels = (area[0] + (area[1] - area[0]) * drawn[..., 0]) * (height * width)
        low, high = math.log(ratio[0]), math.log(ratio[1])
        shape = np.exp(low + (high - low) * drawn[..., 1])
        across, down = np.rint(np.sqrt(pixels * shape)), np.rint(np.sqrt(pixels / shape))
        fits = (across >= 1) & (down >= 1) & (across <= width) & (down <= height)
        found = [
            np.floor(drawn[..., 2] * (width - across + 1)),
            np.floor(drawn[..., 3] * (height - down + 1)),
            across,
            down,
        ]
        windows = np.stack(
            [
                np.minimum(found[0], width - across),
                np.minimum(found[1], height - down),
                across,
                down,
            ],
            -1,
        )
        shaped = min(max(width / height, ratio[0]), ratio[1])
        widest, highest = (
            min(width, max(1, round(height * shaped))),
            min(height, max(1, round(width / shaped))),
        )
        central = onp.array([(width - widest) // 2, (height - highest) // 2, widest, highest])
        first = np.argmax(fits, -1)[..., None, None]
        chosen = np.take_along_axis(windows, np.broadcast_to(first, (*first.shape[:-1], 4)), -2)[
            ..., 0, :
        ]
        return np.where(np.any(fits, -1)[..., None], chosen, central.astype("float32")).astype(
            "int64"
        )


def random_resized_crop(
    data: ArrayLike,
    width: int,
    height: int,
    area: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
    interp: int = 1,
    max_trial: int = 10,
) -> ndarray:
    """Random resized crop: a random window of each image, resized (Szegedy et al., 2015).

    Parameters
    ----------
    data : array_like, shape (H, W, C) or (N, H, W, C)
        Images; each of a batch gets a window of its own.
    width, height : int
        Size of the result.
    area : (float, float)
        Range of the window's area, as a share of the image's.
    ratio : (float, float)
        Range of the window's aspect ratio, width / height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        As for `resize`; 9 compares the sizes of the image and the result.
    max_trial : int
        Number of windows drawn; if none lies in the image, the largest central one of an admitted
        aspect ratio is used.

    Examples
    --------
    >>> with npx.backend("numpy"):
    ...     npx.image.random_resized_crop(np.zeros((20, 30, 3), dtype="uint8"), 8, 6).shape
    (6, 8, 3)
    """
    data = pictures(data, "random_resized_crop")
    check_range("random_resized_crop", "area", area, 1.0)
    check_range("random_resized_crop", "ratio", ratio)
    if max_trial < 1:
        raise ValueError(f"random_resized_crop: max_trial must be at least 1, got {max_trial}")
    if 0 in data.shape[-3:-1]:
        raise ValueError(f"random_resized_crop: pictures of shape {data.shape} have no pixels")
    size = pair((width, height), "random_resized_crop")
    windows = random_windows(data, area, ratio, int(max_trial))
    return resampled(
        data, windows, size, interpolation(interp, (data.shape[-2], data.shape[-3]), size)
    )


def check_range(what: str, name: str, limits: Any, most: float = math.inf) -> None:
    """Raise unless the limits are two positive numbers in order."""
    if len(limits) != 2 or not 0 < limits[0] <= limits[1] <= most:
        raise ValueError(
            f"{what}: expected {name}=(low, high) with 0 < low <= "
            f"high{f' <= {most}' if most < math.inf else ''}, got {limits}"
        )


# --- rotation -------------------------------------------------------------------------------------


def _turned(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.floating(types[:1])[1]
    return [dtype, dtype], dtype


@operator("_npx_image_rotate", rule=_turned)
def _rotate(xp: Any, x: Any, degrees: Any, *, zoom_in: bool, zoom_out: bool) -> Any:
    """Rotate images (C, H, W) about their centers, with bilinear interpolation.

    Parameters
    ----------
    degrees : array
        Angles, counterclockwise.
    """
    height, width = x.shape[-2:]
    angle = xp.reshape(
        xp.broadcast_to(degrees * (math.pi / 180), x.shape[:-3]), (*x.shape[:-3], 1, 1)
    )
    cos, sin = xp.cos(angle), xp.sin(angle)
    down = xp.asarray(onp.arange(height)[:, None] - (height - 1) / 2, x.dtype)
    across = xp.asarray(onp.arange(width) - (width - 1) / 2, x.dtype)
    zoom = 1
    if zoom_in or zoom_out:  # extent of the rotated image relative to its size
        across_all, down_all = max(width - 1, 1), max(height - 1, 1)
        wide = (across_all * xp.abs(cos) + down_all * xp.abs(sin)) / across_all
        high = (across_all * xp.abs(sin) + down_all * xp.abs(cos)) / down_all
        zoom = xp.maximum(wide, high) if zoom_out else 1 / xp.maximum(wide, high)
    column = (across * cos - down * sin) * zoom + (width - 1) / 2
    row = (across * sin + down * cos) * zoom + (height - 1) / 2
    flat = xp.reshape(x, (*x.shape[:-2], height * width))
    total = xp.zeros_like(x)
    for add_row in (0, 1):
        for add_column in (0, 1):
            i, j = xp.floor(row) + add_row, xp.floor(column) + add_column
            share = (1 - xp.abs(row - i)) * (1 - xp.abs(column - j))
            inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
            at = xp.astype(xp.where(inside, i * width + j, 0), onp.int64)
            at = xp.expand_dims(xp.reshape(at, (*x.shape[:-3], height * width)), -2)
            found = xp.reshape(xp.take_along(flat, xp.broadcast_to(at, flat.shape), -1), x.shape)
            total = total + xp.expand_dims(xp.where(inside, share, 0), -3) * found
    return total


def imrotate(
    src: ArrayLike, rotation_degrees: ArrayLike, zoom_in: bool = False, zoom_out: bool = False
) -> ndarray:
    """Rotate float images about their centers; the size stays, and outside pixels are 0.

    Parameters
    ----------
    src : array_like of float, shape (C, H, W) or (N, C, H, W)
        Images, as returned by `ToTensor`.
    rotation_degrees : float or array_like, shape (N,)
        Angles; positive angles rotate counter-clockwise.
    zoom_in : bool
        Whether the image is enlarged until no outside pixel is visible.
    zoom_out : bool
        Whether the image is shrunk until all of it is visible.

    Returns
    -------
    ndarray
        The rotated images, interpolated bilinearly.

    Examples
    --------
    >>> npx.image.imrotate(np.array([[[1.0, 2.0], [3.0, 4.0]]]), 90).round(3)
    array([[[2., 4.],
            [1., 3.]]])
    """
    src = np.asarray(src)
    if zoom_in and zoom_out:
        raise ValueError("imrotate: zoom_in and zoom_out exclude each other")
    if src.ndim not in (3, 4):
        raise ValueError(
            f"imrotate: expected pictures (C, H, W) or (N, C, H, W), got shape {src.shape}"
        )
    if not dtypes.is_float(onp.dtype(src.dtype)):
        raise TypeError(
            f"imrotate: expected float pictures, as ToTensor makes them, got dtype {src.dtype}"
        )
    if np.shape(rotation_degrees) not in ((), src.shape[:-3]):
        raise ValueError(
            f"imrotate: expected one angle, or one for each of {src.shape[:-3]} pictures, got "
            f"{np.shape(rotation_degrees)}"
        )
    with on_backend_of(src):
        return apply(_rotate, (src, rotation_degrees), (bool(zoom_in), bool(zoom_out)))


def random_rotate(
    src: ArrayLike, angle_limits: tuple[float, float], zoom_in: bool = False, zoom_out: bool = False
) -> ndarray:
    """Rotate float images by random angles, drawn for each image of a batch.

    Parameters
    ----------
    src : array_like of float, shape (C, H, W) or (N, C, H, W)
        Images.
    angle_limits : (float, float)
        Range of the angles, in degrees.
    zoom_in, zoom_out : bool
        As for `imrotate`.

    Examples
    --------
    >>> npx.image.random_rotate(np.ones((1, 1, 1)), (-30, 30)).shape
    (1, 1, 1)
    """
    src = np.asarray(src)
    low, high = angle_limits
    if low > high:
        raise ValueError(
            f"random_rotate: expected angle_limits=(low, high) in order, got {angle_limits}"
        )
    return imrotate(src, uniform(src, float(low), float(high)), zoom_in, zoom_out)


__all__ = [
    "crop",
    "flip_left_right",
    "flip_top_bottom",
    "imrotate",
    "random_flip_left_right",
    "random_flip_top_bottom",
    "random_resized_crop",
    "random_rotate",
    "resize",
]
