"""gluon.probability's samples and densities, differentiated, eager and compiled."""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, gluon, np, npx

mgp = gluon.probability
A = onp.array([0.7, 1.5, 4.0])
B = onp.array([2.5, 0.6, 1.0])
LOC = onp.array([-1.0, 0.0, 2.0])


pytestmark = pytest.mark.usefixtures("on_the_host")


REPARAMETERIZED = {
    "Normal": (lambda a, b: mgp.Normal(a, b), lambda a, b: a),
    "Uniform": (lambda a, b: mgp.Uniform(a, b + 4), lambda a, b: (a + b + 4) / 2),
    "Gamma": (lambda a, b: mgp.Gamma(a, b), lambda a, b: a * b),
    "Beta": (lambda a, b: mgp.Beta(a, b), lambda a, b: a / (a + b)),
    "Weibull": (lambda a, b: mgp.Weibull(1.0, a * b), lambda a, b: a * b),
    "Pareto": (lambda a, b: mgp.Pareto(a + 2, b), lambda a, b: b * (a + 2) / (a + 1)),
    "HalfNormal": (lambda a, b: mgp.HalfNormal(a * b), lambda a, b: a * b * (2 / onp.pi) ** 0.5),
    "Dirichlet": (lambda a, b: mgp.Dirichlet(np.stack([a, b], -1)), lambda a, b: 1.0 + 0 * a * b),
}


@pytest.mark.parametrize("name", REPARAMETERIZED)
def test_samples_are_differentiable_in_the_parameters(name):
    make, mean = REPARAMETERIZED[name]
    a, b = np.array(1.5), np.array(0.8)
    assert make(a, b).has_grad
    a.attach_grad(), b.attach_grad()

    @npx.jit
    def drawn():
        with autograd.record():
            sample = make(a, b).sample_n(4000)
            total = sample.sum() if name == "Dirichlet" else sample.mean()
            total = total / 4000 if name == "Dirichlet" else total
        total.backward()
        return total

    drawn()
    at = onp.array([1.5, 0.8])
    for i, grad in enumerate((a.grad, b.grad)):
        step = onp.eye(2)[i] * 1e-4
        exact = (mean(*(at + step)) - mean(*(at - step))) / 2e-4
        assert abs(float(grad) - exact) < 0.12, (i, float(grad), exact)


def test_densities_are_differentiable_and_finite_outside_of_the_support():
    for make in (
        lambda s: mgp.Gamma(s, s),
        lambda s: mgp.Beta(s, s),
        lambda s: mgp.Pareto(s, s),
        lambda s: mgp.Weibull(s, s),
    ):
        scale = np.array([2.0, 2.0])
        scale.attach_grad()
        with autograd.record():
            log_prob = make(scale).log_prob(
                np.array([-1.0, 2.5 if make(2.0).support is not mgp.Beta.support else 0.5])
            )
            loss = np.where(np.isfinite(log_prob), log_prob, 0).sum()
        loss.backward()
        assert onp.isfinite(scale.grad.asnumpy()).all() and float(scale.grad[1]) != 0


AT_ONE = {
    "Gamma": (lambda a: mgp.Gamma(a, 2.0), lambda a, x: stats.gamma(a, scale=2).logpdf(x)),
    "Beta": (lambda a: mgp.Beta(a, a), lambda a, x: stats.beta(a, a).logpdf(x)),
    "Weibull": (
        lambda a: mgp.Weibull(a, 2.0),
        lambda a, x: stats.weibull_min(a, scale=2).logpdf(x),
    ),
    "FisherSnedecor": (
        lambda a: mgp.FisherSnedecor(2 * a, 3.0),
        lambda a, x: stats.f(2 * a, 3).logpdf(x),
    ),
}


@pytest.mark.parametrize("name", AT_ONE)
def test_densities_are_differentiable_where_an_exponent_is_zero(name):
    make, exact = AT_ONE[name]
    a, x = np.array(1.0, dtype="float64"), np.array(0.3, dtype="float64")
    a.attach_grad(), x.attach_grad()
    with autograd.record():
        log_prob = make(a).log_prob(x)
    log_prob.backward()
    onp.testing.assert_allclose(
        float(a.grad), (exact(1 + 1e-5, 0.3) - exact(1 - 1e-5, 0.3)) / 2e-5, rtol=1e-5
    )
    onp.testing.assert_allclose(
        float(x.grad), (exact(1, 0.3 + 1e-5) - exact(1, 0.3 - 1e-5)) / 2e-5, rtol=1e-5, atol=1e-8
    )


def test_densities_are_differentiable_in_the_value():
    x = np.array([0.0, 0.25, 1.0])
    x.attach_grad()
    with autograd.record():
        log_prob = mgp.Bernoulli(0.2).log_prob(x)
    log_prob.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), onp.full(3, onp.log(0.25)), rtol=1e-5)


class Objective(gluon.HybridBlock):
    """A sample, its density under another distribution, and a divergence, as a model has them."""

    def forward(self, loc, scale, logit):
        q = mgp.Normal(loc, scale)
        z = q.sample_n(3)
        relaxed = mgp.RelaxedOneHotCategorical(0.5, 2, logit=logit).sample()
        likelihood = mgp.Bernoulli(logit=z).log_prob(np.ones_like(z)).sum(0)
        return likelihood - mgp.kl_divergence(q, mgp.Normal(0.0, 1.0)) + relaxed[..., 0] * loc


def outcome(mode):
    """Run two steps; return their results, and the gradients of the second."""
    np.random.seed(5)
    arrays = [np.array(x, dtype="float32") for x in (LOC, A, onp.stack([LOC, B], -1))]
    for x in arrays:
        x.attach_grad()
    net = Objective()
    if mode == "hybridized":
        net.hybridize()

    def step():
        with autograd.record():
            out = net(*arrays)
        out.backward()
        return out

    run = npx.jit(step) if mode == "compiled" else step
    run()
    return [run().asnumpy(), *[x.grad.asnumpy() for x in arrays]]


def test_eager_hybridized_and_compiled_agree():
    results = []
    for mode, placement in (
        ("eager", "numpy"),
        ("eager", "jax"),
        ("hybridized", "jax"),
        ("compiled", "auto"),
    ):
        with npx.backend(placement):
            results.append(outcome(mode))
    for other in results[1:]:
        for found, reference in zip(other, results[0], strict=True):
            onp.testing.assert_allclose(found, reference, rtol=1e-4, atol=1e-5)
    assert all(abs(g).max() > 0 for g in results[0][1:])
