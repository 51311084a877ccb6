"""Closed forms of the KL divergence.

Gil, Alajaji and Linder, "Renyi divergence measures for commonly used univariate continuous
distributions" (2013), table 2; Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler
divergence between Cauchy distributions" (2019); others follow from the entropy of p and the mean of
log q under p.
"""

import math
from typing import Any

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import sum_right_most, xlogy
from npcompat.gluon.probability.distributions.categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
)
from npcompat.gluon.probability.distributions.composed import Independent
from npcompat.gluon.probability.distributions.discrete import (
    Bernoulli,
    Binomial,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from npcompat.gluon.probability.distributions.divergence import kl_divergence, register_kl
from npcompat.gluon.probability.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from npcompat.gluon.probability.distributions.location_scale import (
    Cauchy,
    Gumbel,
    Laplace,
    Normal,
    Uniform,
)
from npcompat.gluon.probability.distributions.log_normal import LogNormal
from npcompat.gluon.probability.distributions.multivariate_normal import MultivariateNormal
from npcompat.gluon.probability.distributions.positive import (
    HalfCauchy,
    HalfNormal,
    Pareto,
    Weibull,
)


def _ratio(x: Any) -> Any:
    """Return x - 1 - log(x), accurate near 1."""
    return x - 1 - np.log(x)


# --- of one kind ----------------------------------------------------------------------------------


@register_kl(Normal, Normal)
def _kl_normal_normal(p: Normal, q: Normal) -> Any:
    away = (p.loc - q.loc) / q.scale
    return 0.5 * (_ratio((p.scale / q.scale) ** 2) + away * away)


@register_kl(LogNormal, LogNormal)
def _kl_log_normal_log_normal(p: LogNormal, q: LogNormal) -> Any:
    return _kl_normal_normal(p, q)  # type: ignore[arg-type]


@register_kl(HalfNormal, HalfNormal)
def _kl_half_normal_half_normal(p: HalfNormal, q: HalfNormal) -> Any:
    return 0.5 * _ratio((p.scale / q.scale) ** 2)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate_normal_multivariate_normal(
    p: MultivariateNormal, q: MultivariateNormal
) -> Any:
    inverse = q._inverse_tril
    mixed, away = inverse @ p.scale_tril, (inverse @ (q.loc - p.loc)[..., None])[..., 0]
    return (
        q._log_det()
        - p._log_det()
        + 0.5 * ((mixed * mixed).sum((-2, -1)) + (away * away).sum(-1) - p.loc.shape[-1])
    )


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p: Laplace, q: Laplace) -> Any:
    away, ratio = abs(p.loc - q.loc), p.scale / q.scale
    return away / q.scale + ratio * np.exp(-away / p.scale) - 1 - np.log(ratio)


def _cauchy(p_loc: Any, p_scale: Any, q_loc: Any, q_scale: Any) -> Any:
    return np.log(((p_scale + q_scale) ** 2 + (p_loc - q_loc) ** 2) / (4 * p_scale * q_scale))


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p: Cauchy, q: Cauchy) -> Any:
    return _cauchy(p.loc, p.scale, q.loc, q.scale)


@register_kl(HalfCauchy, HalfCauchy)
def _kl_half_cauchy_half_cauchy(p: HalfCauchy, q: HalfCauchy) -> Any:
    return _cauchy(0, p.scale, 0, q.scale)


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p: Gumbel, q: Gumbel) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (
        away
        - np.log(ratio)
        + onp.euler_gamma * (ratio - 1)
        - 1
        + np.exp(npx.gammaln(1 + ratio) - away)
    )


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p: Uniform, q: Uniform) -> Any:
    inside = (q.low <= p.low) & (p.high <= q.high)
    return np.where(inside, np.log((q.high - q.low) / (p.high - p.low)), np.inf)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p: Exponential, q: Exponential) -> Any:
    return _ratio(p.scale / q.scale)


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p: Gamma, q: Gamma) -> Any:
    ratio = p.scale / q.scale
    shapes = (
        (p.shape - q.shape) * npx.digamma(p.shape) - npx.gammaln(p.shape) + npx.gammaln(q.shape)
    )
    return shapes - q.shape * np.log(ratio) + p.shape * (ratio - 1)


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Beta, q: Beta) -> Any:
    p_both, q_both = (np.stack(np.broadcast_arrays(d.alpha, d.beta), axis=-1) for d in (p, q))
    return _dirichlet(p_both, q_both)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Dirichlet, q: Dirichlet) -> Any:
    return _dirichlet(p.alpha, q.alpha)


def _dirichlet(p: Any, q: Any) -> Any:
    total = p.sum(-1)
    normalizers = (
        npx.gammaln(total) - npx.gammaln(q.sum(-1)) + (npx.gammaln(q) - npx.gammaln(p)).sum(-1)
    )
    return normalizers + ((p - q) * (npx.digamma(p) - npx.digamma(total)[..., None])).sum(-1)


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p: Pareto, q: Pareto) -> Any:
    ratio = q.alpha / p.alpha
    divergence = q.alpha * np.log(p.scale / q.scale) + _ratio(ratio)
    return np.where(p.scale >= q.scale, divergence, np.inf)


@register_kl(Weibull, Weibull)
def _kl_weibull_weibull(p: Weibull, q: Weibull) -> Any:
    kp, kq, ratio = p.concentration, q.concentration, p.scale / q.scale
    logs = np.log(kp / kq) - kq * np.log(ratio) + (kq / kp - 1) * onp.euler_gamma
    return logs - 1 + np.exp(kq * np.log(ratio) + npx.gammaln(kq / kp + 1))


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p: Bernoulli, q: Bernoulli) -> Any:
    success, failure = p.prob, p._failure()
    return p._log_trials(success, failure) - q._log_trials(success, failure)


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p: Binomial, q: Binomial) -> Any:
    success, failure = p.n * p.prob, p.n * p._failure()
    divergence = p._log_trials(success, failure) - q._log_trials(success, failure)
    same = p.n == q.n
    # For different n: if p has more trials than q, some values are impossible under q (inf);
    # otherwise the expected log binomial coefficients have no closed form (nan).
    return np.where(same, divergence, np.where((p.n > q.n) & (p.prob > 0), np.inf, np.nan))


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p: Geometric, q: Geometric) -> Any:
    success, failure = p.prob, p._failure()
    return (p._log_trials(success, failure) - q._log_trials(success, failure)) / p.prob


@register_kl(NegativeBinomial, NegativeBinomial)
def _kl_negative_binomial_negative_binomial(p: NegativeBinomial, q: NegativeBinomial) -> Any:
    divergence = p._log_trials(p.n, p.mean) - q._log_trials(p.n, p.mean)
    return np.where(p.n == q.n, divergence, np.nan)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p: Poisson, q: Poisson) -> Any:
    return xlogy(p.rate, p.rate) - xlogy(p.rate, q.rate) - p.rate + q.rate


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p: Categorical, q: Categorical) -> Any:
    return p._weighted(p.prob) - q._weighted(p.prob)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_categorical_one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Any:
    return p._weighted(p.prob) - q._weighted(p.prob)


@register_kl(Multinomial, Multinomial)
def _kl_multinomial_multinomial(p: Multinomial, q: Multinomial) -> Any:
    if p.total_count != q.total_count:
        return np.full(np.broadcast_shapes(p._batch_shape, q._batch_shape), np.inf, dtype=p._dtype)
    return p.total_count * (p._weighted(p.prob) - q._weighted(p.prob))


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise ValueError(
            "kl_divergence: expected Independent distributions with the same "
            "reinterpreted_batch_ndims, "
            f"got {p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return sum_right_most(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# --- of two kinds ---------------------------------------------------------------------------------


@register_kl(Uniform, Normal)
def _kl_uniform_normal(p: Uniform, q: Normal) -> Any:
    away = p.mean - q.loc
    return (
        0.5 * (p.variance + away * away) / q.scale**2
        + np.log(q.scale / (p.high - p.low))
        + 0.5 * math.log(2 * math.pi)
    )


@register_kl(Uniform, Gumbel)
def _kl_uniform_gumbel(p: Uniform, q: Gumbel) -> Any:
    length = (p.high - p.low) / q.scale
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    return (low + high) / 2 - np.log(length) + (np.exp(-low) - np.exp(-high)) / length


@register_kl(Exponential, Gumbel)
def _kl_exponential_gumbel(p: Exponential, q: Gumbel) -> Any:
    ratio = q.scale / p.scale
    return (
        np.log(ratio)
        - 1
        + 1 / ratio
        - q.loc / q.scale
        + np.exp(q.loc / q.scale) * ratio / (ratio + 1)
    )


@register_kl(Exponential, Normal)
def _kl_exponential_normal(p: Exponential, q: Normal) -> Any:
    away = p.scale - q.loc
    return (
        0.5 * (p.scale**2 + away * away) / q.scale**2
        + np.log(q.scale / p.scale)
        + 0.5 * math.log(2 * math.pi)
        - 1
    )


@register_kl(Exponential, Gamma)
def _kl_exponential_gamma(p: Exponential, q: Gamma) -> Any:
    ratio = p.scale / q.scale
    return (
        npx.gammaln(q.shape) - q.shape * np.log(ratio) + ratio + onp.euler_gamma * (q.shape - 1) - 1
    )


@register_kl(Gamma, Exponential)
def _kl_gamma_exponential(p: Gamma, q: Exponential) -> Any:
    ratio = p.scale / q.scale
    return (
        (p.shape - 1) * npx.digamma(p.shape)
        - npx.gammaln(p.shape)
        - np.log(ratio)
        + p.shape * (ratio - 1)
    )


@register_kl(Laplace, Normal)
def _kl_laplace_normal(p: Laplace, q: Normal) -> Any:
    away = p.loc - q.loc
    return (
        (2 * p.scale**2 + away * away) / (2 * q.scale**2)
        + 0.5 * math.log(2 * math.pi)
        + np.log(q.scale / (2 * p.scale))
        - 1
    )


__all__ = ["kl_divergence"]
