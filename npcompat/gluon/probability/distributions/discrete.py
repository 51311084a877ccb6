"""Discrete distributions: Bernoulli, Binomial, Geometric, NegativeBinomial and Poisson."""

from typing import Any, ClassVar

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import (
    derived,
    logit2prob,
    prob2logit,
    weighted,
    xlog1py,
    xlogy,
)
from npcompat.gluon.probability.constraint import (
    Boolean,
    IntegerInterval,
    NonNegative,
    NonNegativeInteger,
    Real,
    UnitInterval,
    dependent_property,
)
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.gluon.probability.distributions.exp_family import ExponentialFamily
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class _Trials(Distribution):
    """Base class: the probability of a success, or its log-odds."""

    support: Any = NonNegativeInteger()
    arg_constraints: ClassVar = {"prob": UnitInterval(), "logit": Real()}

    @derived
    def prob(self) -> ndarray:
        """Probability of a success."""
        return logit2prob(self.logit)

    @derived
    def logit(self) -> ndarray:
        """Log-odds of a success; finite also for probabilities 0 and 1."""
        return prob2logit(self.prob)

    def _failure(self) -> Any:
        """Return the probability of a failure, accurate for small values."""
        return npx.sigmoid(-self.logit) if "logit" in self._given else 1 - self.prob

    def _log_trials(self, successes: Any, failures: Any) -> Any:
        """Return the logarithm of `prob**successes * (1 - prob)**failures`."""
        if "logit" in self._given:
            return weighted(successes, npx.log_sigmoid(self.logit)) + weighted(
                failures, npx.log_sigmoid(-self.logit)
            )
        return xlogy(successes, self.prob) + xlog1py(failures, -self.prob)


class Bernoulli(_Trials, ExponentialFamily):
    """Bernoulli distribution: 1 for a success, 0 for a failure.

    Between 0 and 1, `log_prob` interpolates: its negative is the binary cross-entropy.

    Parameters
    ----------
    prob : array_like, optional
        Probability of a 1.
    logit : array_like, optional
        Its log-odds, instead of `prob`; exact also where one of the two is hardly possible.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> gluon.probability.Bernoulli(logit=np.array([0.0, 100.0])).log_prob(0).round(4)
    array([  -0.6931, -100.    ])
    """

    support = Boolean()
    has_enumerate_support = True

    def __init__(
        self,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(**self._one_of(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return npx.random.bernoulli(prob=self.prob, size=shape, dtype=self._dtype)

    def enumerate_support(self) -> ndarray:
        """Return 0 and 1, along a new first axis."""
        values = np.arange(2, dtype=self._dtype).reshape((2,) + (1,) * len(self._batch_shape))
        return np.broadcast_to(values, (2, *self._batch_shape))

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value."""
        value = self._value(value)
        return self._log_trials(value, 1 - value)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        value = self._value(value)
        return np.where(value < 0, 0, np.where(value < 1, self._failure(), 1))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self.prob

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self.prob * self._failure()

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return -self._log_trials(self.prob, self._failure())

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logit,)

    def _log_normalizer(self, x: Any) -> Any:
        return npx.softplus(x)


class Binomial(_Trials):
    """Binomial distribution, of the number of successes in n trials.

    Parameters
    ----------
    n : int or array_like
        Number of trials.
    prob : array_like, optional
        Probability of a success.
    logit : array_like, optional
        Its log-odds, instead of `prob`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> round(float(gluon.probability.Binomial(4, 0.5).pdf(2)), 4)
    0.375
    """

    arg_constraints: ClassVar = {"n": NonNegativeInteger(), **_Trials.arg_constraints}
    n: Any

    def __init__(
        self,
        n: ArrayLike = 1,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(n, int | float | onp.floating | onp.integer) and (n < 0 or n % 1 != 0):
            raise ValueError(f"Binomial: n: expected a whole number from 0 on, got {n}")
        self._set(n=n, **self._one_of(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self) -> IntegerInterval:
        """Integers from 0 to n."""
        return IntegerInterval(0, self.n)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.binomial(self.n.astype("int64"), self.prob, shape).astype(self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value."""
        value = self._value(value)
        inside = (value >= 0) & (value <= self.n)
        k = np.where(inside, value, 0)
        ways = npx.gammaln(self.n + 1) - npx.gammaln(k + 1) - npx.gammaln(self.n - k + 1)
        return np.where(inside, ways + self._log_trials(k, self.n - k), -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF); not differentiable."""
        value = np.floor(self._value(value))
        inside = (value >= 0) & (value < self.n)
        k = np.where(inside, value, 0)
        below = npx.betainc(np.where(inside, self.n - k, 1), k + 1, self._failure())
        return np.where(value < 0, 0, np.where(inside, below, 1))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.n * self.prob)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(self.n * self.prob * self._failure())


class Geometric(_Trials):
    """Geometric distribution, of the number of failures before the first success.

    Parameters
    ----------
    prob : array_like, optional
        Probability of a success.
    logit : array_like, optional
        Its log-odds, instead of `prob`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Geometric(0.25).mean)
    3.0
    """

    def __init__(
        self,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(**self._one_of(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return (np.random.geometric(self.prob, shape) - 1).astype(self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value."""
        value = self._value(value)
        return np.where(
            value >= 0, self._log_trials(np.ones_like(value), np.maximum(value, 0)), -np.inf
        )

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        trials = np.maximum(np.floor(self._value(value)) + 1, 0)
        return -np.expm1(self._log_trials(np.zeros_like(trials), trials))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._failure() / self.prob

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._failure() / self.prob**2

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return -self._log_trials(self.prob, self._failure()) / self.prob


class NegativeBinomial(_Trials):
    """Negative binomial distribution, of the number of failures before the n-th success.

    It is `scipy.stats.nbinom(n, prob)`.

    Parameters
    ----------
    n : array_like
        Number of successes; it need not be whole.
    prob : array_like, optional
        Probability of a success.
    logit : array_like, optional
        Its log-odds, instead of `prob`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.NegativeBinomial(6, 0.25).mean)
    18.0
    """

    arg_constraints: ClassVar = {"n": NonNegative(), **_Trials.arg_constraints}
    n: Any

    def __init__(
        self,
        n: ArrayLike,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(n=n, **self._one_of(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _odds(self) -> Any:
        """Odds of a failure."""
        return np.exp(-self.logit) if "logit" in self._given else self._failure() / self.prob

    def _draw(self, shape: tuple[int, ...]) -> Any:
        rate = np.random.gamma(self.n, 1.0, shape, dtype=self._dtype) * self._odds()
        return np.random.poisson(rate).astype(self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value."""
        value = self._value(value)
        k = np.maximum(value, 0)
        certain = (self.n == 0) & (k == 0)
        n = np.where(certain, 1, self.n)
        log_prob = (
            npx.gammaln(n + k) - npx.gammaln(k + 1) - npx.gammaln(n) + self._log_trials(self.n, k)
        )
        return np.where(value >= 0, log_prob, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF); not differentiable."""
        k = np.floor(self._value(value))
        below = npx.betainc(self.n, np.maximum(k, 0) + 1, self.prob)
        return np.where(k >= 0, below, 0)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.n * self._odds())

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(self.n * self._odds() / self.prob)


class Poisson(ExponentialFamily):
    """Poisson distribution.

    Parameters
    ----------
    rate : array_like
        Mean.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> round(float(gluon.probability.Poisson(3.0).log_prob(0)), 4)
    -3.0
    """

    support = NonNegativeInteger()
    arg_constraints: ClassVar = {"rate": NonNegative()}
    rate: Any

    def __init__(self, rate: ArrayLike = 1.0, validate_args: bool | None = None) -> None:
        self._set(rate=rate)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.poisson(self.rate, shape).astype(self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value."""
        value = self._value(value)
        k = np.maximum(value, 0)
        return np.where(value >= 0, xlogy(k, self.rate) - self.rate - npx.gammaln(k + 1), -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        k = np.floor(self._value(value))
        return np.where(k >= 0, npx.gammaincc(np.maximum(k, 0) + 1, self.rate), 0)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self.rate

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self.rate

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (np.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return np.exp(x)


__all__ = ["Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson"]
