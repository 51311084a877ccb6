"""Steps of a trainer without a backward: an error, eager and compiled, from the first step on."""

import pytest

from npcompat import amp, autograd, gluon, init, np, npx
from npcompat.gluon import nn


def made(optimizer="sgd", **arguments):
    net = nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(init.One())
    given = {"learning_rate": 0.1, "wd": 0.1, **arguments}
    return net, gluon.Trainer(net.collect_params(), optimizer, given)


def backward(net):
    with autograd.record():
        loss = net(np.ones((1, 1))).sum()
    loss.backward()


def same(function):
    return function


WAYS = pytest.mark.parametrize("way", [same, npx.jit], ids=["eager", "compiled"])
STALE = pytest.raises(UserWarning, match=r"gradients of parameters 0 \(weight\) were not computed")


@WAYS
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "lamb"])
def test_a_first_step_without_a_backward_raises_and_changes_nothing(way, optimizer):
    net, trainer = made(optimizer)
    step = way(lambda: trainer.step(1))
    for _ in range(2):
        with STALE:
            step()
    assert net.weight.data().item() == 1
    backward(net)
    step()
    assert net.weight.data().item() != 1


@WAYS
def test_each_step_needs_a_backward_of_its_own(way):
    net, trainer = made()
    step = way(lambda: trainer.step(1))
    expected, reference = made()
    for _ in range(3):
        backward(net)
        step()
        with STALE:
            step()
        backward(expected)
        reference.step(1)
        assert net.weight.data().item() == pytest.approx(expected.weight.data().item(), rel=1e-6)


@WAYS
def test_two_steps_in_one_function_need_two_backwards(way):
    net, trainer = made()

    def twice():
        backward(net)
        trainer.step(1)
        trainer.step(1)

    with STALE:
        way(twice)()


@WAYS
def test_gradients_that_are_only_cleared_are_no_gradients(way):
    net, trainer = made()
    net.setattr("grad_req", "add")

    def cleared():
        net.zero_grad()
        trainer.step(1)

    with STALE:
        way(cleared)()

    def whole():
        backward(net)
        backward(net)
        trainer.step(1)
        net.zero_grad()

    whole = way(whole)
    for _ in range(3):
        whole()
        with STALE:
            trainer.step(1)


def test_a_step_after_a_compiled_one_needs_a_backward():
    net, trainer = made()

    @npx.jit
    def whole():
        backward(net)
        trainer.step(1)

    for _ in range(3):
        whole()
        with STALE:
            trainer.step(1)
    backward(net)
    trainer.step(1)


def test_a_compiled_backward_before_each_compiled_step():
    net, trainer = made()
    compute, step = npx.jit(lambda: backward(net)), npx.jit(lambda: trainer.step(1))
    for _ in range(4):
        compute()
        step()
    with STALE:
        step()
    compute()
    trainer.step(1)
    with STALE:
        trainer.step(1)


@WAYS
def test_a_step_on_the_gradients_of_the_round_before(way):
    net, trainer = made()
    backward(net)

    def delayed():
        trainer.step(1)
        backward(net)

    delayed = way(delayed)
    for _ in range(4):
        delayed()
    trainer.step(1)
    with STALE:
        trainer.step(1)


@WAYS
def test_unused_parameters_raise_at_once_or_are_left_alone(way):
    net, other = made()[0], made()[0]
    trainer = gluon.Trainer([net.weight, other.weight], "sgd", {"learning_rate": 0.1, "wd": 0.5})

    def step(ignore):
        backward(net)
        trainer.step(1, ignore_stale_grad=ignore)

    step = way(step)
    for _ in range(2):
        with pytest.raises(UserWarning, match=r"parameters 1 \(weight\)"):
            step(False)
        assert (net.weight.data().item(), other.weight.data().item()) == (1, 1)
    step(True)
    assert (net.weight.data().item(), other.weight.data().item()) == (pytest.approx(0.85), 1)
    backward(other)
    step(True)
    assert other.weight.data().item() == pytest.approx(0.85)
    step(True)
    assert other.weight.data().item() == pytest.approx(0.85)


@WAYS
def test_gradients_that_are_written_by_hand_count(way):
    net, trainer = made()

    def step():
        net.weight.grad()[...] = 2
        trainer.step(1)

    step = way(step)
    for _ in range(2):
        step()
    assert net.weight.data().item() < 0.7


@WAYS
def test_new_gradients_are_no_gradients(way):
    net, trainer = made()
    step = way(lambda: trainer.step(1))
    backward(net)
    net.setattr("grad_req", "null")
    step()
    net.setattr("grad_req", "write")
    with STALE:
        step()
    backward(net)
    step()


def test_what_happens_between_backward_and_step_does_not_matter(tmp_path):
    net, trainer = made(momentum=0.9)
    look = npx.jit(lambda: (net.weight.grad() ** 2).sum())
    states = str(tmp_path / "states")
    for i in range(4):
        backward(net)
        look()
        gluon.utils.clip_global_norm([net.weight.grad()], 0.1)
        net.weight.grad().asnumpy()
        if i == 1:
            trainer.save_states(states)
        if i == 2:
            trainer.load_states(states)
        net.weight.set_data(np.ones((1, 1)))
        trainer.step(1)
        look()
        with STALE:
            trainer.step(1)


def test_two_trainers_share_gradients():
    net, one = made()
    two = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    first, second = npx.jit(lambda: one.step(1)), npx.jit(lambda: two.step(1))
    for _ in range(3):
        backward(net)
        first()
        second()
        with STALE:
            first()
        with STALE:
            two.step(1)


def test_a_scaled_step_that_was_skipped_has_used_its_gradients():
    net, trainer = made()
    amp.init_trainer(trainer)
    with autograd.record():
        loss = net(np.full((1, 1), np.inf)).sum()
    loss.backward()
    trainer.step(1)
    assert net.weight.data().item() == 1
    with STALE:
        trainer.step(1)


def test_users_optimizers_of_either_form():
    class Plain(gluon.trainer.optimizers.Optimizer):
        def step(self, indices, weights, grads, states):
            for index, weight, grad in zip(indices, weights, grads, strict=True):
                self._update_count(index)
                weight[...] -= self._get_lr(index) * grad

    net = made()[0]
    trainer = gluon.Trainer(net.collect_params(), Plain(learning_rate=0.1))
    step = npx.jit(lambda: trainer.step(1))
    for _ in range(3):
        backward(net)
        step()
        with STALE:
            step()
    backward(net)
    trainer.step(1)
    with STALE:
        trainer.step(1)


def test_a_gradient_is_scaled_in_place():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    x.grad *= 0.5
    assert x.grad.tolist() == [1, 2]
    with pytest.raises(AttributeError, match=r"x\.grad\[\.\.\.\] = new"):
        x.grad = np.ones(2)
    with pytest.raises(AttributeError):
        np.ones(2).grad = None
