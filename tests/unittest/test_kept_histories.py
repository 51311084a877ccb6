"""Functions of memory on recorded arrays: gradients flow through them, or they are refused."""

import pytest

from npcompat import autograd, gluon, init, np, npx
from npcompat.errors import AutogradError

BACKENDS = pytest.mark.parametrize("backend", ["numpy", "jax"])


def resized(shape, order="C"):
    def f(x):
        y = (x * 3).reshape(2, 2).copy(order)
        y.resize(shape, refcheck=False)  # compiled code holds more names
        return y

    return f


KEPT = {
    "resize, shorter": (resized(3), lambda x: (x * 3)[:3]),
    "resize, longer": (resized((2, 4)), lambda x: np.concatenate([x * 3, np.zeros(4)])),
    "resize, another shape": (resized((4, 1)), lambda x: x * 3),
    "resize, in Fortran's order": (
        resized((2, 3), "F"),
        lambda x: np.concatenate([(x * 3).reshape(2, 2), np.zeros((2, 1))], axis=1),
    ),
    "ndarray(buffer=)": (lambda x: np.ndarray(4, x.dtype, buffer=x * 3), lambda x: x * 3),
    "ndarray(buffer=, offset=)": (
        lambda x: np.ndarray((2, 1), x.dtype, buffer=x * 3, offset=x.itemsize, order="F"),
        lambda x: (x * 3)[1:3],
    ),
}


@BACKENDS
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("name", KEPT)
def test_gradients_flow(name, is_compiled, backend):
    found = []
    for f in KEPT[name]:
        with npx.backend(backend):
            x = np.array([1.0, 2.0, 3.0, 4.0])
            x.attach_grad()
            g = npx.jit(f) if is_compiled else f
            with autograd.record():
                y = g(x)
                loss = (y * y).sum()
            loss.backward()
        found.append((y.ravel().tolist(), x.grad.tolist()))
    assert found[0] == found[1]


def iterated(y):
    with np.nditer(y, op_flags=["readwrite"]) as elements:
        for e in elements:
            e[...] = e * 2


@BACKENDS
@pytest.mark.parametrize(
    "function",
    [np.from_dlpack, lambda y: np.frombuffer(y, y.dtype), iterated],
    ids=["from_dlpack", "frombuffer", "nditer"],
)
def test_what_would_end_the_history_is_refused(function, backend):
    with npx.backend(backend):
        x = np.array([1.0, 2.0])
        x.attach_grad()
        with autograd.record():
            y = x * 3
            with pytest.raises((BufferError, ValueError), match="is being recorded"):
                function(y)
            loss = (y * y).sum()
        loss.backward()
        assert x.grad.tolist() == [18, 36]
        function(y.detach())


class Counting(gluon.HybridBlock):
    """Block that adds what it computes to an array of its own."""

    def __init__(self):
        super().__init__()
        self.dense = gluon.nn.Dense(1, in_units=2)
        self.total = np.zeros(1)

    def forward(self, x):
        y = self.dense(x)
        self.total += y.sum()
        return y


@pytest.mark.parametrize("is_hybridized", [False, True])
def test_a_sum_over_iterations_is_no_part_of_the_next_graph(is_hybridized):
    net = Counting()
    net.initialize(init.One())
    if is_hybridized:
        net.hybridize()
    for _ in range(3):
        with autograd.record():
            loss = net(np.ones((1, 2))).sum()
        loss.backward()
        assert net.dense.weight.grad().tolist() == [[1, 1]]
    assert net.total.tolist() == [6]
    with autograd.record():
        (net(np.ones((1, 2))).sum() + 0 * net.total).sum()
    with pytest.raises(AutogradError, match="a second time"):
        net.total.backward()


def test_what_a_program_does_depend_on_is_reached():
    x = np.array([2.0, 3.0])
    x.attach_grad()
    f = npx.jit(lambda a, b: (a * b, a + 1))
    with autograd.record():
        first, second = f(x * 2, x * x)
        loss = first.sum() + 0 * second.sum()
    loss.backward()
    assert x.grad.tolist() == [6 * 4, 6 * 9]
    with autograd.record():
        _, second = f(x * 2, x * x)
        loss = second.sum()
    loss.backward()
    assert x.grad.tolist() == [2, 2]
