"""gluon.probability's distributions against SciPy: densities, distribution functions, moments,
entropies, samples.
"""

from typing import ClassVar

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, gluon, np, npx

mgp = gluon.probability


pytestmark = pytest.mark.usefixtures("on_the_host")


A = onp.array([0.7, 1.5, 4.0])
B = onp.array([2.5, 0.6, 1.0])
LOC = onp.array([-1.0, 0.0, 2.0])
P = onp.array([0.05, 0.5, 0.9])
N = onp.array([1.0, 4.0, 12.0])
LOGIT = onp.log(P / (1 - P))

# name: the distribution of three in a batch, the same of SciPy, and which methods it does not
# define
CASES = {
    "Normal": (lambda f: mgp.Normal(f(LOC), f(A)), stats.norm(LOC, A), ""),
    "HalfNormal": (lambda f: mgp.HalfNormal(f(A)), stats.halfnorm(scale=A), ""),
    "Laplace": (lambda f: mgp.Laplace(f(LOC), f(A)), stats.laplace(LOC, A), ""),
    "Cauchy": (lambda f: mgp.Cauchy(f(LOC), f(A)), stats.cauchy(LOC, A), "mean variance"),
    "HalfCauchy": (lambda f: mgp.HalfCauchy(f(A)), stats.halfcauchy(scale=A), "mean variance"),
    "Gumbel": (lambda f: mgp.Gumbel(f(LOC), f(A)), stats.gumbel_r(LOC, A), ""),
    "StudentT": (lambda f: mgp.StudentT(f(A + 2), f(LOC), f(B)), stats.t(A + 2, LOC, B), "icdf"),
    "Uniform": (lambda f: mgp.Uniform(f(LOC), f(LOC + A)), stats.uniform(LOC, A), ""),
    "Exponential": (lambda f: mgp.Exponential(f(A)), stats.expon(scale=A), ""),
    "Gamma": (lambda f: mgp.Gamma(f(A), f(B)), stats.gamma(A, scale=B), "icdf"),
    "Chi2": (lambda f: mgp.Chi2(f(A)), stats.chi2(A), "icdf"),
    "Beta": (lambda f: mgp.Beta(f(A), f(B)), stats.beta(A, B), "icdf"),
    "FisherSnedecor": (lambda f: mgp.FisherSnedecor(f(A), f(B + 5)), stats.f(A, B + 5), "icdf entropy"),
    "Pareto": (lambda f: mgp.Pareto(f(A + 2), f(B)), stats.pareto(A + 2, scale=B), ""),
    "Weibull": (lambda f: mgp.Weibull(f(A), f(B)), stats.weibull_min(A, scale=B), ""),
    "Bernoulli": (lambda f: mgp.Bernoulli(f(P)), stats.bernoulli(P), "icdf"),
    "Bernoulli, logit": (lambda f: mgp.Bernoulli(logit=f(LOGIT)), stats.bernoulli(P), "icdf"),
    "Binomial": (lambda f: mgp.Binomial(f(N), f(P)), stats.binom(N, P), "icdf entropy"),
    "Binomial, logit": (lambda f: mgp.Binomial(f(N), logit=f(LOGIT)), stats.binom(N, P), "icdf entropy"),
    "Geometric": (lambda f: mgp.Geometric(f(P)), stats.geom(P, loc=-1), "icdf"),
    "Geometric, logit": (lambda f: mgp.Geometric(logit=f(LOGIT)), stats.geom(P, loc=-1), "icdf"),
    "NegativeBinomial": (lambda f: mgp.NegativeBinomial(f(N), f(P)), stats.nbinom(N, P), "icdf entropy"),
    "NegativeBinomial, logit": (lambda f: mgp.NegativeBinomial(f(N), logit=f(LOGIT)), stats.nbinom(N, P), "icdf entropy"),
    "Poisson": (lambda f: mgp.Poisson(f(A)), stats.poisson(A), "icdf entropy"),
}  # fmt: skip
LEVELS = onp.array([1e-5, 0.02, 0.4, 0.9, 0.9999])
METHODS = ("log_prob", "cdf", "icdf", "mean", "variance", "entropy")
ORACLES = {
    "log_prob": None,
    "cdf": "cdf",
    "icdf": "ppf",
    "mean": "mean",
    "variance": "var",
    "entropy": "entropy",
}


def expected(exact, method, x):
    """Return SciPy's values of a method."""
    if method == "log_prob":
        return (
            exact.logpmf(x)
            if hasattr(exact, "logpmf") and not hasattr(exact.dist, "logpdf")
            else exact.logpdf(x)
        )
    if method == "icdf":
        return exact.ppf(LEVELS[:, None])
    return getattr(exact, ORACLES[method])(*([x] if method == "cdf" else []))


def described(distribution, x, lacking):
    """Return npcompat's values, by method."""
    found = {}
    for method in METHODS:
        if method in lacking:
            continue
        given = {
            "log_prob": (x,),
            "cdf": (x,),
            "icdf": (LEVELS[:, None].astype(str(x.dtype)),),
        }.get(method)
        found[method] = (
            getattr(distribution, method)(*map(np.array, given))
            if given
            else getattr(distribution, method)
        )
        if method == "entropy":
            found[method] = found[method]()
    return found


@pytest.mark.parametrize("name", CASES)
def test_functions_and_moments_are_scipys(name):
    make, exact, lacking = CASES[name]
    x = exact.ppf(LEVELS[:, None])
    # in 64 bits on the host, and in 32 bits as one program of XLA
    with npx.backend("numpy"):
        precise = described(make(np.array), np.array(x), lacking)
    x32 = x.astype("float32")
    compiled = npx.jit(
        lambda x: described(make(lambda p: np.array(p, dtype="float32")), x, lacking)
    )(np.array(x32))
    assert list(precise) == [m for m in METHODS if m not in lacking]
    for method, found in precise.items():
        assert found.dtype == "float64" and compiled[method].dtype == "float32"
        onp.testing.assert_allclose(
            found.asnumpy(), expected(exact, method, x), rtol=2e-6, atol=1e-9, err_msg=method
        )
        onp.testing.assert_allclose(
            compiled[method].asnumpy(),
            expected(exact, method, x32),
            rtol=3e-4,
            atol=3e-5,
            err_msg=method,
        )


@pytest.mark.parametrize("name", [name for name in CASES if "logit" not in name])
def test_samples_are_distributed_as_scipy_says(name):
    make, exact, _ = CASES[name]
    np.random.seed(11)
    with npx.backend("numpy"):
        sample = make(np.array).sample_n(2000).asnumpy()
    assert sample.shape == (2000, 3) and sample.dtype == "float64"
    for i in range(3):
        cdf = lambda v, i=i: exact.cdf(
            onp.broadcast_to(onp.asarray(v)[..., None], (*onp.shape(v), 3))
        )[..., i]
        if hasattr(exact.dist, "logpdf"):
            assert stats.kstest(sample[:, i], cdf).pvalue > 1e-3
        else:
            values = onp.unique(sample[:, i])
            found = (sample[:, i, None] <= values).mean(0)
            assert abs(found - cdf(values)).max() < 0.04


def test_sizes_of_samples():
    normal = mgp.Normal(np.zeros((2, 1)), np.ones(3))
    assert normal.sample().shape == (2, 3)
    assert normal.sample((4, 2, 3)).shape == (4, 2, 3)
    assert (
        normal.sample_n().shape == (2, 3)
        and normal.sample_n(4).shape == (4, 2, 3)
        and normal.sample_n((4, 5)).shape == (4, 5, 2, 3)
    )
    assert normal.sample_n(0).shape == (0, 2, 3)
    assert mgp.Normal().sample().shape == () and mgp.Normal().sample(3).shape == (3,)
    assert mgp.Normal(np.zeros((0, 2)), 1.0).sample_n(3).shape == (3, 0, 2)
    with pytest.raises(
        ValueError,
        match=r"Normal.sample: the batch, of shape \(2, 3\), does not broadcast to size=3; sample_n\(size\)",
    ):
        normal.sample(3)
    with pytest.raises(ValueError, match="size: expected numbers from 0 on, got -1"):
        normal.sample_n(-1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_samples_and_densities_have_the_dtype_of_the_parameters(dtype):
    one = np.ones(2, dtype=dtype)
    with npx.backend("numpy"):  # where little is compiled for each of them
        for distribution in (
            mgp.Normal(one, 1),
            mgp.Laplace(0.0, one),
            mgp.Bernoulli(one / 2),
            mgp.MultivariateNormal(one, np.diag(one)),
        ):
            assert distribution.sample().dtype == dtype and distribution.mean.dtype == dtype
            log_prob = distribution.log_prob(one)
            assert log_prob.dtype == dtype and np.isfinite(log_prob).all()


def test_parameters_that_are_no_floats_become_the_default_float():
    assert (
        mgp.Normal(0, 1).sample().dtype == "float32"
        and mgp.Normal(np.array([1, 2]), 1).mean.dtype == "float32"
    )
    assert (
        mgp.Normal([0.0, 1.0], 1).mean.dtype == "float32"
        and mgp.Normal(onp.zeros(2), 1).mean.dtype == "float64"
    )
    assert mgp.Categorical(3, np.full(3, 1 / 3)).sample().dtype == "int64"
    with npx.np_default_dtype():
        assert mgp.Poisson(3).mean.dtype == "float64"


# --- vectors --------------------------------------------------------------------------------------

COV = onp.array([[2.0, 0.6, 0.1], [0.6, 1.0, -0.3], [0.1, -0.3, 0.5]])
MVN = {"cov": COV, "precision": onp.linalg.inv(COV), "scale_tril": onp.linalg.cholesky(COV)}


@pytest.mark.parametrize(
    ("kind", "placement"), [("cov", "jax"), ("precision", "numpy"), ("scale_tril", "numpy")]
)
def test_multivariate_normal(kind, placement):
    with npx.backend(placement):
        check_multivariate_normal(kind)


def check_multivariate_normal(kind):
    exact = stats.multivariate_normal(LOC, COV)
    x = onp.random.default_rng(3).normal(size=(4, 3))
    normal = mgp.MultivariateNormal(np.array(LOC), **{kind: np.array(MVN[kind])})
    onp.testing.assert_allclose(normal.log_prob(np.array(x)).asnumpy(), exact.logpdf(x), rtol=1e-9)
    onp.testing.assert_allclose(normal.entropy().asnumpy(), exact.entropy(), rtol=1e-9)
    onp.testing.assert_allclose(normal.variance.asnumpy(), onp.diag(COV), rtol=1e-9)
    for name, matrix in MVN.items():
        onp.testing.assert_allclose(getattr(normal, name).asnumpy(), matrix, rtol=1e-9, atol=1e-12)
    sample = normal.sample_n(20000).asnumpy()
    onp.testing.assert_allclose(onp.cov(sample.T), COV, atol=0.06)
    onp.testing.assert_allclose(sample.mean(0), LOC, atol=0.05)
    wide = normal.broadcast_to((2,))
    assert (
        wide.sample().shape == (2, 3)
        and wide.log_prob(np.array(x[0])).shape == (2,)
        and wide.mean.shape == (2, 3)
    )


def test_dirichlet():
    alpha = onp.array([0.02, 1.0, 3.0])
    x = onp.array([0.2, 0.3, 0.5])
    exact = stats.dirichlet(alpha)
    dirichlet = mgp.Dirichlet(np.array(alpha))
    onp.testing.assert_allclose(dirichlet.log_prob(np.array(x)), exact.logpdf(x), rtol=1e-9)
    onp.testing.assert_allclose(dirichlet.entropy(), exact.entropy(), rtol=1e-9)
    onp.testing.assert_allclose(dirichlet.mean.asnumpy(), exact.mean(), rtol=1e-9)
    onp.testing.assert_allclose(dirichlet.variance.asnumpy(), exact.var(), rtol=1e-9)
    sample = dirichlet.sample_n(20000).asnumpy()
    onp.testing.assert_allclose(sample.mean(0), exact.mean(), atol=0.01)
    onp.testing.assert_allclose(sample.var(0), exact.var(), atol=0.01)
    tiny = mgp.Dirichlet(np.full((4, 3), 1e-3)).sample()  # where gamma variates underflow
    onp.testing.assert_allclose(tiny.sum(-1).asnumpy(), onp.ones(4), rtol=1e-5)


def test_categorical():
    prob = onp.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    for categorical in (
        mgp.Categorical(3, np.array(prob)),
        mgp.Categorical(3, logit=np.array(onp.log(prob + 1e-300) + 7)),
    ):
        with onp.errstate(divide="ignore"):
            logs = onp.log(prob)
        found = categorical.log_prob(np.array([[0, 0], [2, 1], [3, -1]])).asnumpy()
        onp.testing.assert_allclose(found[0], logs[[0, 1], [0, 0]], atol=1e-12)
        onp.testing.assert_allclose(found[1, 0], logs[0, 2])
        assert found[1, 1] < -600 and (found[2] == -onp.inf).all()
        onp.testing.assert_allclose(
            categorical.entropy().asnumpy(), stats.entropy(prob, axis=1), atol=1e-12
        )
        onp.testing.assert_allclose(
            categorical.perplexity().asnumpy(), onp.exp(stats.entropy(prob, axis=1)), rtol=1e-12
        )
        sample = categorical.sample_n(4000).asnumpy()
        onp.testing.assert_allclose(
            [(sample[:, 0] == k).mean() for k in range(3)], prob[0], atol=0.03
        )
        assert (sample[:, 1] == 0).all()
        assert categorical.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
        onp.testing.assert_allclose(
            np.exp(categorical.log_prob(categorical.enumerate_support())).sum(0).asnumpy(), [1, 1]
        )
        assert categorical.broadcast_to((4, 2)).sample().shape == (4, 2)


def test_one_hot_categorical():
    prob = onp.array([0.2, 0.3, 0.5])
    one_hot = mgp.OneHotCategorical(3, np.array(prob))
    sample = one_hot.sample_n(4000)
    assert (
        sample.shape == (4000, 3)
        and set(sample.asnumpy().ravel()) == {0, 1}
        and (sample.sum(-1) == 1).all()
    )
    onp.testing.assert_allclose(sample.mean(0).asnumpy(), prob, atol=0.03)
    assert one_hot.enumerate_support().tolist() == onp.eye(3).tolist()
    onp.testing.assert_allclose(
        one_hot.log_prob(one_hot.enumerate_support()).asnumpy(), onp.log(prob)
    )
    assert (
        one_hot.mean.tolist() == prob.tolist()
        and one_hot.variance.tolist() == (prob * (1 - prob)).tolist()
    )
    onp.testing.assert_allclose(one_hot.entropy(), stats.entropy(prob))


def test_multinomial():
    prob = onp.array([0.2, 0.3, 0.5])
    exact = stats.multinomial(5, prob)
    for multinomial in (
        mgp.Multinomial(3, np.array(prob), total_count=5),
        mgp.Multinomial(3, logit=np.log(np.array(prob)), total_count=5),
    ):
        x = onp.array([[1, 1, 3], [5, 0, 0], [1, 1, 1]])
        onp.testing.assert_allclose(multinomial.log_prob(np.array(x)).asnumpy(), exact.logpmf(x))
        sample = multinomial.sample_n(4000)
        assert (sample.sum(-1) == 5).all()
        onp.testing.assert_allclose(sample.mean(0).asnumpy(), multinomial.mean.asnumpy(), atol=0.08)
        onp.testing.assert_allclose(
            sample.asnumpy().var(0), multinomial.variance.asnumpy(), atol=0.1
        )
        assert multinomial.broadcast_to((2,)).sample((4, 2)).shape == (4, 2, 3)


# --- relaxed --------------------------------------------------------------------------------------


def test_relaxed_bernoulli_is_a_logistic_variate_through_the_sigmoid():
    relaxed = mgp.RelaxedBernoulli(0.7, prob=np.array(P))
    x = onp.array([0.01, 0.4, 0.95])
    logit = onp.log(x / (1 - x))
    exact = stats.logistic(LOGIT / 0.7, 1 / 0.7).logpdf(logit) - onp.log(x * (1 - x))
    onp.testing.assert_allclose(relaxed.log_prob(np.array(x)).asnumpy(), exact, rtol=1e-9)
    sample = relaxed.sample_n(4000).asnumpy()
    assert ((sample > 0) & (sample < 1)).all()
    onp.testing.assert_allclose((sample > 0.5).mean(0), P, atol=0.03)
    assert relaxed.broadcast_to((2, 3)).sample().shape == (2, 3)


def test_relaxed_one_hot_categorical_of_two_events_is_a_relaxed_bernoulli():
    x = onp.array([0.1, 0.4, 0.95])
    two = mgp.RelaxedOneHotCategorical(0.7, 2, prob=np.array(onp.stack([P, 1 - P], -1)))
    one = mgp.RelaxedBernoulli(0.7, prob=np.array(P))
    onp.testing.assert_allclose(
        two.log_prob(np.array(onp.stack([x, 1 - x], -1))).asnumpy(),
        one.log_prob(np.array(x)).asnumpy(),
        rtol=1e-9,
    )
    sample = two.sample_n(4000).asnumpy()
    onp.testing.assert_allclose(sample.sum(-1), onp.ones((4000, 3)), rtol=1e-6)
    onp.testing.assert_allclose((sample[..., 0] > 0.5).mean(0), P, atol=0.03)


# --- arguments ------------------------------------------------------------------------------------


def test_bad_parameters_are_named():
    with pytest.raises(
        ValueError, match=r"Normal: scale: expected numbers above 0, got -1.0 at index \(1,\)"
    ):
        mgp.Normal(0.0, np.array([1.0, -1.0]), validate_args=True)
    with pytest.raises(
        ValueError, match="Bernoulli: expected exactly one of prob or logit, got none"
    ):
        mgp.Bernoulli()
    with pytest.raises(
        ValueError, match="Categorical: expected exactly one of prob or logit, got prob and logit"
    ):
        mgp.Categorical(2, np.ones(2), np.ones(2))
    with pytest.raises(
        ValueError,
        match=r"Categorical: prob: expected length num_events=3 along the last axis, got shape \(2,\)",
    ):
        mgp.Categorical(3, np.ones(2))
    with pytest.raises(ValueError, match="num_events: expected a whole number from 1 on, got 0"):
        mgp.Categorical(0, np.ones(0))
    with pytest.raises(
        ValueError, match=r"Categorical: prob: expected at least 1 axes, got shape \(\)"
    ):
        mgp.Categorical(1, 1.0)
    with pytest.raises(ValueError, match=r"do not broadcast: loc: \(2,\), scale: \(3,\)"):
        mgp.Normal(np.zeros(2), np.ones(3))
    with pytest.raises(TypeError, match="Normal: expected real parameters, got complex64"):
        mgp.Normal(np.array([1j]), 1.0)
    with pytest.raises(ValueError, match="Binomial: n: expected a whole number from 0 on, got 1.5"):
        mgp.Binomial(1.5, 0.5)
    with pytest.raises(
        ValueError, match="Multinomial: total_count: expected a whole number from 0 on, got -1"
    ):
        mgp.Multinomial(2, np.ones(2) / 2, total_count=-1)
    with pytest.raises(
        ValueError, match="expected exactly one of cov or precision or scale_tril, got none"
    ):
        mgp.MultivariateNormal(np.zeros(2))
    with pytest.raises(
        ValueError, match=r"cov: expected shape \(..., 2, 2\), as loc has 2 elements, got \(3, 3\)"
    ):
        mgp.MultivariateNormal(np.zeros(2), np.eye(3))
    with pytest.raises(
        ValueError,
        match=r"cov: expected symmetric positive definite matrices, got \[\[1., 2.\], \[2., 1.\]\]",
    ):
        mgp.MultivariateNormal(np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]), validate_args=True)
    with pytest.raises(
        ValueError,
        match="Simplex|prob: expected vectors along the last axis of numbers from 0 on that add up to 1",
    ):
        mgp.Categorical(2, np.array([0.5, 0.6]), validate_args=True)
    with pytest.raises(
        ValueError,
        match=r"Uniform: high \(above low\): expected numbers above the given bound, got 1.0",
    ):
        mgp.Uniform(1.0, 1.0, validate_args=True)


def test_values_are_checked_if_asked_for():
    poisson = mgp.Poisson(1.0, validate_args=True)
    with pytest.raises(
        ValueError,
        match=r"Poisson: value: expected whole numbers from 0 on, got 0.5 at index \(1,\)",
    ):
        poisson.log_prob(np.array([1.0, 0.5]))
    assert onp.isfinite(float(mgp.Poisson(1.0).log_prob(0.5)))
    mgp.Distribution.set_default_validate_args(True)
    try:
        with pytest.raises(
            ValueError, match="Bernoulli: prob: expected numbers from 0 to 1, got 2.0"
        ):
            mgp.Bernoulli(2.0)
        mgp.Bernoulli(2.0, validate_args=False)
    finally:
        mgp.Distribution.set_default_validate_args(False)
    with pytest.raises(
        ValueError, match="set_default_validate_args: expected True or False, got 'yes'"
    ):
        mgp.Distribution.set_default_validate_args("yes")


def test_in_compiled_code_a_wrong_value_raises_when_a_result_is_read():
    @npx.jit
    def log_prob(scale, x):
        return mgp.Normal(0.0, scale, validate_args=True).log_prob(x)

    good, bad = np.array([1.0]), np.array([-1.0])
    assert onp.isfinite(float(log_prob(good, good)[0]))
    with pytest.raises(
        ValueError,
        match=r"Normal: scale: expected numbers above 0 \(compiled at .*test_probability.py",
    ):
        log_prob(bad, good).asnumpy()


def test_what_is_not_defined_says_so():
    with pytest.raises(NotImplementedError, match="Gamma does not define icdf"):
        mgp.Gamma(1.0).icdf(0.5)
    for name, (make, _, lacking) in CASES.items():
        for method in lacking.split():
            if method in ("mean", "variance"):
                continue
            with pytest.raises(
                NotImplementedError, match=f"{name.split(',')[0]} does not define {method}"
            ):
                getattr(make(np.array), method)(*([0.5] if method == "icdf" else []))


def test_what_follows_from_a_parameter_is_not_kept():
    w = np.array([0.0, 0.0])
    w.attach_grad()
    categorical = mgp.Categorical(2, logit=w)
    assert categorical.prob.tolist() == [0.5, 0.5]
    w[0] = onp.log(3)
    onp.testing.assert_allclose(categorical.prob.asnumpy(), [0.75, 0.25], rtol=1e-6)
    assert (
        len(npx.jit(lambda: categorical.prob)()) == 2 and len(categorical.prob.tolist()) == 2
    )  # no array of the program stays
    for _ in range(2):  # no recorded graph either
        with autograd.record():
            first = categorical.prob[0]
        first.backward()
        onp.testing.assert_allclose(w.grad.asnumpy(), [3 / 16, -3 / 16], rtol=1e-6)


def test_the_cached_property_is_computed_once_but_not_in_compiled_code():
    class Counted:
        calls = 0

        @mgp.cached_property
        def ones(self):
            Counted.calls += 1
            return np.ones(2)

    counted = Counted()
    assert npx.jit(lambda: counted.ones * 2)().tolist() == [2, 2] and "ones" not in counted.__dict__
    assert counted.ones is counted.ones and Counted.calls == 2
    counted.ones = 3
    assert counted.ones == 3 and isinstance(Counted.ones, mgp.cached_property)


FAMILIES = {
    "Normal": (lambda: mgp.Normal(np.array(0.5), 2.0), lambda p: [p.mean, p.variance + p.mean**2]),
    "Exponential": (lambda: mgp.Exponential(2.0), lambda p: [p.mean]),
    "Poisson": (lambda: mgp.Poisson(2.0), lambda p: [p.mean]),
    "Bernoulli": (lambda: mgp.Bernoulli(logit=1.0), lambda p: [p.mean]),
    "Gamma": (lambda: mgp.Gamma(1.5, 2.0), lambda p: [npx.digamma(1.5) + onp.log(2), p.mean]),
    "Beta": (
        lambda: mgp.Beta(1.5, 2.0),
        lambda p: [npx.digamma(a) - npx.digamma(3.5) for a in (1.5, 2.0)],
    ),
    "Dirichlet": (
        lambda: mgp.Dirichlet(np.array([1.5, 2.0])),
        lambda p: [npx.digamma(p.alpha) - npx.digamma(3.5)],
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_derivative_of_a_log_normalizer_is_the_mean_of_the_statistics(name):
    make, means = FAMILIES[name]
    family = make()
    assert isinstance(family, mgp.ExponentialFamily)
    natural = [p.copy() for p in map(np.asarray, family._natural_params)]
    for p in natural:
        p.attach_grad()
    with autograd.record():
        normalizer = family._log_normalizer(*natural)
    normalizer.backward()
    for p, mean in zip(natural, means(family), strict=True):
        onp.testing.assert_allclose(p.grad.asnumpy(), mean.asnumpy(), rtol=1e-5)


def test_broadcast_to_leaves_what_was_given():
    exponential = mgp.Exponential(np.array([2.0, 4.0]))
    assert exponential.rate.tolist() == [0.5, 0.25]
    wide = exponential.broadcast_to((3, 2))
    assert (
        wide.rate.shape == (3, 2) and wide.mean.shape == (3, 2) and exponential.rate.shape == (2,)
    )
    assert repr(wide) == "Exponential(scale: shape (3, 2), event_dim: 0)"
    logit = mgp.Bernoulli(logit=np.zeros(2))
    assert logit.prob.shape == (2,) and logit.broadcast_to((3, 2)).prob.shape == (3, 2)


def test_a_distribution_of_ones_own():
    class Triangular(mgp.Distribution):
        has_grad = True
        support = mgp.constraint.UnitInterval()
        arg_constraints: ClassVar = {"peak": mgp.constraint.UnitInterval()}

        def __init__(self, peak, validate_args=None):
            self.peak = peak
            super().__init__(event_dim=0, validate_args=validate_args)

        def sample(self, size=None):
            return np.random.triangular(0.0, self.peak, 1.0, size)

        def log_prob(self, value):
            return np.log(
                2 * np.where(value < self.peak, value / self.peak, (1 - value) / (1 - self.peak))
            )

    triangular = Triangular(np.array(0.25))
    assert triangular.sample(5).shape == (5,) and float(triangular.pdf(np.array(0.25))) == 2.0
    double = mgp.TransformedDistribution(triangular, mgp.AffineTransform(0.0, 2.0))
    onp.testing.assert_allclose(double.log_prob(np.array(0.5)), 0, atol=1e-6)
    assert double.sample().shape == () and double.sample(3).shape == (3,)
    with pytest.raises(ValueError, match="Triangular: peak: expected numbers from 0 to 1, got 3.0"):
        Triangular(np.array(3.0), validate_args=True)
    with pytest.raises(NotImplementedError, match="Triangular does not define cdf"):
        triangular.cdf(0.5)
