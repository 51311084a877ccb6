"""Normalization over layers, groups and instances."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Literal, overload

from npcompat._internal.core.op import Op, from_function, normalized_axes, operator, register
from npcompat._internal.core.program_cache import ProgramCache
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_moments import (
    along,
    check_length,
    deviation,
    moments,
    normalizing,
    scaled,
    with_statistics,
)
from npcompat.numpy_extension._nn_types import per_channel, widened


def _variants(name: str, statistics: int) -> Callable[[Callable[..., Any]], tuple[Op, Op]]:
    """Declare two operators: one returns the normalized data, one also the statistics."""

    def declare(compute: Callable[..., Any]) -> tuple[Op, Op]:
        @wraps(compute)
        def alone(xp: Any, *arrays: Any, **attrs: Any) -> Any:
            return compute(xp, *arrays, **attrs)[0]

        outputs = 1 + statistics
        full = from_function(
            f"{name}_statistics",
            compute,
            rule=with_statistics(outputs),
            outputs=outputs,
            complete=per_channel,
        )
        only = replace(
            full,
            name=name,
            compute=alone,
            rule=with_statistics(1),
            outputs=1,
            programs=ProgramCache(),
        )
        return register(only), register(full)

    return declare


@_variants("_npx_layer_norm", 2)
def _layer_norm(xp: Any, x: Any, gamma: Any, beta: Any, *, axis: int, eps: float) -> Any:
    """Layer normalization over one axis: the result, mean, and standard deviation."""
    (axis,) = normalized_axes(axis, x.ndim)
    mean, variance = [xp.unsqueeze(m, (axis,)) for m in moments(xp, x, (axis,))]
    gamma, beta = (
        along(xp, v, axis, x.ndim, f"layer_norm: {n}", x.shape[axis])
        for v, n in ((gamma, "gamma"), (beta, "beta"))
    )
    return (
        (x - mean) * normalizing(xp, variance, eps) * gamma + beta,
        mean,
        deviation(xp, variance, eps),
    )


@overload
def layer_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: Literal[False] = False,
) -> ndarray: ...


@overload
def layer_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
) -> ndarray | tuple[ndarray, ndarray, ndarray]: ...


def layer_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
) -> ndarray | tuple[ndarray, ndarray, ndarray]:
    """Layer normalization over one axis (Ba et al., 2016).

    Parameters
    ----------
    data : array_like
        Operand.
    gamma, beta : array_like, shape (data.shape[axis],)
        Scale and offset.
    axis : int
        The axis to normalize over.
    eps : float
        Added to the variance, for numerical stability.
    output_mean_var : bool
        Whether mean and standard deviation are returned too; the axis stays in them, with length 1.

    Examples
    --------
    >>> npx.layer_norm([[1.0, 3.0]], np.ones(2), np.zeros(2)).round(3)
    array([[-1.,  1.]])
    """
    return apply(_layer_norm[bool(output_mean_var)], (data, gamma, beta), (int(axis), float(eps)))


@_variants("_npx_group_norm", 2)
def _group_norm(xp: Any, x: Any, gamma: Any, beta: Any, *, num_groups: int, eps: float) -> Any:
    """Group normalization: the result, and mean and standard deviation of each group."""
    if x.ndim < 2 or x.shape[1] % num_groups:
        raise ValueError(
            f"group_norm: data of shape {x.shape} must have channels (axis 1) that {num_groups} "
            "groups divide"
        )
    channels = x.shape[1]
    grouped = xp.reshape(x, (x.shape[0], num_groups, channels // num_groups, *x.shape[2:]))
    inner = tuple(range(2, grouped.ndim))
    mean, variance = moments(xp, grouped, inner)
    centre, scale = [xp.unsqueeze(v, inner) for v in (mean, normalizing(xp, variance, eps))]
    y = xp.reshape((grouped - centre) * scale, x.shape)
    gamma, beta = (
        along(xp, v, 1, x.ndim, f"group_norm: {n}", channels)
        for v, n in ((gamma, "gamma"), (beta, "beta"))
    )
    return y * gamma + beta, mean, deviation(xp, variance, eps)


@overload
def group_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int = 1,
    eps: float = 1e-3,
    output_mean_var: Literal[False] = False,
) -> ndarray: ...


@overload
def group_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int = 1,
    eps: float = 1e-3,
    output_mean_var: bool = False,
) -> ndarray | tuple[ndarray, ndarray, ndarray]: ...


def group_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int = 1,
    eps: float = 1e-3,
    output_mean_var: bool = False,
) -> ndarray | tuple[ndarray, ndarray, ndarray]:
    """Group normalization, over groups of channels (Wu and He, 2018).

    Parameters
    ----------
    data : array_like, shape (N, C, ...)
        Batch.
    gamma, beta : array_like, shape (C,)
        Scale and offset of each channel.
    num_groups : int
        Number of groups, which must divide C.
    eps : float
        Added to the variance, for numerical stability.
    output_mean_var : bool
        Whether mean and standard deviation, of shape (N, num_groups), are returned too.

    Examples
    --------
    >>> npx.group_norm([[1.0, 3.0, 5.0, 9.0]], np.ones(4), np.zeros(4), num_groups=2).round(2)
    array([[-1.,  1., -1.,  1.]])
    """
    return apply(
        _group_norm[bool(output_mean_var)], (data, gamma, beta), (int(num_groups), float(eps))
    )


@operator("_npx_instance_norm", rule=with_statistics(1), complete=per_channel)
def _instance_norm(xp: Any, x: Any, gamma: Any, beta: Any, *, eps: float) -> Any:
    """Instance normalization: each channel of each sample over the spatial axes."""
    if x.ndim < 3:
        raise ValueError(
            "instance_norm: data must have at least 3 axes (batch, channel, space), got shape "
            f"{x.shape}"
        )
    spatial = tuple(range(2, x.ndim))
    for name, vector in {"gamma": gamma, "beta": beta}.items():
        check_length(vector, 1, f"instance_norm: {name}", x.shape[1])
    gamma, beta = xp.unsqueeze(gamma, (0,)), xp.unsqueeze(beta, (0,))
    return scaled(xp, x, *moments(xp, x, spatial), gamma, beta, eps, spatial, given=False)


def instance_norm(data: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float = 1e-3) -> ndarray:
    """Instance normalization of each channel over its spatial axes (Ulyanov et al., 2016).

    Parameters
    ----------
    data : array_like, shape (N, C, ...)
        Batch with at least one spatial axis.
    gamma, beta : array_like, shape (C,)
        Scale and offset of each channel.
    eps : float
        Added to the variance, for numerical stability.

    Examples
    --------
    >>> npx.instance_norm([[[1.0, 3.0]]], np.ones(1), np.zeros(1)).round(2)
    array([[[-1.,  1.]]])
    """
    return apply(_instance_norm, (data, gamma, beta), (float(eps),))


@operator("_npx_l2_normalization", rule=widened)
def _l2_normalization(xp: Any, x: Any, *, eps: float, mode: str) -> Any:
    """L2 normalization: division by the 2-norm over a part of the axes."""
    axes = {
        "instance": tuple(range(1, x.ndim)),
        "channel": (1,),
        "spatial": tuple(range(2, x.ndim)),
    }[mode]
    if x.ndim < {"instance": 2, "channel": 2, "spatial": 3}[mode]:
        raise ValueError(
            f"l2_normalization: mode={mode!r} needs more axes than data of shape {x.shape} has"
        )
    return x / xp.sqrt(xp.sum(x * x, axis=axes, keepdims=True) + xp.asarray(eps, x.dtype))


def l2_normalization(data: ArrayLike, eps: float = 1e-10, mode: str = "instance") -> ndarray:
    """L2 normalization: divide by the 2-norm of samples, of positions, or of channels.

    Parameters
    ----------
    data : array_like, shape (N, C, ...)
        Batch.
    eps : float
        Added to the sum of squares.
    mode : {'instance', 'channel', 'spatial'}
        The norm is that of a sample, of a position over the channels, or of a channel over space.

    Examples
    --------
    >>> npx.l2_normalization([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """
    if mode not in ("instance", "channel", "spatial"):
        raise ValueError(
            f"l2_normalization: mode must be 'instance', 'channel' or 'spatial', got {mode!r}"
        )
    if not math.isfinite(eps):
        raise ValueError(f"l2_normalization: eps must be finite, got {eps}")
    return apply(_l2_normalization, (data,), (float(eps), mode))


__all__ = ["group_norm", "instance_norm", "l2_normalization", "layer_norm"]
