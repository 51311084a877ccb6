"""Random numbers: streams, seeds, dtypes and shapes, distributions, bad arguments."""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, np, npx

SIZE = (40, 50)  # the same everywhere: one program for each distribution
SAMPLERS = {
    "uniform": lambda r, size: r.uniform(-1, 3, size),
    "normal": lambda r, size: r.normal(1.0, 2.0, size),
    "standard_normal": lambda r, size: r.standard_normal(size),
    "exponential": lambda r, size: r.exponential(2.0, size),
    "gamma": lambda r, size: r.gamma(2.5, 1.5, size),
    "beta": lambda r, size: r.beta(2.0, 3.0, size),
    "laplace": lambda r, size: r.laplace(1.0, 2.0, size),
    "gumbel": lambda r, size: r.gumbel(1.0, 2.0, size),
    "logistic": lambda r, size: r.logistic(1.0, 2.0, size),
}
EXACT = {
    "uniform": stats.uniform(-1, 4),
    "normal": stats.norm(1, 2),
    "standard_normal": stats.norm(),
    "exponential": stats.expon(scale=2),
    "gamma": stats.gamma(2.5, scale=1.5),
    "beta": stats.beta(2, 3),
    "laplace": stats.laplace(1, 2),
    "gumbel": stats.gumbel_r(1, 2),
    "logistic": stats.logistic(1, 2),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_continuous_distributions_have_their_shape(name):
    sample = SAMPLERS[name](np.random, SIZE)
    assert sample.shape == SIZE and sample.dtype == "float32"
    assert stats.kstest(sample.asnumpy().ravel(), EXACT[name].cdf).pvalue > 1e-3


def test_discrete_distributions_have_their_moments():
    poisson, binomial = np.random.poisson(3.0, 4000), np.random.binomial(10, 0.3, 4000)
    assert poisson.dtype == binomial.dtype == "int64"
    assert abs(poisson.asnumpy().mean() - 3) < 0.15 and abs(poisson.asnumpy().var() - 3) < 0.4
    assert abs(binomial.asnumpy().mean() - 3) < 0.15 and binomial.asnumpy().max() <= 10
    integers = np.random.randint(-2, 4, 6000).asnumpy()
    assert stats.chisquare(onp.bincount(integers + 2, minlength=6)).pvalue > 1e-3


@pytest.mark.parametrize("name", [*SAMPLERS, "randint"])
def test_a_seed_fixes_the_numbers(name):
    sampler = SAMPLERS.get(name, lambda r, size: r.randint(0, 100, size))
    found = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        found.append([sampler(np.random, SIZE).tolist() for _ in range(2)])
    assert found[0] == found[1] and found[0] != found[2] and found[0][0] != found[0][1]


def test_backends_draw_the_same_numbers():
    drawn = []
    for backend in ("jax", "numpy"):
        with npx.backend(backend):
            np.random.seed(8)
            drawn.append([SAMPLERS[name](np.random, SIZE).tolist() for name in ("uniform", "normal")])
            drawn[-1] += [np.random.permutation(6).tolist(), np.random.randint(0, 100, SIZE).tolist(), np.random.choice(5, 3).tolist()]
    assert drawn[0] == drawn[1]


def test_generators_are_streams_of_their_own():
    np.random.seed(3)
    a, b = np.random.default_rng(7), np.random.default_rng(7)
    first = a.normal(size=3).tolist()
    np.random.normal()
    assert b.normal(size=3).tolist() == first and a.normal(size=3).tolist() != first
    assert np.random.default_rng(a) is a
    state = np.random.RandomState(7)
    assert state.normal(size=3).tolist() == first
    assert np.random.default_rng().normal(size=3).tolist() != np.random.default_rng().normal(size=3).tolist()
    np.random.seed(3)
    np.random.default_rng(9).normal()
    expected = np.random.normal().item()
    np.random.seed(3)
    assert np.random.normal().item() == expected


def test_seeds_are_64_bits():
    drawn = set()
    for seed in (0, 1, 2**32, 2**63, 2**64 - 1, onp.int64(5)):
        np.random.seed(seed)
        drawn.add(np.random.uniform(size=2).tolist()[0])
    assert len(drawn) == 6
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match=r"seed: expected an integer in \[0, 2\*\*64\)"):
            np.random.seed(wrong)
    np.random.seed()


def test_shapes_of_samples():
    assert np.random.normal().shape == ()
    assert np.random.normal(size=3).shape == (3,)
    assert np.random.normal(size=(2, 0, 3)).shape == (2, 0, 3)
    assert np.random.normal(size=()).shape == ()
    assert np.random.normal(np.zeros((4, 1)), np.ones(3)).shape == (4, 3)
    assert np.random.normal([0.0, 1.0], size=(5, 2)).shape == (5, 2)
    assert np.random.rand(2, 3).shape == np.random.randn(2, 3).shape == (2, 3)
    assert np.random.rand().shape == ()
    with pytest.raises(ValueError):
        np.random.normal(np.zeros(4), size=(3,))


def test_dtypes_of_samples():
    for dtype in ("float16", "float32", "float64"):
        assert np.random.uniform(size=2, dtype=dtype).dtype == dtype
        assert np.random.normal(size=2, dtype=dtype).dtype == dtype
    assert np.random.randint(3, size=2).dtype == "int64"
    for dtype in ("int8", "uint8", "int32", "uint64", "bool"):
        assert np.random.randint(2, size=2, dtype=dtype).dtype == dtype
    with npx.np_default_dtype():
        assert np.random.uniform(size=2).dtype == "float64"
    assert len(set(np.random.uniform(size=64, dtype="float64").asnumpy().tolist())) == 64


def test_uniform_is_below_its_upper_bound():
    x = np.random.uniform(0, 1, 100_000).asnumpy()
    assert x.min() >= 0 and x.max() < 1
    wide = np.random.randint(-(2**63), 2**63 - 1, size=1000).asnumpy()
    assert wide.min() < -(2**62) and wide.max() > 2**62


def test_out_is_written():
    out = np.zeros(3)
    assert np.random.uniform(5, 6, 3, out=out) is out and (out.asnumpy() >= 5).all()
    with pytest.raises(ValueError, match="shape"):
        np.random.uniform(size=2, out=out)


def test_permutation_and_shuffle():
    assert sorted(np.random.permutation(10).tolist()) == list(range(10))
    a = np.arange(12.0).reshape(6, 2)
    p = np.random.permutation(a)
    assert sorted(map(tuple, p.tolist())) == sorted(map(tuple, a.tolist())) and p.base is None
    view = a[::2]
    np.random.shuffle(view)
    assert a[1::2].tolist() == [[2, 3], [6, 7], [10, 11]] and sorted(a[::2].tolist()) == [[0, 1], [4, 5], [8, 9]]
    assert np.random.permutation(0).shape == (0,)
    with pytest.raises(IndexError, match="x must be an integer or at least 1-dimensional"):
        np.random.permutation(np.array(3.0))
    with pytest.raises(TypeError, match="shuffle: expected an npcompat ndarray, got list"):
        np.random.shuffle([1, 2])


def test_choice():
    assert set(np.random.choice(5, 200).tolist()) == set(range(5))
    assert sorted(np.random.choice(np.array([3, 1, 2]), 3, replace=False).tolist()) == [1, 2, 3]
    assert np.random.choice(5).shape == () and np.random.choice(5, (2, 3)).shape == (2, 3)
    assert set(np.random.choice([1.5, 2.5], 100, p=[0.0, 1.0]).tolist()) == {2.5}
    assert sorted(np.random.choice(4, 2, replace=False, p=[0.5, 0, 0.5, 0]).tolist()) == [0, 2]
    for arguments, message in [
        (dict(a=3, size=4, replace=False), "Cannot take a larger sample than population when replace is False"),
        (dict(a=3, p=[0.5, 0.5]), "'a' and 'p' must have same size"),
        (dict(a=np.ones((2, 2))), "a must be 1-dimensional"),
        (dict(a=0, size=1), "a cannot be empty unless no samples are taken"),
    ]:
        with pytest.raises(ValueError, match=message):
            np.random.choice(**arguments)


def test_bad_arguments():
    for call, kind, message in [
        (lambda: np.random.normal(0, -1), ValueError, "scale < 0"),
        (lambda: np.random.exponential(-1.0), ValueError, "scale < 0"),
        (lambda: np.random.poisson(-1.0), ValueError, "lam < 0"),
        (lambda: np.random.randint(3, 3), ValueError, "low >= high"),
        (lambda: np.random.randint(0, 300, dtype="int8"), ValueError, "high is out of bounds for int8"),
        (lambda: np.random.randint(-1, 3, dtype="uint8"), ValueError, "low is out of bounds for uint8"),
        (lambda: np.random.randint(3, dtype="float32"), TypeError, "Unsupported dtype"),
        (lambda: np.random.uniform(size=-1), ValueError, "negative"),
        (lambda: np.random.uniform(size=1.5), TypeError, "cannot be interpreted as an integer"),
        (lambda: np.random.uniform(size=2, dtype="int32"), TypeError, "int32"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_samples_are_differentiated_in_their_parameters():
    loc, scale = np.zeros(3), np.full(3, 2.0)
    loc.attach_grad()
    scale.attach_grad()
    np.random.seed(5)
    with autograd.record():
        x = np.random.normal(loc, scale)
        y = (x * np.arange(3.0)).sum()
    y.backward()
    np.random.seed(5)
    noise = np.random.normal(size=3).asnumpy()
    assert loc.grad.tolist() == [0, 1, 2]
    onp.testing.assert_allclose(scale.grad.asnumpy(), noise * [0, 1, 2], rtol=1e-5)


def test_bytes():
    assert isinstance(np.random.bytes(5), bytes) and len(np.random.bytes(5)) == 5
