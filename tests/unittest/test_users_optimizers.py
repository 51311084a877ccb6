"""Optimizers that users derive: steps compiled from the first on equal eager ones."""

import pytest

from npcompat import autograd, gluon, init, np, npx, optimizer
from npcompat.gluon import nn
from tests.programs.state import Heavy


class Anchored(Heavy):
    """Its state begins with the values of the weights."""

    def create_state(self, index, weight):
        return weight.copy() * 2


def gain(trainer, weight):
    trainer.optimizer.gain = 0.1


def factor_of_the_rate(trainer, weight):
    weight.lr_mult = 0.1


def decay(trainer, weight):
    trainer.optimizer.wd = 0.5


def factor_of_the_decay(trainer, weight):
    trainer.optimizer.wd = 0.25
    weight.wd_mult = 2.0


CHANGES = [gain, factor_of_the_rate, decay, factor_of_the_decay]


def weights_over_steps(kind, changes, compiled):
    weight = gluon.Parameter("w", shape=(2,))
    weight.initialize(init.One())
    trainer = gluon.Trainer([weight], kind(learning_rate=0.1))

    def step():
        with autograd.record():
            loss = (weight.data() ** 2).sum()
        loss.backward()
        trainer.step(1)

    step, found = npx.jit(step) if compiled else step, []
    for change in (None, *changes):
        if change is not None:
            change(trainer, weight)
        for _ in range(2):
            step()
            found.append(float(weight.data()[0]))
    return found


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [Heavy, Anchored])
def test_compiled_steps_equal_eager_ones(kind, change):
    eager = weights_over_steps(kind, [change], compiled=False)
    assert weights_over_steps(kind, [change], compiled=True) == pytest.approx(eager, rel=1e-6)
    assert eager[3] != pytest.approx(weights_over_steps(kind, [lambda *_: None], False)[3])


@pytest.mark.parametrize("change", [factor_of_the_rate, decay])
def test_compiled_steps_of_langevin_dynamics_see_changed_factors(change):
    def weights(compiled):
        np.random.seed(3)
        return weights_over_steps(optimizer.SGLD, [change], compiled)

    assert weights(True) == pytest.approx(weights(False), rel=1e-5)


def test_states_of_parameters_that_get_their_shape_while_tracing():
    def after_steps(compiled):
        np.random.seed(2)
        net = nn.Dense(1)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), Anchored(learning_rate=0.01))
        x = np.ones((2, 3))

        def step():
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            trainer.step(1)

        step = npx.jit(step) if compiled else step
        for _ in range(4):
            step()
        return net.weight.data().asnumpy().ravel().tolist()

    assert after_steps(True) == pytest.approx(after_steps(False), rel=1e-5)
