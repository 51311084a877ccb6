"""Distributions of positive numbers: HalfNormal, HalfCauchy, Pareto, Weibull."""

import math
from typing import Any, ClassVar

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import xlogy
from npcompat.gluon.probability.constraint import (
    GreaterThanEq,
    NonNegative,
    Positive,
    dependent_property,
)
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class _Half(Distribution):
    """Base class of distributions of absolute values."""

    has_grad = True
    support = NonNegative()
    arg_constraints: ClassVar = {"scale": Positive()}
    scale: Any

    def __init__(self, scale: ArrayLike = 1.0, validate_args: bool | None = None) -> None:
        self._set(scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _measured(self, value: Any) -> tuple[Any, Any]:
        """Return (value >= 0, value / scale clipped to be nonnegative)."""
        value = self._value(value)
        return value >= 0, np.maximum(value, 0) / self.scale


class HalfNormal(_Half):
    """Half-normal distribution, of the absolute value of a normal variable with mean 0.

    Parameters
    ----------
    scale : array_like
        Standard deviation of the normal variable.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> round(float(gluon.probability.HalfNormal(1.0).mean), 4)
    0.7979
    """

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * abs(np.random.normal(0.0, 1.0, shape, dtype=self._dtype))

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        inside, z = self._measured(value)
        return np.where(
            inside, -0.5 * z * z - np.log(self.scale) + 0.5 * math.log(2 / math.pi), -np.inf
        )

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return npx.erf(self._measured(value)[1] * math.sqrt(0.5))

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.scale * math.sqrt(2) * npx.erfinv(value)

    @property
    def loc(self) -> ndarray:
        """Mean of the normal variable, 0."""
        return np.zeros_like(self.scale)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self.scale**2 * (1 - 2 / math.pi)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return np.log(self.scale) + 0.5 * (math.log(math.pi / 2) + 1)


class HalfCauchy(_Half):
    """Half-Cauchy distribution, of the absolute value of a Cauchy variable with median 0.

    Parameters
    ----------
    scale : array_like
        Median.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.HalfCauchy(2.0).cdf(2.0))
    0.5
    """

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * abs(np.random.standard_cauchy(shape, dtype=self._dtype))

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        inside, z = self._measured(value)
        return np.where(
            inside, math.log(2 / math.pi) - np.log(self.scale) - 2 * np.log(np.hypot(1, z)), -np.inf
        )

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return np.arctan(self._measured(value)[1]) * (2 / math.pi)

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.scale * np.tan(np.asarray(value) * (math.pi / 2))

    @property
    def mean(self) -> ndarray:
        """Undefined: inf."""
        return np.full(self._batch_shape, np.inf, dtype=self._dtype)

    @property
    def variance(self) -> ndarray:
        """Undefined: inf."""
        return self.mean

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return np.log(self.scale) + math.log(2 * math.pi)


class Pareto(Distribution):
    """Pareto distribution, with the survival function `(scale / x)**alpha`.

    Parameters
    ----------
    alpha : array_like
        Shape.
    scale : array_like
        The smallest value.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Pareto(3.0, 2.0).mean)
    3.0
    """

    has_grad = True
    arg_constraints: ClassVar = {"alpha": Positive(), "scale": Positive()}
    alpha: Any
    scale: Any

    def __init__(
        self, alpha: ArrayLike, scale: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(alpha=alpha, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self) -> GreaterThanEq:
        """Numbers greater than or equal to the scale."""
        return GreaterThanEq(self.scale)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * np.exp(
            np.random.exponential(1.0, shape, dtype=self._dtype) / self.alpha
        )

    def _logarithm(self, value: Any) -> tuple[Any, Any]:
        """Return (value >= scale, log(value / scale) clipped to be nonnegative)."""
        value = self._value(value)
        return value >= self.scale, np.log(np.maximum(value, self.scale) / self.scale)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        inside, x = self._logarithm(value)
        return np.where(inside, np.log(self.alpha / self.scale) - (self.alpha + 1) * x, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return -np.expm1(-self.alpha * self._logarithm(value)[1])

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.scale * np.exp(-np.log1p(-np.asarray(value)) / self.alpha)

    @property
    def mean(self) -> ndarray:
        """Mean; inf where it does not exist."""
        finite = self.alpha > 1
        return self._full(
            np.where(finite, self.scale * self.alpha / np.where(finite, self.alpha - 1, 1), np.inf)
        )

    @property
    def variance(self) -> ndarray:
        """Variance; inf where it does not exist."""
        finite = self.alpha > 2
        a = np.where(finite, self.alpha, 3)
        return self._full(np.where(finite, self.scale**2 * a / ((a - 1) ** 2 * (a - 2)), np.inf))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(np.log(self.scale / self.alpha) + 1 / self.alpha + 1)


class Weibull(Distribution):
    """Weibull distribution, with the survival function `exp(-(x / scale)**k)`.

    Parameters
    ----------
    concentration : array_like
        Shape k.
    scale : array_like
        Scale.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Weibull(1.0, 2.0).mean)
    2.0
    """

    has_grad = True
    support = NonNegative()
    arg_constraints: ClassVar = {"concentration": Positive(), "scale": Positive()}
    concentration: Any
    scale: Any

    def __init__(
        self, concentration: ArrayLike, scale: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(concentration=concentration, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * np.random.weibull(self.concentration, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        inside = value >= 0
        k, z = self.concentration, np.where(inside, value, 1) / self.scale
        return np.where(inside, np.log(k / self.scale) + xlogy(k - 1, z) - z**k, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return -np.expm1(-((np.maximum(self._value(value), 0) / self.scale) ** self.concentration))

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return self.scale * (-np.log1p(-np.asarray(value))) ** (1 / self.concentration)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.scale * np.exp(npx.gammaln(1 + 1 / self.concentration)))

    @property
    def variance(self) -> ndarray:
        """Variance."""
        first, second = (
            npx.gammaln(1 + 1 / self.concentration),
            npx.gammaln(1 + 2 / self.concentration),
        )
        return self._full(self.scale**2 * np.exp(2 * first) * np.expm1(second - 2 * first))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        k = self.concentration
        return self._full(onp.euler_gamma * (1 - 1 / k) + np.log(self.scale / k) + 1)


__all__ = ["HalfCauchy", "HalfNormal", "Pareto", "Weibull"]
