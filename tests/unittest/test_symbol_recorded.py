"""Symbols of what was recorded, and what follows from them."""

import pytest
from internals import (
    AutogradError,
)

from npcompat import autograd, gluon, np, npx, symbol
from npcompat.test_utils import assert_almost_equal


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_what_was_recorded_is_a_graph(backend):
    with npx.backend(backend):
        w, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
        x.attach_grad()
        w.attach_grad()
        with autograd.record():
            h = np.matmul(w, x) + np.array([0.5, 0.5])
            x[0] = h[1]
            parts = np.split(np.tanh(h) * 2.0 + x, 2)
            y = parts[1] * h[::-1]
        graph = autograd.get_symbol(y)
        assert graph.list_arguments() == ["var0", "var1"]
        assert graph.infer_shape() == ([(2, 2), (2,)], [(2,)], [])
        again = symbol.load_json(graph.tojson())
        (found,) = again.eval(var0=w, var1=np.array([1.0, -1.0]))
        assert_almost_equal(found, y)
        y.backward()
        with pytest.raises(AutogradError, match="retain_graph"):
            autograd.get_symbol(y)
        assert autograd.get_symbol(x).list_arguments() == ["var0"]  # a variable is a graph


def test_what_is_no_operator_has_no_graph():
    x = np.array([1.0])
    with pytest.raises(AutogradError, match="not recorded"):
        autograd.get_symbol(x)
    x.attach_grad()
    written = np.zeros(1)

    def count(a):
        written[...] += 1
        return a * 2

    for function in (count, lambda a: npx.dropout(a), lambda a, b=2.5: a * b):
        with autograd.record():
            y = npx.jit(function)(x[:] if function is not count else x)
        with pytest.raises(NotImplementedError, match="compiled function"):
            autograd.get_symbol(y)


def test_the_graph_of_compiled_functions_and_blocks():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(3, activation="relu", in_units=2), gluon.nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    scale = np.array([2.0, 3.0])
    double = npx.jit(lambda a, more: {"out": (a * scale + more["b"], a.T[0])})
    x, b = np.array([[1.0, -2.0], [0.5, 4.0]]), np.ones(2)
    x.attach_grad()
    scale.attach_grad()
    for _ in range(2):
        with autograd.record():
            hidden = net(x)
            y = double(hidden, {"b": b})["out"][0] * np.exp(hidden)
    graph = autograd.get_symbol(y)
    values = {name: p.data() for name, p in net.collect_params().items()}
    shapes = dict(zip(graph.list_arguments(), graph.infer_shape()[0], strict=True))
    assert shapes.keys() >= values.keys() and len(shapes) == len(values) + 2
    for name in shapes.keys() - values.keys():
        values[name] = x if shapes[name] == (2, 2) else scale
    for again in (graph, symbol.load_json(graph.tojson())):
        assert_almost_equal(again.eval(**values)[0], y)
    assert_almost_equal(net(x), hidden)  # what was read from outside are arrays again
    y.backward()
    assert x.grad.any() and scale.grad.any()


def test_the_graph_of_a_block_that_keeps_statistics_and_draws():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(3, in_units=2), gluon.nn.BatchNorm(), gluon.nn.Dropout(0.5))
    net.initialize()
    net.hybridize()
    with autograd.record():
        y = net(np.array([[1.0, -2.0], [0.5, 4.0]]))
    graph = autograd.get_symbol(y)
    assert graph.list_auxiliary_states() == ["1.running_mean", "1.running_var"]
    assert {"0.weight", "0.bias", "1.gamma"} <= {*graph.list_arguments()}
    assert not isinstance(net[0].weight.data(), symbol.Symbol)


def test_constants_are_broadcast_to_the_lengths_of_symbols():
    x = symbol.var("x", ("batch", 3), "float32")
    y = np.broadcast_to(np.array([1.0, 2.0, 3.0]), (x.shape[0], 3)) * x
    assert not np.broadcast_to(1.0, (x.shape[0],)).flags.writeable
    for n in (0, 1, 4):
        (found,) = y.eval(x=np.ones((n, 3)))
        assert found.tolist() == [[1, 2, 3]] * n
