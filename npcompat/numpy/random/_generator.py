"""`Generator`, the class for new programs."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat.numpy._typing import ArrayLike, DTypeLike, Out, ShapeLike
from npcompat.numpy.random._continuous import Continuous, _exponential, _gamma, _normal, _uniform
from npcompat.numpy.random._counts import Counts
from npcompat.numpy.random._integers import integers
from npcompat.numpy.random._orders import Orders
from npcompat.numpy.random._parameters import check, parameter
from npcompat.numpy.random._sampling import check_out
from npcompat.numpy.random._vectors import Vectors
from npcompat.numpy.random.bit_generator import (
    PCG64,
    UNUSED_BITS,
    BitGenerator,
    NumPysGenerator,
    bit_generator,
    refuse_numpys,
)

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class Generator(Continuous, Counts, Vectors, Orders, NumPysGenerator):
    """Random generator of many distributions, over the stream of a bit generator.

    Methods that have `dtype=np.float64` in NumPy have `dtype=float` here, which is the default
    float. It derives from NumPy's class for libraries that ask for that, and shares no number with
    it.

    Parameters
    ----------
    bit_generator : BitGenerator
        Source of the stream; `default_rng` creates one from a seed.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> rng.integers(0, 10, size=4).shape
    (4,)
    """

    def __init__(self, bit_generator: BitGenerator) -> None:
        if isinstance(bit_generator, type):
            raise ValueError("Invalid bit generator. The bit generator must be instantiated.")
        refuse_numpys("Generator", bit_generator)
        if not isinstance(bit_generator, BitGenerator):
            raise AttributeError(
                "Generator: expected a BitGenerator of npcompat, got "
                f"{type(bit_generator).__name__}"
            )
        super().__init__(UNUSED_BITS)
        self._bit_generator: Any = bit_generator

    @property
    def bit_generator(self) -> BitGenerator:
        """Bit generator of the stream."""
        bits: BitGenerator = self._bit_generator
        return bits

    def spawn(self, n_children: int) -> "list[Generator]":
        """Return generators of independent streams.

        Examples
        --------
        >>> a, b = np.random.default_rng(7).spawn(2)
        >>> bool(a.random() == b.random())
        False
        """
        return [type(self)(bits) for bits in self._bit_generator.spawn(n_children)]

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._bit_generator,), None

    # --- numbers

    def random(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = float,
        out: Out = None,
        *,
        device: Any = None,
        ctx: Any = None,
    ) -> "ndarray":
        """Uniform distribution on [0, 1).

        Examples
        --------
        >>> np.random.default_rng(0).random(3).shape
        (3,)
        """
        check_out(out)
        return self._floats(_uniform, (0.0, 1.0), size, dtype, device, ctx, out)

    def standard_normal(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = float,
        out: Out = None,
        *,
        device: Any = None,
        ctx: Any = None,
    ) -> "ndarray":
        """Normal distribution with mean 0 and standard deviation 1.

        Examples
        --------
        >>> np.random.default_rng(0).standard_normal(3).shape
        (3,)
        """
        check_out(out)
        return self._floats(_normal, (0.0, 1.0), size, dtype, device, ctx, out)

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = float,
        method: str = "zig",
        out: Out = None,
        *,
        device: Any = None,
        ctx: Any = None,
    ) -> "ndarray":
        """Exponential distribution with mean 1.

        Both methods, 'zig' and 'inv', are the inversion of the CDF.

        Examples
        --------
        >>> np.random.default_rng(0).standard_exponential(3).shape
        (3,)
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"method must be 'zig' or 'inv', got {method!r}")
        check_out(out)
        return self._floats(_exponential, (1.0,), size, dtype, device, ctx, out)

    def standard_gamma(
        self,
        shape: ArrayLike,
        size: ShapeLike | None = None,
        dtype: DTypeLike = float,
        out: Out = None,
        *,
        device: Any = None,
        ctx: Any = None,
    ) -> "ndarray":
        """Gamma distribution with scale 1.

        Examples
        --------
        >>> np.random.default_rng(0).standard_gamma(2.0, 3).shape
        (3,)
        """
        shape = parameter(shape)
        check("shape", "nonnegative", shape)
        check_out(out, "C")
        return self._floats(_gamma, (shape, 1.0), size, dtype, device, ctx, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = onp.int64,
        endpoint: bool = False,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Uniform integers on [low, high), on [low, high] if `endpoint`.

        They start from 0 and end at `low` if `high` is not given.

        Examples
        --------
        >>> x = np.random.default_rng(0).integers(1, 6, size=20, endpoint=True)
        >>> bool((x >= 1).all() and (x <= 6).all())
        True
        """
        return integers(
            self, low, high, size, dtype, bool(endpoint), device if device is not None else ctx, out
        )

    # --- vectors

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: ShapeLike | None = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Multivariate normal distribution; differentiable in mean and covariance.

        The methods 'svd' and 'eigh' both take the symmetric square root of the covariance,
        which may be semidefinite. 'cholesky' requires a positive definite one, and is
        faster. See `np.random.multivariate_normal`.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> rng.multivariate_normal([0, 1], [[2, 1], [1, 2]], 3, method="cholesky").shape
        (3, 2)
        """
        placement = device if device is not None else ctx
        return self._normal_vectors(
            mean, cov, size, check_valid, tol, method, dtype, placement, out
        )

    def multivariate_hypergeometric(
        self,
        colors: ArrayLike,
        nsample: int,
        size: ShapeLike | None = None,
        method: str = "marginals",
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Multivariate hypergeometric distribution.

        A sample is the number of each colour among those drawn without replacement.

        Parameters
        ----------
        colors : (n,) array_like of int
            Number of each colour.
        nsample : int
            Size of the sample.
        size : int or tuple of int, optional
            Shape of the result without its last axis.
        method : {'marginals', 'count'}
            Both draw one colour after the other; 'marginals' accepts fewer than 10**9 in all.
        device, ctx, out
            As in `uniform`.

        Examples
        --------
        >>> int(np.random.default_rng(0).multivariate_hypergeometric([3, 4, 5], 6).sum())
        6
        """
        return self._hypergeometric_vectors(
            colors, nsample, size, method, device if device is not None else ctx, out
        )

    # --- elements

    def choice(
        self,
        a: Any,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Draw elements of an array (or of a range) at random.

        Parameters
        ----------
        a : int or array_like
            The elements; an int stands for `arange(a)`.
        size : int or tuple of int, optional
            Shape of the result (in place of the axis); one element if not given.
        replace : bool
            If True, an element may be drawn more than once.
        p : 1-d array_like, optional
            Probabilities of the elements.
        axis : int
            Axis of the elements.
        shuffle : bool
            If True, elements drawn without replacement come in random order, else in
            their own.
        device, ctx, out
            As in `uniform`.

        Raises
        ------
        ValueError
            If there is nothing to choose from, or too little without replacement, or `p` does not
            fit.

        Examples
        --------
        >>> np.random.default_rng(0).choice(4, 4, replace=False, shuffle=False)
        array([0, 1, 2, 3])
        """
        return self._chosen(
            a, size, replace, p, axis, not shuffle, device if device is not None else ctx, out
        )

    def permutation(self, x: Any, axis: int = 0) -> "ndarray":
        """Permute a range, or a copy of an array, at random along an axis.

        Examples
        --------
        >>> np.sort(np.random.default_rng(0).permutation(4))
        array([0, 1, 2, 3])
        """
        return self._permutation_of(x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Out = None) -> "ndarray":
        """Permute each 1-D slice along an axis independently, in a copy.

        With axis None, all elements are permuted.

        Examples
        --------
        >>> np.sort(np.random.default_rng(0).permuted([[1, 2], [3, 4]], axis=1))
        array([[1, 2],
               [3, 4]])
        """
        return self._permuted(x, axis, out)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle an array or a list in place along an axis.

        Examples
        --------
        >>> a = np.arange(5)
        >>> np.random.default_rng(0).shuffle(a)
        >>> np.sort(a)
        array([0, 1, 2, 3, 4])
        """
        self._shuffle(x, axis)


def _restored(bits: BitGenerator | str) -> Generator:
    return Generator(bit_generator(bits))


def default_rng(seed: Any = None) -> Generator:
    """Create a new generator.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator, Generator or RandomState, optional
        Seed of the stream; a generator is returned as it is.

    Examples
    --------
    >>> a, b = np.random.default_rng(1), np.random.default_rng(1)
    >>> bool(a.normal() == b.normal())
    True
    """
    if isinstance(seed, Generator):
        return seed
    bits = getattr(seed, "_bit_generator", seed)
    return Generator(bits if isinstance(bits, BitGenerator) else PCG64(seed))


__all__ = ["Generator", "default_rng"]
