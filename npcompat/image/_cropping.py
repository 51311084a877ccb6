"""Resizing, cropping and borders of single images (H, W, C), as in MXNet."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat.numpy import random
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy._ufunc import finish
from npcompat.numpy_extension._image_geometry import check_range, window_at
from npcompat.numpy_extension._image_layout import on_backend_of, pictures, uniform
from npcompat.numpy_extension._image_resampling import by_short_edge, pair, resized

Size = tuple[int, int]


def imresize(
    src: ArrayLike, w: int, h: int, interp: int = 1, out: ndarray | None = None
) -> ndarray:
    """Resize an image, or a batch.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Image, or several.
    w, h : int
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`; on the host, 8-bit images are resized by
        Pillow.
    out : ndarray, optional
        Array that the pixels are written to.

    Examples
    --------
    >>> image.imresize(np.zeros((4, 4, 3), dtype="uint8"), 2, 3).shape
    (3, 2, 3)
    """
    return finish(resized(pictures(src, "imresize"), w, h, interp, "imresize"), out, "imresize")


def resize_short(src: ArrayLike, size: int, interp: int = 2) -> ndarray:
    """Resize an image to a length of its shorter edge, at the same aspect ratio.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Image.
    size : int
        Length of the shorter edge.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`; bicubic if not given.

    Examples
    --------
    >>> image.resize_short(np.zeros((8, 4, 3), dtype="uint8"), 2).shape
    (4, 2, 3)
    """
    src = pictures(src, "resize_short")
    w, h = by_short_edge(src, size, "resize_short")
    return resized(src, w, h, interp, "resize_short")


def scale_down(src_size: Size, size: Size) -> Size:
    """Scale a size down, at the same aspect ratio, until it fits into another.

    Parameters
    ----------
    src_size : (int, int)
        Maximum width and height.
    size : (int, int)
        Wanted width and height.

    Examples
    --------
    >>> image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    width, height = map(float, size)
    across, down = src_size
    if down < height:
        width, height = width * down / height, down
    if across < width:
        width, height = across, height * across / width
    return max(1, int(width)), max(1, int(height))


def fixed_crop(
    src: ArrayLike, x0: int, y0: int, w: int, h: int, size: Size | None = None, interp: int = 2
) -> ndarray:
    """Crop a window of an image, and resize it if a size is given.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Image.
    x0, y0 : int
        The left and the upper edge.
    w, h : int
        Size of the window.
    size : (int, int), optional
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`; bicubic if not given.

    Examples
    --------
    >>> image.fixed_crop(np.arange(9).reshape(3, 3, 1), 1, 0, 2, 1).ravel()
    array([1, 2])
    """
    src = pictures(src, "fixed_crop")
    x0, y0, w, h = int(x0), int(y0), int(w), int(h)
    height, width = src.shape[-3:-1]
    if min(x0, y0) < 0 or min(w, h) < 1 or x0 + w > width or y0 + h > height:
        raise ValueError(
            f"fixed_crop: {w} x {h} pixels at ({x0}, {y0}) are not within a picture of {width} x "
            f"{height}"
        )
    return _sized(src[..., y0 : y0 + h, x0 : x0 + w, :], size, interp, "fixed_crop")


def _sized(window: Any, size: Size | None, interp: int, what: str) -> Any:
    if size is None or tuple(size) == (window.shape[-2], window.shape[-3]):
        return window.copy()
    width, height = pair(size, what)
    return resized(window, width, height, interp, what)


def center_crop(
    src: ArrayLike, size: int | Size, interp: int = 2
) -> tuple[Any, tuple[int, int, int, int]]:
    """Center crop; smaller images are cropped to the aspect ratio of `size` and enlarged.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Image, or several.
    size : int or (int, int)
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation if it is enlarged, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The cropped image.
    (int, int, int, int)
        The window: left, top, width, height.

    Examples
    --------
    >>> middle, where = image.center_crop(np.zeros((4, 6, 3)), (2, 2))
    >>> middle.shape, where
    ((2, 2, 3), (2, 1, 2, 2))
    """
    src, size = pictures(src, "center_crop"), pair(size, "center_crop")
    height, width = src.shape[-3:-1]
    w, h = scale_down((width, height), size)
    x0, y0 = (width - w) // 2, (height - h) // 2
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_crop(
    src: ArrayLike, size: int | Size, interp: int = 2
) -> tuple[Any, tuple[Any, Any, int, int]]:
    """Random crop; smaller images are cropped to the aspect ratio of `size` and enlarged.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Image, or a batch; positions are drawn for each image.
    size : int or (int, int)
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation if it is enlarged, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The cropped image.
    tuple
        The window: left, top, width, height. Left and top are arrays for a batch, and in a compiled
        function.

    Examples
    --------
    >>> window, (left, top, width, height) = image.random_crop(np.zeros((4, 6, 3)), (2, 2))
    >>> window.shape, width, height
    ((2, 2, 3), 2, 2)
    """
    src, size = pictures(src, "random_crop"), pair(size, "random_crop")
    height, width = src.shape[-3:-1]
    if 0 in (height, width):
        raise ValueError(f"random_crop: pictures of shape {src.shape} have no pixels")
    w, h = scale_down((width, height), size)
    with on_backend_of(src):
        lead = src.shape[:-3] or None
        left, top = random.randint(0, width - w + 1, lead), random.randint(0, height - h + 1, lead)
        window = window_at(src, left, top, w, h)
    return _sized(window, size, interp, "random_crop"), (left, top, w, h)


def random_size_crop(
    src: ArrayLike,
    size: int | Size,
    area: float | tuple[float, float],
    ratio: tuple[float, float],
    interp: int = 2,
) -> tuple[Any, tuple[int, int, int, int]]:
    """Random resized crop of an image (Szegedy et al., 2015).

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Image.
    size : int or (int, int)
        Width and height of the result.
    area : float or (float, float)
        Range of the window's area, as a share of the image's; a number means up to 1.
    ratio : (float, float)
        Range of the window's aspect ratio, width / height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The cropped image; if ten random windows do not fit into the image, the result of
        `center_crop`.
    (int, int, int, int)
        The window: left, top, width, height.

    Examples
    --------
    >>> picture = np.zeros((20, 30, 3), dtype="uint8")
    >>> image.random_size_crop(picture, (8, 8), 0.1, (0.8, 1.2))[0].shape
    (8, 8, 3)
    """
    src, size = pictures(src, "random_size_crop"), pair(size, "random_size_crop")
    limits = (area, 1.0) if isinstance(area, int | float) else area
    check_range("random_size_crop", "area", limits, 1.0)
    check_range("random_size_crop", "ratio", ratio)
    height, width = src.shape[-3:-1]
    for _ in range(10):
        share, shape, across, down = uniform(src, 0.0, 1.0, (4,)).tolist()
        pixels = (limits[0] + (limits[1] - limits[0]) * share) * width * height
        wide = math.exp(math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * shape)
        w, h = round(math.sqrt(pixels * wide)), round(math.sqrt(pixels / wide))
        if 1 <= w <= width and 1 <= h <= height:
            x0, y0 = (
                min(int(across * (width - w + 1)), width - w),
                min(int(down * (height - h + 1)), height - h),
            )
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def color_normalize(
    src: ArrayLike, mean: ArrayLike | None, std: ArrayLike | None = None
) -> ndarray:
    """Standardize the channels of an image: (src - mean) / std.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Image; integers are converted to floats.
    mean, std : array_like, optional
        Mean and standard deviation of each channel, or in the shape of the image.

    Examples
    --------
    >>> image.color_normalize(np.full((1, 1, 3), 10.0), (1, 2, 3), (3, 4, 7)).ravel()
    array([3., 2., 1.])
    """
    image = np.asarray(src)
    with on_backend_of(image):
        if image.dtype.kind not in "fV":
            image = image.astype("float32")
        for value, function in ((mean, np.subtract), (std, np.divide)):
            if value is not None:
                image = function(image, np.asarray(value, dtype=image.dtype))
        return image


_BORDERS = ("constant", "edge", "symmetric", "wrap", "reflect")


def copyMakeBorder(
    src: ArrayLike,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0.0,
    values: Sequence[float] = (),
) -> ndarray:
    """Add a border to an image.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Image.
    top, bot, left, right : int
        Widths of the border.
    type : {0, 1, 2, 3, 4}
        OpenCV's border type: 0 a constant color, 1 the nearest pixel, 2 the mirrored image, 3 the
        repeated image, 4 the image mirrored without repeating its edge.
    value : float
        The color for type 0, of all channels.
    values : sequence of float
        The color for type 0, by channel.

    Examples
    --------
    >>> image.copyMakeBorder(np.array([[[1], [2]]]), 0, 0, 1, 1, type=1).ravel()
    array([1, 1, 2, 2])
    """
    src = np.asarray(src)
    if src.ndim != 3:
        raise ValueError(f"copyMakeBorder: expected a picture (H, W, C), got shape {src.shape}")
    if type not in range(5):
        raise ValueError(f"copyMakeBorder: type must be 0, 1, 2, 3 or 4, got {type!r}")
    widths = ((top, bot), (left, right))
    if type:
        return np.pad(src, (*widths, (0, 0)), mode=_BORDERS[type])
    colours = onp.ravel(values) if len(values) else onp.full(src.shape[2], value)
    if len(colours) != src.shape[2]:
        raise ValueError(
            f"copyMakeBorder: expected {src.shape[2]} values, one for each channel, got "
            f"{len(colours)}"
        )
    return np.stack(
        [
            np.pad(src[:, :, i], widths, constant_values=c.astype(src.dtype))
            for i, c in enumerate(colours)
        ],
        axis=2,
    )


__all__ = [
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imresize",
    "random_crop",
    "random_size_crop",
    "resize_short",
    "scale_down",
]
