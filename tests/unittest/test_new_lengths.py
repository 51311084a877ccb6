"""No eager call on the host compiles because a length is new: 200 lengths, a few programs."""

import jax.monitoring
import numpy as onp
import pytest
from internals import prefix_draws

from npcompat import np

LENGTHS = [int(n) for n in onp.linspace(1, 255, 200)]
FEW = 12
"""Programs that a function may compile, whatever the lengths: of its kinds of draws."""


@pytest.fixture
def compiled():
    """The names of the programs that XLA compiles meanwhile."""
    names = []
    prefix_draws._draws.clear()

    def listen(event, duration, **details):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(details.get("fun_name"))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    jax.monitoring.unregister_event_duration_listener(listen)


def even(n):
    return np.full(n, 1 / n, dtype="float64")


SAMPLES = {
    "beta": (2.0, 3.0),
    "binomial": (10, 0.3),
    "chisquare": (3.0,),
    "dirichlet": ([1.0, 2.0],),
    "exponential": (1.0,),
    "f": (3.0, 4.0),
    "gamma": (2.0,),
    "geometric": (0.3,),
    "gumbel": (0.0,),
    "hypergeometric": (10, 5, 6),
    "laplace": (0.0,),
    "logistic": (0.0,),
    "lognormal": (0.0,),
    "logseries": (0.3,),
    "multinomial": (10, [0.2, 0.8]),
    "multivariate_normal": ([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]),
    "negative_binomial": (5, 0.3),
    "noncentral_chisquare": (3.0, 1.0),
    "noncentral_f": (3.0, 4.0, 1.0),
    "normal": (0.0,),
    "pareto": (2.0,),
    "poisson": (3.0,),
    "power": (2.0,),
    "rayleigh": (1.0,),
    "standard_cauchy": (),
    "standard_exponential": (),
    "standard_gamma": (2.0,),
    "standard_normal": (),
    "standard_t": (3.0,),
    "triangular": (0.0, 0.5, 1.0),
    "uniform": (0.0,),
    "vonmises": (0.0, 1.0),
    "wald": (1.0, 1.0),
    "weibull": (2.0,),
    "zipf": (3.0,),
}
OTHERS = {
    "bytes": lambda rng, n: rng.bytes(n),
    "choice": lambda rng, n: (
        rng.choice(n, 3),
        rng.choice(5, n),
        rng.choice(n, 3, p=even(n)),
        rng.choice(n + 3, 3, replace=False),
        rng.choice(300, n, replace=False),
        rng.choice(n + 3, 3, replace=False, p=even(n + 3)),
    ),
    "permutation": lambda rng, n: (rng.permutation(n), rng.permutation(np.ones((n, 2)))),
    "shuffle": lambda rng, n: (rng.shuffle(np.arange(n)), rng.shuffle(list(range(n)))),
}
OF_GENERATORS = {
    "integers": lambda rng, n: (rng.integers(n), rng.integers(0, 5, n)),
    "multivariate_hypergeometric": lambda rng, n: rng.multivariate_hypergeometric(
        [3, 4], 2, size=n
    ),
    "permuted": lambda rng, n: (rng.permuted(np.arange(n)), rng.permuted(np.ones((n, 3)), axis=1)),
    "random": lambda rng, n: rng.random(n),
}
OF_MODULES = {
    "rand": lambda rng, n: rng.rand(n, 2),
    "randint": lambda rng, n: (rng.randint(n), rng.randint(0, 5, n), rng.randint(np.arange(n) + 1)),
    "randn": lambda rng, n: rng.randn(n),
    "random": lambda rng, n: rng.random(n),
    "random_integers": None,  # deprecated, the same as randint
    "random_sample": lambda rng, n: rng.random_sample(n),
    "ranf": None,
    "sample": None,
}


def test_every_sampler_is_counted():
    for owner, more in ((np.random.Generator, OF_GENERATORS), (np.random, OF_MODULES)):
        names = {
            name
            for name in (owner.__all__ if owner is np.random else dir(owner))
            if name[0].islower() and not name.endswith("state") and "bit_generator" not in name
        }
        names -= {"default_rng", "mtrand", "seed", "spawn"}
        assert names - set(SAMPLES) - set(OTHERS) - set(more) == set()


@pytest.mark.parametrize("name", SAMPLES)
def test_draws_of_new_sizes_compile_nothing(name, compiled):
    draw, parameters = getattr(np.random.default_rng(3), name), SAMPLES[name]
    for n in LENGTHS:
        draw(*parameters, size=n)
        getattr(np.random, name)(*parameters, size=(n,))
    assert len(compiled) <= FEW, compiled


@pytest.mark.parametrize("name", ["normal", "gamma", "poisson", "exponential", "standard_t"])
def test_draws_of_new_numbers_of_parameters_compile_nothing(name, compiled):
    draw, (first, *rest) = getattr(np.random.default_rng(3), name), SAMPLES[name]
    for n in LENGTHS:
        draw(np.full(n, first), *rest)
        draw(np.full((n, 1), first), *rest, size=(n, 1))
    assert len(compiled) <= FEW, compiled


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        *[("Generator", name) for name in (*OTHERS, *OF_GENERATORS)],
        *[("random", name) for name in (*OTHERS, *OF_MODULES)],
    ],
)
def test_orders_and_choices_of_new_lengths_compile_nothing(owner, name, compiled):
    rng = np.random if owner == "random" else np.random.default_rng(3)
    call = {**OTHERS, **(OF_MODULES if owner == "random" else OF_GENERATORS)}[name]
    if call is None:
        pytest.skip("an older name of a function that is counted")
    for n in LENGTHS:
        call(rng, n)
    assert len(compiled) <= FEW, compiled


CALLS = [
    lambda f, n: f(np.arange(n) % 7 + 1.0),
    lambda f, n: f(np.arange(n) % 7 + 1.0, np.arange(n) % 5 + 1.0),
    lambda f, n: f(np.arange(n) % 7 + 1),
    lambda f, n: f(np.arange(n) % 7, np.arange(n) % 5 + 1),
    lambda f, n: f(np.eye(n) + np.ones((n, n))),
    lambda f, n: f(np.eye(n) + np.ones((n, n)), np.ones(n)),
    lambda f, n: f(n),
    lambda f, n: f((n, 2)),
    lambda f, n: f(np.ones(n), 2),
    lambda f, n: f([np.ones(n), np.zeros(n)]),
    lambda f, n: f("i->", np.ones(n)),
    lambda f, n: f(np.ones(n), np.arange(n) % 2 == 0, 3.0),
    lambda f, n: f(np.arange(n) % 2 == 0, np.ones(n), np.zeros(n)),
    lambda f, n: f(np.ones(n), np.arange(n), np.ones(n)),
    lambda f, n: f(lambda x: x.sum(), 0, np.ones((n, 2))),
    lambda f, n: f(np.ones((n, n)), 1, 0),
]
"""Ways to call a function with arrays of a length; the first that works is used."""
SHORT = 4, 5, 7, 11, 13, 18, 29
"""Lengths for functions of np, which compile for every one of them or for none."""
BY_NUMBER = {"empty", "eye", "identity", "ones", "tri", "zeros"}
"""Functions whose first argument is a shape."""


def functions():
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(set(module.__all__) - NOT_COUNTED):
            if callable(found := getattr(module, name)) and not isinstance(found, type):
                yield prefix + name, found


NOT_COUNTED = {"save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt"}
NOT_COUNTED |= {"fromfile", "info", "seterr", "seterrcall", "setbufsize", "set_printoptions"}
NOT_COUNTED |= {"show_config", "show_runtime", "memmap", "fromregex", "test"}
NOT_COUNTED |= {"tile", "resize", "indices"}  # arguments of all lengths make huge arrays


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "function"), list(functions()), ids=lambda x: x if type(x) is str else ""
)
def test_functions_of_new_lengths_compile_nothing(name, function, compiled):
    for call in [lambda f, n: f(n)] if name in BY_NUMBER else CALLS:
        try:
            call(function, 3)
            call(function, SHORT[-1])
        except Exception:
            continue
        break
    else:
        pytest.skip("it is called with other arguments")
    for n in SHORT:
        call(function, n)
    assert len(compiled) <= 2, compiled
