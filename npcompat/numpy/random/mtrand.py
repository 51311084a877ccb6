"""`RandomState`, and the functions of `np.random`, which draw from a default one."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.dispatch import array_like
from npcompat._internal.random import stream as streams
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike, DTypeLike, Out, ShapeLike
from npcompat.numpy.random._continuous import Continuous, _exponential, _gamma, _normal, _uniform
from npcompat.numpy.random._counts import Counts
from npcompat.numpy.random._integers import integers
from npcompat.numpy.random._orders import Orders
from npcompat.numpy.random._parameters import check, parameter
from npcompat.numpy.random._vectors import Vectors
from npcompat.numpy.random.bit_generator import (
    MT19937,
    UNUSED_BITS,
    BitGenerator,
    ISeedSequence,
    NumPysRandomState,
    bit_generator,
)

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class RandomState(Continuous, Counts, Vectors, Orders, NumPysRandomState):
    """Random generator with NumPy's legacy interface, over a stream of its own.

    It derives from NumPy's class for libraries that ask for that, and shares no number with it.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        Seed of the stream; the system's entropy if not given.

    Examples
    --------
    >>> np.random.RandomState(3).randint(0, 10, size=4).shape
    (4,)
    """

    _legacy = True

    def __init__(self, seed: Any = None) -> None:
        super().__init__(UNUSED_BITS)
        self._bit_generator: Any
        if isinstance(seed, BitGenerator):
            self._bit_generator = seed
        elif isinstance(seed, ISeedSequence):
            self._bit_generator = MT19937(seed)
        else:
            self._bit_generator = MT19937(0)
            self._bit_generator._legacy_seeding(seed)

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    # --- the stream

    def seed(self, seed: Any = None) -> None:
        """Restart the stream from a seed.

        Examples
        --------
        >>> np.random.seed(7)
        >>> a = np.random.rand(2)
        >>> np.random.seed(7)
        >>> bool((a == np.random.rand(2)).all())
        True
        """
        if not isinstance(self._bit_generator, MT19937):
            raise TypeError("can only re-seed a MT19937 BitGenerator")
        self._bit_generator._legacy_seeding(seed)

    def get_state(self, legacy: bool = True) -> dict[str, Any] | tuple[Any, ...]:
        """Return the state: bit generator's name, key, number of the next draw.

        Two zeros follow, for NumPy's spare normal number. With `legacy=False` it is a dict.

        Examples
        --------
        >>> np.random.RandomState(7).get_state()
        ('MT19937', array([0, 7], dtype=uint32), 0, 0, 0.0)
        """
        state = {**self._bit_generator.state, "has_gauss": 0, "gauss": 0.0}
        if not legacy:
            return state
        if not isinstance(self._bit_generator, MT19937):
            text = (
                "get_state and legacy can only be used with the MT19937 BitGenerator. To "
                "silence this warning, set `legacy` to False."
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            return state
        key = state["state"]["key"]
        words = array_like.array_of(onp.array([key >> 32, key & 0xFFFFFFFF], onp.uint32))
        return "MT19937", words, state["state"]["pos"], 0, 0.0

    def set_state(self, state: Any) -> None:
        """Restore a state of `get_state`.

        Examples
        --------
        >>> rng = np.random.RandomState(7)
        >>> before = rng.get_state()
        >>> a = rng.rand()
        >>> rng.set_state(before)
        >>> bool(a == rng.rand())
        True
        """
        if isinstance(state, dict):
            if "bit_generator" not in state or "state" not in state:
                raise ValueError("state dictionary is not valid.")
        elif not isinstance(state, tuple | list):
            raise TypeError("state must be a dict or a tuple.")
        elif state[0] != "MT19937":
            raise ValueError("set_state can only be used with legacy MT19937 state instances.")
        self._bit_generator.state = state

    def __getstate__(self) -> dict[str, Any] | tuple[Any, ...]:
        return self.get_state(legacy=False)

    def __setstate__(self, state: Any) -> None:
        self.set_state(state)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._bit_generator,), self.get_state(legacy=False)

    # --- numbers

    def randint(
        self,
        low: Any,
        high: Any = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = int,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Uniform integers on [low, high), or on [0, low) if `high` is not given.

        Examples
        --------
        >>> x = np.random.randint(3, size=10)
        >>> bool((x >= 0).all() and (x < 3).all())
        True
        """
        return integers(
            self,
            low,
            high,
            size,
            dtype,
            False,
            device if device is not None else ctx,
            out,
            "randint",
            legacy=True,
        )

    def random_integers(
        self, low: Any, high: Any = None, size: ShapeLike | None = None
    ) -> "ndarray":
        """Uniform integers on [low, high], or on [1, low] if `high` is not given.

        Deprecated in favour of `randint`.
        """
        if high is None:
            low, high = 1, low
        text = f"This function is deprecated. Please call randint({low}, {high} + 1) instead"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return integers(self, low, high, size, onp.int64, True, what="random_integers")

    def tomaxint(self, size: ShapeLike | None = None) -> "ndarray":
        """Uniform integers on [0, largest int64].

        Examples
        --------
        >>> bool((np.random.RandomState(7).tomaxint(5) >= 0).all())
        True
        """
        return integers(self, 0, 2**63 - 1, size, onp.int64, True)

    def random_sample(
        self,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Uniform distribution on [0, 1).

        Examples
        --------
        >>> np.random.random_sample(3).shape
        (3,)
        """
        return self._floats(_uniform, (0.0, 1.0), size, dtype, device, ctx, out)

    random = random_sample

    def rand(
        self, *args: Any, dtype: DTypeLike = None, device: Any = None, ctx: Any = None
    ) -> "ndarray":
        """Uniform distribution on [0, 1), in the shape given by the arguments.

        Examples
        --------
        >>> np.random.rand(2, 3).shape
        (2, 3)
        """
        return self.random_sample(args or None, dtype=dtype, device=device, ctx=ctx)

    def randn(
        self, *args: Any, dtype: DTypeLike = None, device: Any = None, ctx: Any = None
    ) -> "ndarray":
        """Standard normal distribution, in the shape given by the arguments.

        Examples
        --------
        >>> np.random.randn(2, 3).shape
        (2, 3)
        """
        return self.standard_normal(args or None, dtype=dtype, device=device, ctx=ctx)

    def standard_normal(
        self,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Normal distribution with mean 0 and standard deviation 1.

        Examples
        --------
        >>> np.random.standard_normal(4).shape
        (4,)
        """
        return self._floats(_normal, (0.0, 1.0), size, dtype, device, ctx, out)

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Exponential distribution with mean 1.

        Examples
        --------
        >>> np.random.standard_exponential(4).shape
        (4,)
        """
        return self._floats(_exponential, (1.0,), size, dtype, device, ctx, out)

    def standard_gamma(
        self,
        shape: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Gamma distribution with scale 1.

        Examples
        --------
        >>> np.random.standard_gamma(2.0, 4).shape
        (4,)
        """
        shape = parameter(shape)
        check("shape", "nonnegative", shape)
        return self._floats(_gamma, (shape, 1.0), size, dtype, device, ctx, out)

    # --- elements

    def choice(
        self,
        a: Any,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Draw elements of a 1-d array (or a range) at random; see `Generator.choice`.

        Examples
        --------
        >>> np.random.choice(5, size=3).shape
        (3,)
        """
        return self._chosen(
            a, size, replace, p, 0, False, device if device is not None else ctx, out
        )

    def permutation(self, x: Any) -> "ndarray":
        """Permute a range, or a copy of an array, at random along the first axis.

        Examples
        --------
        >>> np.sort(np.random.permutation(4))
        array([0, 1, 2, 3])
        """
        if not isinstance(x, int | onp.integer):
            x = asarray(x)
            if not x.ndim:
                raise IndexError("x must be an integer or at least 1-dimensional")
        return self._permutation_of(x, 0)

    def shuffle(self, x: Any) -> None:
        """Shuffle an array or a list in place along its first axis.

        Examples
        --------
        >>> a = np.arange(5)
        >>> np.random.shuffle(a)
        >>> np.sort(a)
        array([0, 1, 2, 3, 4])
        """
        self._shuffle(x, 0)


def _restored(bits: BitGenerator | str) -> RandomState:
    return RandomState(bit_generator(bits))


def _global_state() -> RandomState:
    bits = MT19937(0)
    bits.stream = streams.default
    return RandomState(bits)


_rand = _global_state()


def get_bit_generator() -> BitGenerator:
    """Return the bit generator of the functions of `np.random`."""
    return _rand._bit_generator


def set_bit_generator(bitgen: BitGenerator) -> None:
    """Set the bit generator of the functions of `np.random`.

    Dropout and initializers draw from it, too.

    Parameters
    ----------
    bitgen : BitGenerator
        Its stream takes the place of the default one.
    """
    if not isinstance(bitgen, BitGenerator):
        raise TypeError(f"set_bit_generator: expected a BitGenerator, got {type(bitgen).__name__}")
    _rand._bit_generator = bitgen
    streams.default = bitgen.stream


seeds_numpys = [False]
"""Holds True where `seed` restarts NumPy's default stream, too, from which other libraries draw:
under `python -m npcompat`, where a program has no other name for it."""


def seed(seed: Any = None) -> None:
    """Restart the default stream from a seed, for any bit generator.

    Examples
    --------
    >>> np.random.seed(7)
    >>> a = np.random.rand(2)
    >>> np.random.seed(7)
    >>> bool((a == np.random.rand(2)).all())
    True
    """
    bits = _rand._bit_generator
    if isinstance(bits, MT19937):
        _rand.seed(seed)
    else:
        bits.state = type(bits)(seed).state
    if seeds_numpys[0]:
        onp.random.seed(seed)


beta = _rand.beta
binomial = _rand.binomial
bytes = _rand.bytes
chisquare = _rand.chisquare
choice = _rand.choice
dirichlet = _rand.dirichlet
exponential = _rand.exponential
f = _rand.f
gamma = _rand.gamma
geometric = _rand.geometric
get_state = _rand.get_state
gumbel = _rand.gumbel
hypergeometric = _rand.hypergeometric
laplace = _rand.laplace
logistic = _rand.logistic
lognormal = _rand.lognormal
logseries = _rand.logseries
multinomial = _rand.multinomial
multivariate_normal = _rand.multivariate_normal
negative_binomial = _rand.negative_binomial
noncentral_chisquare = _rand.noncentral_chisquare
noncentral_f = _rand.noncentral_f
normal = _rand.normal
pareto = _rand.pareto
permutation = _rand.permutation
poisson = _rand.poisson
power = _rand.power
rand = _rand.rand
randint = _rand.randint
randn = _rand.randn
random = _rand.random
random_integers = _rand.random_integers
random_sample = _rand.random_sample
rayleigh = _rand.rayleigh
set_state = _rand.set_state
shuffle = _rand.shuffle
standard_cauchy = _rand.standard_cauchy
standard_exponential = _rand.standard_exponential
standard_gamma = _rand.standard_gamma
standard_normal = _rand.standard_normal
standard_t = _rand.standard_t
triangular = _rand.triangular
uniform = _rand.uniform
vonmises = _rand.vonmises
wald = _rand.wald
weibull = _rand.weibull
zipf = _rand.zipf


def ranf(*args: Any, **kwargs: Any) -> "ndarray":
    """Alias of `random_sample`.

    Examples
    --------
    >>> np.random.ranf(3).shape
    (3,)
    """
    return _rand.random_sample(*args, **kwargs)


def sample(*args: Any, **kwargs: Any) -> "ndarray":
    """Alias of `random_sample`.

    Examples
    --------
    >>> np.random.sample(3).shape
    (3,)
    """
    return _rand.random_sample(*args, **kwargs)


__all__ = [
    "RandomState", "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential",
    "f", "gamma", "geometric", "get_bit_generator", "get_state", "gumbel", "hypergeometric",
    "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto",
    "permutation", "poisson", "power", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "ranf", "rayleigh", "sample", "seed", "set_bit_generator", "set_state",
    "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal",
    "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip
