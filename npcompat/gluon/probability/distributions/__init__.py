"""Probability distributions, and divergences between them."""

from npcompat.gluon.probability._functions import (
    cached_property,
    constraint_check,
    digamma,
    erf,
    erfinv,
    gammaln,
    logit2prob,
    prob2logit,
    sample_n_shape_converter,
)
from npcompat.gluon.probability.distributions.categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
)
from npcompat.gluon.probability.distributions.composed import Independent, TransformedDistribution
from npcompat.gluon.probability.distributions.discrete import (
    Bernoulli,
    Binomial,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.gluon.probability.distributions.divergence import empirical_kl, register_kl
from npcompat.gluon.probability.distributions.divergences import kl_divergence
from npcompat.gluon.probability.distributions.exp_family import ExponentialFamily
from npcompat.gluon.probability.distributions.gamma import (
    Beta,
    Chi2,
    Dirichlet,
    Exponential,
    FisherSnedecor,
    Gamma,
)
from npcompat.gluon.probability.distributions.location_scale import (
    Cauchy,
    Gumbel,
    Laplace,
    Normal,
    StudentT,
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
from npcompat.gluon.probability.distributions.relaxed import (
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "Geometric", "Gumbel",
    "HalfCauchy", "HalfNormal", "Independent", "Laplace", "LogNormal", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "Pareto", "Poisson", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform", "Weibull",
    "cached_property", "constraint_check", "digamma", "empirical_kl", "erf", "erfinv", "gammaln",
    "kl_divergence", "logit2prob", "prob2logit", "register_kl", "sample_n_shape_converter",
]  # fmt: skip
