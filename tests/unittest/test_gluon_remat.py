"""hybridize(remat=True): the same numbers and less memory, wherever the block is compiled."""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn

X = onp.random.RandomState(0).normal(size=(4, 8)).astype("float32")


def network(remat):
    np.random.seed(0)
    net = nn.HybridSequential()
    for _ in range(2):
        part = nn.HybridSequential()
        part.add(
            nn.Dense(8, activation="tanh", in_units=8),
            nn.BatchNorm(in_channels=8),
            nn.Dropout(0.3),
            nn.Dense(8, in_units=8),
        )
        net.add(part)
    net.initialize()
    net.hybridize()
    if remat == "parts":
        for part in net:
            part.hybridize(remat=True)
    elif remat == "whole":
        net.hybridize(remat=True)
    return net


def train(remat, compiled):
    """Losses, weights and statistics after some steps; dropout draws the same numbers when it is
    computed again.
    """
    net = network(remat)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
        return loss

    run = npx.jit(step) if compiled else step
    losses = [run(np.array(X)).item() for _ in range(3)]
    return losses, {n: p.data().asnumpy() for n, p in net.collect_params().items()}


@pytest.mark.parametrize("compiled", [False, True], ids=["hybridized", "jit"])
def test_what_is_computed_again_is_the_same(compiled):
    losses, arrays = train(None, compiled)
    assert abs(arrays["0.1.running_mean"]).max() > 0
    for remat in ("parts", "whole"):
        again, others = train(remat, compiled)
        onp.testing.assert_allclose(again, losses, rtol=1e-5)
        for name, array in arrays.items():
            onp.testing.assert_allclose(others[name], array, rtol=1e-4, atol=1e-6, err_msg=name)


def kept(remat):
    """Shapes of what a recorded call keeps for backward, beside what comes in and out."""
    net = nn.HybridSequential()
    net.add(*[nn.Dense(64, activation="tanh", in_units=64) for _ in range(4)])
    net.initialize()
    net.hybridize(remat=remat)
    with npx.backend("jax"):
        x = np.ones((32, 64))
    with autograd.record():
        y = net(x)
    known = {a._value.payload.unsafe_buffer_pointer() for a in (x, y)}
    return [
        a.shape for a in y._value.node.pullback.arrays if a.unsafe_buffer_pointer() not in known
    ]


def test_activations_are_not_kept_for_backward():
    assert kept(None).count((32, 64)) >= 3
    assert (32, 64) not in kept(True)


def test_a_later_hybridize_keeps_it_and_changes_recompile():
    net = network(None)
    part = net[0]
    part.hybridize(remat=True)
    net.hybridize()
    assert part._remat and not net._remat
    x = np.array(X)
    net(x)
    part.hybridize(remat=False)
    with npx.compile_log() as log:
        net(x)
    assert [e.name for e in log] == ["HybridSequential"] and not part._remat


def test_containers_and_several_results_pass_through():
    class Pair(gluon.HybridBlock):
        def forward(self, x, other):
            return {"sum": x + other["y"], "same": x}, x * 2

    block = Pair()
    block.hybridize(remat=True)
    x, y = np.ones(3), np.full(3, 2.0)
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        found, double = block(x, {"y": y})
        total = (found["sum"] * found["same"] * double).sum()
    total.backward()
    assert x.grad.tolist() == [14, 14, 14] and y.grad.tolist() == [2, 2, 2]
