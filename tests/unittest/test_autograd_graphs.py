"""Gradients that a user writes, what is detached, and how long a recorded graph lives."""

import gc
import weakref

import numpy as onp
import pytest
from internals import AutogradError, whole_graph

from npcompat import autograd, np, npx

PLACEMENT = "jax"

pytestmark = pytest.mark.usefixtures("backend")


def variable(values, grad_req="write", dtype="float64"):
    x = np.array(values, dtype=dtype)
    x.attach_grad(grad_req)
    return x


# --- detach and Function --------------------------------------------------------------------------


def test_detach_and_copy():
    x = variable([2.0])
    with autograd.record():
        y = x.detach() * x + x.copy()
    y.backward()
    assert x.grad.tolist() == [3]
    d = x.detach()
    d += 1
    assert x.tolist() == [2]


class Scaled(autograd.Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y, x + y

    def backward(self, dprod, dsum):
        x, y = self.saved_tensors
        return dprod * y * 10 + dsum, dprod * x + dsum * 100


def test_a_function_has_the_gradient_that_it_says():
    x, y = variable([2.0]), variable([3.0])
    with autograd.record():
        product, total = Scaled()(x, y)
        out = product * 2 + total
    out.backward()
    assert x.grad.tolist() == [61] and y.grad.tolist() == [104]
    product, total = Scaled()(x, y)
    assert product.tolist() == [6]
    with autograd.record():
        product, _ = Scaled()(x, y)
    product.backward()  # the gradient of the other output is zero
    assert x.grad.tolist() == [30] and y.grad.tolist() == [2]


def test_a_function_that_returns_the_wrong_gradients_says_so():
    class Wrong(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return (dy, dy) if self.many else dy[:1]

    x = variable([1.0, 2.0])
    for many, message in (
        (True, "Wrong.backward: expected 1 gradients, one for each input, got 2"),
        (False, r"gradient 0: expected shape \(2,\), as its input has, got \(1,\)"),
    ):
        f = Wrong()
        f.many = many
        with autograd.record():
            y = f(x)
        with pytest.raises(ValueError, match=message):
            y.backward()
    with pytest.raises(TypeError, match="input 0: expected an npcompat ndarray, got list"):
        Wrong()([1.0])
    with pytest.raises(NotImplementedError, match="does not define forward"):
        autograd.Function()(x)


def test_a_function_can_be_differentiated_twice():
    class Square(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * x

        def backward(self, dy):
            (x,) = self.saved_tensors
            return 2 * x * dy

    x = variable([3.0])
    with autograd.record():
        y = Square()(x)
        g = autograd.grad(y, x, create_graph=True)
        z = g * x
    z.backward()
    assert g.tolist() == [6] and x.grad.tolist() == [12]


def test_a_function_in_a_compiled_function():
    if npx.current_backend() == "numpy":
        pytest.skip("compiled functions run on XLA")
    x, y = variable([2.0]), variable([3.0])

    @npx.jit
    def f(x, y):
        product, total = Scaled()(x, y)
        return product * 2 + total

    with autograd.record():
        out = f(x, y)
    out.backward()
    assert x.grad.tolist() == [61] and y.grad.tolist() == [104]

    @npx.jit
    def step():
        with autograd.record():
            out = f(x, y)
        out.backward()

    x.zero_grad()
    step()
    assert x.grad.tolist() == [61] and y.grad.tolist() == [104]


# --- the life of a graph --------------------------------------------------------------------------


def test_a_graph_is_freed_without_the_garbage_collector():
    x = variable([1.0, 2.0])
    while gc.collect():  # what earlier tests left may hold more such
        pass
    gc.disable()
    try:
        with autograd.record():
            y = x * x
            v = y[1:]
            y += 1
            z = (y * v).sum()
        nodes = [weakref.ref(h) for h in (y, v, z)]
        z.backward()
        del y, v, z
        assert all(r() is None for r in nodes)
        with autograd.record():
            y = x * x
            g = autograd.grad(y, x, create_graph=True)
        refs = [weakref.ref(y), weakref.ref(g)]
        del y, g
        assert all(r() is None for r in refs)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_released_graph_lets_go_of_its_arrays():
    x = variable(onp.ones(4))
    with autograd.record():
        mid = np.sin(x) * 2
        out = mid.sum()
    held = weakref.ref(mid._value.payload)
    del mid
    assert held() is not None
    out.backward()
    assert held() is None


def test_recording_in_a_loop_does_not_grow():
    running = np.zeros(2)
    x = variable([1.0, 2.0])
    for _ in range(5):
        with autograd.record():
            y = x * 2
            with autograd.pause():
                running[...] = 0.9 * running + 0.1 * y
            z = (y - running).sum()
        z.backward()
        assert running._value.node is None


# --- graphs that ran on the host ------------------------------------------------------------------


def chain(x, w, length):
    with autograd.record():
        y = x
        for i in range(length):
            y = np.tanh(y * w[i % 2]) + x[0] * i
        return y.sum(), y[1]


def by_differences(loss, values, step=1e-6):
    grads = onp.zeros_like(values)
    for i in range(values.size):
        ahead, behind = values.copy(), values.copy()
        ahead[i] += step
        behind[i] -= step
        grads[i] = (loss(ahead) - loss(behind)) / (2 * step)
    return grads


def chain_by_numpy(x, w, length):
    y = x
    for i in range(length):
        y = onp.tanh(y * w[i % 2]) + x[0] * i
    return y.sum() + 3 * y[1]


@pytest.mark.parametrize("name", ["numpy", "auto"])
def test_a_graph_on_the_host_is_differentiated_by_one_program(name, monkeypatch):
    monkeypatch.setattr(whole_graph, "_programs", {})
    with npx.backend(name):
        x, w = variable([0.3, -0.2, 0.1]), variable([0.5, 1.5])
        for length, compiled in ((5, ["_npi_backward"]), (5, []), (6, ["_npi_backward"])):
            total, second = chain(x, w, length)
            with npx.compile_log() as log:
                autograd.backward([total, second], [None, np.array(3.0)])
            assert [entry.name for entry in log] == compiled
            xs, ws = x.asnumpy(), w.asnumpy()
            onp.testing.assert_allclose(
                x.grad.asnumpy(),
                by_differences(lambda v: chain_by_numpy(v, ws, length), xs),
                rtol=1e-6,
            )
            onp.testing.assert_allclose(
                w.grad.asnumpy(),
                by_differences(lambda v: chain_by_numpy(xs, v, length), ws),
                rtol=1e-6,
            )
            assert isinstance(x.grad._value.payload, onp.ndarray)


@pytest.mark.parametrize("name", ["numpy", "auto"])
def test_graphs_that_differ_each_time_are_walked_node_by_node(name, monkeypatch):
    monkeypatch.setattr(whole_graph, "_programs", {})
    monkeypatch.setattr(whole_graph, "_budget", [2])
    with npx.backend(name):
        x, w = variable([0.3, -0.2, 0.1]), variable([0.5, 1.5])
        names = []
        for length in (2, 3, 4, 5, 5, 5):
            total, second = chain(x, w, length)
            with npx.compile_log() as log:
                autograd.backward([total, second], [None, np.array(3.0)])
            names.append("_npi_backward" in [entry.name for entry in log])
            xs, ws = x.asnumpy(), w.asnumpy()
            onp.testing.assert_allclose(
                x.grad.asnumpy(),
                by_differences(lambda v: chain_by_numpy(v, ws, length), xs),
                rtol=1e-6,
            )
        assert names == [True, True, False, False, True, False]


def test_large_graphs_are_walked_node_by_node_at_first(monkeypatch):
    monkeypatch.setattr(whole_graph, "_programs", {})
    monkeypatch.setattr(whole_graph, "_budget", [8])
    monkeypatch.setattr(whole_graph, "LARGE", 60)
    monkeypatch.setattr(whole_graph, "WALKS", 2)
    with npx.backend("numpy"):
        x, w = variable([0.3, -0.2, 0.1]), variable([0.5, 1.5])
        compiled = []
        for length in (5, 20, 20, 20, 20, 5):
            total, second = chain(x, w, length)
            with npx.compile_log() as log:
                autograd.backward([total, second], [None, np.array(3.0)])
            compiled.append("_npi_backward" in [entry.name for entry in log])
            xs, ws = x.asnumpy(), w.asnumpy()
            expected = by_differences(lambda v: chain_by_numpy(v, ws, length), xs)
            onp.testing.assert_allclose(x.grad.asnumpy(), expected, 1e-6, 1e-6)
        assert compiled == [True, False, False, True, False, False]


def test_a_graph_on_the_host_is_used_once_unless_retained():
    with npx.backend("numpy"):
        x = variable([1.0, 2.0], "add")
        with autograd.record():
            y = x * x
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad.tolist() == [4, 8]
        with pytest.raises(AutogradError, match="a second time"):
            y.backward()
        with autograd.record():
            y = x * x
            x[0] = 5  # what was recorded keeps the old values
        y.backward()
        assert x.grad.tolist() == [6, 12]


def test_threads_record_for_themselves():
    import threading

    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
    assert seen == [False]
