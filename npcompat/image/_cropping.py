"""Pictures (H, W, C) resized, cropped and bordered: MXNet's functions of single pictures."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat.numpy import random
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy._ufunc import finish
from npcompat.numpy_extension._image_geometry import check_range, window_at
from npcompat.numpy_extension._image_layout import beside, pictures, uniform
from npcompat.numpy_extension._image_resampling import by_short_edge, pair, resized

Size = tuple[int, int]


def imresize(src: ArrayLike, w: int, h: int, interp: int = 1, out: Any = None) -> Any:
    """A picture in another size.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Picture, or several.
    w, h : int
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`: on the host Pillow's of 8-bit pictures.
    out : ndarray, optional
        Where to write the pixels.

    Examples
    --------
    >>> image.imresize(np.zeros((4, 4, 3), dtype="uint8"), 2, 3).shape
    (3, 2, 3)
    """
    return finish(resized(pictures(src, "imresize"), w, h, interp, "imresize"), out, "imresize")


def resize_short(src: ArrayLike, size: int, interp: int = 2) -> Any:
    """A picture resized so that its shorter edge has a length, and its shape stays.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Picture.
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
    """A size made smaller, in the same shape, until it fits into another.

    Parameters
    ----------
    src_size : (int, int)
        Width and height into which it must fit.
    size : (int, int)
        Width and height wanted.

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
) -> Any:
    """A window of a picture, in another size if one is given.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Picture.
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
    """The middle of a picture; one that is too small is cut in the shape of `size` and enlarged.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Picture, or several.
    size : int or (int, int)
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation where it is enlarged, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The middle.
    (int, int, int, int)
        Where it was: left, top, width, height.

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
    """A window of a picture at a random place; of one that is too small it is cut in the shape of
    `size` and enlarged.

    Parameters
    ----------
    src : array_like, shape (H, W, C) or (N, H, W, C)
        Picture, or several, of which each is cut at its own place.
    size : int or (int, int)
        Width and height of the result.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation where it is enlarged, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The window.
    tuple
        Where it was: left, top, width, height. Left and top are arrays for a batch, and in a
        compiled function.

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
    with beside(src):
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
    """A random window of a picture, in a size (Szegedy et al., 2015).

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Picture.
    size : int or (int, int)
        Width and height of the result.
    area : float or (float, float)
        Between which shares of the picture's area the window's lies; one number means up to 1.
    ratio : (float, float)
        Between which numbers its width over its height lies.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`; bicubic if not given.

    Returns
    -------
    ndarray
        The window; if ten random ones do not lie in the picture, its middle, as `center_crop` gives
        it.
    (int, int, int, int)
        Where it was: left, top, width, height.

    Examples
    --------
    >>> image.random_size_crop(np.zeros((20, 30, 3), dtype="uint8"), (8, 8), 0.1, (0.8, 1.2))[0].shape
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


def color_normalize(src: ArrayLike, mean: ArrayLike | None, std: ArrayLike | None = None) -> Any:
    """A picture with the mean of each channel taken away, and divided by its deviation.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Picture; one of integers becomes one of floats.
    mean, std : array_like, optional
        Of each channel, or in the shape of the picture.

    Examples
    --------
    >>> image.color_normalize(np.full((1, 1, 3), 10.0), (1, 2, 3), (3, 4, 7)).ravel()
    array([3., 2., 1.])
    """
    src = np.asarray(src)
    with beside(src):
        if src.dtype.kind not in "fV":
            src = src.astype("float32")
        for value, function in ((mean, np.subtract), (std, np.divide)):
            if value is not None:
                src = function(src, np.asarray(value, dtype=src.dtype))
        return src


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
) -> Any:
    """A picture with a border.

    Parameters
    ----------
    src : array_like, shape (H, W, C)
        Picture.
    top, bot, left, right : int
        Widths of the border.
    type : {0, 1, 2, 3, 4}
        What the border shows, by OpenCV's numbers: 0 one colour, 1 the nearest pixel, 2 the picture
        mirrored, 3 the picture repeated, 4 the picture mirrored without its edge twice.
    value : float
        The colour for type 0, of all channels.
    values : sequence of float
        The colour for type 0, by channel.

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
