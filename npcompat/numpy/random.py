"""Random numbers: the functions of `np.random`, `default_rng` and `RandomState`.

The stream is Threefry's, not NumPy's: a key and a counter, the same numbers on every backend, eager and compiled.
"""

import builtins
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes
from npcompat._internal import random as streams
from npcompat._internal.devices import as_device
from npcompat._internal.dtypes import Resolution, Type
from npcompat._internal.handle import Handle
from npcompat._internal.op import Op, as_shape, operator
from npcompat._internal.random import Stream
from npcompat.numpy._creation import asarray
from npcompat.numpy._ranges import arange
from npcompat.numpy._selection import take
from npcompat.numpy._typing import ArrayLike, DTypeLike, ShapeLike
from npcompat.numpy._ufunc import finish

# --- operators ---------------------------------------------------------------------------------------------------

_int64 = onp.dtype("int64")


def _sampled(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Parameters are floats of the sample's dtype."""
    return [None, None, *[attrs["dtype"]] * (len(types) - 2)], (attrs["dtype"], _int64)


def _counted(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Samples are integers; parameters keep their dtypes."""
    return [None, None, *[dtypes.strong(t) for t in types[2:]]], (attrs.get("dtype") or _int64, _int64)


def _floats(name: str, kernel: str) -> Op:
    def compute(xp: Any, key: Any, counter: Any, *parameters: Any, size: Any = None, dtype: Any = None) -> Any:
        return getattr(xp, kernel)(key, counter, *parameters, size, dtype), xp.next_counter(counter)

    return operator(name, rule=_sampled, outputs=2, kernels={"jax": compute})(compute)


_uniform = _floats("_npi_random_uniform", "random_uniform")
_normal = _floats("_npi_random_normal", "random_normal")
_exponential = _floats("_npi_random_exponential", "random_exponential")
_gamma = _floats("_npi_random_gamma", "random_gamma")
_beta = _floats("_npi_random_beta", "random_beta")
_laplace = _floats("_npi_random_laplace", "random_laplace")
_gumbel = _floats("_npi_random_gumbel", "random_gumbel")
_logistic = _floats("_npi_random_logistic", "random_logistic")


def _integers_compute(xp: Any, key: Any, counter: Any, low: Any, high: Any, *, size: Any = None, dtype: Any = None) -> Any:
    return xp.random_integers(key, counter, low, high, size, dtype), xp.next_counter(counter)


def _choice_compute(xp: Any, key: Any, counter: Any, *probabilities: Any, n: int = 1, size: Any = (), replace: bool = True) -> Any:
    p = probabilities[0] if probabilities else None
    return xp.random_choice(key, counter, p, n, size, replace), xp.next_counter(counter)


def _permutation_compute(xp: Any, key: Any, counter: Any, *, n: int = 1) -> Any:
    return xp.random_permutation(key, counter, n), xp.next_counter(counter)


def _poisson_compute(xp: Any, key: Any, counter: Any, lam: Any, *, size: Any = None) -> Any:
    return xp.random_poisson(key, counter, lam, size), xp.next_counter(counter)


def _binomial_compute(xp: Any, key: Any, counter: Any, n: Any, p: Any, *, size: Any = None) -> Any:
    return xp.random_binomial(key, counter, n, p, size), xp.next_counter(counter)


def _bernoulli_compute(xp: Any, key: Any, counter: Any, p: Any, *, size: Any = None, dtype: Any = None) -> Any:
    return xp.random_bernoulli(key, counter, p, size, dtype), xp.next_counter(counter)


def _integer_op(name: str, compute: Any) -> Op:
    return operator(name, rule=_counted, outputs=2, kernels={"jax": compute}, differentiable=False)(compute)


_integers = _integer_op("_npi_random_integers", _integers_compute)
_choice = _integer_op("_npi_random_choice", _choice_compute)
_permutation = _integer_op("_npi_random_permutation", _permutation_compute)
_poisson = _integer_op("_npi_random_poisson", _poisson_compute)
_binomial = _integer_op("_npi_random_binomial", _binomial_compute)
_bernoulli = _integer_op("_npi_random_bernoulli", _bernoulli_compute)


# --- generators --------------------------------------------------------------------------------------------------


def _size(size: Any) -> tuple[int, ...] | None:
    return None if size is None else as_shape(size)


def _float(dtype: Any) -> onp.dtype[Any]:
    if dtype is None:
        return dtypes.default_float()
    wanted = dtypes.canonical(dtype)
    if not dtypes.is_float(wanted):
        raise TypeError(f"Unsupported dtype {wanted!r} for random: expected a float dtype")
    return wanted


class _Distributions:
    """What `Generator`, `RandomState` and the functions of the module share."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def _draw(self, op: Op, operands: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None, device: Any = None) -> Any:
        _check_size(op.named(attrs).get("size"), () if op is _choice else operands)
        with nullcontext() if device is None else as_device(device):
            sample = dispatch.wrap(self._stream.draw(op, operands, attrs))
        return finish(sample, out, op.name.removeprefix("_npi_random_"))

    def uniform(
        self,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Samples that are uniform on [low, high).

        Parameters
        ----------
        low, high : array_like of float
            Bounds.
        size : int or tuple of int, optional
            Shape of the result; that of the broadcast bounds if not given.
        dtype : dtype, optional
            A float dtype; the default float if not given.
        device, ctx : Device or str, optional
            Where to place the result.
        out : ndarray, optional
            Where the result is written.

        Examples
        --------
        >>> np.random.seed(1)
        >>> x = np.random.uniform(2, 3, size=(100,))
        >>> bool((x >= 2).all() and (x < 3).all())
        True
        """
        return self._draw(_uniform, (low, high), (_size(size), _float(dtype)), out, device if device is not None else ctx)

    def normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Samples of a normal distribution with mean `loc` and standard deviation `scale`; see `uniform`.

        Examples
        --------
        >>> np.random.normal(0, 1, size=(2, 3)).shape
        (2, 3)
        """
        _not_negative("scale", scale)
        return self._draw(_normal, (loc, scale), (_size(size), _float(dtype)), out, device if device is not None else ctx)

    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None, out: Any = None) -> Any:
        """Samples of a normal distribution with mean 0 and standard deviation 1.

        Examples
        --------
        >>> np.random.standard_normal(4).shape
        (4,)
        """
        return self.normal(0.0, 1.0, size, dtype, out=out)

    def exponential(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of an exponential distribution with mean `scale`.

        Examples
        --------
        >>> bool((np.random.exponential(2.0, size=10) >= 0).all())
        True
        """
        _not_negative("scale", scale)
        return self._draw(_exponential, (scale,), (_size(size), _float(None)))

    def gamma(self, shape: ArrayLike, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of a gamma distribution; differentiable in both parameters.

        Examples
        --------
        >>> np.random.gamma(2.0, size=3).shape
        (3,)
        """
        _not_negative("shape", shape)
        _not_negative("scale", scale)
        return self._draw(_gamma, (shape, scale), (_size(size), _float(None)))

    def beta(self, a: ArrayLike, b: ArrayLike, size: ShapeLike | None = None) -> Any:
        """Samples of a beta distribution.

        Examples
        --------
        >>> np.random.beta(2.0, 3.0, size=3).shape
        (3,)
        """
        return self._draw(_beta, (a, b), (_size(size), _float(None)))

    def laplace(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of a Laplace distribution.

        Examples
        --------
        >>> np.random.laplace(size=3).shape
        (3,)
        """
        _not_negative("scale", scale)
        return self._draw(_laplace, (loc, scale), (_size(size), _float(None)))

    def gumbel(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of a Gumbel distribution.

        Examples
        --------
        >>> np.random.gumbel(size=3).shape
        (3,)
        """
        _not_negative("scale", scale)
        return self._draw(_gumbel, (loc, scale), (_size(size), _float(None)))

    def logistic(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of a logistic distribution.

        Examples
        --------
        >>> np.random.logistic(size=3).shape
        (3,)
        """
        _not_negative("scale", scale)
        return self._draw(_logistic, (loc, scale), (_size(size), _float(None)))

    def poisson(self, lam: ArrayLike = 1.0, size: ShapeLike | None = None) -> Any:
        """Samples of a Poisson distribution with mean `lam`.

        Examples
        --------
        >>> np.random.poisson(3.0, size=4).dtype
        dtype('int64')
        """
        _not_negative("lam", lam)
        return self._draw(_poisson, (lam,), (_size(size),))

    def binomial(self, n: ArrayLike, p: ArrayLike, size: ShapeLike | None = None) -> Any:
        """Numbers of successes in `n` trials of probability `p`.

        Examples
        --------
        >>> int(np.random.binomial(5, 1.0))
        5
        """
        return self._draw(_binomial, (n, p), (_size(size),))

    def permutation(self, x: Any) -> Any:
        """A range, or a copy of an array, in random order along the first axis.

        Examples
        --------
        >>> np.sort(np.random.permutation(4))
        array([0, 1, 2, 3])
        """
        if isinstance(x, int | onp.integer):
            return self._draw(_permutation, (), (int(x),))
        x = asarray(x)
        if not x.shape:
            raise IndexError("x must be an integer or at least 1-dimensional")
        return take(x, self._draw(_permutation, (), (x.shape[0],)), axis=0)

    def shuffle(self, x: Any) -> None:
        """Bring an array into random order along its first axis, in place.

        Examples
        --------
        >>> a = np.arange(5)
        >>> np.random.shuffle(a)
        >>> np.sort(a)
        array([0, 1, 2, 3, 4])
        """
        if not isinstance(x, Handle):
            raise TypeError(f"shuffle: expected an npcompat ndarray, got {type(x).__name__}")
        x[...] = self.permutation(x)  # type: ignore[index]

    def choice(
        self,
        a: Any,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Elements of an array (or of a range) at random.

        Parameters
        ----------
        a : int or 1-d array_like
            The elements; an int stands for `arange(a)`.
        size : int or tuple of int, optional
            Shape of the result; one element if not given.
        replace : bool
            Whether an element may be drawn more than once.
        p : 1-d array_like, optional
            Probabilities of the elements.
        device, ctx : Device or str, optional
            Where to place the result.
        out : ndarray, optional
            Where the result is written.

        Raises
        ------
        ValueError
            If there is nothing to choose from, or too little without replacement, or `p` does not fit.

        Examples
        --------
        >>> np.random.choice(5, size=3).shape
        (3,)
        """
        pool = arange(a) if isinstance(a, int | onp.integer) else asarray(a)
        shape = () if size is None else as_shape(size)
        count = int(onp.prod(shape))
        if len(pool.shape) != 1:
            raise ValueError("a must be 1-dimensional")
        n = pool.shape[0]
        if n == 0 and count:
            raise ValueError("a cannot be empty unless no samples are taken")
        if not replace and count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        operands: tuple[Any, ...] = ()
        if p is not None:
            p = asarray(p)
            if p.shape != (n,):
                raise ValueError(f"'a' and 'p' must have same size: got {n} and shape {p.shape}")
            operands = (p,)
        chosen = self._draw(_choice, operands, (n, shape, bool(replace)), None, device if device is not None else ctx)
        return finish(take(pool, chosen, axis=0), out, "choice")

    def bytes(self, length: int) -> builtins.bytes:
        """Random bytes.

        Examples
        --------
        >>> len(np.random.bytes(4))
        4
        """
        drawn: builtins.bytes = self._draw(_integers, (0, 256), ((int(length),), onp.dtype("uint8"))).tobytes()
        return drawn


def _check_size(size: Any, parameters: tuple[Any, ...]) -> None:
    """Raise what NumPy raises for a size that can't be, or that the parameters don't fit."""
    if size is not None and any(n < 0 for n in size):
        raise ValueError("negative dimensions are not allowed")
    needed = onp.broadcast_shapes(*[getattr(p, "shape", ()) for p in parameters])
    if size is not None and onp.broadcast_shapes(needed, size) != size:
        raise ValueError(f"Output size {size} is not compatible with broadcast dimensions of inputs {needed}.")


def _not_negative(name: str, x: Any) -> None:
    if isinstance(x, int | float) and x < 0:
        raise ValueError(f"{name} < 0")


def _integer_bounds(low: Any, high: Any, dtype: Any, endpoint: bool = False) -> tuple[Any, Any, onp.dtype[Any]]:
    wanted = _int64 if dtype is int else onp.dtype(dtype)
    if wanted.kind not in "iub":
        raise TypeError(f"Unsupported dtype {wanted!r} for randint")
    if high is None:
        low, high = 0, low
    high = high + 1 if endpoint else high
    if isinstance(low, int) and isinstance(high, int):
        limits = (0, 1) if wanted.kind == "b" else (int(onp.iinfo(wanted).min), int(onp.iinfo(wanted).max))
        if low < limits[0]:
            raise ValueError(f"low is out of bounds for {wanted}")
        if high > limits[1] + 1:
            raise ValueError(f"high is out of bounds for {wanted}")
        if low >= high:
            raise ValueError("low >= high")
    return low, high, wanted


class Generator(_Distributions):
    """A generator with a stream of its own; what `default_rng` returns.

    Parameters
    ----------
    stream : Stream
        Key and counter.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> rng.integers(0, 10, size=4).shape
    (4,)
    """

    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = None, out: Any = None) -> Any:
        """Samples that are uniform on [0, 1).

        Examples
        --------
        >>> np.random.default_rng(0).random(3).shape
        (3,)
        """
        return self.uniform(0.0, 1.0, size, dtype, out=out)

    def integers(self, low: Any, high: Any = None, size: ShapeLike | None = None, dtype: DTypeLike = int, endpoint: bool = False) -> Any:
        """Integers that are uniform on [low, high), or on [low, high] if `endpoint`.

        Examples
        --------
        >>> x = np.random.default_rng(0).integers(1, 6, size=20, endpoint=True)
        >>> bool((x >= 1).all() and (x <= 6).all())
        True
        """
        low, high, wanted = _integer_bounds(low, high, dtype, endpoint)
        return self._draw(_integers, (low, high), (_size(size), wanted))


class RandomState(_Distributions):
    """A generator under NumPy's older interface, with a stream of its own.

    Parameters
    ----------
    seed : int, optional
        Where the stream begins; from the system's entropy if not given.

    Examples
    --------
    >>> np.random.RandomState(3).randint(0, 10, size=4).shape
    (4,)
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(Stream(seed))

    def seed(self, seed: int | None = None) -> None:
        """Begin the stream again.

        Examples
        --------
        >>> np.random.seed(7)
        >>> a = np.random.rand(2)
        >>> np.random.seed(7)
        >>> bool((a == np.random.rand(2)).all())
        True
        """
        self._stream.seed(seed)

    def randint(
        self,
        low: Any,
        high: Any = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = int,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Integers that are uniform on [low, high), or on [0, low) if `high` is not given.

        Examples
        --------
        >>> x = np.random.randint(3, size=10)
        >>> bool((x >= 0).all() and (x < 3).all())
        True
        """
        low, high, wanted = _integer_bounds(low, high, dtype)
        return self._draw(_integers, (low, high), (_size(size), wanted), out, device if device is not None else ctx)

    def random_sample(self, size: ShapeLike | None = None) -> Any:
        """Samples that are uniform on [0, 1).

        Examples
        --------
        >>> np.random.random_sample(3).shape
        (3,)
        """
        return self.uniform(0.0, 1.0, size)

    random = random_sample

    def rand(self, *size: int) -> Any:
        """Samples that are uniform on [0, 1), in the shape given by the arguments.

        Examples
        --------
        >>> np.random.rand(2, 3).shape
        (2, 3)
        """
        return self.uniform(0.0, 1.0, size)

    def randn(self, *size: int) -> Any:
        """Samples of the standard normal distribution, in the shape given by the arguments.

        Examples
        --------
        >>> np.random.randn(2, 3).shape
        (2, 3)
        """
        return self.normal(0.0, 1.0, size)


def default_rng(seed: Any = None) -> Generator:
    """A new generator.

    Parameters
    ----------
    seed : int, Generator or None
        Where its stream begins; a generator is returned as it is.

    Examples
    --------
    >>> a, b = np.random.default_rng(1), np.random.default_rng(1)
    >>> bool(a.normal() == b.normal())
    True
    """
    return seed if isinstance(seed, Generator) else Generator(Stream(seed))


_global = RandomState.__new__(RandomState)
_global._stream = streams.default

beta = _global.beta
binomial = _global.binomial
bytes = _global.bytes
choice = _global.choice
exponential = _global.exponential
gamma = _global.gamma
gumbel = _global.gumbel
laplace = _global.laplace
logistic = _global.logistic
normal = _global.normal
permutation = _global.permutation
poisson = _global.poisson
rand = _global.rand
randint = _global.randint
randn = _global.randn
random = _global.random
random_sample = _global.random_sample
seed = _global.seed
shuffle = _global.shuffle
standard_normal = _global.standard_normal
uniform = _global.uniform


__all__ = [
    "Generator", "RandomState", "beta", "binomial", "bytes", "choice", "default_rng", "exponential", "gamma", "gumbel", "laplace",
    "logistic", "normal", "permutation", "poisson", "rand", "randint", "randn", "random", "random_sample", "seed", "shuffle",
    "standard_normal", "uniform",
]  # fmt: skip
