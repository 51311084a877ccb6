"""The training loops of the examples say all that happens in them, once their programs are
compiled.
"""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from examples.gluon_programs import PROGRAMS
from npcompat import gluon, np, npx
from npcompat.gluon import nn
from npcompat.gluon.contrib.estimator import BatchEnd, Estimator

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import digits
import language_model
import transformer

WARM = 4


class Strict:
    """From the end of one step of a loop to that of another, the loop is audited."""

    def __init__(self, steps, *kinds):
        self.steps, self.kinds, self.done, self.stack = steps, kinds, 0, ExitStack()

    def step(self):
        self.done += 1
        if self.done == WARM:
            self.found = self.stack.enter_context(npx.audit(*self.kinds, strict=True))
        if self.done == self.steps:
            self.stack.close()

    def jit(self, function):
        compiled = JIT(function)

        def call(*args):
            result = compiled(*args)
            self.step()
            return result

        return call


JIT = npx.jit


class Bar:
    def __init__(self, step):
        self.update = step

    def set_postfix(self, **values):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_compiled_steps_of_the_programs(name, monkeypatch):
    loop = Strict(8)
    monkeypatch.setattr(npx, "jit", loop.jit)
    with loop.stack:
        PROGRAMS[name].train("compiled step", steps=8)
    assert loop.done == 8 and {event.kind for event in loop.found} >= {"sync"}


@pytest.mark.parametrize("mode", digits.MODES)
def test_the_loop_of_the_digits(mode):
    loop = Strict(20)
    with loop.stack:
        digits.train_one("mlp", mode, 1, loop.step)
    assert {event.kind for event in loop.found if event.what != "_conversion, no operator"} == {
        "sync",
        "transfer",
    }


def test_the_loop_of_the_transformer(monkeypatch):
    loop = Strict(8)
    monkeypatch.setattr(npx, "jit", loop.jit)
    options = argparse.Namespace(steps=8, layers=1, units=8)
    monkeypatch.setattr(transformer, "CHECKED", 8)
    with loop.stack:
        transformer.train(options)
    assert {event.call for event in loop.found if event.kind == "sync"} == {"item"}


@pytest.mark.parametrize("mode", ["eager", "hybridized", "compiled step"])
def test_the_loop_of_the_language_model(mode):
    loop = Strict(8)
    text = language_model.Text(["T", "b"], *[np.array([[0, 1] * 16] * 32 * 9).asnumpy()] * 2)
    options = argparse.Namespace(kind="lstm", hidden=8, epochs=1, letters=2)
    with loop.stack:
        language_model.train_one(options, text, mode, Bar(loop.step))
    assert "sync" in {event.kind for event in loop.found}


def test_the_loop_of_an_estimator_whose_metrics_read_each_batch():
    class Ends(BatchEnd):
        def batch_end(self, estimator, *args, **kwargs):
            loop.step()

    loop = Strict(8, "fallback", "copy", "cast", "transfer", "compilation")
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    data = gluon.data.ArrayDataset(np.ones((32, 3)), np.zeros(32, dtype="int64"))
    estimator = Estimator(
        net,
        gluon.loss.SoftmaxCrossEntropyLoss(),
        trainer=gluon.Trainer(net.collect_params(), "adam"),
    )
    estimator.logger.setLevel("WARNING")
    with loop.stack:
        estimator.fit(gluon.data.DataLoader(data, 4), epochs=1, event_handlers=[Ends()])
    assert loop.found
