"""Normalization over the batch, over layers, groups and instances."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Literal, overload

from npcompat._internal.autograd.tape import detached
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, from_function, normalized_axes, operator, register
from npcompat._internal.core.program_cache import ProgramCache
from npcompat._internal.dispatch import handles, late_bound, writes
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import per_channel, widened, working_dtype

# --- shared by the operators ----------------------------------------------------------------------


def _with_statistics(outputs: int, operands: int | None = None) -> Any:
    """Type rule: the result has the data's dtype, statistics that of the computation.

    Masks follow the first `operands` inputs.
    """

    def rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
        dtype = dtypes.floating(types[:1])[1]
        others = types[1:operands]
        working = dtypes.result_type(
            [working_dtype(dtype), *[working_dtype(dtypes.floating((t,))[1]) for t in others]]
        )
        found = dtype if outputs == 1 else (dtype, *[working] * (outputs - 1))
        return [working] * (1 + len(others)) + [None] * (len(types) - 1 - len(others)), found

    return rule


def _moments(xp: Any, x: Any, axes: tuple[int, ...], where: Any = True) -> tuple[Any, Any]:
    """Return mean and variance over axes, of the elements that a mask selects.

    While gradients are recorded, squares are taken about the detached mean c, and the square of
    mean - c, which is 0, is subtracted. The variance is the same for any constant c, so all its
    derivatives are right; and none of them needs a pass over all elements for the mean's sake.
    """
    if where is True:
        count = xp.asarray(max(math.prod([x.shape[a] for a in axes]), 1), x.dtype)
    else:
        where = xp.broadcast_to(where, x.shape)
        count = xp.maximum(xp.sum(xp.astype(where, x.dtype), axis=axes), xp.asarray(1, x.dtype))
    mean = xp.sum(x, axis=axes, where=where) / count
    centre, distance = xp.about(mean)
    variance = xp.sum(xp.square(x - xp.unsqueeze(centre, axes)), axis=axes, where=where) / count
    return mean, variance if distance is None else variance - xp.square(distance)


def _deviation(xp: Any, variance: Any, eps: float) -> Any:
    return xp.sqrt(variance + xp.asarray(eps, variance.dtype))


def _normalizing(xp: Any, variance: Any, eps: float) -> Any:
    """Return the reciprocal standard deviation, the factor of deviations from the mean."""
    return xp.rsqrt(variance + xp.asarray(eps, variance.dtype))


def _scaled(
    xp: Any,
    x: Any,
    mean: Any,
    variance: Any,
    gamma: Any,
    beta: Any,
    eps: float,
    axes: tuple[int, ...],
    given: bool,
) -> Any:
    """Normalize over axes, with one variance for each gamma.

    Deviations are taken about a constant, as in `_moments`, unless the moments are `given`.
    """
    scale = gamma * _normalizing(xp, variance, eps)
    centre, distance = (mean, None) if given else xp.about(mean)
    shift = beta if distance is None else beta - distance * scale
    centre, scale, shift = [xp.unsqueeze(v, axes) for v in (centre, scale, shift)]
    return (x - centre) * scale + shift


def _along(xp: Any, vector: Any, axis: int, ndim: int, what: str, length: int) -> Any:
    """Reshape a vector with one entry per channel so that it broadcasts along the channel axis."""
    _check_length(vector, axis, what, length)
    return xp.unsqueeze(vector, _others(axis, ndim))


def _check_length(vector: Any, axis: int, what: str, length: int) -> None:
    if vector.shape != (length,):
        raise ValueError(
            f"{what}: expected shape ({length},), one entry for each position along axis {axis}, "
            f"got {vector.shape}"
        )


def _others(axis: int, ndim: int) -> tuple[int, ...]:
    return tuple([i for i in range(ndim) if i != axis])


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
            rule=_with_statistics(outputs),
            outputs=outputs,
            complete=per_channel,
        )
        only = replace(
            full,
            name=name,
            compute=alone,
            rule=_with_statistics(1),
            outputs=1,
            programs=ProgramCache(),
        )
        return register(only), register(full)

    return declare


# --- batch ----------------------------------------------------------------------------------------


def _batch_norm_with(
    xp: Any,
    x: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    variance: Any,
    axis: int,
    eps: float,
    fix_gamma: bool,
    given: bool,
) -> Any:
    for name, vector in {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}.items():
        _check_length(vector, axis, f"batch_norm: {name}", x.shape[axis])
    return _scaled(
        xp,
        x,
        mean,
        variance,
        xp.asarray(1, x.dtype) if fix_gamma else gamma,
        beta,
        eps,
        _others(axis, x.ndim),
        given,
    )


@operator(
    "_npx_batch_norm",
    rule=_with_statistics(5, 5),
    outputs=5,
    complete=per_channel,
    overwrites=((3, 3), (4, 4)),
)
def _batch_norm(
    xp: Any,
    x: Any,
    gamma: Any,
    beta: Any,
    running_mean: Any,
    running_var: Any,
    *where: Any,
    eps: float,
    momentum: float,
    fix_gamma: bool,
    axis: int,
) -> Any:
    """Batch normalization with the statistics of the batch; also updates the running ones.

    Returns the result, mean, variance, and the running mean and variance.

    Parameters
    ----------
    where : array of bool, optional
        True for elements that the statistics include.
    """
    axis %= x.ndim
    if x.size == 0:
        mean, variance = running_mean, running_var
    else:
        mean, variance = _moments(xp, x, _others(axis, x.ndim), *where)
    y = _batch_norm_with(
        xp, x, gamma, beta, mean, variance, axis, eps, fix_gamma, given=x.size == 0
    )
    keep, add = xp.asarray(momentum, x.dtype), xp.asarray(1 - momentum, x.dtype)
    moved = [
        running * keep + xp.stop_gradient(m) * add
        for running, m in ((running_mean, mean), (running_var, variance))
    ]
    return y, mean, variance, *moved


@operator("_npx_batch_norm_predict", rule=_with_statistics(1), complete=per_channel)
def _batch_norm_predict(
    xp: Any,
    x: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    variance: Any,
    *,
    eps: float,
    fix_gamma: bool,
    axis: int,
) -> Any:
    """Batch normalization with given statistics.

    Parameters
    ----------
    mean : array
        Mean of each channel.
    variance : array
        Variance of each channel.
    """
    return _batch_norm_with(
        xp, x, gamma, beta, mean, variance, axis % x.ndim, eps, fix_gamma, given=True
    )


def _reciprocal(variance: Any, eps: float) -> Any:
    """Return the reciprocal standard deviation of an array or a symbol."""
    return (variance + eps) ** -0.5


@overload
def batch_norm(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    running_mean: ndarray,
    running_var: ndarray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: Literal[False] = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> ndarray: ...


@overload
def batch_norm(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    running_mean: ndarray,
    running_var: ndarray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> ndarray | tuple[ndarray, ndarray, ndarray]: ...


def batch_norm(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    running_mean: ndarray,
    running_var: ndarray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> ndarray | tuple[ndarray, ndarray, ndarray]:
    """Batch normalization of each channel (Ioffe and Szegedy, 2015).

    Training mode normalizes with the batch's own mean and (biased) variance, and updates the
    running statistics, which must be npcompat arrays, in place. Prediction mode normalizes with the
    running ones.

    Parameters
    ----------
    x : array_like
        Batch.
    gamma, beta : array_like, shape (channels,)
        Scale and offset.
    running_mean, running_var : ndarray, shape (channels,)
        Statistics for prediction; written in training mode.
    eps : float
        Added to the variance, for numerical stability.
    momentum : float
        Share of the running statistics that an update keeps.
    fix_gamma : bool
        Whether the scale is 1, whatever `gamma` holds.
    use_global_stats : bool
        Whether the running statistics are used (and kept) in training too.
    output_mean_var : bool
        Whether the mean that was used is returned too, and `1 / sqrt(variance + eps)`.
    axis : int
        The axis of the channels.
    cudnn_off
        A hint to MXNet's implementation, without effect.
    min_calib_range, max_calib_range : None
        Quantization is not supported: anything else raises NotImplementedError.

    Returns
    -------
    ndarray, or tuple of three
        The normalized batch; with `output_mean_var` also the mean and the reciprocal standard
        deviation, as in MXNet.

    Examples
    --------
    >>> mean, variance = np.zeros(1), np.ones(1)
    >>> with autograd.train_mode():
    ...     y = npx.batch_norm([[1.0], [3.0]], np.ones(1), np.zeros(1), mean, variance)
    >>> y.round(2)
    array([[-1.],
           [ 1.]])
    >>> mean
    array([0.2])
    """
    if min_calib_range is not None or max_calib_range is not None:
        raise NotImplementedError(
            "batch_norm: min_calib_range and max_calib_range (quantization) are not supported"
        )
    attrs = (float(eps), float(momentum), bool(fix_gamma), int(axis))
    if use_global_stats or not modes.current().training:
        y = apply(
            _batch_norm_predict,
            (x, gamma, beta, running_mean, running_var),
            (attrs[0], attrs[2], attrs[3]),
        )
        return (y, running_mean, _reciprocal(running_var, eps)) if output_mean_var else y
    for what, running in (("running_mean", running_mean), ("running_var", running_var)):
        if not isinstance(running, Handle):
            raise TypeError(
                f"batch_norm: {what} is written in training mode and must be an npcompat ndarray, "
                f"got {type(running).__name__}"
            )
    operands: tuple[Any, ...] = (x, gamma, beta, running_mean, running_var)
    results = apply(_batch_norm, operands, attrs)
    for output, operand in _batch_norm.overwrites:
        running, moved = operands[operand], results[output]
        if type(running) is not late_bound.symbol:  # a symbol's dtype may be unknown
            moved = moved.astype(running.dtype, copy=False)
        writes.write(running, detached(handles.read(moved)))
    y, mean, variance = results[:3]
    return (y, mean, _reciprocal(variance, eps)) if output_mean_var else y


def sync_batch_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    moving_mean: ndarray,
    moving_var: ndarray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    ndev: int = 1,
    key: str = "",
    *,
    axis: int = 1,
) -> ndarray | tuple[ndarray, ndarray, ndarray]:
    """Synchronized batch normalization, over the batches of several devices.

    There is one device here, so it is the same as `batch_norm`.

    Parameters
    ----------
    data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma, use_global_stats,
    output_mean_var, axis
        As for `batch_norm`.
    ndev : int
        Number of devices.  Training is on one: more raise NotImplementedError.
    key : str
        Name of the layer, by which MXNet's devices find each other; unused.

    Examples
    --------
    >>> gamma, beta, mean, var = np.ones(1), np.zeros(1), np.array([1.0]), np.ones(1)
    >>> npx.sync_batch_norm([[1.0], [3.0]], gamma, beta, mean, var, eps=0.0)
    array([[0.],
           [2.]])
    """
    if ndev != 1:
        raise NotImplementedError(
            f"sync_batch_norm: ndev={ndev}: statistics are those of the whole batch, on however "
            "many devices it lies; leave the argument out"
        )
    return batch_norm(
        data,
        gamma,
        beta,
        moving_mean,
        moving_var,
        eps,
        momentum,
        fix_gamma,
        use_global_stats,
        output_mean_var,
        axis,
    )


# --- layers, groups, instances --------------------------------------------------------------------


@_variants("_npx_layer_norm", 2)
def _layer_norm(xp: Any, x: Any, gamma: Any, beta: Any, *, axis: int, eps: float) -> Any:
    """Layer normalization over one axis: the result, mean, and standard deviation."""
    (axis,) = normalized_axes(axis, x.ndim)
    mean, variance = [xp.unsqueeze(m, (axis,)) for m in _moments(xp, x, (axis,))]
    gamma, beta = (
        _along(xp, v, axis, x.ndim, f"layer_norm: {n}", x.shape[axis])
        for v, n in ((gamma, "gamma"), (beta, "beta"))
    )
    return (
        (x - mean) * _normalizing(xp, variance, eps) * gamma + beta,
        mean,
        _deviation(xp, variance, eps),
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
    mean, variance = _moments(xp, grouped, inner)
    centre, scale = [xp.unsqueeze(v, inner) for v in (mean, _normalizing(xp, variance, eps))]
    y = xp.reshape((grouped - centre) * scale, x.shape)
    gamma, beta = (
        _along(xp, v, 1, x.ndim, f"group_norm: {n}", channels)
        for v, n in ((gamma, "gamma"), (beta, "beta"))
    )
    return y * gamma + beta, mean, _deviation(xp, variance, eps)


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


@operator("_npx_instance_norm", rule=_with_statistics(1), complete=per_channel)
def _instance_norm(xp: Any, x: Any, gamma: Any, beta: Any, *, eps: float) -> Any:
    """Instance normalization: each channel of each sample over the spatial axes."""
    if x.ndim < 3:
        raise ValueError(
            "instance_norm: data must have at least 3 axes (batch, channel, space), got shape "
            f"{x.shape}"
        )
    spatial = tuple(range(2, x.ndim))
    for name, vector in {"gamma": gamma, "beta": beta}.items():
        _check_length(vector, 1, f"instance_norm: {name}", x.shape[1])
    gamma, beta = xp.unsqueeze(gamma, (0,)), xp.unsqueeze(beta, (0,))
    return _scaled(xp, x, *_moments(xp, x, spatial), gamma, beta, eps, spatial, given=False)


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


__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "l2_normalization",
    "layer_norm",
    "sync_batch_norm",
]
