"""Distributions built on gamma variates: Gamma, Chi2, Exponential, Beta, Dirichlet, F."""

from typing import Any, ClassVar

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import xlog1py, xlogy
from npcompat.gluon.probability.constraint import NonNegative, Positive, Simplex, UnitInterval
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.gluon.probability.distributions.exp_family import ExponentialFamily
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class Gamma(ExponentialFamily):
    """Gamma distribution, differentiable in both parameters (Figurnov, Mohamed and Mnih, 2018).

    Parameters
    ----------
    shape : array_like
        Shape.
    scale : array_like
        Scale; the mean is `shape * scale`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Gamma(2.0, 3.0).mean)
    6.0
    """

    has_grad = True
    support = NonNegative()
    arg_constraints: ClassVar = {"shape": Positive(), "scale": Positive()}
    shape: Any
    scale: Any

    def __init__(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(shape=shape, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.gamma(self.shape, 1.0, shape, dtype=self._dtype) * self.scale

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        inside = value >= 0
        x = np.where(inside, value, 1) / self.scale
        log_prob = xlogy(self.shape - 1, x) - x - npx.gammaln(self.shape) - np.log(self.scale)
        return np.where(inside, log_prob, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return npx.gammainc(self.shape, np.maximum(self._value(value), 0) / self.scale)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.shape * self.scale)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self._full(self.shape * self.scale**2)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        a = self.shape
        return self._full(a + np.log(self.scale) + npx.gammaln(a) + (1 - a) * npx.digamma(a))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.shape - 1, -1 / self.scale

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return npx.gammaln(x + 1) - (x + 1) * np.log(-y)


class Chi2(Gamma):
    """Chi-square distribution, of a sum of squares of standard normal variables.

    Parameters
    ----------
    df : array_like
        Degrees of freedom.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Chi2(3.0).variance)
    6.0
    """

    arg_constraints: ClassVar = {"df": Positive()}

    def __init__(self, df: ArrayLike, validate_args: bool | None = None) -> None:
        self._set(df=df)
        Distribution.__init__(self, event_dim=0, validate_args=validate_args)

    df: Any

    @property
    def shape(self) -> ndarray:
        """Shape of the gamma distribution: half of the degrees of freedom."""
        return self.df / 2

    @property
    def scale(self) -> ndarray:
        """Scale of the gamma distribution, 2."""
        return np.full((), 2, dtype=self._dtype)


class Exponential(ExponentialFamily):
    """Exponential distribution.

    Parameters
    ----------
    scale : array_like
        Mean.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Exponential(2.0).rate)
    0.5
    """

    has_grad = True
    support = NonNegative()
    arg_constraints: ClassVar = {"scale": Positive()}
    scale: Any

    def __init__(self, scale: ArrayLike = 1.0, validate_args: bool | None = None) -> None:
        self._set(scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    @property
    def rate(self) -> ndarray:
        """Rate, the reciprocal of the scale."""
        return 1 / self.scale

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * np.random.exponential(1.0, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        return np.where(value >= 0, -value / self.scale - np.log(self.scale), -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF)."""
        return -np.expm1(-np.maximum(self._value(value), 0) / self.scale)

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        return -self.scale * np.log1p(-np.asarray(value))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self.scale

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return self.scale**2

    @property
    def stddev(self) -> ndarray:
        """Standard deviation."""
        return self.scale

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return 1 + np.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -np.log(-x)


def _log_beta(a: Any, b: Any) -> Any:
    return npx.gammaln(a) + npx.gammaln(b) - npx.gammaln(a + b)


class Beta(ExponentialFamily):
    """Beta distribution, on the unit interval.

    Parameters
    ----------
    alpha, beta : array_like
        Shapes: the density is proportional to `x**(alpha - 1) * (1 - x)**(beta - 1)`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Beta(1.0, 3.0).mean)
    0.25
    """

    has_grad = True
    support = UnitInterval()
    arg_constraints: ClassVar = {"alpha": Positive(), "beta": Positive()}
    alpha: Any
    beta: Any

    def __init__(
        self, alpha: ArrayLike, beta: ArrayLike, validate_args: bool | None = None
    ) -> None:
        self._set(alpha=alpha, beta=beta)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.beta(self.alpha, self.beta, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        inside = (value >= 0) & (value <= 1)
        x = np.where(inside, value, 0.5)
        log_prob = (
            xlogy(self.alpha - 1, x) + xlog1py(self.beta - 1, -x) - _log_beta(self.alpha, self.beta)
        )
        return np.where(inside, log_prob, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF); not differentiable in the parameters."""
        return npx.betainc(self.alpha, self.beta, np.clip(self._value(value), 0, 1))

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.alpha / (self.alpha + self.beta))

    @property
    def variance(self) -> ndarray:
        """Variance."""
        total = self.alpha + self.beta
        return self._full((self.alpha / total) * (self.beta / total) / (total + 1))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        a, b = self.alpha, self.beta
        digammas = (
            (a - 1) * npx.digamma(a) + (b - 1) * npx.digamma(b) - (a + b - 2) * npx.digamma(a + b)
        )
        return self._full(_log_beta(a, b) - digammas)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return _log_beta(x, y)


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution, on the probability simplex.

    Parameters
    ----------
    alpha : array_like, shape (..., events)
        Shapes.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> gluon.probability.Dirichlet(np.array([1.0, 1.0, 2.0])).mean
    array([0.25, 0.25, 0.5 ])
    """

    has_grad = True
    support = Simplex()
    arg_constraints: ClassVar = {"alpha": Positive()}
    _event_axes: ClassVar = {"alpha": 1}
    alpha: Any

    def __init__(self, alpha: ArrayLike, validate_args: bool | None = None) -> None:
        self._set(alpha=alpha)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        # Normalized gamma variates, computed as logarithms because those of small alpha underflow.
        # Gamma(alpha) is Gamma(alpha + 1) times uniform**(1 / alpha) (Marsaglia and Tsang, 2000).
        size = (*shape, self.alpha.shape[-1])
        logs = np.log(np.random.gamma(self.alpha + 1, 1.0, size, dtype=self._dtype))
        return npx.softmax(
            logs - np.random.exponential(1.0, size, dtype=self._dtype) / self.alpha, axis=-1
        )

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        return xlogy(self.alpha - 1, value).sum(-1) - self._log_normalizer(self.alpha)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self.alpha / self.alpha.sum(-1, keepdims=True)

    @property
    def variance(self) -> ndarray:
        """Variance of each element."""
        mean = self.mean
        return mean * (1 - mean) / (self.alpha.sum(-1, keepdims=True) + 1)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        a, total = self.alpha, self.alpha.sum(-1)
        digammas = (total - a.shape[-1]) * npx.digamma(total) - ((a - 1) * npx.digamma(a)).sum(-1)
        return self._log_normalizer(a) + digammas

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.alpha,)

    def _log_normalizer(self, x: Any) -> Any:
        return npx.gammaln(x).sum(-1) - npx.gammaln(x.sum(-1))


class FisherSnedecor(Distribution):
    """F distribution (Fisher-Snedecor), of the ratio of two scaled chi-square variables.

    Parameters
    ----------
    df1, df2 : array_like
        Degrees of freedom of the numerator and of the denominator.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.FisherSnedecor(3.0, 4.0).mean)
    2.0
    """

    has_grad = True
    support = NonNegative()
    arg_constraints: ClassVar = {"df1": Positive(), "df2": Positive()}
    df1: Any
    df2: Any

    def __init__(self, df1: ArrayLike, df2: ArrayLike, validate_args: bool | None = None) -> None:
        self._set(df1=df1, df2=df2)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.f(self.df1, self.df2, shape, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        value = self._value(value)
        inside = value >= 0
        x = np.where(inside, value, 1)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        log_prob = (
            a * np.log(ratio) + xlogy(a - 1, x) - (a + b) * np.log1p(ratio * x) - _log_beta(a, b)
        )
        return np.where(inside, log_prob, -np.inf)

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF); not differentiable in the parameters."""
        x = self.df1 * np.maximum(self._value(value), 0)
        return npx.betainc(self.df1 / 2, self.df2 / 2, x / (x + self.df2))

    @property
    def mean(self) -> ndarray:
        """Mean; inf where it does not exist."""
        finite = self.df2 > 2
        return self._full(np.where(finite, self.df2 / np.where(finite, self.df2 - 2, 1), np.inf))

    @property
    def variance(self) -> ndarray:
        """Variance; inf or nan where it does not exist."""
        finite = self.df2 > 4
        d1, d2 = self.df1, np.where(finite, self.df2, 5)
        variance = 2 * d2**2 * (d1 + d2 - 2) / (d1 * (d2 - 2) ** 2 * (d2 - 4))
        return self._full(np.where(finite, variance, np.where(self.df2 > 2, np.inf, np.nan)))


__all__ = ["Beta", "Chi2", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma"]
