"""Batch normalization, with running statistics."""

from typing import Any, Literal, overload

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles, late_bound, writes
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.detaching import detached
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_moments import (
    check_length,
    moments,
    other_axes,
    scaled,
    with_statistics,
)
from npcompat.numpy_extension._nn_types import per_channel


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
        check_length(vector, axis, f"batch_norm: {name}", x.shape[axis])
    return scaled(
        xp,
        x,
        mean,
        variance,
        xp.asarray(1, x.dtype) if fix_gamma else gamma,
        beta,
        eps,
        other_axes(axis, x.ndim),
        given,
    )


@operator(
    "_npx_batch_norm",
    rule=with_statistics(5, 5),
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
        mean, variance = moments(xp, x, other_axes(axis, x.ndim), *where)
    y = _batch_norm_with(
        xp, x, gamma, beta, mean, variance, axis, eps, fix_gamma, given=x.size == 0
    )
    keep, add = xp.asarray(momentum, x.dtype), xp.asarray(1 - momentum, x.dtype)
    moved = [
        running * keep + xp.stop_gradient(m) * add
        for running, m in ((running_mean, mean), (running_var, variance))
    ]
    return y, mean, variance, *moved


@operator("_npx_batch_norm_predict", rule=with_statistics(1), complete=per_channel)
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

    The same as `batch_norm`, whose statistics are those of the whole batch, on however many devices
    it lies.

    Parameters
    ----------
    data, gamma, beta, moving_mean, moving_var, eps, momentum, fix_gamma, use_global_stats,
    output_mean_var, axis
        As for `batch_norm`.
    ndev : int
        Number of devices; anything but 1 raises NotImplementedError.
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


__all__ = ["batch_norm", "sync_batch_norm"]
