"""Convolution and pooling over one to three spatial axes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import as_shape, operator
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import declared, length, widened

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
Sizes = int | Sequence[int] | None


def _layout(name: str, given: str | None, spatial: int) -> str:
    if spatial not in _LAYOUTS:
        raise ValueError(
            f"{name}: data must have 3, 4 or 5 axes (batch, channel, 1 to 3 spatial ones), got "
            f"{spatial + 2}"
        )
    if given is None:
        return _LAYOUTS[spatial][0]
    if given not in _LAYOUTS[spatial]:
        raise ValueError(
            f"{name}: layout must be one of {', '.join(_LAYOUTS[spatial])} for {spatial + 2} "
            f"axes, got {given!r}"
        )
    return given


def _per_axis(
    name: str, argument: str, sizes: Sizes, spatial: int, default: int
) -> tuple[int, ...]:
    """Return a size for each spatial axis, from None, one for all, or one for each."""
    if sizes is None or (not isinstance(sizes, int | onp.integer) and len(sizes) == 0):
        return (default,) * spatial
    found = as_shape(sizes)
    if isinstance(sizes, int | onp.integer):
        found *= spatial
    if len(found) != spatial:
        raise ValueError(
            f"{name}: {argument} needs one entry for each of the {spatial} spatial axes, got "
            f"{sizes}"
        )
    if any(n < default for n in found):
        raise ValueError(f"{name}: entries of {argument} must be at least {default}, got {sizes}")
    return found


# --- convolution ----------------------------------------------------------------------------------


def _filters(types: Sequence[TensorType], attrs: Mapping[str, Any]) -> list[TensorType]:
    """Complete partly known types: channels per filter from the data, bias from the weight."""
    x, weight, *bias = types
    layout, groups = attrs["layout"], attrs["groups"]
    channels = length(x, layout.index("C"))
    each = (
        channels
        if groups == 1
        else channels // groups
        if type(channels) is int and channels % groups == 0
        else None
    )
    filters = tuple([each if letter == "C" else None for letter in layout])
    return [TensorType(), TensorType(filters), *[TensorType((length(weight, 0),)) for _ in bias]]


@operator(
    "_npx_convolution", rule=dtypes.floating, pattern="complex", prefers_xla=True, complete=_filters
)
def _convolution(
    xp: Any,
    x: Any,
    weight: Any,
    *bias: Any,
    stride: Any,
    dilate: Any,
    pad: Any,
    groups: int,
    layout: str,
) -> Any:
    """Convolution (cross-correlation) of a batch with filters.

    Parameters
    ----------
    stride : tuple of int
        Step of the window along each spatial axis.
    dilate : tuple of int
        Step between the elements of the window.
    pad : tuple of int
        Zeros added at both ends of each spatial axis.
    groups : int
        Number of groups of channels, which are convolved separately.
    """
    channel = layout.index("C")
    spatial = [i for i, letter in enumerate(layout) if letter not in "NC"]
    if x.shape[channel] != weight.shape[channel] * groups or weight.shape[0] % groups:
        raise ValueError(
            f"convolution: data of shape {x.shape} has {x.shape[channel]} channels; weight of "
            f"shape {weight.shape} with {groups} groups "
            f"expects {weight.shape[channel] * groups}, and a number of filters that the groups "
            "divide"
        )
    for axis, s, d, p in zip(spatial, stride, dilate, pad, strict=True):
        if x.shape[axis] + 2 * p < (weight.shape[axis] - 1) * d + 1:
            raise ValueError(
                f"convolution: the kernel covers {(weight.shape[axis] - 1) * d + 1} elements "
                f"along axis {axis}; data of shape {x.shape} "
                f"has {x.shape[axis]} there, with padding {x.shape[axis] + 2 * p}"
            )
        if s < 1:
            raise ValueError(f"convolution: strides must be positive, got {stride}")
    y = xp.conv_nd(x, weight, stride, pad, dilate, groups, layout)
    if not bias:
        return y
    if bias[0].shape != weight.shape[:1]:
        raise ValueError(
            f"convolution: bias must have shape {weight.shape[:1]}, one entry for each filter, "
            f"got {bias[0].shape}"
        )
    return y + xp.reshape(bias[0], tuple(-1 if letter == "C" else 1 for letter in layout))


def _check_weight(
    weight: Any, layout: str, kernel: tuple[int, ...] | None, num_filter: int | None
) -> None:
    if weight.ndim != len(layout):
        raise ValueError(
            f"convolution: weight must have {len(layout)} axes, as data has, got shape "
            f"{weight.shape}"
        )
    sizes = tuple(n for n, letter in zip(weight.shape, layout, strict=True) if letter not in "NC")
    if kernel is not None and kernel != sizes:
        raise ValueError(
            f"convolution: kernel={kernel}, but weight of shape {weight.shape} has kernel {sizes}"
        )
    if num_filter is not None and num_filter != weight.shape[0]:
        raise ValueError(
            f"convolution: num_filter={num_filter}, but weight of shape {weight.shape} has "
            f"{weight.shape[0]} filters"
        )


def convolution(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Sizes = None,
    stride: Sizes = None,
    dilate: Sizes = None,
    pad: Sizes = None,
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
) -> ndarray:
    """Convolution (cross-correlation) of a batch with filters.

    Parameters
    ----------
    data : array_like, shape (N, C, ...) or (N, ..., C)
        Batch, with one to three spatial axes.
    weight : array_like, shape (num_filter, C / num_group, ...) or (num_filter, ..., C / num_group)
        Filters, in the layout of the data.
    bias : array_like, shape (num_filter,), optional
        Bias of each channel of the result.
    kernel, num_filter : optional
        Checked against the shape of `weight`, which determines them.
    stride, dilate : int or sequence of int, optional
        Step of the window, and step between its elements; 1 if not given.
    pad : int or sequence of int, optional
        Zeros added at both ends of each spatial axis.
    num_group : int
        Groups of channels that are convolved separately.
    no_bias : bool
        Must not be True if `bias` is given.
    layout : {'NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'}, optional
        Order of the axes; channels come second if not given.
    workspace, cudnn_tune, cudnn_off
        Hints to MXNet's implementation, without effect: XLA chooses its algorithm itself.

    Returns
    -------
    ndarray
        The result, with spatial axes of length `(n + 2 pad - dilate (kernel - 1) - 1) // stride +
        1`.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> image = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> npx.convolution(image, np.ones((1, 1, 2, 2)))
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    data, weight = asarray(data), asarray(weight)
    spatial = data.ndim - 2
    layout = _layout("convolution", layout, spatial)
    sizes = None if kernel is None else _per_axis("convolution", "kernel", kernel, spatial, 1)
    lengths = iter(sizes or ())
    if sizes is None or not declared(
        weight,
        tuple([num_filter if n == "N" else None if n == "C" else next(lengths) for n in layout]),
    ):
        _check_weight(weight, layout, sizes, num_filter)
    if no_bias and bias is not None:
        raise ValueError("convolution: bias is given, but no_bias=True")
    attrs = (
        _per_axis("convolution", "stride", stride, spatial, 1),
        _per_axis("convolution", "dilate", dilate, spatial, 1),
        _per_axis("convolution", "pad", pad, spatial, 0),
        int(num_group),
        layout,
    )
    return apply(_convolution, (data, weight) if bias is None else (data, weight, bias), attrs)


# --- pooling --------------------------------------------------------------------------------------


def _pooled(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return dtypes.promote(types) if attrs["kind"] == "max" else widened(types, attrs)


@operator("_npx_pooling", rule=_pooled, pattern="complex", scalars=False, prefers_xla=True)
def _pooling(
    xp: Any,
    x: Any,
    *,
    kind: str,
    kernel: Any,
    stride: Any,
    pad: Any,
    ceil: bool,
    count_pad: bool,
    power: int,
    axes: Any,
) -> Any:
    """Pooling: maximum, sum, mean or p-norm of windows over the spatial axes.

    Parameters
    ----------
    kernel : tuple of int
        Size of the window.
    stride : tuple of int
        Step of the window along each spatial axis.
    pad : tuple of int
        Padding at both ends of each spatial axis.
    kind : {'max', 'avg', 'sum', 'lp'}
        Reduction of a window.
    ceil : bool
        Whether a last, partial window counts.
    count_pad : bool
        Whether a mean counts padding, too.
    power : int
        The p of the p-norm.
    axes : tuple of int
        The spatial axes.
    """
    window, steps, padding = [1] * x.ndim, [1] * x.ndim, [(0, 0)] * x.ndim
    counts: Any = onp.ones((1,) * x.ndim)
    for axis, k, s, p in zip(axes, kernel, stride, pad, strict=True):
        size = x.shape[axis]
        if size + 2 * p < k:
            raise ValueError(
                f"pooling: a window of {k} does not fit into axis {axis} of data of shape "
                f"{x.shape} with padding {p}"
            )
        spare = size + 2 * p - k
        length = (-(-spare // s) if ceil else spare // s) + 1
        window[axis], steps[axis] = k, s
        padding[axis] = (p, max(0, (length - 1) * s + k - size - p))
        counts = counts * _window_counts(size, p, k, s, length, count_pad).reshape(
            [-1 if i == axis else 1 for i in range(x.ndim)]
        )
    if kind == "max":
        return xp.pool_nd(x, "max", window, steps, padding)
    whole = all(
        x.shape[a] == k and p == (0, 0)
        for a, k, p in zip(axes, kernel, [padding[a] for a in axes], strict=True)
    )

    def summed(a: Any) -> Any:
        return (
            xp.sum(a, axis=axes, keepdims=True)
            if whole
            else xp.pool_nd(a, "sum", window, steps, padding)
        )

    if kind == "lp":
        total = summed(xp.abs(x) ** power)
        zero = total == 0  # the root has no derivative at 0
        return xp.where(
            zero,
            xp.zeros_like(total),
            xp.where(zero, xp.ones_like(total), total) ** xp.asarray(1 / power, x.dtype),
        )
    total = summed(x)
    return total if kind == "sum" else total / xp.asarray(counts, x.dtype)


def _window_counts(
    size: int, pad: int, kernel: int, stride: int, length: int, count_pad: bool
) -> Any:
    """Count the elements that each window along an axis averages, without those beyond padding."""
    first = onp.arange(length) * stride - pad
    low, high = (-pad, size + pad) if count_pad else (0, size)
    return onp.maximum(onp.minimum(first + kernel, high) - onp.maximum(first, low), 1)


def pooling(
    data: ArrayLike,
    kernel: Sizes = None,
    stride: Sizes = None,
    pad: Sizes = None,
    pool_type: str = "max",
    pooling_convention: str = "valid",
    global_pool: bool = False,
    cudnn_off: bool = False,
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: str | None = None,
) -> ndarray:
    """Pooling: maximum, mean, sum or p-norm of windows over the spatial axes.

    Parameters
    ----------
    data : array_like, shape (N, C, ...) or (N, ..., C)
        Batch, with one to three spatial axes.
    kernel : int or sequence of int
        Size of the window; not used by global pooling.
    stride : int or sequence of int, optional
        Step of the window; 1 if not given.
    pad : int or sequence of int, optional
        Padding at both ends of each spatial axis.
    pool_type : {'max', 'avg', 'sum', 'lp'}
        Maximum, mean, sum, or p-norm.
    pooling_convention : {'valid', 'full'}
        Whether a last window that only partly covers data is dropped or kept.
    global_pool : bool
        Whether there is one window, as large as the data.
    p_value : int, optional
        The p of `lp`; 2 if not given.
    count_include_pad : bool, optional
        Whether means count padding as zeros (the default), or exclude it.
    layout : {'NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'}, optional
        Order of the axes; channels come second if not given.
    cudnn_off
        A hint to MXNet's implementation, without effect.

    Raises
    ------
    ValueError
        If a window does not fit, or an option is unknown.

    Examples
    --------
    >>> image = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> npx.pooling(image, kernel=2, stride=2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    >>> npx.pooling(image, global_pool=True, pool_type="avg")
    array([[[[7.5]]]])
    """
    data = asarray(data)
    spatial = data.ndim - 2
    layout = _layout("pooling", layout, spatial)
    if pool_type not in ("max", "avg", "sum", "lp"):
        raise ValueError(
            f"pooling: pool_type must be 'max', 'avg', 'sum' or 'lp', got {pool_type!r}"
        )
    if pooling_convention not in ("valid", "full"):
        if pooling_convention == "same":
            raise NotImplementedError(
                "pooling: pooling_convention='same' is not supported; give pad instead"
            )
        raise ValueError(
            f"pooling: pooling_convention must be 'valid' or 'full', got {pooling_convention!r}"
        )
    if p_value is not None and (pool_type != "lp" or p_value < 1):
        raise ValueError(
            f"pooling: p_value is a positive int for pool_type='lp', got {p_value} for "
            f"{pool_type!r}"
        )
    axes = tuple(i for i, letter in enumerate(layout) if letter not in "NC")
    if global_pool:
        sizes = tuple(max(data.shape[i], 1) for i in axes)
        kernel, stride, pad = sizes, sizes, (0,) * spatial
    elif kernel is None:
        raise ValueError("pooling: kernel is needed unless global_pool=True")
    attrs = (
        pool_type,
        _per_axis("pooling", "kernel", kernel, spatial, 1),
        _per_axis("pooling", "stride", stride, spatial, 1),
        _per_axis("pooling", "pad", pad, spatial, 0),
        pooling_convention == "full",
        count_include_pad is None or bool(count_include_pad),
        2 if p_value is None else math.floor(p_value),
        axes,
    )
    return apply(_pooling, (data,), attrs)


__all__ = ["convolution", "pooling"]
