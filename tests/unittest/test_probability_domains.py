"""Distributions at the ends of their domains."""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, gluon, np, npx

mgp = gluon.probability


pytestmark = pytest.mark.usefixtures("on_the_host")


def test_log_odds_are_exact_where_one_event_is_hardly_possible():
    bernoulli = mgp.Bernoulli(logit=np.array([200.0, -200.0]))
    onp.testing.assert_allclose(bernoulli.log_prob(0).asnumpy(), [-200, 0])
    onp.testing.assert_allclose(bernoulli.log_prob(1).asnumpy(), [0, -200])
    assert (
        onp.isfinite(bernoulli.entropy().asnumpy()).all()
        and onp.isfinite(bernoulli.prob.asnumpy()).all()
    )
    certain = mgp.Bernoulli(np.array([0.0, 1.0]))
    assert certain.log_prob(0).tolist() == [0, -onp.inf] and certain.log_prob(1).tolist() == [
        -onp.inf,
        0,
    ]
    assert certain.entropy().tolist() == [0, 0] and onp.isfinite(certain.logit.asnumpy()).all()


def test_logits_may_mask_events():
    logit = np.array([0.0, 0.0, -onp.inf])
    logit.attach_grad()
    with autograd.record():
        masked = mgp.Categorical(3, logit=logit)
        loss = (
            masked.entropy()
            + masked.log_prob(1)
            + mgp.Bernoulli(logit=np.array(-onp.inf)).log_prob(0)
        )
    loss.backward()
    onp.testing.assert_allclose(float(loss), 0, atol=1e-6)
    onp.testing.assert_allclose(logit.grad.asnumpy(), [-0.5, 0.5, 0], atol=1e-6)
    assert (masked.sample_n(50) < 2).all() and float(masked.log_prob(2)) == -onp.inf
    assert float(mgp.kl_divergence(masked, mgp.Categorical(3, logit=logit))) == 0


def test_tails_keep_their_digits_in_float32():
    normal = mgp.Normal(0.0, 1.0)
    onp.testing.assert_allclose(
        normal.cdf(np.array([-10.0])).asnumpy(), stats.norm.cdf([-10]), rtol=1e-4
    )
    onp.testing.assert_allclose(
        normal.icdf(np.array([1e-20], dtype="float32")).asnumpy(),
        stats.norm.ppf([1e-20]),
        rtol=1e-5,
    )
    onp.testing.assert_allclose(
        mgp.Cauchy().cdf(np.array([-1e8])).asnumpy(), stats.cauchy.cdf([-1e8]), rtol=1e-5
    )
    onp.testing.assert_allclose(
        mgp.Cauchy().log_prob(np.array([1e25])).asnumpy(), stats.cauchy.logpdf([1e25]), rtol=1e-5
    )
    onp.testing.assert_allclose(
        mgp.Exponential().cdf(np.array([1e-10])).asnumpy(), [1e-10], rtol=1e-5
    )
    onp.testing.assert_allclose(
        mgp.StudentT(3.0).cdf(np.array([-1e3])).asnumpy(), stats.t(3).cdf([-1e3]), rtol=1e-4
    )


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda: mgp.Uniform(0.0, 1.0), 2.0),
        (lambda: mgp.Exponential(), -1.0),
        (lambda: mgp.Gamma(2.0), -1.0),
        (lambda: mgp.Beta(2.0, 2.0), 1.5),
        (lambda: mgp.HalfNormal(), -1.0),
        (lambda: mgp.HalfCauchy(), -1.0),
        (lambda: mgp.Pareto(2.0), 0.5),
        (lambda: mgp.Weibull(2.0), -1.0),
        (lambda: mgp.FisherSnedecor(2.0, 2.0), -1.0),
        (lambda: mgp.Poisson(2.0), -1),
        (lambda: mgp.Geometric(0.5), -1),
        (lambda: mgp.Binomial(3, 0.5), 4),
        (lambda: mgp.NegativeBinomial(3, 0.5), -1),
    ],
)
def test_outside_of_the_support_there_is_no_density(make, value):
    with npx.backend("numpy"):
        assert float(make().log_prob(value)) == -onp.inf and float(make().pdf(value)) == 0
        assert float(make().cdf(value)) in (0, 1)
        checked = make()
        checked._validate_args = True
        with pytest.raises(ValueError, match="value: expected "):
            checked.log_prob(value)


def test_means_that_do_not_exist_are_scipys():
    df = onp.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.5])
    for ours, exact in (
        (mgp.StudentT(np.array(df)), stats.t(df)),
        (mgp.FisherSnedecor(np.array(1.0), np.array(df)), stats.f(1, df)),
        (mgp.Pareto(np.array(df)), stats.pareto(df)),
        (mgp.Cauchy(np.array(df)), stats.cauchy(df)),
        (mgp.HalfCauchy(np.array(df)), stats.halfcauchy(scale=df)),
    ):
        mean = exact.mean()
        if type(ours) is mgp.StudentT:
            mean = onp.where(df > 1, 0, onp.nan)  # SciPy says inf, for lack of a better word
        onp.testing.assert_allclose(ours.mean.asnumpy(), mean)
        onp.testing.assert_allclose(ours.variance.asnumpy()[df > 2], exact.var()[df > 2])
