"""Pooling of regions of interest (ROI)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import as_shape, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._checks import expect
from npcompat.numpy_extension._nn_types import working_dtype


def _cells(xp: Any, first: Any, last: Any, count: int, length: int) -> Any:
    """Divide a range of pixels into cells; return the pixels of each cell as (cells, pixels)."""
    size = xp.maximum(last - first + 1, xp.ones_like(first))
    number = xp.asarray(range(count), size.dtype)
    step = size / xp.asarray(count, size.dtype)
    begin, end = xp.floor(number * step) + first, xp.ceil((number + 1) * step) + first
    pixel = xp.asarray(range(length), size.dtype)
    return xp.logical_and(pixel >= xp.expand_dims(begin, -1), pixel < xp.expand_dims(end, -1))


def _of_data(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: the result has the data's dtype; corners have at least 32 bits.

    16 bits are too few for numbers of pixels.
    """
    dtype = dtypes.floating(types[:1])[1]
    return [dtype, working_dtype(dtypes.floating(types[1:])[1])], dtype


@operator("_npx_roi_pooling", rule=_of_data, prefers_xla=True)
def _roi_pooling(xp: Any, x: Any, rois: Any, *, size: tuple[int, int], scale: float) -> Any:
    """Region of interest (ROI) max pooling: the maximum of each cell of each region.

    Parameters
    ----------
    size : tuple of int
        Rows and columns of the grid.
    scale : float
        Factor of the coordinates.
    """
    lowest = xp.asarray(-math.inf, x.dtype)
    rounded = xp.floor(
        xp.stop_gradient(rois[:, 1:]) * xp.asarray(scale, rois.dtype) + xp.asarray(0.5, rois.dtype)
    )
    images = xp.clip(xp.astype(xp.stop_gradient(rois[:, 0]), "int64"), 0, x.shape[0] - 1)

    def pooled(image: Any, region: Any) -> Any:
        left, top, right, bottom = (region[i] for i in range(4))
        across = _cells(xp, left, right, size[1], x.shape[3])
        down = _cells(xp, top, bottom, size[0], x.shape[2])
        rows = xp.max(
            xp.where(across, xp.expand_dims(xp.take(x, image, axis=0), 2), lowest), axis=-1
        )  # (channels, height, cells)
        cells = xp.max(xp.where(xp.expand_dims(down, -1), xp.expand_dims(rows, 1), lowest), axis=-2)
        some = xp.logical_and(xp.expand_dims(xp.any(down, axis=-1), -1), xp.any(across, axis=-1))
        return xp.where(some, cells, xp.zeros_like(cells))

    return xp.for_each(pooled, images, rounded)


def roi_pooling(
    data: ArrayLike, rois: ArrayLike, pooled_size: int | Sequence[int], spatial_scale: float
) -> ndarray:
    """Region of interest (ROI) max pooling over a grid on each region (Girshick, 2015).

    Regions are rounded to whole pixels, corners included; a cell without pixels is zero. Nothing
    flows back to the regions.

    Parameters
    ----------
    data : array_like, shape (batch, channels, height, width)
        Images.
    rois : array_like, shape (n, 5)
        For each region the index of its image, and its corners (left, top, right, bottom).
    pooled_size : int or sequence of two int
        Height and width of the grid.
    spatial_scale : float
        Factor of the corners: the height of `data` over the height of the image that they refer
        to.

    Returns
    -------
    ndarray, shape (n, channels, *pooled_size)
        The largest elements.

    Raises
    ------
    IndexError
        If there is no such image; on XLA when an array is next read.

    Examples
    --------
    >>> image = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> npx.roi_pooling(image, [[0, 0, 0, 3, 1]], pooled_size=2, spatial_scale=1.0)
    array([[[[1., 3.],
             [5., 7.]]]])
    """
    data, rois = asarray(data), asarray(rois)
    size = as_shape(pooled_size) * (2 if isinstance(pooled_size, int | onp.integer) else 1)
    if data.ndim != 4 or 0 in data.shape:
        raise ValueError(
            f"roi_pooling: data must have shape (batch, channels, height, width), got {data.shape}"
        )
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise ValueError(f"roi_pooling: rois must have shape (n, 5), got {rois.shape}")
    if len(size) != 2 or min(size) < 1:
        raise ValueError(
            f"roi_pooling: pooled_size must be a positive height and width, got {pooled_size}"
        )
    if not rois.shape[0]:
        return data[:0, :, :1, :1].repeat(size[0], 2).repeat(size[1], 3)
    images = rois[:, 0]
    expect(
        np.logical_and(images >= 0, images < data.shape[0]).all(),
        IndexError,
        f"roi_pooling: rois name images (their first column) below {data.shape[0]}",
    )
    return apply(_roi_pooling, (data, rois), (size, float(spatial_scale)))


__all__ = ["roi_pooling"]
