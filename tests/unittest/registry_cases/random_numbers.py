"""Cases of random numbers: what must hold of a sample, and that it is the one that XLA draws
eagerly.
"""

import numpy as onp

from npcompat import np, npx
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import case


def drawn(name, draw, holds, *operands, **options):
    """A draw after seeding, and what must hold of the sample; backends and modes draw the same
    numbers.
    """

    def call(xp, *arrays):
        return draw(np.random.default_rng(7), *arrays)

    def check(sample, *arrays):
        with npx.backend("jax"), npx.np_default_dtype(sample.dtype == "float64"):
            again = call(np, *map(np.array, arrays))
        same = sample.dtype.kind in "iub" or onp.allclose(
            sample.asnumpy(), again.asnumpy(), rtol=1e-5, atol=1e-6
        )
        return (
            same
            and sample.shape == again.shape
            and sample.dtype == again.dtype
            and bool(holds(sample.asnumpy()))
        )

    declared = {"oracle": None, "holds": check, "grad": (), "layouts": ("ordinary",), **options}
    case(f"_npi_random_{name}", call, *operands, **declared)


def floats(low=-onp.inf, high=onp.inf):
    return lambda x: (
        x.dtype.kind == "f"
        and x.size == 24
        and (x >= low).all()
        and (x < high).all()
        and len(set(x.ravel())) > 20
    )


def integers(low, high):
    return lambda x: x.dtype == onp.int64 and ((x >= low) & (x < high)).all()


SIZE = (4, 6)

drawn("uniform", lambda rng: rng.uniform(2, 3, SIZE), floats(2, 3))
drawn("normal", lambda rng: rng.normal(1, 2, SIZE), floats())
drawn("lognormal", lambda rng: rng.lognormal(0, 1, SIZE), floats(0))
drawn("exponential", lambda rng: rng.exponential(2.0, SIZE), floats(0))
drawn("rayleigh", lambda rng: rng.rayleigh(2.0, SIZE), floats(0))
drawn("pareto", lambda rng: rng.pareto(2.0, SIZE), floats(0))
drawn("power", lambda rng: rng.power(2.0, SIZE), floats(0, 1.0001))
drawn("weibull", lambda rng: rng.weibull(2.0, SIZE), floats(0))
drawn("laplace", lambda rng: rng.laplace(0, 1, SIZE), floats())
drawn("gumbel", lambda rng: rng.gumbel(0, 1, SIZE), floats())
drawn("logistic", lambda rng: rng.logistic(0, 1, SIZE), floats())
drawn("standard_cauchy", lambda rng: rng.standard_cauchy(SIZE), floats())
drawn("triangular", lambda rng: rng.triangular(-1, 0, 2, SIZE), floats(-1, 2.0001))
drawn("gamma", lambda rng: rng.gamma(2.0, 1.0, SIZE), floats(0))
drawn("beta", lambda rng: rng.beta(2.0, 1.5, SIZE), floats(0, 1.0001))
drawn("chisquare", lambda rng: rng.chisquare(3.0, SIZE), floats(0))
drawn("f", lambda rng: rng.f(3.0, 4.0, SIZE), floats(0))
drawn("standard_t", lambda rng: rng.standard_t(3.0, SIZE), floats())
drawn("noncentral_chisquare", lambda rng: rng.noncentral_chisquare(3.0, 1.0, SIZE), floats(0))
drawn("noncentral_f", lambda rng: rng.noncentral_f(3.0, 4.0, 1.0, SIZE), floats(0))
drawn("wald", lambda rng: rng.wald(1.0, 2.0, SIZE), floats(0))
drawn("vonmises", lambda rng: rng.vonmises(3.0, 1.0, SIZE), floats(-3.15, 3.15))
drawn("dirichlet", lambda rng, a: rng.dirichlet(a, (4, 2)), floats(0, 1.0001), "3 positive float64")
drawn(
    "multivariate_normal",
    lambda rng, mean, cov: rng.multivariate_normal(mean, cov, (4, 2), "ignore", method="cholesky"),
    floats(),
    "3 any float64",
    "3,3 definite float64",
)

drawn("integers", lambda rng: rng.integers(-2, 5, SIZE), integers(-2, 5))
drawn("poisson", lambda rng: rng.poisson(3.0, SIZE), integers(0, 40))
drawn("binomial", lambda rng: rng.binomial(5, 0.4, SIZE), integers(0, 6))
drawn("negative_binomial", lambda rng: rng.negative_binomial(5, 0.4, SIZE), integers(0, 60))
drawn("geometric", lambda rng: rng.geometric(0.4, SIZE), integers(1, 60))
drawn("hypergeometric", lambda rng: rng.hypergeometric(5, 8, 6, SIZE), integers(0, 6))
drawn("logseries", lambda rng: rng.logseries(0.6, SIZE), integers(1, 60))
drawn("zipf", lambda rng: rng.zipf(3.0, SIZE), integers(1, 2**40))
drawn(
    "multinomial",
    lambda rng, p: rng.multinomial(9, p, 5),
    lambda x: (x.sum(-1) == 9).all(),
    "3 probability float64",
)
drawn(
    "multivariate_hypergeometric",
    lambda rng: rng.multivariate_hypergeometric([2, 3, 4], 5, 6),
    lambda x: (x.sum(-1) == 5).all(),
)

case(
    "_npi_random_wrong",
    lambda xp, x: (
        apply(REGISTRY["_npi_random_wrong"], (x,), ("probability",))
        if xp is np
        else ((x < 0) | (x > 1)).any()
    ),
    "3",
    dtypes="? i l f d",
)
case(
    "_npi_random_position",
    lambda xp, counter: (
        apply(REGISTRY["_npi_random_position"], (counter,), (3,)) if xp is np else counter + 3
    ),
    "3",
    dtypes="l",
)
