"""np.random: generators, bit generators, seeds, and the functions that draw from the default stream.

Signatures, distributions and errors are NumPy's; the numbers are not: a stream is Threefry's, a key and a counter, which
gives the same numbers on every backend, eager and compiled.
"""

from typing import Any

from npcompat.numpy.random import bit_generator, mtrand
from npcompat.numpy.random._generator import Generator, default_rng
from npcompat.numpy.random.bit_generator import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, SeedSequence
from npcompat.numpy.random.mtrand import RandomState, _rand, get_bit_generator, set_bit_generator

beta = _rand.beta
binomial = _rand.binomial
bytes = _rand.bytes
chisquare = _rand.chisquare
choice = _rand.choice
dirichlet = _rand.dirichlet
exponential = _rand.exponential
f = _rand.f
gamma = _rand.gamma
geometric = _rand.geometric
get_state = _rand.get_state
gumbel = _rand.gumbel
hypergeometric = _rand.hypergeometric
laplace = _rand.laplace
logistic = _rand.logistic
lognormal = _rand.lognormal
logseries = _rand.logseries
multinomial = _rand.multinomial
multivariate_normal = _rand.multivariate_normal
negative_binomial = _rand.negative_binomial
noncentral_chisquare = _rand.noncentral_chisquare
noncentral_f = _rand.noncentral_f
normal = _rand.normal
pareto = _rand.pareto
permutation = _rand.permutation
poisson = _rand.poisson
power = _rand.power
rand = _rand.rand
randint = _rand.randint
randn = _rand.randn
random = _rand.random
random_integers = _rand.random_integers
random_sample = _rand.random_sample
rayleigh = _rand.rayleigh
seed = _rand.seed
set_state = _rand.set_state
shuffle = _rand.shuffle
standard_cauchy = _rand.standard_cauchy
standard_exponential = _rand.standard_exponential
standard_gamma = _rand.standard_gamma
standard_normal = _rand.standard_normal
standard_t = _rand.standard_t
triangular = _rand.triangular
uniform = _rand.uniform
vonmises = _rand.vonmises
wald = _rand.wald
weibull = _rand.weibull
zipf = _rand.zipf


def ranf(*args: Any, **kwargs: Any) -> Any:
    """As `random_sample`.

    Examples
    --------
    >>> np.random.ranf(3).shape
    (3,)
    """
    return _rand.random_sample(*args, **kwargs)


def sample(*args: Any, **kwargs: Any) -> Any:
    """As `random_sample`.

    Examples
    --------
    >>> np.random.sample(3).shape
    (3,)
    """
    return _rand.random_sample(*args, **kwargs)


__all__ = [
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "beta",
    "binomial",
    "bit_generator",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_bit_generator",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "mtrand",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_bit_generator",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]  # fmt: skip
