"""Views on which attach_grad was called: gradients are theirs, compiled while recording, too."""

import warnings

import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.errors import CompileWarning


def two_halves():
    flat = np.array([1.0, 2.0, 3.0, 4.0])
    return [flat[:2], flat[2:]]


def a_view_and_its_base():
    base = np.array([1.0, 2.0])
    return [base[:], base]


def reshaped_and_transposed():
    base = np.array([1.0, 2.0, 3.0, 4.0])
    return [base.reshape(2, 2).T[0], base[1:3]]


def a_view_of_all():
    base = np.array([1.0, 2.0])
    return [base, base.view()]


MADE = [two_halves, a_view_and_its_base, reshaped_and_transposed, a_view_of_all]


def passed(compile, a, b, x):
    return compile(lambda x, a, b: (x * a * 2 + x * b * b).sum())(x, a, b)


def captured(compile, a, b, x):
    return compile(lambda x: (x * a * 2 + x * b * b).sum())(x)


def in_a_block(compile, a, b, x):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.a, self.b = a, b

        def forward(self, x):
            return (x * self.a * 2 + x * self.b * self.b).sum()

    net = Net()
    if compile is npx.jit:
        net.hybridize()
    return net(x)


def gradients(compile, made, read, request):
    a, b = made()
    x = np.ones(2)
    for variable in (a, b, x):
        variable.attach_grad(request)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            with autograd.record():
                loss = read(compile, a, b, x)
        loss.backward()
    return [g.grad.tolist() for g in (a, b, x)]


@pytest.mark.parametrize("request_", ["write", "add"])
@pytest.mark.parametrize("read", [passed, captured, in_a_block])
@pytest.mark.parametrize("made", MADE)
def test_gradients_are_those_of_eager_code(made, read, request_):
    wanted = gradients(lambda f: f, made, read, request_)
    assert gradients(npx.jit, made, read, request_) == wanted
    assert any(map(any, wanted[:2]))


def test_a_variable_of_later_is_seen():
    flat = np.array([1.0, 2.0])
    view = flat[:1]
    x = np.ones(1)
    x.attach_grad()
    f = npx.jit(lambda x: (x * view).sum())
    with autograd.record():
        y = f(x)
    y.backward()
    view.attach_grad()
    with (
        pytest.warns(CompileWarning, match="has a view on which attach_grad was called"),
        autograd.record(),
    ):
        y = f(x)
    y.backward()
    assert view.grad.tolist() == [1]


def step_of(loss):
    """Run a compiled step on an array and a view of it, both variables; return both."""
    base = np.array([1.0, 2.0])
    view = base[:1]
    view.attach_grad()
    base.attach_grad()

    @npx.jit
    def step(b, v):
        with autograd.record():
            y = loss(b, v)
        y.backward()

    step(base, view)
    return base, view


def test_whole_steps_are_compiled():
    base, view = step_of(lambda b, v: (v * 2).sum() + b.sum())
    assert view.grad.tolist() == [2] and base.grad.tolist() == [1, 1]


def test_bodies_of_control_flow_refuse_them():
    def loss(b, v):
        return npx.cond(b.sum() > 0, lambda: (v * 2).sum() + b.sum(), lambda: v.sum())

    with pytest.raises(TypeError, match="has a view on which attach_grad was called"):
        step_of(loss)
