"""Arrays recorded before a compiled function is called, and gradients that its code defines."""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.errors import AutogradError
from npcompat.gluon import nn

BEFORE = "reached what was recorded before"


class Steep(autograd.Function):
    """Sign with a derivative of five, which its value does not have."""

    def forward(self, x):
        return np.sign(x)

    def backward(self, d):
        return d * 5


def steep(y):
    return Steep()(y)


def custom(y):
    return npx.Custom(
        lambda x: onp.sign(x),
        lambda x: x,
        lambda x: x,
        bprop=lambda x, out, d: (d * 5,),
        func_type="pyfunc",
    )(y)


@pytest.mark.parametrize("given", [lambda x: x * 1, lambda x: x[:], lambda x: x.reshape(3)])
def test_a_derivative_of_the_users_reaches_what_was_computed_outside(given):
    x = np.array([-1.0, 2.0, 3.0])
    x.attach_grad()
    f = npx.jit(steep)
    for _ in range(3):
        with autograd.record():
            total = f(given(x)).sum()
        total.backward()
        assert x.grad.tolist() == [5, 5, 5]


def test_a_derivative_of_the_users_within_a_hybridized_part():
    class Signs(gluon.HybridBlock):
        def forward(self, x):
            return steep(x)

    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.dense, self.signs = nn.Dense(1, in_units=3, use_bias=False), Signs()

        def forward(self, x):
            return self.signs(self.dense(x))

    found = []
    for hybridized in (False, True):
        net = Net()
        net.initialize()
        net.dense.weight.set_data(np.ones((1, 3)))
        if hybridized:
            net.hybridize()
        for _ in range(3):
            with autograd.record():
                total = net(np.ones((1, 3))).sum()
            total.backward()
        found.append(net.dense.weight.grad().tolist())
    assert found == [[[5, 5, 5]], [[5, 5, 5]]]


def stepping(beside):
    @npx.jit
    def f(y):
        with autograd.record():
            loss = ((beside * y) ** 2).sum()
        loss.backward()
        return loss

    return f


@pytest.mark.parametrize(
    "view",
    [lambda x: x[:], lambda x: x.reshape(2, 2), lambda x: x.reshape(2, 2).T, lambda x: x[1:]],
)
def test_a_view_of_a_variable_that_a_step_is_given(view):
    beside, x = np.ones(1) * 3, np.arange(4.0)
    beside.attach_grad()
    x.attach_grad()
    f = stepping(beside)
    expected = []
    for run in (f.function, f, f, f):
        x.zero_grad()
        beside.zero_grad()
        run(view(x))
        expected.append((x.grad.tolist(), beside.grad.tolist()))
    assert expected == expected[:1] * 4


def differentiated(a):
    with autograd.record():
        loss = (a * a).sum()
    loss.backward()


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("earlier_calls", [0, 3])
def test_a_variable_written_while_recording_is_refused_by_a_step(captured, earlier_calls):
    x = np.array([1.0, 2.0])
    x.attach_grad()
    f = npx.jit((lambda: differentiated(x)) if captured else differentiated)
    args = () if captured else (x,)
    for _ in range(earlier_calls):
        f(*args)
        assert x.grad.tolist() == [2, 4]
    with autograd.record():
        x[0] = x[1] * 2
    with pytest.raises(AutogradError, match=BEFORE):
        f(*args)
    x[:] = np.array([1.0, 2.0])
    for _ in range(3):
        f(*args)
        assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize("given", [lambda y: y, lambda y: y[1:]])
def test_an_array_with_a_history_is_not_taken_for_one_without(given):
    variable = np.ones(1)
    variable.attach_grad()

    @npx.jit
    def f(y):
        with autograd.record():
            loss = (variable * y).sum()
        loss.backward()

    x = np.array([1.0, 2.0])
    x.attach_grad()
    for _ in range(3):
        f(given(np.array([1.0, 2.0])))
    with autograd.record():
        recorded = x * 1
    with pytest.raises(AutogradError, match=BEFORE):
        f(given(recorded))
    f(given(np.array([1.0, 2.0])))


@pytest.mark.parametrize("backend", ["auto", "jax"])
def test_a_view_that_is_held_is_recorded_anew_each_time(backend):
    with npx.backend(backend):
        weight = np.ones((2, 3))
        weight.attach_grad()
        row = weight[1]
        for _ in range(3):
            with autograd.record():
                total = (row * 2).sum()
            total.backward()
            assert weight.grad.tolist() == [[0, 0, 0], [2, 2, 2]]


def test_reading_a_gradient_on_the_host_raises_what_a_program_has_flagged():
    x = np.ones(3)
    x.attach_grad()
    f = npx.jit(lambda y, i: y[i])
    with pytest.raises(IndexError, match="out of bounds"):  # noqa: PT012
        with autograd.record():
            total = f(x * 1, np.array([7])).sum()
        total.backward()


def test_compiled_functions_stay_on_the_backend_numpy():
    total = np.zeros(3)
    pure, writing = npx.jit(lambda x: x + 1), npx.jit(lambda x: total.__iadd__(x).sum())
    x = np.ones(3)
    for _ in range(3):
        pure(x), writing(x)
    with npx.backend("numpy"):
        for _ in range(4):
            assert isinstance(pure(x)._value.payload, onp.ndarray)
    index = npx.jit(lambda x, i: x[i])
    with npx.backend("numpy"):
        for _ in range(4):
            assert index(x, np.array([1])).tolist() == [1]
        with pytest.raises(IndexError):
            index(x, np.array([7]))
