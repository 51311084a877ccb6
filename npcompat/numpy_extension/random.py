"""npx.random: distributions with MXNet's names, drawn from the stream of `np.random`."""

from typing import Any

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.op import as_shape
from npcompat.numpy import random as np_random
from npcompat.numpy._creation import placed_on
from npcompat.numpy._typing import ArrayLike, DTypeLike, ShapeLike
from npcompat.numpy._ufunc import finish
from npcompat.numpy.random._parameters import check
from npcompat.numpy.random._sampling import check_size, size_of
from npcompat.numpy_extension._nn_selection import pick


def seed(seed: int | None = None, device: Any = "all") -> None:
    """Begin the stream of random numbers again, as `np.random.seed` does.

    Parameters
    ----------
    seed : int, optional
        Where; from the system's entropy if not given.
    device : {'all'}
        All devices draw from one stream: another value raises NotImplementedError.

    Examples
    --------
    >>> npx.random.seed(3)
    >>> a = npx.random.normal_n(batch_shape=2)
    >>> npx.random.seed(3)
    >>> bool((a == npx.random.normal_n(batch_shape=2)).all())
    True
    """
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
) -> Any:
    """Uniform on [low, high): samples of the shape of the bounds, as many as `batch_shape` says.

    Parameters
    ----------
    low, high : array_like
        Bounds.
    batch_shape : int or tuple of int, optional
        What stands before the shape of the bounds in that of the result.
    dtype : dtype, optional
        A float dtype; the default float if not given.
    device, ctx : Device or str, optional
        Where to place the result.

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
) -> Any:
    """Normal with a mean and a standard deviation: samples of their shape, as many as `batch_shape`
    says.

    Parameters
    ----------
    loc, scale : array_like
        Mean and standard deviation.
    batch_shape : int or tuple of int, optional
        What stands before the shape of the parameters in that of the result.
    dtype : dtype, optional
        A float dtype; the default float if not given.
    device, ctx : Device or str, optional
        Where to place the result.

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
    out: Any = None,
    *,
    ctx: Any = None,
) -> Any:
    """1 with a probability, else 0.

    Parameters
    ----------
    prob : array_like, optional
        Probability of a 1.
    logit : array_like, optional
        Its log-odds, in the place of `prob`.
    size : int or tuple of int, optional
        Shape of the result; that of the parameter if not given.
    dtype : dtype, optional
        Of the result; the default float if not given.
    device, ctx : Device or str, optional
        Where to place the result.
    out : ndarray, optional
        Where the result is written.

    Examples
    --------
    >>> npx.random.bernoulli(np.array([0.0, 1.0]))
    array([0., 1.])
    """
    if (prob is None) == (logit is None):
        raise ValueError("bernoulli: expected either prob or logit")
    given = np.asarray(prob if logit is None else logit)
    if logit is None:
        check("prob", "probability", given)
    shape = given.shape if size is None else size_of(size)
    check_size(shape, (given,))
    # Noise has the digits of the parameter, 32 bits at least.
    precise = "float64" if given.dtype == "float64" else "float32"
    with placed_on(device if device is not None else ctx):
        if logit is None:
            drawn = np_random.uniform(0.0, 1.0, shape, dtype=precise) < given
        else:
            drawn = np_random.logistic(0.0, 1.0, shape, dtype=precise) < given
        wanted = dtypes.default_float() if dtype is None else dtypes.canonical(dtype)
        return finish(drawn.astype(wanted), out, "bernoulli")


def categorical(
    data: ArrayLike,
    shape: ShapeLike | None = None,
    get_prob: bool = False,
    dtype: DTypeLike = "int32",
    *,
    device: Any = None,
    ctx: Any = None,
) -> Any:
    """Positions along the last axis, each drawn with its probability.

    Parameters
    ----------
    data : array_like, shape (..., k)
        Probabilities, which add up to 1 along the last axis.
    shape : int or tuple of int, optional
        How many are drawn from each; one if not given.
    get_prob : bool
        Whether the logarithms of the probabilities of what was drawn are returned, too; they are
        differentiable in `data`.
    dtype : dtype
        Of the positions.
    device, ctx : Device or str, optional
        Where to place the result.

    Returns
    -------
    ndarray, shape (..., *shape)
        The positions; with `get_prob` a pair of arrays.

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
) -> Any:
    """How often each outcome occurs in a number of trials.

    Parameters
    ----------
    n : array_like of int, shape (...)
        Numbers of trials.
    p : array_like, shape (..., k)
        Probabilities of the outcomes, which add up to 1 along the last axis.
    shape : int or tuple of int, optional
        How many are drawn from each; one if not given.
    dtype : dtype
        Of the counts.
    device, ctx : Device or str, optional
        Where to place the result.

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
    n, p = np.asarray(n).astype("int64"), np.asarray(p).astype("float64")
    batch = np.broadcast_shapes(n.shape, p.shape[:-1])
    more = () if shape is None else as_shape(shape)
    ones = [1] * len(more)
    p = np.broadcast_to(p, (*batch, p.shape[-1])).reshape((*batch, *ones, p.shape[-1]))
    n = np.broadcast_to(n, batch).reshape((*batch, *ones))
    drawn = np_random.Generator(np_random.get_bit_generator()).multinomial(
        n, p, (*batch, *more), device=device, ctx=ctx
    )
    return drawn.astype(dtype)


__all__ = ["bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n"]
