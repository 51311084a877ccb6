"""Hybridized blocks with Python's loops: one program, whatever the number of steps."""

import numpy as onp
import pytest
from internals import TracedValueError
from loop_blocks import LSTM, Beam, Collected, Tree

from npcompat import autograd, gluon, np, npx


@pytest.mark.parametrize("kind", [LSTM, Collected])
@pytest.mark.parametrize("steps", [12, 200])
def test_a_loop_over_time_steps_trains_as_eager(kind, steps):
    found = []
    x = np.array(onp.random.default_rng(0).random((steps, 4, 3)).astype("float32"))
    for hybrid in (False, True):
        np.random.seed(0)
        net = kind(8, 3)
        net.initialize()
        if hybrid:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        losses = []
        with npx.compile_log() as log:
            for _ in range(3):
                with autograd.record():
                    loss = (net(x) ** 2).mean()
                loss.backward()
                trainer.step(1)
                losses.append(float(loss))
        if hybrid:
            assert any(["one loop" in line for entry in log for line in entry.loops])
        found.append((losses, net.h2h.weight.data().asnumpy()))
    onp.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-4)
    onp.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-3, atol=1e-5)


def test_a_loop_in_a_compiled_training_step():
    x = np.array(onp.random.default_rng(0).random((30, 4, 3)).astype("float32"))
    found = []
    for compiled in (False, True):
        np.random.seed(0)
        net = LSTM(8, 3)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

        def step(x, net=net, trainer=trainer):
            with autograd.record():
                loss = (net(x) ** 2).mean()
            loss.backward()
            trainer.step(1)
            return loss

        step = npx.jit(step) if compiled else step
        found.append([float(step(x)) for _ in range(3)])
    onp.testing.assert_allclose(found[1], found[0], rtol=1e-4)


def test_beam_search_with_a_while_is_as_eager():
    found = []
    for hybrid in (False, True):
        np.random.seed(3)
        net = Beam(7, 3, 40)
        net.initialize(init="normal")
        if hybrid:
            net.hybridize()
        tokens, total = net(np.array(2, dtype="int32"))
        found.append((tokens.asnumpy(), total.asnumpy()))
    assert onp.array_equal(found[0][0], found[1][0])
    onp.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-5)


def test_a_recursion_that_data_decide_is_refused_in_words():
    net = Tree()
    net.hybridize()
    with pytest.raises(TracedValueError, match=r"loop_blocks.py:\d+: .*recursion whose depth"):
        net(np.ones(8))


def test_a_block_with_loops_of_python():
    net = Beam(7, 3, 40)
    net.initialize()
    net.hybridize(loops="python")
    with pytest.raises(TracedValueError, match="npx.while_loop"):
        net(np.array(2, dtype="int32"))
    with pytest.raises(ValueError, match="loops='c'"):
        net.hybridize(loops="c")
