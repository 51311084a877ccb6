"""Distributions of np.random: their shape against SciPy's, one sample in every mode, derivatives,
bad parameters.
"""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, np, npx

SIZE = (50, 60)

CONTINUOUS = {
    "beta": ((2.0, 3.0), stats.beta(2, 3)),
    "chisquare": ((3.5,), stats.chi2(3.5)),
    "exponential": ((2.0,), stats.expon(scale=2)),
    "f": ((5.0, 8.0), stats.f(5, 8)),
    "gamma": ((2.5, 1.5), stats.gamma(2.5, scale=1.5)),
    "gumbel": ((1.0, 2.0), stats.gumbel_r(1, 2)),
    "laplace": ((1.0, 2.0), stats.laplace(1, 2)),
    "logistic": ((1.0, 2.0), stats.logistic(1, 2)),
    "lognormal": ((0.5, 0.8), stats.lognorm(0.8, scale=onp.exp(0.5))),
    "noncentral_chisquare": ((3.0, 2.0), stats.ncx2(3, 2)),
    "noncentral_f": ((5.0, 8.0, 2.0), stats.ncf(5, 8, 2)),
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "pareto": ((3.0,), stats.lomax(3)),
    "power": ((3.0,), stats.powerlaw(3)),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "standard_cauchy": ((), stats.cauchy()),
    "standard_exponential": ((), stats.expon()),
    "standard_gamma": ((0.7,), stats.gamma(0.7)),
    "standard_normal": ((), stats.norm()),
    "standard_t": ((4.0,), stats.t(4)),
    "triangular": ((-1.0, 0.5, 2.0), stats.triang(0.5, -1, 3)),
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "vonmises": ((0.0, 1.5), stats.vonmises(1.5)),
    "wald": ((1.5, 2.0), stats.invgauss(0.75, scale=2)),
    "weibull": ((1.5,), stats.weibull_min(1.5)),
}
DISCRETE = {
    "binomial": ((12, 0.3), stats.binom(12, 0.3)),
    "geometric": ((0.35,), stats.geom(0.35)),
    "hypergeometric": ((15, 20, 9), stats.hypergeom(35, 15, 9)),
    "logseries": ((0.8,), stats.logser(0.8)),
    "negative_binomial": ((3.5, 0.4), stats.nbinom(3.5, 0.4)),
    "poisson": ((4.5,), stats.poisson(4.5)),
    "zipf": ((2.5,), stats.zipf(2.5)),
}
EDGES = {
    "binomial, many": ("binomial", (10**9, 0.25), stats.binom(10**9, 0.25)),
    "binomial, beyond float32": ("binomial", (10**12, 1e-9), stats.binom(10**12, 1e-9)),
    "binomial, few of many": ("binomial", (10**11, 3e-11), stats.binom(10**11, 3e-11)),
    "binomial, just above ten": ("binomial", (21, 0.5), stats.binom(21, 0.5)),
    "binomial, likely": ("binomial", (40, 0.9), stats.binom(40, 0.9)),
    "hypergeometric, few": ("hypergeometric", (2, 3, 2), stats.hypergeom(5, 2, 2)),
    "hypergeometric, most": ("hypergeometric", (30, 8, 33), stats.hypergeom(38, 30, 33)),
    "hypergeometric, many": (
        "hypergeometric",
        (10**6, 3 * 10**6, 5000),
        stats.hypergeom(4 * 10**6, 10**6, 5000),
    ),
    "poisson, rare": ("poisson", (0.05,), stats.poisson(0.05)),
    "poisson, many": ("poisson", (150.0,), stats.poisson(150)),
    "poisson, beyond float32": ("poisson", (3e8,), stats.poisson(3e8)),
    "geometric, rare": ("geometric", (1e-6,), stats.geom(1e-6)),
    "logseries, long": ("logseries", (0.999,), stats.logser(0.999)),
    "zipf, steep": ("zipf", (6.0,), stats.zipf(6)),
    "zipf, flat": ("zipf", (1.8,), stats.zipf(1.8)),
    "vonmises, flat": ("vonmises", (0.0, 1e-9), stats.uniform(-onp.pi, 2 * onp.pi)),
    "vonmises, nearly flat": ("vonmises", (0.0, 1e-6), stats.uniform(-onp.pi, 2 * onp.pi)),
    "vonmises, concentrated": ("vonmises", (0.5, 5e3), stats.vonmises(5e3, 0.5)),
    "vonmises, a point": ("vonmises", (0.5, 1e8), stats.norm(0.5, 1e-4)),
    "wald, skewed": ("wald", (50.0, 0.5), stats.invgauss(100, scale=0.5)),
    "noncentral_chisquare, few degrees": ("noncentral_chisquare", (0.6, 3.0), stats.ncx2(0.6, 3)),
    "gamma, small shape": ("gamma", (0.05, 1.0), stats.gamma(0.05)),
}
ALL = {**CONTINUOUS, **DISCRETE}


def assert_distributed(sample, exact):
    """Kolmogorov-Smirnov for floats, chi-square over bins of fair size for integers; a fixed seed,
    so no flakes.
    """
    x = sample.asnumpy().astype("float64").ravel()
    if sample.dtype.kind == "f":
        assert stats.kstest(x, exact.cdf).pvalue > 1e-3
        return
    edges = onp.unique(exact.ppf(onp.linspace(0, 1, 14)[1:-1]))
    upper = onp.append(edges, onp.inf)
    expected = onp.diff(exact.cdf(upper), prepend=0.0) * x.size
    found = onp.bincount(onp.searchsorted(upper, x), minlength=len(upper))
    kept = expected > 1e-9
    assert found[~kept].sum() == 0
    assert (
        stats.chisquare(found[kept], expected[kept] * (found.sum() / expected[kept].sum())).pvalue
        > 1e-3
    )


@pytest.mark.parametrize("name", ALL)
def test_samples_have_their_distribution(name):
    parameters, exact = ALL[name]
    sample = getattr(np.random.default_rng(17), name)(*parameters, size=SIZE)
    assert sample.shape == SIZE and sample.dtype == ("float32" if name in CONTINUOUS else "int64")
    assert_distributed(sample, exact)
    mean, deviation = exact.mean(), exact.std()
    if onp.isfinite([mean, deviation]).all():
        assert abs(sample.asnumpy().mean() - mean) < 5 * deviation / onp.sqrt(3000)


@pytest.mark.parametrize("name", EDGES)
def test_extreme_parameters(name):
    method, parameters, exact = EDGES[name]
    assert_distributed(getattr(np.random.default_rng(23), method)(*parameters, size=SIZE), exact)


def test_a_flat_zipf_distribution_ends_where_int64_does():
    x = np.random.default_rng(1).zipf(1.05, size=SIZE).asnumpy()
    assert x.min() == 1 and x.max() > 2**50
    assert abs((x == 1).mean() - 1 / 20.58) < 0.02


def test_limits_of_parameters():
    rng = np.random.default_rng(1)
    for found, value in [
        (rng.binomial(5, 0.0, SIZE), 0),
        (rng.binomial(5, 1.0, SIZE), 5),
        (rng.binomial(0, 0.5, SIZE), 0),
        (rng.poisson(0.0, SIZE), 0),
        (rng.geometric(1.0, SIZE), 1),
        (rng.logseries(0.0, SIZE), 1),
        (rng.zipf(2000.0, SIZE), 1),
        (rng.negative_binomial(2.0, 1.0, SIZE), 0),
        (rng.hypergeometric(0, 5, 3, SIZE), 0),
        (rng.hypergeometric(5, 0, 3, SIZE), 3),
        (rng.hypergeometric(4, 5, 9, SIZE), 4),
        (rng.hypergeometric(4, 5, 0, SIZE), 0),
        (rng.hypergeometric(0, 0, 0, SIZE), 0),
        (rng.hypergeometric(1, 0, 1, SIZE), 1),
        (rng.gamma(0.0, 1.0, SIZE), 0),
        (rng.weibull(0.0, SIZE), 0),
        (rng.normal(3.0, 0.0, SIZE), 3),
        (rng.geometric(1e-300, SIZE), 2**63 - 1),
    ]:
        assert set(found.asnumpy().ravel().tolist()) == {value}


def test_beta_distributions_of_tiny_shapes_are_of_zeros_and_ones():
    x = np.random.default_rng(1).beta(2e-38, 6e-38, size=SIZE).asnumpy()
    assert (onp.isclose(x, 0) | onp.isclose(x, 1)).all() and abs(x.mean() - 0.25) < 0.05


def test_parameters_of_16_bits(backend):
    for dtype in ("float16", "bfloat16"):
        half = np.array([0.5, 0.5], dtype=dtype)
        assert np.random.poisson(half).shape == (2,) and np.random.negative_binomial(
            3 * half, half
        ).shape == (2,)
        assert np.random.beta(half, half, dtype=dtype).dtype == dtype


def test_parameters_may_be_nan():
    rng = np.random.default_rng(1)
    for name in sorted(
        CONTINUOUS.keys()
        - {"standard_cauchy", "standard_exponential", "standard_normal", "uniform"}
    ):
        parameters = CONTINUOUS[name][0]
        assert onp.isnan(
            getattr(rng, name)(*[onp.nan] * len(parameters), size=SIZE).asnumpy()
        ).all(), name


def test_backends_and_modes_draw_the_same_numbers():
    names = ["gamma", "vonmises", "hypergeometric", "poisson"]

    def draw(rng):
        return [getattr(rng, name)(*ALL[name][0], size=SIZE) for name in names]

    eager = draw(np.random.default_rng(5))
    with npx.backend("numpy"):
        host = draw(np.random.default_rng(5))
    rng = np.random.default_rng(5)
    program = npx.jit(lambda: draw(rng))
    compiled, again = program(), program()
    for e, h, c, other in zip(eager, host, compiled, again, strict=True):
        assert h.dtype == e.dtype == c.dtype
        onp.testing.assert_array_equal(h.asnumpy(), e.asnumpy())
        onp.testing.assert_allclose(c.asnumpy(), e.asnumpy(), rtol=2e-5, atol=1e-6)
        assert other.tolist() != c.tolist()
    assert rng.bit_generator.state["state"]["counter"] == 8


# --- vectors --------------------------------------------------------------------------------------


def test_dirichlet():
    alpha = onp.array([0.5, 2.0, 3.0])
    x = np.random.default_rng(3).dirichlet(alpha, size=SIZE)
    assert x.shape == (*SIZE, 3) and onp.allclose(x.asnumpy().sum(-1), 1, atol=1e-6)
    for i in range(3):
        assert (
            stats.kstest(
                x.asnumpy()[..., i].ravel(), stats.beta(alpha[i], alpha.sum() - alpha[i]).cdf
            ).pvalue
            > 1e-3
        )
    rng = np.random.default_rng(3)
    assert rng.dirichlet([1.0, 0.0]).tolist() == pytest.approx([1, 0]) and rng.dirichlet(
        [0.0, 0.0]
    ).tolist() == [0, 0]
    with pytest.raises(ValueError, match="alpha < 0"):
        rng.dirichlet([1.0, -1.0])
    with pytest.raises(ValueError, match="alpha <= 0"):
        np.random.dirichlet([1.0, 0.0])


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    mean, cov = onp.array([1.0, -2.0]), onp.array([[2.0, 1.2], [1.2, 1.0]])
    x = np.random.default_rng(3).multivariate_normal(mean, cov, 4000, method=method).asnumpy()
    assert x.shape == (4000, 2)
    onp.testing.assert_allclose(x.mean(0), mean, atol=0.1)
    onp.testing.assert_allclose(onp.cov(x.T), cov, atol=0.15)
    direction = onp.array([0.6, -0.8])
    exact = stats.norm(direction @ mean, onp.sqrt(direction @ cov @ direction))
    assert stats.kstest(x @ direction, exact.cdf).pvalue > 1e-3


def test_covariances_are_checked():
    rng, bad = np.random.default_rng(3), [[1.0, 2.0], [2.0, 1.0]]
    with pytest.warns(RuntimeWarning, match="covariance is not symmetric positive-semidefinite."):
        rng.multivariate_normal([0, 0], bad)
    with pytest.raises(ValueError, match="covariance is not symmetric positive-semidefinite."):
        rng.multivariate_normal([0, 0], bad, check_valid="raise")
    with pytest.raises(np.linalg.LinAlgError):
        rng.multivariate_normal([0, 0], bad, method="cholesky")
    assert rng.multivariate_normal([0, 0], bad, check_valid="ignore").shape == (2,)
    with pytest.raises(ValueError, match="covariance is not symmetric positive-semidefinite."):
        npx.jit(lambda c: rng.multivariate_normal(np.zeros(2), c, check_valid="raise"))(
            np.array(bad)
        ).asnumpy()
    singular = rng.multivariate_normal([0, 0], [[1.0, 1.0], [1.0, 1.0]], 5).asnumpy()
    onp.testing.assert_allclose(singular[:, 0], singular[:, 1], atol=1e-5)
    for arguments, message in [
        ((0, [[1]]), "mean must be 1 dimensional"),
        (([0], [1]), "cov must be 2 dimensional and square"),
        (([0, 0], [[1]]), "mean and cov must have same length"),
    ]:
        with pytest.raises(ValueError, match=message):
            rng.multivariate_normal(*arguments)


def test_multinomial():
    p = onp.array([0.2, 0.5, 0.3])
    x = np.random.default_rng(3).multinomial(20, p, size=SIZE)
    assert x.dtype == "int64" and x.shape == (*SIZE, 3) and (x.asnumpy().sum(-1) == 20).all()
    for i in range(3):
        assert_distributed(x[..., i], stats.binom(20, p[i]))
    rng = np.random.default_rng(3)
    assert rng.multinomial([[3], [4]], [[0.5, 0.5], [0.1, 0.9]]).asnumpy().sum(-1).tolist() == [
        [3, 3],
        [4, 4],
    ]
    assert rng.multinomial(9, [0.0, 0.0, 0.0]).tolist() == [0, 0, 9]
    for arguments, kind, message in [
        ((-1, [0.5, 0.5]), ValueError, "n < 0"),
        ((3, [-0.5, 0.5]), ValueError, "pvals < 0, pvals > 1 or pvals contains NaNs"),
        (
            (3, [0.5, 0.6, 0.0]),
            ValueError,
            "> 1.0. The pvals array is cast to 64-bit floating point",
        ),
        ((3, 0.5), ValueError, "pvals must have at least 1 dimension"),
    ]:
        with pytest.raises(kind, match=message):
            rng.multinomial(*arguments)
    with pytest.raises(TypeError, match="an integer is required"):
        np.random.multinomial([3, 4], [0.5, 0.5])


def test_multivariate_hypergeometric():
    colors = [8, 12, 0, 5]
    x = np.random.default_rng(3).multivariate_hypergeometric(colors, 10, size=SIZE)
    assert x.shape == (*SIZE, 4) and (x.asnumpy().sum(-1) == 10).all()
    for i in (0, 1, 3):
        assert_distributed(x[..., i], stats.hypergeom(25, colors[i], 10))
    rng = np.random.default_rng(3)
    assert rng.multivariate_hypergeometric([2, 3], 5, method="count").tolist() == [2, 3]
    for arguments, message in [
        (([1, 2], 4), r"nsample > sum\(colors\)"),
        (([1, -2], 1), "colors must be a one-dimensional sequence of nonnegative integers"),
        (([1.5, 2], 1), "colors must be a one-dimensional sequence of nonnegative integers"),
        (([1, 2], -1), "nsample must be nonnegative."),
        (([1, 2], [1]), "nsample must be an integer"),
        (([1, 2], 1, None, "a"), 'method must be "count" or "marginals".'),
        (([1, 10**9], 1), 'When method is "marginals"'),
        (([2**60, 101], 1, None, "count"), "When method is 'count', sum"),
    ]:
        with pytest.raises(ValueError, match=message):
            rng.multivariate_hypergeometric(*arguments)


# --- derivatives ----------------------------------------------------------------------------------

IMPLICIT = {
    "beta": ((2.0, 3.0), stats.beta),
    "gamma": ((2.5,), stats.gamma),
    "gamma, small": ((0.4,), stats.gamma),
    "standard_t": ((4.0,), stats.t),
    "noncentral_chisquare": ((3.0, 2.0), stats.ncx2),
    "vonmises": ((0.3, 1.5), lambda mu, kappa: stats.vonmises(kappa, mu)),
    "wald": ((1.5, 2.0), lambda mean, scale: stats.invgauss(mean / scale, scale=scale)),
}


@pytest.mark.parametrize("name", IMPLICIT)
def test_derivatives_of_samples_average_to_that_of_the_mean(name):
    """Of a bounded smooth function of the sample, whose mean is found by quadrature over SciPy's
    quantiles.
    """
    parameters, distribution = IMPLICIT[name]
    arrays = [np.array(p) for p in parameters]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = np.sin(
            getattr(np.random.default_rng(11), name.split(",")[0])(*arrays, size=SIZE)
        ).mean()
    y.backward()
    u, weights = onp.polynomial.legendre.leggauss(300)
    for i, a in enumerate(arrays):
        step = 1e-3 * (onp.arange(len(parameters)) == i)
        low, high = (
            onp.sin(distribution(*(parameters + sign * step)).ppf((u + 1) / 2)) @ weights / 2
            for sign in (-1, 1)
        )
        slope = (high - low) / 2e-3
        assert abs(a.grad.item() - slope) < 0.03 + 0.05 * abs(slope), (
            f"{name}, parameter {i}: {a.grad.item()}, expected {slope}"
        )


@pytest.mark.parametrize(
    "name", ["triangular", "weibull", "pareto", "power", "lognormal", "rayleigh", "uniform"]
)
def test_derivatives_of_transformed_noise(name):
    """The sample is a smooth function of its parameters, for each seed."""
    parameters = onp.array(CONTINUOUS[name][0])

    def total(*given):
        return (
            getattr(np.random.default_rng(11), name)(*given, size=(30,), dtype="float64") ** 2
        ).sum()

    arrays = [np.array(p) for p in parameters]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        y = total(*arrays)
    y.backward()
    for i, a in enumerate(arrays):
        step = 1e-6 * (onp.arange(len(parameters)) == i)
        low, high = (
            total(*[np.array(p) for p in parameters + sign * step]).item() for sign in (-1, 1)
        )
        onp.testing.assert_allclose(a.grad.item(), (high - low) / 2e-6, rtol=1e-4, atol=1e-4)


def test_normal_vectors_are_differentiated_where_eigenvalues_are_equal():
    cov, change = onp.eye(3) * 2, onp.array([[0.3, 0.1, 0.2], [0.1, -0.2, 0.05], [0.2, 0.05, 0.1]])

    def total(c):
        rng = np.random.default_rng(2)
        return (
            rng.multivariate_normal(np.zeros(3), c, 4, "ignore", dtype="float64") * np.arange(3.0)
        ).sum()

    c = np.array(cov)
    c.attach_grad()
    with autograd.record():
        y = total(c)
    y.backward()
    low, high = (total(np.array(cov + step * change)).item() for step in (-1e-5, 1e-5))
    onp.testing.assert_allclose((c.grad.asnumpy() * change).sum(), (high - low) / 2e-5, rtol=1e-6)


def test_permuted_rows_carry_gradients():
    x, weights = (
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        np.array([[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]),
    )
    x.attach_grad()
    with autograd.record():
        y = np.random.default_rng(3).permuted(x, axis=1)
        (y * weights).sum().backward()
    assert [sorted(row) for row in y.tolist()] == x.tolist()
    assert (x.grad * x).sum().item() == (y * weights).sum().item()


# --- bad parameters -------------------------------------------------------------------------------

BAD = [
    ("beta", (-1.0, 1.0)), ("beta", (1.0, 0.0)), ("exponential", (-1.0,)), ("exponential", (-0.0,)), ("f", (0.0, 1.0)),
    ("f", (1.0, -1.0)), ("gamma", (-1.0, 1.0)), ("gamma", (1.0, -1.0)), ("chisquare", (0.0,)), ("gumbel", (0.0, -1.0)),
    ("laplace", (0.0, -1.0)), ("logistic", (0.0, -1.0)), ("lognormal", (0.0, -1.0)), ("normal", (0.0, -1.0)),
    ("noncentral_chisquare", (0.0, 1.0)), ("noncentral_chisquare", (1.0, -1.0)), ("noncentral_f", (1.0, 1.0, -1.0)),
    ("pareto", (0.0,)), ("power", (0.0,)), ("rayleigh", (-1.0,)), ("standard_gamma", (-1.0,)), ("standard_t", (0.0,)),
    ("triangular", (2.0, 1.0, 3.0)), ("triangular", (0.0, 4.0, 3.0)), ("triangular", (1.0, 1.0, 1.0)), ("vonmises", (0.0, -1.0)),
    ("wald", (0.0, 1.0)), ("wald", (1.0, 0.0)), ("weibull", (-1.0,)), ("binomial", (-1, 0.5)), ("binomial", (3, 1.5)),
    ("binomial", (3, onp.nan)), ("geometric", (0.0,)), ("geometric", (onp.nan,)), ("hypergeometric", (-1, 2, 1)),
    ("hypergeometric", (1, 2, 4)), ("hypergeometric", (1, 2, -1)), ("logseries", (1.0,)), ("logseries", (onp.nan,)),
    ("negative_binomial", (0.0, 0.5)), ("negative_binomial", (1.0, -0.5)), ("negative_binomial", (1.0, 1.5)),
    ("poisson", (-1.0,)), ("poisson", (1e19,)), ("zipf", (1.0,)), ("zipf", (onp.nan,)),
]  # fmt: skip
GENERATORS = {
    "Generator": (np.random.default_rng(0), onp.random.default_rng(0)),
    "RandomState": (np.random.RandomState(0), onp.random.RandomState(0)),
}


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize(("name", "parameters"), BAD)
def test_bad_parameters_raise_what_numpy_raises(kind, name, parameters):
    ours, theirs = GENERATORS[kind]
    arrays = [onp.array([p]) for p in parameters]
    for given in (parameters, arrays):
        with pytest.raises(ValueError) as expected:
            getattr(theirs, name)(*given)
        for form in (given, [np.array(g) for g in given]):
            with pytest.raises(ValueError) as found:
                getattr(ours, name)(*form)
            assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("normal", (1j,)), ("normal", ("a",)), ("normal", (["a"],)), ("normal", (onp.array(["1"]),)), ("normal", (onp.array([1j]),)),
        ("poisson", (1j,)), ("poisson", (onp.array([1.0], object),)), ("binomial", ("a", 0.5)), ("binomial", (None, 0.5)),
        ("hypergeometric", (onp.array([1.5]), 3, 2)),
    ],
)  # fmt: skip
def test_parameters_of_a_wrong_kind_raise_what_numpy_raises(kind, name, parameters):
    ours, theirs = GENERATORS[kind]
    with pytest.raises((TypeError, ValueError)) as expected:
        getattr(theirs, name)(*parameters)
    with pytest.raises(type(expected.value)) as found:
        getattr(ours, name)(*parameters)
    assert str(found.value) == str(expected.value)


def test_numbers_of_trials_are_truncated():
    rng = np.random.default_rng(0)
    assert (
        rng.binomial([1.5, 2.9], 1.0).tolist()
        == rng.binomial(np.array([1.5, 2.9]), 1.0).tolist()
        == [1, 2]
    )
    assert rng.multinomial([1.5], [1.0, 0.0]).tolist() == [[1, 0]]


def test_bad_parameters_in_compiled_functions_raise_when_the_result_is_read():
    rng = np.random.default_rng(0)
    program = npx.jit(
        lambda scale, p: (rng.normal(0, scale, size=(2,)), rng.geometric(p, size=(2,)))
    )
    program(np.array(1.0), np.array(0.5))[0].asnumpy()
    with pytest.raises(ValueError, match="scale < 0"):
        program(np.array(-1.0), np.array(0.5))[0].asnumpy()
    with pytest.raises(ValueError, match="p <= 0, p > 1 or p contains NaNs"):
        program(np.array(1.0), np.array(0.0))[0].asnumpy()


def test_ranges_of_uniform_and_means_are_checked():
    with pytest.raises(ValueError, match="n too large or p too small"):
        np.random.default_rng(0).negative_binomial(2.0**62, 0.1)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        np.random.choice(3, -1)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="high - low < 0"):
        rng.uniform(1, 0)
    with pytest.raises(OverflowError, match="range exceeds valid bounds"):
        rng.uniform(0, onp.inf)
    assert -1 < np.random.uniform(0, -1) <= 0
