"""Constants that a compiled function writes are lazy: the first read makes them."""

import numpy as onp
import pytest
from internals import MOST_KNOWN, LazyValue

from npcompat import autograd, gluon, np, npx

MUCH = MOST_KNOWN + 1


def is_lazy(*arrays):
    return {type(a._value) for a in arrays} == {LazyValue}


@pytest.fixture(params=[3, MUCH], ids=["little", "much"])
def state(request, backend):
    return np.ones(request.param)


def test_an_array_that_is_left_with_zeros(state):
    @npx.jit
    def f(x):
        state[:] = x
        y = state * 2
        state[:] = 0
        return y

    shape = state.shape
    for i in range(3):
        assert f(np.full(shape, i)).tolist() == [2 * i] * shape[0] and is_lazy(state)
    assert state.sum() == 0 and not is_lazy(state)
    view = state[1:]
    view[0] = 5
    assert state[1] == 5 and state.sum() == view.sum() == 5
    f(np.ones(state.shape))
    assert is_lazy(state) and view.sum() == 0 and (state + 1).sum() == len(state)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.full(n, 7, dtype="float32"),
        lambda n: np.arange(n, dtype="float32"),
        lambda n: np.ones(n),
    ],
)
def test_it_is_what_the_function_left(state, make):
    @npx.jit
    def f():
        state[:] = make(len(state))

    for _ in range(2):
        f()
        assert is_lazy(state) and state.dtype == "float32" and state.shape == make(len(state)).shape
        assert state.tolist() == make(len(state)).tolist()
        state[:] = 1


def test_it_is_of_the_dtype_that_held_in_the_function(state):
    held = [state]

    @npx.jit
    def f():
        held[0][:] = np.arange(len(state))

    f()
    with npx.np_default_dtype():
        assert state.dtype == "float32" and float(state[2]) == 2


def test_what_is_read_before_is_no_less_an_operand(state):
    @npx.jit
    def f():
        total = state.sum()
        state[:] = 0
        return total

    assert float(f()) == len(state) and float(f()) == 0
    assert not is_lazy(state)  # each call would have to make it
    state[:] = 2
    assert float(f()) == 2 * len(state) and state.sum() == 0


def test_two_functions_leave_it_in_turn(state):
    @npx.jit
    def zeros():
        state[:] = 0

    @npx.jit
    def ones():
        state[:] = 1

    @npx.jit
    def add(x):
        state[:] += x

    for _ in range(3):
        zeros()
        ones()
        assert state.sum() == len(state)
        zeros()
        add(np.ones(()))
        assert state.sum() == len(state)
        ones()
        zeros()
        assert state.sum() == 0


def test_an_argument_that_is_the_array(state):
    @npx.jit
    def f(x):
        state[:] = 0
        return x + 1

    for _ in range(2):
        assert f(state).tolist() == [1] * len(state) and f(np.ones(2)).tolist() == [2, 2]
        state[:] = 5


def test_a_variable_is_still_one(state):
    state.attach_grad()
    f = npx.jit(lambda: state.__setitem__(slice(None), 3))
    for _ in range(2):
        f()
        with autograd.record():
            y = (state * state).sum()
        y.backward()
        assert state.grad.tolist() == [6] * len(state)


def test_functions_within(state):
    inner = npx.jit(lambda: state.__setitem__(slice(None), 0))

    @npx.jit
    def outer(x):
        inner()
        state[0] += x
        npx.cond(x > 1, lambda: state.__setitem__(1, 0), lambda: state.__setitem__(1, 3))
        return x

    outer(np.ones(()))
    assert state[:2].tolist() == [1, 3] and state.sum() == 4


def test_an_array_that_may_not_be_written(state):
    f = npx.jit(lambda: state.__setitem__(slice(None), 0))
    f()
    state[:] = 4
    state.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f()
    assert state.sum() == 4 * len(state)
    state.flags.writeable = True
    f()
    assert state.sum() == 0
    f()
    state.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f()


def test_while_recording(state):
    x = np.ones(())
    x.attach_grad()

    @npx.jit
    def f(x):
        state[:] = 0
        return x * 3

    with autograd.record():
        y = f(x)
    y.backward()
    assert x.grad == 3 and state.sum() == 0


@pytest.fixture
def training(backend):
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(100, activation="relu"), gluon.nn.Dense(3))
    net.initialize()
    rng = onp.random.default_rng(0)
    x, y = np.array(rng.normal(size=(8, 50)).astype("float32")), np.array(rng.integers(0, 3, 8))
    net(x)
    return net, gluon.loss.SoftmaxCrossEntropyLoss(), x, y


def steps(training, zeroed, request="write", compiled=True):
    """The losses of some steps with an eager one between them, and what the gradients hold after
    each.
    """
    net, loss_of, x, y = training
    for p in net.collect_params().values():
        p.initialize(init=gluon.parameter.initializer.Constant(0.01), force_reinit=True)
        p.grad_req = request
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})

    def step(x, y):
        for _ in range(2 if request == "add" else 1):
            with autograd.record():
                loss = loss_of(net(x), y).mean()
            loss.backward()
        trainer.step(1)
        if zeroed:
            net.zero_grad()
        return loss

    run, found = npx.jit(step) if compiled else step, []
    for i in range(6):
        found.append(float((step if i == 3 else run)(x, y)))
        if zeroed and i != 2:  # (some are never asked for)
            assert not any(p.grad().any() for p in net.collect_params().values())
    return found


@pytest.mark.parametrize("request_", ["write", "add"])
def test_training_steps_that_end_without_gradients(training, request_):
    found = steps(training, True, request_)
    onp.testing.assert_allclose(found, steps(training, True, request_, compiled=False), rtol=1e-5)
    if request_ == "write":
        onp.testing.assert_allclose(found, steps(training, False), rtol=1e-5)


def test_gradients_that_are_not_kept_take_no_memory(training):
    net, loss_of, x, y = training
    trainer = gluon.Trainer(net.collect_params(), "sgd")

    @npx.jit
    def step(x, y):
        with autograd.record():
            loss = loss_of(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        net.zero_grad()
        return loss

    for _ in range(3):
        step(x, y)
        assert is_lazy(*[p.grad() for p in net.collect_params().values()])
