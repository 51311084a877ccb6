"""Location-scale distributions: Normal, Laplace, Cauchy, Gumbel, StudentT, Uniform."""

import math
from typing import Any, ClassVar

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability.constraint import (
    GreaterThan,
    Interval,
    Positive,
    Real,
    dependent_property,
)
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.gluon.probability.distributions.exp_family import ExponentialFamily
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class _LocationScale(Distribution):
    """Base class of location-scale families."""

    has_grad = True
    support = Real()
    arg_constraints: ClassVar = {"loc": Real(), "scale": Positive()}
    loc: Any
    scale: Any

    def __init__(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(loc=loc, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _measured(self, value: Any) -> Any:
        return (self._value(value) - self.loc) / self.scale

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.loc + self.scale * self._noise(shape)

    def _noise(self, shape: tuple[int, ...]) -> Any:
        raise self._undefined("sample")

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.loc)


class Normal(_LocationScale, ExponentialFamily):
    """Normal (Gaussian) distribution.

    Parameters
    ----------
    loc : array_like
        Mean.
    scale : array_like
        Standard deviation.
    validate_args : bool, optional
        Whether arguments are checked; the default is that of
        `Distribution.set_default_validate_args`.

    Examples
    --------
    >>> gluon.probability.Normal(np.zeros(3), 1.0).log_prob(0.0).round(4)
    array([-0.9189, -0.9189, -0.9189])
    """

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return np.random.normal(0.0, 1.0, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        z = self._measured(value)
        return -0.5 * z * z - np.log(self.scale) - _HALF_LOG_2PI

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return 0.5 * npx.erfc(self._measured(value) * -math.sqrt(0.5))

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.loc + self.scale * npx.ndtri(value)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(self.scale**2)

    @property
    def stddev(self) -> ndarray:
        """Standard deviation."""
        return self._full(self.scale)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(np.log(self.scale) + (0.5 + _HALF_LOG_2PI))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.scale**2, -0.5 / self.scale**2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x * x / y + 0.5 * np.log(-math.pi / y)


class Laplace(_LocationScale):
    """Laplace (double exponential) distribution.

    Parameters
    ----------
    loc : array_like
        Mean.
    scale : array_like
        Mean absolute deviation.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Laplace(1.0, 2.0).cdf(1.0))
    0.5
    """

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return np.random.laplace(0.0, 1.0, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        return -abs(self._measured(value)) - np.log(2 * self.scale)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        z = self._measured(value)
        tail = 0.5 * np.exp(-abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        value = np.asarray(value)
        below = value < 0.5
        tail = np.log(2 * np.where(below, value, 1 - value))
        return self.loc + self.scale * np.where(below, tail, -tail)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(2 * self.scale**2)

    @property
    def stddev(self) -> ndarray:
        """Standard deviation."""
        return self._full(math.sqrt(2) * self.scale)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(1 + np.log(2 * self.scale))


class Cauchy(_LocationScale):
    """Cauchy distribution, which has no mean.

    Parameters
    ----------
    loc : array_like
        Median.
    scale : array_like
        Distance of the quartiles from the median.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Cauchy(1.0, 2.0).icdf(0.75))
    3.0
    """

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return np.random.standard_cauchy(shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        z = abs(self._measured(value))
        # log(1 + z**2), where z**2 may overflow
        size = np.where(
            z > 1e4, 2 * np.log(np.where(z > 1e4, z, 1)), np.log1p(np.where(z > 1e4, 0, z) ** 2)
        )
        return -math.log(math.pi) - np.log(self.scale) - size

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        z = self._measured(value)
        return np.arctan2(np.ones_like(z), -z) / math.pi

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        value = np.asarray(value)
        lower = value < 0.5
        tail = np.tan(math.pi * np.where(lower, value, 1 - value))
        return self.loc - np.where(lower, 1, -1) * self.scale / tail

    @property
    def mean(self) -> ndarray:
        """Undefined: nan."""
        return np.full(self._batch_shape, np.nan, dtype=self._dtype)

    @property
    def variance(self) -> ndarray:
        """Undefined: nan."""
        return self.mean

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(np.log(self.scale) + math.log(4 * math.pi))


class Gumbel(_LocationScale):
    """Gumbel (extreme value) distribution.

    Parameters
    ----------
    loc : array_like
        Mode.
    scale : array_like
        Scale.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> round(float(gluon.probability.Gumbel(0.0, 1.0).mean), 4)
    0.5772
    """

    def __init__(
        self, loc: ArrayLike, scale: ArrayLike = 1, validate_args: bool | None = None
    ) -> None:
        super().__init__(loc, scale, validate_args)

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return np.random.gumbel(0.0, 1.0, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        z = self._measured(value)
        return -z - np.exp(-z) - np.log(self.scale)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return np.exp(-np.exp(-self._measured(value)))

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.loc - self.scale * np.log(-np.log(value))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.loc + self.scale * onp.euler_gamma)

    @property
    def stddev(self) -> ndarray:
        """Standard deviation."""
        return self._full(self.scale * (math.pi / math.sqrt(6)))

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(self.scale**2 * (math.pi**2 / 6))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(np.log(self.scale) + (1 + onp.euler_gamma))


class StudentT(_LocationScale):
    """Student's t distribution.

    Parameters
    ----------
    df : array_like
        Degrees of freedom.
    loc : array_like
        Median.
    scale : array_like
        Scale.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.StudentT(4.0).variance)
    2.0
    """

    arg_constraints: ClassVar = {"df": Positive(), "loc": Real(), "scale": Positive()}
    df: Any

    def __init__(
        self,
        df: ArrayLike,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self._set(df=df, loc=loc, scale=scale)
        Distribution.__init__(self, event_dim=0, validate_args=validate_args)

    def _noise(self, shape: tuple[int, ...]) -> Any:
        return np.random.standard_t(self.df, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        z = self._measured(value)
        half = self.df / 2
        normalizer = (
            npx.gammaln(half + 0.5)
            - npx.gammaln(half)
            - 0.5 * np.log(math.pi * self.df)
            - np.log(self.scale)
        )
        return normalizer - (half + 0.5) * np.log1p(z * z / self.df)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF); not differentiable in `df`."""
        z = self._measured(value)
        far = z * z > self.df  # selects the form whose argument is not close to 1
        whole = self.df + z * z
        outer = npx.betainc(self.df / 2, 0.5, np.where(far, self.df / whole, 0.5))
        inner = npx.betainc(0.5, self.df / 2, np.where(far, 0.5, z * z / whole))
        tail = 0.5 * np.where(far, outer, 1 - inner)
        return np.where(z < 0, tail, 1 - tail)

    @property
    def mean(self) -> ndarray:
        """Mean; nan where it does not exist."""
        return self._full(np.where(self.df > 1, self.loc, np.nan))

    @property
    def variance(self) -> ndarray:
        """Variance; inf or nan where it does not exist."""
        finite = self.df > 2
        variance = self.scale**2 * self.df / np.where(finite, self.df - 2, 1)
        return self._full(np.where(finite, variance, np.where(self.df > 1, np.inf, np.nan)))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        half = self.df / 2
        beta = npx.gammaln(half) + 0.5 * math.log(math.pi) - npx.gammaln(half + 0.5)
        digammas = npx.digamma(half + 0.5) - npx.digamma(half)
        return self._full(
            (half + 0.5) * digammas + 0.5 * np.log(self.df) + beta + np.log(self.scale)
        )


class Uniform(Distribution):
    """Uniform distribution.

    Parameters
    ----------
    low, high : array_like
        Bounds.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> gluon.probability.Uniform(0.0, 2.0).log_prob(np.array([1.0, 3.0])).round(4)
    array([-0.6931,    -inf])
    """

    has_grad = True
    arg_constraints: ClassVar = {"low": Real(), "high": Real()}
    low: Any
    high: Any

    def __init__(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(low=low, high=high)
        super().__init__(event_dim=0, validate_args=validate_args)
        if self._validate_args:
            GreaterThan(self.low)._require(self.high, "Uniform: high (above low)")

    @dependent_property
    def support(self) -> Interval:
        """Numbers between the bounds."""
        return Interval(self.low, self.high)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.low + (self.high - self.low) * np.random.uniform(
            0.0, 1.0, shape, dtype=self._dtype
        )

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        inside = (value >= self.low) & (value <= self.high)
        return np.where(inside, -np.log(self.high - self.low), -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return np.clip((self._value(value) - self.low) / (self.high - self.low), 0, 1)

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.low + (self.high - self.low) * np.asarray(value)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full((self.low + self.high) / 2)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full((self.high - self.low) ** 2 / 12)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(np.log(self.high - self.low))


__all__ = ["Cauchy", "Gumbel", "Laplace", "Normal", "StudentT", "Uniform"]
