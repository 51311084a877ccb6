"""Cases of arrays made from nothing, and of random numbers, whose stream is the same on each backend."""

import numpy as onp

from npcompat import np
from npcompat._internal.dispatch import apply
from npcompat._internal.op import REGISTRY
from registry_cases.case import FEW, FEW_REAL, KEPT, case

case(
    "_npi_full",
    lambda xp: (xp.zeros((2, 3)), xp.ones((), "int8"), xp.zeros(0, complex), xp.ones_like(xp.zeros(2, "e"))),
    value_dtype=True,
    policy=lambda d, a: {"f8": onp.dtype("f4"), "c16": onp.dtype("c8")}.get(d.str[1:], d),
)
case("_npi_full", lambda xp: xp.full((2, 2), 7, "float64"), policy=KEPT)
case("_npi_broadcast_fill", lambda xp, a: xp.full((2, 3), a), "3", dtypes=FEW)
case("_npi_broadcast_fill", lambda xp, a: xp.full_like(xp.zeros((2, 3), "float64"), a), "2,1", dtypes="i f d", policy=KEPT)
case("_npi_eye", lambda xp: (xp.eye(3), xp.eye(2, 4, -1, "int32"), xp.identity(2)))
case("_npi_tri", lambda xp: (xp.tri(3), xp.tri(2, 4, 1, "int32")))
case(
    "_npi_arange",
    lambda xp: (
        xp.arange(5),
        xp.arange(2, 9, 3),
        xp.arange(3.0),
        xp.arange(0, 1, 0.25),
        xp.arange(5, 0, -2),
        xp.arange(3, dtype="int8"),
        xp.arange(0),
    ),
)
case("_npi_linspace", lambda xp, a, b: xp.linspace(a, b, 4), "3", "2,1", dtypes=FEW_REAL, second=True)
case("_npi_linspace", lambda xp, a, b: xp.linspace(a, b, 3, endpoint=False, axis=-1), "2", "2", dtypes="f d F")
case("_npi_linspace", lambda xp: (xp.linspace(0, 1, 5), xp.linspace(2, 8, 3, dtype="int64"), xp.linspace(0, 1, 0), xp.linspace(0, 1, 1)))


# --- random numbers ----------------------------------------------------------------------------------------------


def drawn(name, draw, holds):
    """A draw after seeding: what must hold of the sample; backends and modes draw the same numbers."""

    def call(xp, *arrays):
        rng = np.random.default_rng(7)
        return draw(rng, *arrays)

    def check(sample, *arrays):
        again = call(np, *map(np.array, arrays))
        same = sample.dtype.kind in "iub" or onp.allclose(sample.asnumpy(), again.asnumpy(), rtol=1e-5, atol=1e-6)
        return same and sample.shape == again.shape and bool(holds(sample.asnumpy()))

    return lambda *operands, **options: case(
        f"_npi_random_{name}", call, *operands, oracle=None, holds=check, grad=(), layouts=("ordinary",), **options
    )


def floats(low=-onp.inf, high=onp.inf):
    return lambda x: x.dtype.kind == "f" and x.size == 24 and (x >= low).all() and (x < high).all() and len(set(x.ravel())) == x.size


def integers(low, high):
    return lambda x: x.dtype == onp.int64 and ((x >= low) & (x < high)).all()


drawn("uniform", lambda rng: rng.uniform(2, 3, (4, 6)), floats(2, 3))()
drawn("normal", lambda rng: rng.normal(1, 2, (4, 6)), floats())()
drawn("exponential", lambda rng: rng.exponential(2.0, (4, 6)), floats(0))()
drawn("gamma", lambda rng: rng.gamma(2.0, 1.0, (4, 6)), floats(0))()
drawn("beta", lambda rng: rng.beta(2.0, 1.5, (4, 6)), floats(0, 1))()
drawn("laplace", lambda rng: rng.laplace(0, 1, (4, 6)), floats())()
drawn("gumbel", lambda rng: rng.gumbel(0, 1, (4, 6)), floats())()
drawn("logistic", lambda rng: rng.logistic(0, 1, (4, 6)), floats())()
drawn("integers", lambda rng: rng.integers(-2, 5, (4, 6)), integers(-2, 5))()
drawn("choice", lambda rng: rng.choice(6, (2, 3), replace=False), lambda x: sorted(x.ravel()) == list(range(6)))()
drawn("permutation", lambda rng: rng.permutation(6), lambda x: sorted(x) == list(range(6)))()
drawn("poisson", lambda rng: rng.poisson(3.0, (4, 6)), integers(0, 40))()
drawn("binomial", lambda rng: rng.binomial(5, 0.4, (4, 6)), integers(0, 6))()


def _bernoulli(p):
    key, counter = np.array([0, 7], dtype="uint32"), np.array(0)
    return apply(REGISTRY["_npi_random_bernoulli"], (key, counter, p), ((200,), onp.dtype(bool)))[0]


case(
    "_npi_random_bernoulli",
    lambda xp, p: _bernoulli(p),
    "()  fraction float64",
    oracle=None,
    holds=lambda x, p: x.dtype == bool and abs(x.asnumpy().mean() - p) < 0.15,
    layouts=("ordinary",),
)
