"""Divergences: each formula against the sum or the integral that defines it, the table, and the
estimate from samples.
"""

import numpy as onp
import pytest
from scipy import integrate, stats

from npcompat import autograd, gluon, np, npx

mgp = gluon.probability


pytestmark = pytest.mark.usefixtures("on_the_host")


COV = onp.array([[2.0, 0.6], [0.6, 1.0]])
SHARES = onp.array([0.2, 0.3, 0.5]), onp.array([0.6, 0.3, 0.1])

# two distributions of ours, and of SciPy
CONTINUOUS = {
    "Normal": (
        mgp.Normal(0.5, 1.2),
        mgp.Normal(-1.0, 2.0),
        stats.norm(0.5, 1.2),
        stats.norm(-1, 2),
    ),
    "HalfNormal": (
        mgp.HalfNormal(1.2),
        mgp.HalfNormal(2.0),
        stats.halfnorm(scale=1.2),
        stats.halfnorm(scale=2),
    ),
    "Laplace": (
        mgp.Laplace(0.5, 1.2),
        mgp.Laplace(-1.0, 2.0),
        stats.laplace(0.5, 1.2),
        stats.laplace(-1, 2),
    ),
    "Cauchy": (
        mgp.Cauchy(0.5, 1.2),
        mgp.Cauchy(-1.0, 2.0),
        stats.cauchy(0.5, 1.2),
        stats.cauchy(-1, 2),
    ),
    "HalfCauchy": (
        mgp.HalfCauchy(1.2),
        mgp.HalfCauchy(2.0),
        stats.halfcauchy(scale=1.2),
        stats.halfcauchy(scale=2),
    ),
    "Gumbel": (
        mgp.Gumbel(0.5, 1.2),
        mgp.Gumbel(-1.0, 2.0),
        stats.gumbel_r(0.5, 1.2),
        stats.gumbel_r(-1, 2),
    ),
    "Uniform": (
        mgp.Uniform(0.5, 1.0),
        mgp.Uniform(-1.0, 2.0),
        stats.uniform(0.5, 0.5),
        stats.uniform(-1, 3),
    ),
    "Exponential": (
        mgp.Exponential(1.2),
        mgp.Exponential(2.0),
        stats.expon(scale=1.2),
        stats.expon(scale=2),
    ),
    "Gamma": (
        mgp.Gamma(1.5, 1.2),
        mgp.Gamma(2.0, 0.7),
        stats.gamma(1.5, scale=1.2),
        stats.gamma(2, scale=0.7),
    ),
    "Chi2": (mgp.Chi2(3.0), mgp.Chi2(5.0), stats.chi2(3), stats.chi2(5)),
    "Beta": (mgp.Beta(1.5, 1.2), mgp.Beta(2.0, 0.7), stats.beta(1.5, 1.2), stats.beta(2, 0.7)),
    "Pareto": (
        mgp.Pareto(3.0, 2.0),
        mgp.Pareto(1.5, 1.0),
        stats.pareto(3, scale=2),
        stats.pareto(1.5),
    ),
    "Weibull": (
        mgp.Weibull(1.5, 1.2),
        mgp.Weibull(1.1, 2.0),
        stats.weibull_min(1.5, scale=1.2),
        stats.weibull_min(1.1, scale=2),
    ),
    "Uniform, Normal": (
        mgp.Uniform(0.5, 1.5),
        mgp.Normal(-1.0, 2.0),
        stats.uniform(0.5, 1),
        stats.norm(-1, 2),
    ),
    "Uniform, Gumbel": (
        mgp.Uniform(0.5, 1.5),
        mgp.Gumbel(-1.0, 2.0),
        stats.uniform(0.5, 1),
        stats.gumbel_r(-1, 2),
    ),
    "Exponential, Gumbel": (
        mgp.Exponential(1.2),
        mgp.Gumbel(-1.0, 2.0),
        stats.expon(scale=1.2),
        stats.gumbel_r(-1, 2),
    ),
    "Exponential, Normal": (
        mgp.Exponential(1.2),
        mgp.Normal(-1.0, 2.0),
        stats.expon(scale=1.2),
        stats.norm(-1, 2),
    ),
    "Exponential, Gamma": (
        mgp.Exponential(1.2),
        mgp.Gamma(2.0, 0.7),
        stats.expon(scale=1.2),
        stats.gamma(2, scale=0.7),
    ),
    "Gamma, Exponential": (
        mgp.Gamma(2.0, 0.7),
        mgp.Exponential(1.2),
        stats.gamma(2, scale=0.7),
        stats.expon(scale=1.2),
    ),
    "Laplace, Normal": (
        mgp.Laplace(0.5, 1.2),
        mgp.Normal(-1.0, 2.0),
        stats.laplace(0.5, 1.2),
        stats.norm(-1, 2),
    ),
}
DISCRETE = {
    "Bernoulli": (mgp.Bernoulli(0.3), mgp.Bernoulli(logit=1.0), stats.bernoulli(0.3), stats.bernoulli(1 / (1 + onp.exp(-1)))),
    "Binomial": (mgp.Binomial(5, 0.3), mgp.Binomial(5, 0.6), stats.binom(5, 0.3), stats.binom(5, 0.6)),
    "Geometric": (mgp.Geometric(0.3), mgp.Geometric(logit=1.0), stats.geom(0.3, -1), stats.geom(1 / (1 + onp.exp(-1)), -1)),
    "NegativeBinomial": (mgp.NegativeBinomial(2.5, 0.3), mgp.NegativeBinomial(2.5, 0.6), stats.nbinom(2.5, 0.3), stats.nbinom(2.5, 0.6)),
    "Poisson": (mgp.Poisson(3.0), mgp.Poisson(1.5), stats.poisson(3), stats.poisson(1.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTINUOUS)
def test_divergences_of_densities_are_their_integrals(name):
    p, q, exact_p, exact_q = CONTINUOUS[name]
    # over the levels of p, so that the integral is of a bounded interval
    exact = integrate.quad(
        lambda u: exact_p.logpdf(exact_p.ppf(u)) - exact_q.logpdf(exact_p.ppf(u)), 0, 1, limit=200
    )[0]
    with npx.backend("numpy"):
        onp.testing.assert_allclose(float(mgp.kl_divergence(p, q)), exact, rtol=2e-5)
        onp.testing.assert_allclose(
            float(mgp.kl_divergence(p, p)) if type(p) is type(q) else 0, 0, atol=1e-6
        )


@pytest.mark.parametrize("name", DISCRETE)
def test_divergences_of_discrete_distributions_are_their_sums(name):
    p, q, exact_p, exact_q = DISCRETE[name]
    k = onp.arange(0, 200 if exact_p.support()[1] > 200 else exact_p.support()[1] + 1)
    with npx.backend("numpy"):
        onp.testing.assert_allclose(
            float(mgp.kl_divergence(p, q)),
            (exact_p.pmf(k) * (exact_p.logpmf(k) - exact_q.logpmf(k))).sum(),
            rtol=2e-5,
        )


def test_divergences_of_events():
    a, b = SHARES
    exact = stats.entropy(a, b)
    for kind, factor in (
        (mgp.Categorical, 1),
        (mgp.OneHotCategorical, 1),
        (lambda n, **p: mgp.Multinomial(n, total_count=4, **p), 4),
    ):
        p, q = kind(3, prob=np.array(a)), kind(3, logit=np.array(onp.log(b) + 3))
        onp.testing.assert_allclose(float(mgp.kl_divergence(p, q)), factor * exact, rtol=1e-6)
    impossible = mgp.Categorical(2, np.array([0.0, 1.0]))
    assert float(
        mgp.kl_divergence(impossible, mgp.Categorical(2, np.array([0.5, 0.5])))
    ) == pytest.approx(onp.log(2))
    assert float(mgp.kl_divergence(mgp.Categorical(2, np.array([0.5, 0.5])), impossible)) == onp.inf
    assert (
        float(
            mgp.kl_divergence(
                mgp.Multinomial(2, np.ones(2) / 2, total_count=1),
                mgp.Multinomial(2, np.ones(2) / 2),
            )
        )
        == 0
    )
    assert (
        float(
            mgp.kl_divergence(
                mgp.Multinomial(2, np.ones(2) / 2, total_count=2),
                mgp.Multinomial(2, np.ones(2) / 2),
            )
        )
        == onp.inf
    )


def test_divergences_of_vectors():
    loc = onp.array([1.0, -0.5])
    p, q = (
        mgp.MultivariateNormal(np.array(loc), cov=np.array(COV)),
        mgp.MultivariateNormal(np.zeros(2), precision=np.array(COV)),
    )
    exact = 0.5 * (onp.trace(COV @ COV) + loc @ COV @ loc - 2 - onp.log(onp.linalg.det(COV @ COV)))
    onp.testing.assert_allclose(float(mgp.kl_divergence(p, q)), exact, rtol=1e-5)
    a, b = onp.array([0.5, 1.0, 3.0]), onp.array([2.0, 1.0, 0.7])
    samples = stats.dirichlet(a).rvs(40000, random_state=1).T
    samples /= samples.sum(0)
    estimate = (stats.dirichlet(a).logpdf(samples) - stats.dirichlet(b).logpdf(samples)).mean()
    found = float(mgp.kl_divergence(mgp.Dirichlet(np.array(a)), mgp.Dirichlet(np.array(b))))
    onp.testing.assert_allclose(found, estimate, rtol=0.03)


def test_divergences_of_independent_elements_add_up():
    p, q = mgp.Normal(np.ones((2, 3)), 2.0), mgp.Normal(np.zeros(3), 1.0)
    each = mgp.kl_divergence(p, q)
    together = mgp.kl_divergence(
        mgp.Independent(p, 1), mgp.Independent(mgp.Normal(np.zeros((2, 3)), 1.0), 1)
    )
    onp.testing.assert_allclose(together.asnumpy(), each.sum(-1).asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="same reinterpreted_batch_ndims, got 1 and 2"):
        mgp.kl_divergence(mgp.Independent(p, 1), mgp.Independent(p, 2))


def test_where_q_has_no_density_the_divergence_is_infinite():
    for p, q in (
        (mgp.Uniform(0.0, 3.0), mgp.Uniform(0.0, 2.0)),
        (mgp.Pareto(2.0, 1.0), mgp.Pareto(2.0, 2.0)),
        (mgp.Binomial(5, 0.5), mgp.Binomial(4, 0.5)),
    ):
        assert float(mgp.kl_divergence(p, q)) == onp.inf


def test_the_estimate_approaches_the_formula():
    p, q = mgp.Gamma(np.array([1.5, 3.0]), 1.2), mgp.Gamma(2.0, 0.7)
    onp.testing.assert_allclose(
        mgp.empirical_kl(p, q, 20000).asnumpy(), mgp.kl_divergence(p, q).asnumpy(), rtol=0.05
    )
    assert mgp.empirical_kl(p, q).shape == (2,)
    with pytest.raises(
        ValueError, match="empirical_kl: n_samples: expected a number from 1 on, got 0"
    ):
        mgp.empirical_kl(p, q, 0)


def test_divergences_are_differentiable():
    loc = np.array([1.0, 2.0])
    loc.attach_grad()
    with autograd.record():
        divergence = npx.jit(
            lambda loc: mgp.kl_divergence(mgp.Normal(loc, 1.0), mgp.Normal(0.0, 2.0))
        )(loc)
    divergence.backward()
    onp.testing.assert_allclose(loc.grad.asnumpy(), [0.25, 0.5], rtol=1e-6)


def test_the_table_knows_subclasses_and_takes_what_is_given():
    class Special(mgp.Normal):
        pass

    assert float(mgp.kl_divergence(Special(1.0, 1.0), mgp.Normal(0.0, 1.0))) == 0.5
    assert float(mgp.kl_divergence(mgp.Chi2(3.0), mgp.Gamma(1.5, 2.0))) == pytest.approx(
        0, abs=1e-6
    )

    @mgp.register_kl(Special, mgp.Normal)
    def own(p, q):
        return 7.0

    assert (
        mgp.kl_divergence(Special(), mgp.Normal()) == 7.0
        and float(mgp.kl_divergence(mgp.Normal(), Special())) == 0
    )
    with pytest.raises(
        NotImplementedError,
        match="kl_divergence does not define Normal and Gamma: give it with register_kl, or use empirical_kl",
    ):
        mgp.kl_divergence(mgp.Normal(), mgp.Gamma(1.0))
    with pytest.raises(
        TypeError,
        match="register_kl: typeQ: expected a subclass of Distribution, got <class 'int'>",
    ):
        mgp.register_kl(mgp.Normal, int)
