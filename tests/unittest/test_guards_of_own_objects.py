"""Guards on npcompat's own objects that a compiled function reaches: blocks, schedules, optimizers."""

import copy
import warnings

import pytest

from npcompat import autograd, gluon, init, lr_scheduler, np, npx
from npcompat.gluon import nn

X = np.ones(1)
ROW = np.ones((1, 1))


def dense(value):
    net = nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(init.Constant(value))
    return net


CHANGES = {
    "replaced": lambda o: setattr(o, "lr_scheduler", lr_scheduler.FactorScheduler(50, base_lr=0.5)),
    "removed": lambda o: (setattr(o, "lr_scheduler", None), o.set_learning_rate(0.25)),
    "base_lr": lambda o: setattr(o.lr_scheduler, "base_lr", 0.5),
    "factor": lambda o: (
        setattr(o.lr_scheduler, "step", 1),
        setattr(o.lr_scheduler, "factor", 0.5),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_scheduler_that_changes_between_compiled_steps(change):
    def trained(compile):
        net = dense(1.0)
        schedule = lr_scheduler.FactorScheduler(step=100, base_lr=0.125)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})

        @compile
        def step(x):
            with autograd.record():
                loss = net(x).sum()
            loss.backward()
            trainer.step(1)
            return loss

        step(ROW), step(ROW)
        CHANGES[change](trainer.optimizer)
        step(ROW), step(ROW)
        return float(net.weight.data()[0, 0]), trainer.learning_rate

    assert trained(npx.jit) == pytest.approx(trained(lambda f: f), rel=1e-6)


def test_weights_that_are_tied_are_those_of_the_next_call():
    for tie in (
        lambda net, other: setattr(net, "weight", other.weight),
        lambda net, other: net.share_parameters(other.collect_params()),
    ):
        net, other = dense(1.0), dense(5.0)
        f = npx.jit(lambda x, net=net: net(x))
        assert float(f(ROW)[0, 0]) == 1
        tie(net, other)
        assert float(f(ROW)[0, 0]) == 5


def test_methods_and_functions_that_are_replaced():
    net = dense(1.0)
    f = npx.jit(lambda x: net(x))
    f(ROW)
    net.forward = lambda x: x * 7
    assert float(f(ROW)[0, 0]) == 7
    block = nn.HybridLambda(lambda x: x * 2)
    g = npx.jit(lambda x: block(x))
    assert float(g(ROW)[0, 0]) == 2
    block._function = lambda x: x * 3
    assert float(g(ROW)[0, 0]) == 3


def test_parameters_of_a_distribution():
    d = gluon.probability.Normal(np.zeros(1), np.ones(1))
    f = npx.jit(lambda x: d.log_prob(x))
    f(X)
    d.loc = np.array([3.0])
    assert float(f(X)[0]) == pytest.approx(float(d.log_prob(X)[0]))


def test_steps_of_training_are_not_compiled_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = nn.HybridSequential()
        net.add(nn.Dense(4, in_units=1, activation="relu"), nn.BatchNorm(in_channels=4))
        net.add(nn.Dropout(0.5), nn.Dense(1, in_units=4))
        net.initialize()
        schedule = lr_scheduler.CosineScheduler(max_update=20, base_lr=0.1)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule})

        @npx.jit
        def step(x):
            with autograd.record():
                loss = (net(x) ** 2).mean()
            loss.backward()
            trainer.step(1)
            return loss

        for _ in range(3):
            step(ROW)
        with npx.compile_log() as log:
            for _ in range(10):
                step(ROW)
        assert not log


@pytest.mark.parametrize("copied", [False, True])
def test_a_layer_that_is_popped_from_the_children(copied):
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(3, in_units=2), nn.Dense(4, in_units=3))
    net.initialize()
    net = copy.deepcopy(net) if copied else net
    compiled, x = npx.jit(lambda x: net(x)), np.ones((1, 2))
    for _ in range(3):
        assert compiled(x).shape == net(x).shape
        net._children.pop(list(net._children)[-1])
