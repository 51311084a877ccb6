"""Draws that are made before they are asked for are those that would have been made, whatever comes
in between.
"""

import copy
import pickle

import pytest
from internals import prefetched_draws

from npcompat import np, npx

DRAWS = {
    "uniform": lambda g: g.uniform(-1.0, 2.0),
    "integers": lambda g: g.integers(0, 1000, size=2, dtype="int16"),
    "normal": lambda g: g.normal(size=(2, 3)),
    "exponential": lambda g: g.exponential(2.0, size=3),
    "gamma": lambda g: g.gamma(2.0, size=3),
    "permutation": lambda g: g.permutation(4),
}


def numbers(program, repeated, monkeypatch):
    monkeypatch.setattr(prefetched_draws, "REPEATED", repeated)
    generator = np.random.default_rng(11)
    return [(a.dtype.name, a.tolist()) if hasattr(a, "dtype") else a for a in program(generator)]


def same(program, monkeypatch):
    ahead, one_by_one = [numbers(program, repeated, monkeypatch) for repeated in (8, 10**9)]
    assert ahead == one_by_one


@pytest.mark.parametrize("name", DRAWS)
def test_the_numbers_are_the_same(name, monkeypatch):
    same(lambda g: [DRAWS[name](g) for _ in range(300)], monkeypatch)


def test_draws_in_turn(monkeypatch):
    same(
        lambda g: [
            DRAWS[name](g)
            for _ in range(40)
            for name in ("uniform", "normal", "integers", "uniform")
        ],
        monkeypatch,
    )


def test_what_comes_in_between(monkeypatch):
    def program(g):
        found = [DRAWS["uniform"](g) for _ in range(20)]
        state = g.bit_generator.state
        found += [DRAWS["uniform"](g) for _ in range(20)]
        g.bit_generator.state = state
        found += [DRAWS["uniform"](g) for _ in range(20)]
        others = [copy.deepcopy(g), pickle.loads(pickle.dumps(g)), *g.spawn(1)]
        found += [DRAWS["uniform"](other) for other in others for _ in range(12)]
        found += [DRAWS["uniform"](g) for _ in range(20)]
        found += [np.array([g.uniform(-1.0, float(high)) for high in (1, 2, 2, 1)])]
        with npx.backend("jax"):
            found += [DRAWS["uniform"](g) for _ in range(4)]
        return found + [DRAWS["uniform"](g) for _ in range(20)]

    same(program, monkeypatch)


def test_the_default_stream_begins_again(monkeypatch):
    def program(_):
        found = []
        for seed in (1, 2, 1):
            np.random.seed(seed)
            found += [np.random.uniform(size=2) for _ in range(30)]

            @npx.jit
            def inside():
                return np.random.uniform(size=2)

            found += [inside() for _ in range(3)] + [np.random.uniform(size=2) for _ in range(30)]
        return found

    same(program, monkeypatch)


@pytest.mark.parametrize("name", ["uniform", "integers", "normal"])
def test_most_are_not_drawn_one_by_one(name, monkeypatch):
    monkeypatch.setattr(prefetched_draws, "REPEATED", 8)
    generator, drawn = np.random.default_rng(3), []
    one = type(generator.bit_generator.stream)._drawn
    monkeypatch.setattr(
        type(generator.bit_generator.stream),
        "_drawn",
        lambda self, *given: drawn.append(1) or one(self, *given),
    )
    for _ in range(200):
        DRAWS[name](generator)
    assert len(drawn) < 20


def test_each_is_an_array_of_its_own(monkeypatch):
    monkeypatch.setattr(prefetched_draws, "REPEATED", 8)
    generator = np.random.default_rng(3)
    samples = [generator.normal(size=3) for _ in range(200)]
    samples[150][...] = 0
    assert len({a.asnumpy().tobytes() for a in samples}) == 200
