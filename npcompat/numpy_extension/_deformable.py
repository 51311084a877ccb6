"""Deformable convolution: convolution with sampling offsets."""

import math
from typing import Any

from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_conv import Sizes, _per_axis
from npcompat.numpy_extension._nn_types import int64, widened


def _sampled(xp: Any, x: Any, y_at: Any, x_at: Any) -> Any:
    """Bilinear interpolation at positions (..., points); zero outside.

    `x` (..., height, width) is flattened along the last axis.
    """
    flat, height, width = x
    top, left = xp.floor(y_at), xp.floor(x_at)
    total: Any = None
    for below in (0, 1):
        for beside in (0, 1):
            row, column = top + below, left + beside
            inside = xp.logical_and(
                xp.logical_and(row >= 0, row < height), xp.logical_and(column >= 0, column < width)
            )
            share = (y_at - top if below else 1 - (y_at - top)) * (
                x_at - left if beside else 1 - (x_at - left)
            )
            place = xp.clip(row, 0, height - 1) * width + xp.clip(column, 0, width - 1)
            place = xp.broadcast_to(
                xp.expand_dims(xp.astype(place, int64), 2), (*flat.shape[:-1], place.shape[-1])
            )
            part = xp.take_along(flat, place, -1) * xp.expand_dims(
                xp.where(inside, share, xp.zeros_like(share)), 2
            )
            total = part if total is None else total + part
    return total


@operator("_npx_deformable_convolution", rule=widened, pattern="complex", prefers_xla=True)
def _deformable_convolution(
    xp: Any,
    x: Any,
    offset: Any,
    weight: Any,
    *rest: Any,
    masked: bool,
    stride: Any,
    dilate: Any,
    pad: Any,
    groups: int,
    offset_groups: int,
) -> Any:
    """Deformable convolution: cross-correlation with filters sampled at offset positions.

    Parameters
    ----------
    stride : tuple of int
        Step of the window along both axes.
    dilate : tuple of int
        Step between the elements of the window.
    pad : tuple of int
        Zeros added at both ends of both axes.
    groups : int
        Number of groups of channels.
    masked : bool
        Whether a mask is among the inputs, which weights the elements of windows.
    offset_groups : int
        Number of groups of channels that share offsets.
    """
    mask, bias = (rest[0] if masked else None), (rest[-1] if len(rest) > masked else None)
    batch, channels, height, width = x.shape
    filters, _, *kernel = weight.shape
    points = math.prod(kernel)
    out = offset.shape[2:]
    moved = xp.reshape(offset, (batch, offset_groups, points, 2, *out))
    grid = []
    for axis in (0, 1):
        window = xp.arange(kernel[axis]) * dilate[axis]
        begin = xp.arange(out[axis]) * stride[axis] - pad[axis]
        window = xp.reshape(
            xp.broadcast_to(xp.reshape(window, (-1, 1) if axis == 0 else (1, -1)), kernel),
            (points, 1, 1),
        )
        place = xp.astype(window + xp.reshape(begin, (-1, 1) if axis == 0 else (1, -1)), x.dtype)
        grid.append(
            xp.reshape(
                moved[:, :, :, axis] + place, (batch, offset_groups, points * math.prod(out))
            )
        )
    flat = xp.reshape(x, (batch, offset_groups, channels // offset_groups, height * width))
    columns = xp.reshape(
        _sampled(xp, (flat, height, width), *grid),
        (batch, offset_groups, channels // offset_groups, points, *out),
    )
    if mask is not None:
        columns = columns * xp.reshape(mask, (batch, offset_groups, 1, points, *out))
    columns = xp.reshape(columns, (batch, groups, channels // groups * points, math.prod(out)))
    y = xp.matmul(
        xp.reshape(weight, (groups, filters // groups, channels // groups * points)), columns
    )
    y = xp.reshape(y, (batch, filters, *out))
    return y if bias is None else y + xp.reshape(bias, (-1, 1, 1))


def _convolved(
    name: str,
    arrays: tuple[Any, Any, Any, Any, Any],
    kernel: Sizes,
    stride: Sizes,
    dilate: Sizes,
    pad: Sizes,
    num_filter: int | None,
    num_group: int,
    num_deformable_group: int,
    no_bias: bool,
    layout: str | None,
) -> Any:
    data, offset, weight = asarray(arrays[0]), asarray(arrays[1]), asarray(arrays[3])
    mask, bias = (None if a is None else asarray(a) for a in (arrays[2], arrays[4]))
    if layout not in (None, "NCHW"):
        raise NotImplementedError(f"{name}: layout={layout!r}: only NCHW is supported")
    if data.ndim != 4 or 0 in data.shape[1:] or weight.ndim != 4:
        raise ValueError(
            f"{name}: data and weight must have four axes, got shapes {data.shape} and "
            f"{weight.shape}"
        )
    filters, per_group, *sizes = weight.shape
    channels = data.shape[1]
    if channels != per_group * num_group or filters % num_group or channels % num_deformable_group:
        raise ValueError(
            f"{name}: data of shape {data.shape} does not fit weight of shape {weight.shape} with "
            f"{num_group} groups, which must divide "
            f"the filters, and {num_deformable_group} deformable groups, which must divide the "
            "channels"
        )
    if kernel is not None and _per_axis(name, "kernel", kernel, 2, 1) != tuple(sizes):
        raise ValueError(
            f"{name}: kernel={kernel}, but weight of shape {weight.shape} has kernel {tuple(sizes)}"
        )
    if num_filter is not None and num_filter != filters:
        raise ValueError(
            f"{name}: num_filter={num_filter}, but weight of shape {weight.shape} has {filters} "
            "filters"
        )
    if no_bias and bias is not None:
        raise ValueError(f"{name}: bias is given, but no_bias=True")
    if bias is not None and bias.shape != (filters,):
        raise ValueError(
            f"{name}: bias must have shape ({filters},), one entry for each filter, got "
            f"{bias.shape}"
        )
    steps, gaps = _per_axis(name, "stride", stride, 2, 1), _per_axis(name, "dilate", dilate, 2, 1)
    border = _per_axis(name, "pad", pad, 2, 0)
    out = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(data.shape[2:], border, gaps, sizes, steps, strict=True)
    )
    points = num_deformable_group * math.prod(sizes)
    for what, array, each in (("offset", offset, 2 * points), ("mask", mask, points)):
        if array is not None and array.shape != (data.shape[0], each, *out):
            raise ValueError(
                f"{name}: {what} must have shape {(data.shape[0], each, *out)}, got {array.shape}"
            )
    operands = [data, offset, weight, *[a for a in (mask, bias) if a is not None]]
    return apply(
        _deformable_convolution,
        operands,
        (mask is not None, steps, gaps, border, int(num_group), int(num_deformable_group)),
    )


def deformable_convolution(
    data: ArrayLike,
    offset: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Sizes = None,
    stride: Sizes = None,
    dilate: Sizes = None,
    pad: Sizes = None,
    num_filter: int | None = None,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    layout: str | None = None,
) -> ndarray:
    """2-D deformable convolution, whose window elements are shifted by offsets (Dai et al., 2017).

    Data is interpolated bilinearly between pixels, and zero outside.

    Parameters
    ----------
    data : array_like, shape (N, C, H, W)
        Batch.
    offset : array_like, shape (N, 2 * num_deformable_group * elements of the kernel, H', W')
        Shift of each element of the window at each position of the result: down and to the right,
        element by element.
    weight : array_like, shape (num_filter, C / num_group, height, width)
        Filters.
    bias : array_like, shape (num_filter,), optional
        Bias of each channel of the result.
    kernel, num_filter : optional
        Checked against the shape of `weight`, which determines them.
    stride, dilate : int or sequence of int, optional
        Step of the window, and step between its elements; 1 if not given.
    pad : int or sequence of int, optional
        Zeros added at both ends of each axis.
    num_group : int
        Groups of channels that are convolved separately.
    num_deformable_group : int
        Groups of channels that have offsets of their own.
    no_bias : bool
        Must not be True if `bias` is given.
    layout : {'NCHW'}, optional
        Order of the axes: another one raises NotImplementedError.
    workspace
        A hint to MXNet's implementation, without effect.

    Returns
    -------
    ndarray, shape (N, num_filter, H', W')
        The result; equal to that of `convolution` if offsets are zero.

    Examples
    --------
    >>> image, right = np.arange(4.0).reshape(1, 1, 2, 2), np.array([0.0, 0.5]).reshape(1, 2, 1, 1)
    >>> npx.deformable_convolution(image, np.tile(right, (1, 1, 2, 2)), np.ones((1, 1, 1, 1)))
    array([[[[0.5, 0.5],
             [2.5, 1.5]]]])
    """
    arrays = (data, offset, None, weight, bias)
    return _convolved(
        "deformable_convolution",
        arrays,
        kernel,
        stride,
        dilate,
        pad,
        num_filter,
        num_group,
        num_deformable_group,
        no_bias,
        layout,
    )


def modulated_deformable_convolution(
    data: ArrayLike,
    offset: ArrayLike,
    mask: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Sizes = None,
    stride: Sizes = None,
    dilate: Sizes = None,
    pad: Sizes = None,
    num_filter: int | None = None,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    im2col_step: int = 64,
    layout: str | None = None,
) -> ndarray:
    """Modulated deformable convolution (DCNv2), with weighted window elements.

    Zhu et al., 2019.

    Parameters
    ----------
    mask : array_like, shape (N, num_deformable_group * elements of the kernel, H', W')
        Weight of each element of the window at each position of the result.
    data, offset, weight, bias, kernel, stride, dilate, pad, num_filter, num_group,
    num_deformable_group, no_bias, layout
        As for `deformable_convolution`.
    workspace, im2col_step
        Hints to MXNet's implementation, without effect.

    Examples
    --------
    >>> image, mask = np.arange(4.0).reshape(1, 1, 2, 2), np.full((1, 1, 2, 2), 0.5)
    >>> offset, weight = np.zeros((1, 2, 2, 2)), np.ones((1, 1, 1, 1))
    >>> npx.modulated_deformable_convolution(image, offset, mask, weight)
    array([[[[0. , 0.5],
             [1. , 1.5]]]])
    """
    name, arrays = "modulated_deformable_convolution", (data, offset, mask, weight, bias)
    return _convolved(
        name,
        arrays,
        kernel,
        stride,
        dilate,
        pad,
        num_filter,
        num_group,
        num_deformable_group,
        no_bias,
        layout,
    )


__all__ = ["deformable_convolution", "modulated_deformable_convolution"]
