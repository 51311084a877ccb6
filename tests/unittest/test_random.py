"""Random numbers: streams, seeds, dtypes and shapes, distributions, bad arguments."""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, np, npx

SIZE = (40, 50)  # the same everywhere: one program for each distribution
SAMPLERS = {
    "uniform": lambda r, size: r.uniform(-1, 3, size),
    "normal": lambda r, size: r.normal(1.0, 2.0, size),
    "gamma": lambda r, size: r.gamma(2.5, 1.5, size),
    "randint": lambda r, size: r.randint(0, 100, size),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seed_fixes_the_numbers(name):
    sampler = SAMPLERS[name]
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
            drawn.append(
                [SAMPLERS[name](np.random, SIZE).tolist() for name in ("uniform", "normal")]
            )
            drawn[-1] += [
                np.random.permutation(6).tolist(),
                np.random.randint(0, 100, SIZE).tolist(),
                np.random.choice(5, 3).tolist(),
            ]
    assert drawn[0] == drawn[1]


def test_generators_are_streams_of_their_own():
    np.random.seed(3)
    a, b = np.random.default_rng(7), np.random.default_rng(7)
    first = a.normal(size=3).tolist()
    np.random.normal()
    assert b.normal(size=3).tolist() == first and a.normal(size=3).tolist() != first
    assert np.random.default_rng(a) is a
    state = np.random.RandomState(7)
    np.random.seed(7)
    assert state.normal(size=3).tolist() == np.random.normal(size=3).tolist()
    assert (
        np.random.default_rng().normal(size=3).tolist()
        != np.random.default_rng().normal(size=3).tolist()
    )
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
    assert a[1::2].tolist() == [[2, 3], [6, 7], [10, 11]] and sorted(a[::2].tolist()) == [
        [0, 1],
        [4, 5],
        [8, 9],
    ]
    assert np.random.permutation(0).shape == (0,)
    with pytest.raises(IndexError, match="x must be an integer or at least 1-dimensional"):
        np.random.permutation(np.array(3.0))
    values, own = list("abcdef"), onp.arange(6)
    np.random.shuffle(values)
    np.random.shuffle(own)
    assert sorted(values) == list("abcdef") and sorted(own.tolist()) == list(range(6))
    for wrong, message in [
        (5, "len"),
        ((1, 2), "'tuple' object does not support item assignment"),
        (np.array(3), "unsized"),
    ]:
        with pytest.raises(TypeError, match=message):
            np.random.shuffle(wrong)


def test_shuffling_what_is_no_sequence_warns():
    class Deck:
        def __init__(self):
            self.cards = list(range(20))

        def __len__(self):
            return len(self.cards)

        def __getitem__(self, i):
            return self.cards[i]

        def __setitem__(self, i, card):
            self.cards[i] = card

    deck, memory = Deck(), memoryview(bytearray(range(9)))
    with pytest.warns(
        UserWarning, match="you are shuffling a 'Deck' object which is not a subclass of 'Sequence'"
    ):
        np.random.default_rng(0).shuffle(deck)
    np.random.default_rng(0).shuffle(memory)
    assert (
        deck.cards != list(range(20))
        and sorted(deck.cards) == list(range(20))
        and sorted(memory.tolist()) == list(range(9))
    )
    with pytest.raises(
        NotImplementedError, match="Axis argument is only supported on ndarray objects"
    ):
        np.random.default_rng(0).shuffle([[1, 2], [3, 4]], axis=1)


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_a_size_without_axes_gives_an_array(backend):
    with npx.backend(backend):
        rng, a = np.random.default_rng(0), np.array([1, 2])
        box = np.empty(1, dtype=object)
        box[0] = a
        for drawn in (
            rng.random(size=()), rng.poisson(3, ()), rng.integers(3, size=()), rng.choice(3, ()), rng.choice([None], ()), rng.choice(box, ()),
        ):  # fmt: skip
            assert type(drawn) is np.ndarray and drawn.shape == ()
        assert rng.choice(np.eye(3), (), axis=1).shape == (3,)
        assert (
            np.isscalar(rng.choice(3))
            and rng.choice([None]) is None
            and rng.choice(box) is a is rng.choice(box, ()).item()
        )


def test_objects_and_strings_are_permuted():
    rng, words = np.random.default_rng(3), np.array([["a", "b", "c"], ["d", "e", "f"]])
    assert [sorted(row) for row in rng.permuted(words, axis=1).tolist()] == words.tolist()
    objects = np.arange(6).reshape(2, 3).astype(object)
    assert rng.permuted(objects, out=objects) is objects and sorted(
        objects.ravel().tolist()
    ) == list(range(6))


def test_what_gives_an_array_is_chosen_from_and_permuted():
    class Five:
        def __array__(self, dtype=None, copy=None):
            return np.arange(5)

    for rng in (np.random.default_rng(0), np.random.RandomState(0)):
        assert (
            sorted(rng.permutation(Five()).tolist())
            == sorted(rng.choice(Five(), 5, replace=False).tolist())
            == list(range(5))
        )
        assert rng.choice(np.array(1), 2).tolist() == [0, 0]
        with pytest.raises(ValueError, match="a must be"):
            rng.choice(np.array(1.5), 2)


def test_out_of_generators_is_memory_without_gaps():
    rng, columns, gaps = (
        np.random.default_rng(0),
        np.empty((2, 3), order="F"),
        np.empty((4, 3))[::2],
    )
    assert rng.random(out=columns) is columns
    numpys = onp.zeros(3)
    assert rng.random(dtype="float64", out=numpys) is numpys and numpys.all()
    assert rng.standard_gamma(2.0, dtype="float64", out=numpys) is numpys
    with pytest.raises(ValueError, match=r"must match out\.shape"):
        rng.standard_normal(4, dtype="float64", out=numpys)
    for draw in (
        rng.random,
        rng.standard_normal,
        rng.standard_exponential,
        lambda out: rng.standard_gamma(1.0, out=out),
    ):
        with pytest.raises(
            ValueError, match="Supplied output array must be C?-?contiguous, writable, aligned"
        ):
            draw(out=gaps)
    with pytest.raises(ValueError, match="Supplied output array must be C-contiguous"):
        rng.standard_gamma(1.0, out=columns)


def test_integers_of_swapped_bytes():
    with pytest.warns(DeprecationWarning, match="non-native byteorder is not supported"):
        assert np.random.randint(0, 9, 3, dtype=">i4").dtype == onp.dtype("=i4")
    with pytest.raises(ValueError, match="non-native byteorder is not supported"):
        np.random.default_rng(0).integers(0, 9, 3, dtype=">i4")


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_bounds_of_64_bits_are_checked_against_each_other(backend):
    with npx.backend(backend):
        rng, half, over = (
            np.random.default_rng(0),
            np.array([2**63], dtype=np.uint64),
            onp.array([2**64], object),
        )
        assert rng.integers(half, over, dtype=np.uint64).item() >= 2**63
        assert rng.integers(half - np.uint64(1), half).item() == 2**63 - 1
        assert rng.integers(np.array([3]), 3, endpoint=True).item() == 3
        for low, high, dtype, message in [
            (half, half + np.uint64(9), np.int64, "low is out of bounds for int64"),
            (np.array([-5]), np.array([5]), np.uint64, "low is out of bounds for uint64"),
            (np.array([3]), 129, np.int8, "high is out of bounds for int8"),
            (np.array([3]), 3, np.int64, "low >= high"),
            (-5, np.array([5]), np.uint64, "low is out of bounds for uint64"),
        ]:
            with pytest.raises(ValueError, match=message):
                rng.integers(low, high, dtype=dtype)


def test_bounds_of_objects_are_looked_at_as_numpy_does():
    rng = np.random.default_rng(0)
    for low, high in [(np.array([2**65]), 2**66), (0, np.array([2**64 + 1]))]:
        with pytest.raises(ValueError, match="is out of bounds for uint64"):
            rng.integers(low, high, dtype=np.uint64)
    assert rng.integers(
        np.array([2**64 - 1], dtype=object), np.array([2**64], dtype=object), dtype=np.uint64
    ).tolist() == [2**64 - 1]


def test_permutations_along_an_axis():
    rng, a = np.random.default_rng(2), np.arange(60).reshape(3, 20)
    p = rng.permutation(a, axis=1).asnumpy()
    assert (
        (p[1] - p[0] == 20).all()
        and sorted(p[0]) == list(range(20))
        and p[0].tolist() != list(range(20))
    )
    rng.shuffle(a, axis=1)
    assert sorted(a.tolist()[0]) == list(range(20)) and a.tolist()[0] != list(range(20))
    rows = rng.permuted(np.arange(60).reshape(3, 20), axis=1).asnumpy()
    assert (onp.sort(rows, 1) == onp.arange(60).reshape(3, 20)).all() and (
        rows[1] - rows[0] != 20
    ).any()
    out = np.zeros((2, 3), dtype=int)
    assert rng.permuted(np.arange(6).reshape(2, 3), out=out) is out and sorted(
        out.ravel().tolist()
    ) == list(range(6))
    with pytest.raises(ValueError, match="out must have the same shape as x"):
        rng.permuted(a, out=out)
    with pytest.raises(np.exceptions.AxisError):
        rng.permutation(a, axis=2)


def test_choice():
    assert set(np.random.choice(5, 200).tolist()) == set(range(5))
    assert sorted(np.random.choice(np.array([3, 1, 2]), 3, replace=False).tolist()) == [1, 2, 3]
    assert np.random.choice(5).shape == () and np.random.choice(5, (2, 3)).shape == (2, 3)
    assert set(np.random.choice([1.5, 2.5], 100, p=[0.0, 1.0]).tolist()) == {2.5}
    assert sorted(np.random.choice(4, 2, replace=False, p=[0.5, 0, 0.5, 0]).tolist()) == [0, 2]
    for arguments, message in [
        (
            dict(a=3, size=4, replace=False),
            "Cannot take a larger sample than population when 'replace=False'",
        ),
        (dict(a=3, p=[0.5, 0.5]), "'a' and 'p' must have same size"),
        (dict(a=np.ones((2, 2))), "a must be 1-dimensional"),
        (dict(a=0, size=1), "a must be greater than 0 unless no samples are taken"),
        (dict(a=[], size=1), "'a' cannot be empty unless no samples are taken"),
        (dict(a=3, p=[0.5, 0.6, -0.1]), "probabilities are not non-negative"),
        (dict(a=3, p=[0.5, 0.5, 0.5]), "probabilities do not sum to 1"),
        (dict(a=3, p=[onp.nan, 0.5, 0.5]), "probabilities contain NaN"),
        (dict(a=3, size=2, p=[1, 0, 0], replace=False), "Fewer non-zero entries in p than size"),
    ]:
        with pytest.raises(ValueError, match=message):
            np.random.choice(**arguments)
    rng = np.random.default_rng(1)
    table = np.arange(6).reshape(2, 3)
    assert rng.choice(table, (2, 2), axis=1).shape == (2, 2, 2)
    assert rng.choice(table, 3, replace=False, shuffle=False, axis=1).tolist() == table.tolist()
    with pytest.raises(
        ValueError, match="Cannot take a larger sample than population when replace is False"
    ):
        rng.choice(table, 5, replace=False)
    with pytest.raises(ValueError, match="Probabilities do not sum to 1. See Notes"):
        rng.choice(2, p=[0.1, 0.1])


def test_bad_arguments():
    for call, kind, message in [
        (lambda: np.random.normal(0, -1), ValueError, "scale < 0"),
        (lambda: np.random.exponential(-1.0), ValueError, "scale < 0"),
        (lambda: np.random.poisson(-1.0), ValueError, "lam < 0"),
        (lambda: np.random.randint(3, 3), ValueError, "low >= high"),
        (
            lambda: np.random.randint(0, 300, dtype="int8"),
            ValueError,
            "high is out of bounds for int8",
        ),
        (
            lambda: np.random.randint(-1, 3, dtype="uint8"),
            ValueError,
            "low is out of bounds for uint8",
        ),
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


# --- integers -------------------------------------------------------------------------------------


def test_integers_are_uniform_on_every_range():
    rng = np.random.default_rng(4)
    for low, high, dtype in [
        (0, 6, "int64"),
        (-3, 3, "int8"),
        (0, 3 * 2**62, "uint64"),
        (-(2**62), 2**63, "int64"),
        (0, 2**64, "uint64"),
    ]:
        x = rng.integers(low, high, 6000, dtype=dtype)
        assert x.dtype == dtype
        parts = [int((v - low) * 6 // (high - low)) for v in x.tolist()]
        assert stats.chisquare(onp.bincount(parts, minlength=6)).pvalue > 1e-3
    assert set(rng.integers(0, 1, 50, endpoint=True, dtype=bool).tolist()) == {False, True}
    assert rng.integers(2**64 - 1, 2**64 - 1, endpoint=True, dtype="uint64") == 2**64 - 1
    found = rng.integers([0, 10], [[12], [20]])
    assert (
        found.shape == (2, 2)
        and (found >= np.array([0, 10])).all()
        and (found < np.array([[12], [20]])).all()
    )
    assert rng.integers(np.array([0, 5]), np.array([1, 6])).tolist() == [0, 5]


INTEGER_ARGUMENTS = [
    ((5, 4), {}), ((0, 0), {}), ((5, 4), {"endpoint": True}), ((0, 300), {"dtype": "int8"}), ((-1,), {"dtype": "uint8"}),
    ((-1, 5), {"dtype": "uint8"}), (([1, 2], [1, 5]), {}), (([1, 2], [300, 5]), {"dtype": "int8"}), ((2**63 + 1,), {}),
    ((0, [3]), {"dtype": bool}), ((0, 3), {"dtype": "float32"}), ((onp.nan,), {}),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options"), INTEGER_ARGUMENTS)
def test_bounds_of_integers_are_checked_as_numpy_does(arguments, options):
    with pytest.raises((ValueError, TypeError)) as expected:
        onp.random.default_rng(0).integers(*arguments, **options)
    with pytest.raises(expected.type) as found:
        np.random.default_rng(0).integers(*arguments, **options)
    assert str(found.value) == str(expected.value)


def test_bounds_that_are_arrays_are_checked_in_compiled_functions_too():
    rng = np.random.default_rng(0)
    for call in (lambda f: f, npx.jit):
        draw = call(lambda low, high: rng.integers(low, high, dtype="int8"))
        assert draw(np.array([1, 2]), np.array([2, 3])).tolist() == [1, 2]
        with pytest.raises(ValueError, match="low >= high"):
            draw(np.array([1, 2]), np.array([2, 2])).asnumpy()
        with pytest.raises(ValueError, match="high is out of bounds for int8"):
            draw(np.array([1, 2]), np.array([2, 200])).asnumpy()


def test_bytes():
    assert isinstance(np.random.bytes(5), bytes) and len(np.random.bytes(5)) == 5


def test_one_number_is_a_scalar():
    for draw in (np.random.rand, np.random.randn, np.random.RandomState(0).rand):
        drawn = draw()
        assert isinstance(drawn, float | onp.floating) and hash(drawn) == hash(drawn.item())
        first = drawn
        drawn += 1
        assert drawn != first
