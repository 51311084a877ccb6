"""Compiling functions and blocks for given types, before they are called."""

import pytest

from npcompat import autograd, gluon, np, npx, ops
from npcompat.gluon import nn

BACKENDS = ("auto", "jax", "numpy")


def kind(*shape, dtype="float32"):
    return ops.TensorType(shape, dtype)


def compiled_in(program):
    """Return the names of programs that XLA compiles while a program runs, without conversions."""
    with npx.audit("compilation") as events:
        program()
    return [e.what for e in events if not e.what.startswith(("_conversion", "stage", "copy"))]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_call_finds_the_program(backend):
    with npx.backend(backend):
        state = np.zeros(3)
        calls = []

        @npx.jit
        def f(x, y, pair, *, scale=2):
            calls.append(1)
            state[...] += x.sum(axis=0)
            y[0] = 1
            return x * scale + pair["a"][0]

        x, y, pair = np.ones((5, 3)), np.zeros(3), {"a": [np.ones(3, dtype="float64")]}
        with npx.compile_log() as log:
            f.compile(kind(5, 3), kind(3), {"a": [kind(3, dtype="float64")]}, scale=3)
        assert [(e.name, e.reason) for e in log if e.name == "f"] == [
            ("f", "compiled ahead of the first call")
        ]
        assert calls == [1] and state.tolist() == [0, 0, 0]  # traced, and not run
        results = []
        assert compiled_in(lambda: [results.append(f(x, y, pair, scale=3)) for _ in range(3)]) == []
        assert calls == [1] and state.tolist() == [15, 15, 15] and y.tolist() == [1, 0, 0]
        assert results[0].dtype == "float64" and results[0].tolist() == [[4, 4, 4]] * 5
        assert compiled_in(lambda: f(x, y, pair)) != []  # another scale


@pytest.mark.parametrize("backend", BACKENDS)
def test_blocks_for_both_modes(backend):
    with npx.backend(backend):
        net = nn.HybridSequential()
        net.add(nn.Dense(3), nn.BatchNorm(), nn.Dropout(0.5))
        net.initialize()
        net.hybridize()
        net.compile(kind(4, 2))
        with autograd.train_mode():
            net.compile(kind(4, 2))
        x, before = np.ones((4, 2)), net[1].running_mean.data().asnumpy()
        assert net[0].weight.shape == (3, 2) and (before == 0).all()

        def program():
            net(x)
            with autograd.train_mode():
                net(x)

        assert compiled_in(program) == []
        assert compiled_in(lambda: net(np.ones((5, 2)))) != []


def test_a_whole_training_step():
    np.random.seed(0)
    net = nn.Dense(2, in_units=3)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam")

    @npx.jit
    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(4)
        return loss

    before = net.weight.data().asnumpy()
    step.compile(kind(4, 3))
    assert (net.weight.data().asnumpy() == before).all()
    x, losses = np.ones((4, 3)), []
    assert compiled_in(lambda: losses.extend(step(x).item() for _ in range(3))) == []
    assert losses[0] > losses[1] > losses[2]


def test_arrays_stand_for_their_types():
    f = npx.jit(lambda x, y: x + y, static_argnums=())
    a = np.ones(3)
    f.compile(a, a)
    assert compiled_in(lambda: f(a, a)) == []
    assert compiled_in(lambda: f(a, np.ones(3))) != []  # not the same array twice
    f.compile(a, np.ones(3))  # is there
    g = npx.jit(lambda x, options: x * options[0], static_argnums=1)
    g.compile(kind(2), (3,))
    assert compiled_in(lambda: g(np.ones(2), (3,))) == [] and g(np.ones(2), (3,)).tolist() == [3, 3]


def test_functions_without_arrays():
    f = npx.jit(lambda n: np.arange(n) * 2)
    f.compile(3)
    assert f(3).tolist() == [0, 2, 4]


def test_what_can_not_be_compiled_ahead():
    f = npx.jit(lambda x: x + 1)
    with pytest.raises(
        TypeError,
        match=r"compile: expected types of which nothing is unknown, got TensorType\(\(\?, 3\), float32\)",
    ):
        f.compile(kind(None, 3))
    with (
        pytest.raises(NotImplementedError, match="compile\\(\\) while recording"),
        autograd.record(),
    ):
        f.compile(kind(2))
    with pytest.raises(
        NotImplementedError, match="compile\\(\\) while another function is being compiled"
    ):
        npx.jit(lambda x: f.compile(x))(np.ones(2))
    with pytest.raises(RuntimeError, match=r"Dense.compile: hybridize\(\) the block first"):
        nn.Dense(2).compile(kind(2, 2))
    g = npx.jit(lambda x: x + np.ones(3))
    with pytest.raises(ValueError, match="could not be broadcast"):
        g.compile(kind(2))
    assert g(np.ones(3)).tolist() == [2, 2, 2]
