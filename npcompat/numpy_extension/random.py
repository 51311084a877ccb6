"""npx.random: distributions with MXNet's names, drawn from the stream of `np.random`."""

from typing import Any

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.op import as_shape
from npcompat._internal.support import old_paths
from npcompat.numpy import random as np_random
from npcompat.numpy._creation import placed_on
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike, ShapeLike
from npcompat.numpy._ufunc import finish
from npcompat.numpy.random._parameters import check
from npcompat.numpy.random._sampling import check_size, size_of
from npcompat.numpy_extension._nn_selection import pick


def seed(seed: int | None = None, device: Any = "all", *, ctx: Any = None) -> None:
    """Seed the random stream, as `np.random.seed` does.

    Parameters
    ----------
    seed : int, optional
        The seed; from the system's entropy if not given.
    device, ctx : {'all'}
        All devices draw from one stream: another value raises NotImplementedError.

    Examples
    --------
    >>> npx.random.seed(3)
    >>> a = npx.random.normal_n(batch_shape=2)
    >>> npx.random.seed(3)
    >>> bool((a == npx.random.normal_n(batch_shape=2)).all())
    True
    """
    device = device if ctx is None else ctx
    if device != "all":
        raise NotImplementedError(
            f"npx.random.seed(device={device!r}): all devices draw from one stream; expected 'all'"
        )
    np_random.seed(seed)


def _batched(batch_shape: Any, *parameters: Any) -> tuple[int, ...]:
    before = () if batch_shape is None else as_shape(batch_shape)
    return before + np.broadcast_shapes(*[np.shape(p) for p in parameters])


def uniform_n(
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    batch_shape: ShapeLike | None = None,
    dtype: DTypeLike = None,
    device: Any = None,
    *,
    ctx: Any = None,
) -> ndarray:
    """Draw uniform samples on [low, high), with batch axes before the shape of the bounds.

    Parameters
    ----------
    low, high : array_like
        Bounds.
    batch_shape : int or tuple of int, optional
        Axes of the result before those of the bounds.
    dtype : dtype, optional
        A float dtype; the default float if not given.
    device, ctx : Device or str, optional
        Device of the result.

    Examples
    --------
    >>> npx.random.uniform_n(np.zeros(2), 1.0, batch_shape=(3, 4)).shape
    (3, 4, 2)
    """
    return np_random.uniform(
        low, high, _batched(batch_shape, low, high), dtype=dtype, device=device, ctx=ctx
    )


def normal_n(
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    batch_shape: ShapeLike | None = None,
    dtype: DTypeLike = None,
    device: Any = None,
    *,
    ctx: Any = None,
) -> ndarray:
    """Draw normal samples, with batch axes before the shape of mean and standard deviation.

    Parameters
    ----------
    loc, scale : array_like
        Mean and standard deviation.
    batch_shape : int or tuple of int, optional
        Axes of the result before those of the parameters.
    dtype : dtype, optional
        A float dtype; the default float if not given.
    device, ctx : Device or str, optional
        Device of the result.

    Examples
    --------
    >>> npx.random.normal_n(np.zeros(2), 1.0, batch_shape=5).shape
    (5, 2)
    """
    return np_random.normal(
        loc, scale, _batched(batch_shape, loc, scale), dtype=dtype, device=device, ctx=ctx
    )


def bernoulli(
    prob: ArrayLike | None = None,
    logit: ArrayLike | None = None,
    size: ShapeLike | None = None,
    dtype: DTypeLike = None,
    device: Any = None,
    out: ndarray | None = None,
    *,
    ctx: Any = None,
) -> ndarray:
    """Draw Bernoulli samples: 1 with a probability, else 0.

    Parameters
    ----------
    prob : array_like, optional
        Probability of a 1.
    logit : array_like, optional
        Log-odds of a 1, instead of `prob`.
    size : int or tuple of int, optional
        Shape of the result; that of the parameter if not given.
    dtype : dtype, optional
        Dtype of the result; the default float if not given.
    device, ctx : Device or str, optional
        Device of the result.
    out : ndarray, optional
        Array that the result is written to.

    Examples
    --------
    >>> npx.random.bernoulli(np.array([0.0, 1.0]))
    array([0., 1.])
    """
    if (prob is None) == (logit is None):
        raise ValueError("bernoulli: expected either prob or logit")
    parameter: Any = prob if logit is None else logit
    parameters = np.asarray(parameter)
    if logit is None:
        check("prob", "probability", parameters)
    shape = parameters.shape if size is None else size_of(size)
    check_size(shape, (parameters,))
    # Noise has the precision of the parameter, at least 32 bits.
    precise = "float64" if parameters.dtype == "float64" else "float32"
    with placed_on(device if device is not None else ctx):
        if logit is None:
            drawn = np_random.uniform(0.0, 1.0, shape, dtype=precise) < parameters
        else:
            drawn = np_random.logistic(0.0, 1.0, shape, dtype=precise) < parameters
        wanted = dtypes.default_float() if dtype is None else dtypes.canonical(dtype)
        counted = np.asarray(drawn).astype(wanted)
        return finish(counted if shape or size is not None else counted[()], out, "bernoulli")


def categorical(
    data: ArrayLike,
    shape: ShapeLike | None = None,
    get_prob: bool = False,
    dtype: DTypeLike = "int32",
    *,
    device: Any = None,
    ctx: Any = None,
) -> ndarray | tuple[ndarray, ndarray]:
    """Draw categorical samples: indices along the last axis, with given probabilities.

    Parameters
    ----------
    data : array_like, shape (..., k)
        Probabilities, which add up to 1 along the last axis.
    shape : int or tuple of int, optional
        Number of samples of each distribution; one if not given.
    get_prob : bool
        Whether the log probabilities of the samples are returned, too; they are differentiable in
        `data`.
    dtype : dtype
        Dtype of the samples.
    device, ctx : Device or str, optional
        Device of the result.

    Returns
    -------
    ndarray, shape (..., *shape)
        The samples; with `get_prob` a pair of samples and log probabilities.

    Examples
    --------
    >>> npx.random.categorical(np.array([[0.0, 1.0], [1.0, 0.0]]), shape=2)
    array([[1, 1],
           [0, 0]], dtype=int32)
    """
    data = np.asarray(data)
    if not data.ndim or not data.shape[-1]:
        raise ValueError(
            f"categorical: data: expected probabilities along the last axis, got shape {data.shape}"
        )
    check("data", "probabilities", data)
    more = () if shape is None else as_shape(shape)
    batch = data.shape[:-1]
    data = data.reshape((*batch, *[1] * len(more), data.shape[-1]))
    precise = "float64" if data.dtype == "float64" else "float32"
    with placed_on(device if device is not None else ctx), np.errstate(divide="ignore"):
        noise = np_random.gumbel(0.0, 1.0, (*batch, *more, data.shape[-1]), dtype=precise)
        drawn = np.argmax(np.log(data) + noise, axis=-1)
    if not get_prob:
        return drawn.astype(dtype)
    return drawn.astype(dtype), np.log(pick(np.broadcast_to(data, noise.shape), drawn))


def multinomial(
    n: ArrayLike,
    p: ArrayLike,
    shape: ShapeLike | None = None,
    ctx: Any = None,
    dtype: DTypeLike = "int32",
    *,
    device: Any = None,
) -> ndarray:
    """Draw multinomial samples: counts of the outcomes of a number of trials.

    Parameters
    ----------
    n : array_like of int, shape (...)
        Numbers of trials.
    p : array_like, shape (..., k)
        Probabilities of the outcomes, which add up to 1 along the last axis.
    shape : int or tuple of int, optional
        Number of samples of each distribution; one if not given.
    dtype : dtype
        Dtype of the counts.
    device, ctx : Device or str, optional
        Device of the result.

    Returns
    -------
    ndarray, shape (..., *shape, k)
        The counts.

    Examples
    --------
    >>> npx.random.multinomial(np.array([2, 3]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[0, 2],
           [3, 0]], dtype=int32)
    """
    trials, prob = np.asarray(n).astype("int64"), np.asarray(p).astype("float64")
    batch = np.broadcast_shapes(trials.shape, prob.shape[:-1])
    more = () if shape is None else as_shape(shape)
    ones = [1] * len(more)
    prob = np.broadcast_to(prob, (*batch, prob.shape[-1])).reshape((*batch, *ones, prob.shape[-1]))
    trials = np.broadcast_to(trials, batch).reshape((*batch, *ones))
    drawn = np_random.Generator(np_random.get_bit_generator()).multinomial(
        trials, prob, (*batch, *more), device=device, ctx=ctx
    )
    return drawn.astype(dtype)


__getattr__ = old_paths.names_of(__name__)
__all__ = ["bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n"]
