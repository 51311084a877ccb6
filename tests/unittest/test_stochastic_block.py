"""Stochastic blocks: losses collected while a block computes, eagerly, hybridized, in larger blocks
and compiled steps.
"""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn

mgp = gluon.probability


class Sampler(mgp.StochasticBlock):
    """A sample, with two losses."""

    @mgp.StochasticBlock.collectLoss
    def forward(self, loc, scale):
        q = mgp.Normal(loc, scale)
        self.add_loss(mgp.kl_divergence(q, mgp.Normal(0.0, 1.0)))
        self.add_loss((loc**2).sum(1))
        return q.sample()


class Penalty(mgp.StochasticBlock):
    @mgp.StochasticBlock.collectLoss
    def forward(self, x):
        self.add_loss(x**2)
        self.add_loss(x - 1)
        return x + 1


class Undecorated(mgp.StochasticBlock):
    def forward(self, x):
        return x


@pytest.mark.parametrize("hybridize", [False, True])
def test_losses_of_the_last_call(hybridize):
    net = Sampler()
    if hybridize:
        net.hybridize()
    assert net.losses == []
    for loc in (1.0, 2.0, 3.0):
        loc = np.full((4, 2), loc)
        loc.attach_grad()
        with autograd.record():
            out = net(loc, np.ones((4, 2)))
            loss = net.losses[0].sum() + net.losses[1].sum()
        loss.backward()
        assert out.shape == (4, 2) and len(net.losses) == 2
        onp.testing.assert_allclose(net.losses[0].asnumpy(), loc.asnumpy() ** 2 / 2, rtol=1e-5)
        onp.testing.assert_allclose(net.losses[1].asnumpy(), 2 * loc.asnumpy()[:, 0] ** 2)
        onp.testing.assert_allclose(loc.grad.asnumpy(), 3 * loc.asnumpy(), rtol=1e-5)


def test_forward_must_be_decorated():
    with pytest.raises(
        ValueError,
        match="Undecorated.forward: expected it to be decorated with @StochasticBlock.collectLoss",
    ):
        Undecorated()(np.ones(2))


def test_an_error_leaves_nothing_behind():
    class Failing(mgp.StochasticBlock):
        @mgp.StochasticBlock.collectLoss
        def forward(self, x, fail):
            self.add_loss(x)
            if fail:
                raise RuntimeError("failed")
            return x

    net = Failing()
    with pytest.raises(RuntimeError, match="failed"):
        net(np.ones(2), True)
    net(np.ones(2), False)
    assert len(net.losses) == 1


@pytest.mark.parametrize("hybridize", [False, True])
def test_stochastic_sequential(hybridize):
    net = mgp.StochasticSequential()
    net.add(
        Penalty(), nn.HybridLambda(lambda x: x + 1), Penalty(), nn.HybridLambda(lambda x: x + 1)
    )
    if hybridize:
        net.hybridize()
    for _ in range(2):
        assert net(np.ones(2)).tolist() == [5, 5]
        assert [[x.tolist() for x in losses] for losses in net.losses] == [
            [[1, 1], [0, 0]],
            [[9, 9], [2, 2]],
        ]
    assert (
        len(net) == 4
        and isinstance(net[0], Penalty)
        and len(net[1:3]) == 2
        and list(net)[2] is net[2]
    )
    net.add(Undecorated())
    with pytest.raises(ValueError, match="Undecorated.forward"):
        net(np.ones(2))


def test_outputs_and_arguments_pass_through_a_sequential():
    class Pair(mgp.StochasticBlock):
        @mgp.StochasticBlock.collectLoss
        def forward(self, x, y):
            self.add_loss(y)
            return x + y, y

    net = mgp.StochasticSequential()
    net.add(Pair(), Pair())
    x, y = net(np.ones(1), np.full(1, 2.0))
    assert (x.tolist(), y.tolist()) == ([5], [2]) and len(net.losses) == 2


def test_a_compiled_step_trains_by_the_losses_of_a_block_in_a_block():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense, self.penalty = nn.Dense(2, in_units=2), Penalty()

        def forward(self, x):
            return self.penalty(self.dense(x))

    results = []
    for wrap in (lambda f: f, npx.jit):
        np.random.seed(3)
        net = Net()
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

        def step(x, net=net, trainer=trainer):
            with autograd.record():
                net(x)
                loss = net.penalty.losses[0].sum()
            loss.backward()
            trainer.step(1)
            return loss

        run = wrap(step)
        results.append([float(run(np.ones((3, 2)))) for _ in range(3)])
    assert results[0][2] < results[0][0]
    onp.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def test_an_exported_block_computes_its_output_and_leaves_losses_out(tmp_path):
    class Regularised(mgp.StochasticBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2)

        @mgp.StochasticBlock.collectLoss
        def forward(self, x):
            y = self.dense(x)
            self.add_loss((y**2).sum())
            return y

    net = Regularised()
    net.initialize()
    net.hybridize()
    x = np.array([[1.0, -2.0, 3.0], [0.5, 1.0, -1.0]])
    expected = net(x)
    graph, parameters = net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(graph, ["data"], parameters)
    onp.testing.assert_allclose(again(x).asnumpy(), expected.asnumpy(), rtol=1e-6)
    assert len(net.losses) == 1
