"""Draws that are the beginning of longer ones: the same numbers as by a program for the size, and
few programs.
"""

import jax.monitoring
import numpy as onp
import pytest
from internals import REGISTRY, prefix_draws

import npcompat
from npcompat import autograd, gluon, init, np, npx

PARAMETERS = {
    "beta": (2.0, 0.7),
    "binomial": (40, 0.3),
    "chisquare": (3.0,),
    "dirichlet": ([0.5, 2.0, 3.0],),
    "exponential": (2.0,),
    "f": (3.0, 4.0),
    "gamma": (0.6, 2.0),
    "geometric": (0.3,),
    "gumbel": (1.0, 2.0),
    "hypergeometric": (20, 30, 15),
    "integers": (-7, 100),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "lognormal": (1.0, 0.3),
    "logseries": (0.6,),
    "multinomial": (20, [0.2, 0.5, 0.3]),
    "multivariate_hypergeometric": ([3, 4, 5], 6),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]),
    "negative_binomial": (5, 0.4),
    "noncentral_chisquare": (3.0, 1.0),
    "noncentral_f": (3.0, 4.0, 1.0),
    "normal": (1.0, 0.3),
    "pareto": (3.0,),
    "poisson": (20.0,),
    "power": (3.0,),
    "rayleigh": (3.0,),
    "standard_cauchy": (),
    "standard_t": (3.0,),
    "triangular": (-1.0, 0.5, 2.0),
    "uniform": (0.0, 1.0),
    "vonmises": (0.5, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (1.7,),
    "zipf": (2.5,),
}
WITH_DTYPES = {
    "exponential": lambda size, dtype: np.random.default_rng(5).standard_exponential(size, dtype),
    "uniform": lambda size, dtype: np.random.default_rng(5).random(size, dtype),
}
DRAWS = {
    name: lambda size, dtype, name=name: getattr(np.random.default_rng(5), name)(
        *PARAMETERS[name], size=size
    )
    for name in PARAMETERS
} | WITH_DTYPES
NOT_TO_THE_BIT = {"multivariate_normal", "vonmises", "wald"}
"""Products of matrices, and functions that XLA rounds otherwise in programs of another length."""
SIZES = [(0,), (1,), (7,), (3, 5, 2), (257,), (1, 129)]


def of_its_own(draw, monkeypatch):
    """Draw by a program for this size, not as the prefix of a longer draw."""
    with monkeypatch.context() as patched:
        patched.setattr(prefix_draws, "REPEATED", 0)
        patched.setattr(prefix_draws, "_own", {})
        return draw().asnumpy()


def assert_same(found, expected, name=""):
    """The same numbers; on some CPUs XLA rounds a single power, logarithm or exponential otherwise
    than one of many.
    """
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if found.size == 1 and found.dtype.kind == "f":
        onp.testing.assert_array_max_ulp(found.asnumpy(), expected, maxulp=8)
    elif name in NOT_TO_THE_BIT:
        onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    else:
        assert found.asnumpy().tobytes() == expected.tobytes()


def test_all_that_draw_so_are_tested():
    assert {f"_npi_random_{name}" for name in DRAWS} == {
        name for name, op in REGISTRY.items() if op.element_axes is not None
    }


QUICK = [
    "exponential", "gumbel", "integers", "laplace", "logistic", "lognormal", "normal", "pareto",
    "power", "rayleigh", "standard_cauchy", "triangular", "uniform", "weibull",
]  # fmt: skip
"""Distributions whose programs are compiled in a moment."""


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("size", SIZES)
def test_the_numbers_are_those_of_a_program_for_the_size(name, size, backend, monkeypatch):
    compare(name, size, monkeypatch)


@pytest.mark.parametrize("name", sorted(set(PARAMETERS) - set(QUICK)))
def test_numbers_of_several_steps_are_those_of_a_program_for_the_size(name, monkeypatch):
    compare(name, (3, 5, 2), monkeypatch)


def compare(name, size, monkeypatch):
    prefix_draws._draws.clear()
    first = DRAWS[name](size, "float32")
    own = of_its_own(lambda: DRAWS[name](size, "float32"), monkeypatch)
    assert_same(first, own, name)
    first[...] = -1
    assert_same(DRAWS[name](size, "float32"), own, name)  # a sample is an array of its own


@pytest.mark.parametrize(
    ("name", "first", "rest"),
    [
        ("normal", [0.5, 1.0], (2.0,)),
        ("gamma", [0.5, 2.0], (2.0,)),
        ("poisson", [3.0, 40.0], ()),
        ("integers", [3, 2**40], ()),
        ("multinomial", [3, 20], ([0.3, 0.7],)),
    ],
)
def test_parameters_may_be_arrays(name, first, rest, monkeypatch):
    prefix_draws._draws.clear()

    def draw():
        given = np.array([first * 2, first[::-1] * 2, first * 2])
        return getattr(np.random.default_rng(5), name)(given, *rest)

    assert_same(draw(), of_its_own(draw, monkeypatch))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_dtype_and_long_samples_too(dtype, monkeypatch):
    for n in (1000, 2**16 - 1, 2**16 + 3):
        for name in ("uniform", "exponential"):
            prefix_draws._draws.clear()
            found = DRAWS[name]((n,), dtype)
            own = of_its_own(lambda name=name, n=n: DRAWS[name]((n,), dtype), monkeypatch)
            assert found.dtype == dtype and found.asnumpy().tobytes() == own.tobytes()


def test_parameters_without_elements(backend):
    for name in ("normal", "pareto", "gamma", "poisson"):
        assert getattr(np.random, name)(np.ones((0, 3))).shape == (0, 3)
        assert getattr(np.random, name)(np.ones((0, 1)), size=(0, 4)).shape == (0, 4)


def test_few_programs_draw_many_sizes(backend):
    rng = np.random.default_rng(5)
    with npx.compile_log() as log:
        for n in range(3, 90):
            rng.normal(0.0, 1.0, (n, 2), dtype="float64")
    assert len([entry for entry in log if "random" in entry.name]) <= 1, log


def test_a_loop_over_many_sizes_compiles_for_few_of_them():
    prefix_draws._own.clear()
    rng = np.random.default_rng(9)
    with npx.compile_log() as log:
        for _ in range(prefix_draws.REPEATED + 3):
            for n in range(1, 60):
                rng.gumbel(0.0, 1.0, n)
    assert len(log) <= prefix_draws.MOST_OWN + 1


def test_a_size_that_comes_again_and_again_gets_a_program_of_its_own():
    prefix_draws._own.clear()
    twin = np.random.default_rng(9)
    rng, drawn = np.random.default_rng(9), []
    with npx.compile_log() as log:
        for _ in range(prefix_draws.REPEATED + 3):
            drawn.append(rng.logistic(0.0, 1.0, (5, 41)).asnumpy())
    assert 1 <= len([entry for entry in log if "random" in entry.name]) <= 2
    expected = npx.jit(lambda: [twin.logistic(0.0, 1.0, (5, 41)) for _ in drawn])()
    for eager, compiled in zip(drawn, expected, strict=True):
        onp.testing.assert_allclose(eager, compiled.asnumpy(), rtol=2e-6, atol=1e-6)


def test_parameters_that_are_arrays_or_recorded_are_drawn_as_ever():
    rng = np.random.default_rng(9)
    assert rng.normal(np.zeros((2, 1)), 1.0, (2, 3)).shape == (2, 3)
    loc = np.array(1.0)
    loc.attach_grad()
    with autograd.record():
        y = rng.normal(loc, 1.0, (6,)).sum()
    y.backward()
    assert loc.grad.item() == 6


def test_initializing_a_network_compiles_few_programs():
    compiled = []
    net = gluon.nn.HybridSequential()
    for units in range(31, 43):
        net.add(gluon.nn.Dense(units))
    net(npcompat.sym.var("data", shape=(1, 30), dtype="float32"))  # now all shapes are known
    net.initialize(init.Xavier())
    net.initialize(init.Xavier(rnd_type="gaussian"), force_reinit=True)

    def note(event, seconds, **kwargs):
        if event.endswith("backend_compile_duration"):
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        other = gluon.nn.HybridSequential()
        for units in range(51, 63):
            other.add(gluon.nn.Dense(units))
        other(npcompat.sym.var("data", shape=(1, 30), dtype="float32"))
        other.initialize(init.Xavier())
        [p.data() for p in other.collect_params().values()]
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    assert compiled == [], "no program is compiled for a shape"
