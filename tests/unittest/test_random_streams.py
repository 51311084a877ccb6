"""Names and signatures of np.random; seeds, bit generators, and what a stream's state is good for."""

import copy
import inspect
import pickle
from typing import Any

import jax
import numpy as onp
import pytest
import scipy.stats
from internals import threefry
from jax.extend.random import threefry_2x32

from npcompat import np, npx
from npcompat.numpy.random import bit_generator

KINDS = ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"]


def public(x):
    return sorted(n for n in dir(x) if not n.startswith("_"))


def parameters(f):
    return [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]


def assert_same_signature(ours, theirs, what):
    """The same names, kinds and defaults; only keywords may be added, and float64 as a default is
    the default float.
    """
    expected = [(n, k, float if d is onp.float64 else d) for n, k, d in parameters(theirs)]
    found = parameters(ours)
    extra = [p for p in found if p not in expected]
    assert [p for p in found if p in expected] == expected, what
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in extra), what


def test_every_name_is_there():
    assert set(onp.random.mtrand.__all__) <= set(np.random.mtrand.__all__)
    assert set(onp.random.__all__) <= set(np.random.__all__)
    for name in np.random.__all__:
        assert hasattr(np.random, name)


@pytest.mark.parametrize("name", ["Generator", "RandomState"])
def test_nothing_is_drawn_by_the_numpys_part_of_a_generator(name):
    ours, theirs = getattr(np.random, name), getattr(onp.random, name)
    generator = ours(np.random.PCG64(3))
    assert isinstance(generator, theirs)
    inherited = {
        attribute
        for attribute in dir(theirs)
        if not attribute.startswith("__")
        and not any(attribute in vars(k) for k in ours.__mro__ if issubclass(theirs, k) is False)
    }
    assert inherited <= {"_bit_generator", "_poisson_lam_max"}
    before = bit_generator.UNUSED_BITS.state["state"]["pos"]
    scipy.stats.gamma.rvs(2.0, size=3, random_state=generator)
    assert bit_generator.UNUSED_BITS.state["state"]["pos"] == before


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_libraries_draw_from_our_generators(make):
    for draw in (scipy.stats.norm.rvs, scipy.stats.expon.rvs):
        one, other = [draw(size=4, random_state=make(7)) for _ in range(2)]
        onp.testing.assert_array_equal(one, other)
        assert not onp.array_equal(one, draw(size=4, random_state=make(8)))
    if make is np.random.default_rng:
        rng = make(3)
        assert onp.random.default_rng(rng) is rng


def test_functions_in_c_draw_numbers_that_repeat():
    def drawn(rng):
        matrices = [
            scipy.stats.random_table.rvs([5, 6], [4, 7], random_state=rng) for _ in range(6)
        ]
        x, y = onp.arange(6.0), onp.arange(6.0) ** 2
        test = scipy.stats.permutation_test(
            (x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), rng=rng, n_resamples=50
        )
        return onp.array([*onp.ravel(matrices), *test.null_distribution])

    make = np.random.default_rng
    first = drawn(make(3))
    assert not onp.array_equal(first[:12], first[12:24])
    onp.testing.assert_array_equal(first, drawn(make(3)))
    assert not onp.array_equal(first, drawn(make(4)))


@pytest.mark.parametrize("kind", KINDS)
def test_addresses_of_functions_in_c_stay_valid(kind):
    def by_address(bits):
        interfaces = [bits.ctypes for _ in range(3)]
        assert len({i.state_address for i in interfaces}) == 1
        assert bits.capsule is not None
        return [interfaces[0].next_uint64(interfaces[0].state) for _ in range(3)]

    make = getattr(np.random, kind)
    assert by_address(make(3)) == by_address(make(3)) != by_address(make(4))


@pytest.mark.parametrize(
    "name", sorted({*onp.random.__all__, "get_bit_generator", "set_bit_generator"})
)
def test_signatures_are_numpys(name):
    assert_same_signature(getattr(np.random, name), getattr(onp.random, name), name)


@pytest.mark.parametrize(
    "name", ["Generator", "RandomState", "SeedSequence", "BitGenerator", *KINDS]
)
def test_methods_have_numpys_signatures(name):
    ours, theirs = getattr(np.random, name), getattr(onp.random, name)
    assert set(public(theirs)) <= set(public(ours))
    for method in public(theirs):
        if callable(getattr(theirs, method)):
            assert_same_signature(
                getattr(ours, method), getattr(theirs, method), f"{name}.{method}"
            )


# --- seeds ----------------------------------------------------------------------------------------


def test_seed_sequences_give_numpys_words():
    for entropy, key in [(5, ()), ([1, 2**70], (3, 4)), (2**200, ())]:
        ours, theirs = (
            np.random.SeedSequence(entropy, spawn_key=key),
            onp.random.SeedSequence(entropy, spawn_key=key),
        )
        for words in (ours.generate_state(5), ours.generate_state(3, "uint64"), ours.pool):
            assert isinstance(words, np.ndarray)
        assert ours.generate_state(5).tolist() == theirs.generate_state(5).tolist()
        assert (
            ours.pool.tolist() == theirs.pool.tolist()
            and ours.state == theirs.state
            and repr(ours) == repr(theirs)
        )
        (a, b), (c, d) = ours.spawn(2), theirs.spawn(2)
        assert (
            b.generate_state(2).tolist() == d.generate_state(2).tolist()
            and a.spawn_key == c.spawn_key
        )
        assert (
            ours.n_children_spawned == 2 and ours.entropy == theirs.entropy and ours.pool_size == 4
        )
        assert pickle.loads(pickle.dumps(ours)).spawn(1)[0].spawn_key == (*key, 2)
    assert np.random.SeedSequence(np.array([1, 2])).generate_state(1) == onp.random.SeedSequence(
        [1, 2]
    ).generate_state(1)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", [1, -2], [1.5]])
def test_bad_seeds_raise_what_numpy_raises(seed):
    for name in ("default_rng", "PCG64", "SeedSequence"):
        with pytest.raises((ValueError, TypeError)) as expected:
            getattr(onp.random, name)(seed)
        with pytest.raises(expected.type) as found:
            getattr(np.random, name)(seed)
        assert str(found.value) == str(expected.value)
    with pytest.raises((ValueError, TypeError)) as expected:
        onp.random.RandomState(seed)
    for reseed in (np.random.RandomState, np.random.seed):
        with pytest.raises(expected.type):
            reseed(seed)


def test_seeds_of_every_kind_fix_the_stream():
    found = []
    for make in [
        lambda: np.random.default_rng(3),
        lambda: np.random.default_rng([3, 4]),
        lambda: np.random.default_rng(2**100),
        lambda: np.random.default_rng(np.random.SeedSequence(9)),
        lambda: np.random.default_rng(onp.random.SeedSequence(10)),
        lambda: np.random.default_rng(np.array([5, 6])),
        lambda: np.random.default_rng(np.array([11, 12])[0]),
        lambda: np.random.RandomState([3, 4]),
        lambda: np.random.RandomState(np.random.SeedSequence(9)),
        lambda: np.random.RandomState(3),
        lambda: np.random.Generator(np.random.Philox(key=77)),
        *[
            lambda kind=kind: np.random.Generator(getattr(np.random, kind)(3))
            for kind in KINDS
            if kind != "PCG64"
        ],
    ]:
        a, b = (make().uniform(size=4).tolist() for _ in range(2))
        assert a == b
        found.append(tuple(a))
    assert len(set(found)) == len(found)
    bits = np.random.PCG64(3)
    assert np.random.default_rng(bits).bit_generator is bits
    assert tuple(np.random.default_rng(bits).uniform(size=4).tolist()) == found[0]
    state = np.random.RandomState(5)
    assert np.random.default_rng(state).bit_generator is state._bit_generator


# --- bit generators -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_states_can_be_read_set_and_pickled(kind):
    rng = np.random.Generator(getattr(np.random, kind)(3))
    rng.normal()
    bits = rng.bit_generator
    assert (
        bits.state["bit_generator"] == kind
        and bits.state["state"]["pos" if kind == "MT19937" else "counter"] == 1
    )
    for again in (pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)):
        assert again.bit_generator is not bits and again.bit_generator.seed_seq.entropy == 3
        state = again.bit_generator.state
        expected = again.uniform(size=4).tolist()
        again.bit_generator.state = state
        assert again.uniform(size=4).tolist() == expected
    assert rng.uniform(size=4).tolist() == expected
    other = np.random.Generator(getattr(np.random, kind)(4))
    other.uniform(size=4)
    other.bit_generator.state = state
    assert other.uniform(size=4).tolist() == expected
    for wrong, error, message in [
        (5, TypeError, "state must be a dict"),
        ({}, ValueError, f"state must be for a {kind} RNG"),
    ]:
        with pytest.raises(error, match=message):
            bits.state = wrong
    with bits.lock:
        assert repr(rng).startswith(f"Generator({kind}) at 0x") and str(rng) == f"Generator({kind})"


@pytest.mark.parametrize("kind", KINDS)
def test_streams_that_are_spawned_or_jumped_are_others(kind):
    def start(bits):
        return tuple(bits.random_raw(3).tolist())

    bits = getattr(np.random, kind)(3)
    streams = [*bits.spawn(2), *bits.spawn(1), *np.random.Generator(bits).spawn(1)]
    streams = [s.bit_generator if isinstance(s, np.random.Generator) else s for s in streams]
    if kind != "SFC64":
        streams += [bits.jumped(), bits.jumped(2)]
        assert bits.jumped(2).state == bits.jumped().jumped().state
    assert all(type(s) is type(bits) for s in streams)
    assert len({start(s) for s in [bits, *streams]}) == len(streams) + 1
    again = getattr(np.random, kind)(3).spawn(2)
    assert start(again[1]) == start(getattr(np.random, kind)(np.random.SeedSequence(3).spawn(2)[1]))


def test_streams_are_advanced_by_draws():
    for kind in ("PCG64", "PCG64DXSM", "Philox"):
        a, b = getattr(np.random, kind)(3), getattr(np.random, kind)(3)
        [a.random_raw() for _ in range(5)]
        assert b.advance(5) is b and a.random_raw() == b.random_raw()
        assert b.advance(-6).random_raw() == getattr(np.random, kind)(3).random_raw()
    assert np.random.Philox(3, counter=2).state == np.random.Philox(3).advance(2).state
    assert np.random.Philox(key=[1, 0]).state == np.random.Philox(key=1).state
    for arguments, message in [
        ((3, None, 5), "seed and key cannot be both used"),
        ((None, None, 2**128), r"less than 2\*\*128"),
    ]:
        with pytest.raises(ValueError, match=message):
            np.random.Philox(*arguments)


def test_draws_beyond_32_bits_of_the_counter_are_others():
    bits = np.random.PCG64(3)
    first = bits.random_raw()
    assert bits.advance(2**32 - 1).random_raw() != first
    assert bits.state["state"]["counter"] == 2**32 + 1


def test_streams_of_spawned_generators_are_not_correlated():
    x = onp.array([rng.normal(size=2000).tolist() for rng in np.random.default_rng(3).spawn(4)])
    assert abs(onp.corrcoef(x) - onp.eye(4)).max() < 0.1


def test_raw_numbers():
    bits = np.random.PCG64(3)
    assert (
        type(bits.random_raw()) is int
        and bits.random_raw((2, 3)).shape == (2, 3)
        and bits.random_raw(3, output=False) is None
    )
    assert bits.state["state"]["counter"] == 3
    x = bits.random_raw(4000).asnumpy()
    ones = [((x >> onp.uint64(i)) & onp.uint64(1)).mean() for i in range(64)]
    assert x.dtype == "uint64" and max(abs(onp.array(ones) - 0.5)) < 0.05


def test_what_cannot_be_made_or_is_in_c_says_so():
    with pytest.raises(NotImplementedError, match="base class"):
        np.random.BitGenerator(3)
    with pytest.raises(ValueError, match="The bit generator must be instantiated"):
        np.random.Generator(np.random.PCG64)
    with pytest.raises(AttributeError, match="expected a BitGenerator"):
        np.random.Generator(5)
    numpys: Any = onp.random
    for make, source in (
        (np.random.Generator, numpys.PCG64(3)),
        (np.random.default_rng, numpys.PCG64(3)),
        (np.random.default_rng, numpys.default_rng(3)),
        (np.random.RandomState, numpys.MT19937(3)),
        (np.random.PCG64, numpys.RandomState(3)),
    ):
        with pytest.raises(TypeError, match=r"is NumPy's, whose stream cannot be shared"):
            make(source)
    assert np.random.default_rng(rng := np.random.default_rng(3)) is rng
    seeds = numpys.default_rng(3).integers(2**32, size=4)
    assert np.random.default_rng(seeds).random() == np.random.default_rng(seeds).random()


# --- the older interface --------------------------------------------------------------------------


def test_states_of_random_states():
    rng = np.random.RandomState(3)
    rng.normal()
    for legacy in (True, False):
        state = rng.get_state(legacy=legacy)
        expected = rng.uniform(size=4).tolist()
        rng.set_state(state)
        assert rng.uniform(size=4).tolist() == expected
    name, words, position, has_gauss, gauss = rng.get_state()
    assert (name, words.dtype, position, has_gauss, gauss) == ("MT19937", "uint32", 3, 0, 0.0)
    assert (
        str(rng) == "RandomState(MT19937)"
        and pickle.loads(pickle.dumps(rng)).uniform() == rng.uniform()
    )
    again = np.random.RandomState(4)
    again.__setstate__(rng.__getstate__())
    bits = np.random.MT19937(4)
    bits.state = rng.get_state()[:3]
    assert rng.uniform() == again.uniform() == np.random.Generator(bits).uniform()
    for wrong, error in [(5, TypeError), ({}, ValueError), (("X",), ValueError)]:
        with pytest.raises(error):
            rng.set_state(wrong)
    other = np.random.RandomState(np.random.PCG64(3))
    with pytest.raises(TypeError, match="can only re-seed a MT19937 BitGenerator"):
        other.seed(3)
    with pytest.raises(ValueError, match="state must be for a PCG64 RNG"):
        other.set_state(rng.get_state())
    with pytest.warns(RuntimeWarning, match="set `legacy` to False"):
        assert other.get_state()["bit_generator"] == "PCG64"


def test_older_pickles_name_the_bit_generator():
    for rng in (
        np.random.Generator(np.random.Philox(3)),
        np.random.RandomState(np.random.Philox(3)),
    ):
        make, (bits,), *_ = rng.__reduce__()
        assert type(make("Philox")) is type(rng) and type(make("Philox")._bit_generator) is type(
            bits
        )
        with pytest.raises(ValueError, match="Mersenne is not a known BitGenerator module"):
            make("Mersenne")


def test_seed_begins_the_default_stream_again_whatever_its_kind():
    before = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(3))
    try:
        np.random.seed(5)
        first = np.random.uniform(size=3).tolist()
        assert first == np.random.RandomState(np.random.PCG64(5)).uniform(size=3).tolist()
    finally:
        np.random.set_bit_generator(before)


def test_philox_takes_its_own_key_and_counter():
    bits = np.random.Philox(3)
    bits.random_raw()
    state = bits.state["state"]
    assert (
        np.random.Philox(counter=state["counter"], key=state["key"]).random_raw()
        == bits.random_raw()
    )
    assert (
        len({np.random.Philox(key=key).random_raw() for key in (1, 1 + 2**64, 2**64, 2**128 - 1)})
        == 4
    )


def test_functions_draw_from_one_stream():
    np.random.seed(3)
    state = np.random.get_state()
    a = [np.random.uniform().item(), np.random.ranf().item(), np.random.sample((2,)).tolist()]
    np.random.set_state(state)
    assert a == [
        np.random.random().item(),
        np.random.rand().item(),
        np.random.random_sample(2).tolist(),
    ]
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(3))
        expected = np.random.default_rng(3).uniform(size=4).tolist()
        assert np.random.uniform(size=4).tolist() == expected
        np.random.set_bit_generator(np.random.PCG64(3))
        assert npx.jit(lambda: np.random.uniform(size=4))().tolist() == expected
    finally:
        np.random.set_bit_generator(before)
    np.random.set_state(state)
    assert np.random.uniform().item() == a[0]


def test_deprecated_integers_warn():
    with pytest.warns(DeprecationWarning, match=r"Please call randint\(1, 3 \+ 1\) instead"):
        assert set(np.random.random_integers(3, size=60).tolist()) == {1, 2, 3}


def test_compiled_functions_seed_and_draw():
    @npx.jit
    def program():
        rng = np.random.default_rng(3)
        return rng.uniform(size=4)

    assert (
        program().tolist()
        == program().tolist()
        == np.random.default_rng(3).uniform(size=4).tolist()
    )
    draw = npx.jit(lambda: (np.random.uniform(), np.random.get_state())[0])
    with pytest.raises(
        TypeError, match="the value of an array is asked for while the function is being compiled"
    ):
        draw()


def test_a_shape_says_how_many_numbers_are_drawn_and_not_which():
    for draw in (
        np.random.normal,
        np.random.random_sample,
        lambda size: np.random.gamma(0.7, size=size),
    ):
        state = np.random.get_state()
        flat = draw(size=24)
        np.random.set_state(state)
        assert draw(size=(2, 3, 4)).tolist() == flat.reshape(2, 3, 4).tolist()


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (0, 2), (2, 0)])
def test_the_bits_are_those_of_jaxs_threefry(shape):
    words = jax.numpy.asarray([123456789, 4000000000], "uint32")
    with jax.enable_x64(True):
        theirs, ours = jax.random.wrap_key_data(words, impl="threefry2x32"), threefry.wrapped(words)
        for width in (8, 16, 32, 64):
            expected = jax.random.bits(theirs, shape, f"uint{width}")
            found = jax.random.bits(ours, shape, f"uint{width}")
            assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
        for function in (
            lambda key: jax.random.split(key, shape),
            lambda key: jax.random.fold_in(key, 2**32 - 1),
        ):
            assert (
                jax.random.key_data(function(ours)).tolist()
                == jax.random.key_data(function(theirs)).tolist()
            )
        made = jax.random.key_data(jax.random.key(2**40 + 3, impl=threefry._implementation()))
        assert (
            made.tolist()
            == jax.random.key_data(jax.random.key(2**40 + 3, impl="threefry2x32")).tolist()
        )


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_blocks_are_those_of_jaxs_primitive(backend, monkeypatch):
    words = jax.numpy.asarray([1, 2], "uint32")
    high, low = (
        jax.numpy.asarray([0, 1, 2**32 - 1], "uint32"),
        jax.numpy.asarray([5, 0, 7], "uint32"),
    )
    expected = threefry_2x32(words, jax.numpy.concatenate([high, low]))
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    assert jax.numpy.concatenate(threefry.hashed(words, high, low)).tolist() == expected.tolist()
    assert (
        jax.numpy.stack(threefry.hashed(words, high[1], low[1])).tolist() == expected[1::3].tolist()
    )
