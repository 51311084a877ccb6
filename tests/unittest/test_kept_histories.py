"""Functions of memory on recorded arrays: gradients flow through them, or they are refused."""

import pytest

from npcompat import autograd, np, npx

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
