"""Graphs with state: statistics that are overwritten, and random draws."""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx, ops, symbol
from npcompat.gluon import nn
from npcompat.symbol._graph import as_function
from npcompat.test_utils import assert_almost_equal

F = "float32"


def data(*shape):
    return np.array(onp.random.default_rng(0).normal(size=shape).astype(F))


def normalized():
    """A graph of normalisation twice by the same statistics, in training mode, and its arrays."""
    names = ["x", "gamma", "beta", "mean", "variance"]
    x, gamma, beta, mean, variance = (
        symbol.var(n, shape=("n", 3) if n == "x" else (3,), dtype=F) for n in names
    )
    with autograd.train_mode():
        once = npx.batch_norm(x, gamma, beta, mean, variance)
        twice = npx.batch_norm(once * once, gamma, beta, mean, variance)
    values = data(4, 3), np.ones(3), np.zeros(3), np.zeros(3), np.ones(3)
    return twice, dict(zip(names, values, strict=True))


def test_auxiliary_states_are_overwritten_by_forward():
    y, arrays = normalized()
    assert y.list_arguments() == ["x", "gamma", "beta"] and y.list_auxiliary_states() == [
        "mean",
        "variance",
    ]
    assert y.list_inputs() == ["x", "gamma", "beta", "mean", "variance"]
    assert y.infer_shape(x=(4, 3)) == ([(4, 3), (3,), (3,)], [(4, 3)], [(3,), (3,)])
    assert y.infer_type() == ([F] * 3, [F], [F] * 2) and y.infer_shape_partial()[2] == [(3,), (3,)]
    expected = {n: a.copy() for n, a in arrays.items()}
    with autograd.train_mode():
        once = npx.batch_norm(*expected.values())
        result = npx.batch_norm(once * once, *list(expected.values())[1:])
    states = {n: arrays.pop(n) for n in ("mean", "variance")}
    for graph in (y, symbol.load_json(y.tojson())):
        mine = {n: a.copy() for n, a in states.items()}
        executor = graph.bind(args=arrays, aux_states=mine)
        assert_almost_equal(executor.forward()[0], result)
        assert all((mine[n] == states[n]).all() for n in states)
        assert_almost_equal(executor.forward(is_train=True)[0], result)
        for name, state in mine.items():
            assert executor.aux_dict[name] is state and executor.aux_arrays[0] is mine["mean"]
            assert_almost_equal(state, expected[name])
        executor.backward()
        assert list(executor.grad_dict) == ["x", "gamma", "beta"]
        executor.copy_params_from({}, states)
        executor.forward(mean=np.full(3, 7.0))
        assert mine["mean"].tolist() == [7.0] * 3
    assert_almost_equal(y.eval(**arrays, **states)[0], result)
    assert set(y.simple_bind(x=(4, 3)).aux_dict) == {"mean", "variance"}
    with pytest.raises(ValueError, match="no array is given for mean, variance in aux_states"):
        y.bind(args=arrays)
    with pytest.raises(
        ValueError, match="there is no auxiliary state moving; there are mean, variance"
    ):
        executor.copy_params_from({}, {"moving": np.ones(3)})


def test_states_follow_composition():
    y, _ = normalized()
    other = symbol.var("other", shape=(3,), dtype=F)
    assert y(mean=other).list_auxiliary_states() == ["other", "variance"]
    assert y(mean=other * 2).list_auxiliary_states() == ["variance"]


def test_draws_of_a_graph_are_those_of_the_functions():
    w = symbol.var("w", shape=(4, 3), dtype=F)

    with autograd.train_mode():
        first, second = npx.dropout(w, 0.5), np.random.normal(w)
    y = first + second
    again = symbol.load_json(y.tojson())
    assert (
        y.list_arguments() == ["w"]
        and y.list_auxiliary_states() == []
        and "random_counter = random state: () int64" in y.debug_str()
    )
    a = np.ones((4, 3))
    executor = y.bind(args=[a])
    np.random.seed(5)
    with autograd.train_mode():
        expected = [npx.dropout(a, 0.5) + np.random.normal(a) for _ in range(2)]
    following = np.random.uniform()
    for run in (
        lambda: y.eval(w=a)[0],
        lambda: executor.forward()[0],
        lambda: again.eval(w=a)[0],
        npx.jit(lambda: executor.forward()[0]),
    ):
        np.random.seed(5)
        for e in expected:
            assert_almost_equal(run(), e)
        assert np.random.uniform() == following
    assert (
        symbol.Group([first, npx.dropout(np.ones((4, 3)) * w, 0.5, mode="always")]).eval(w=a)[0]
        != 1
    ).all()
    n = symbol.var("n", shape=("n", 3), dtype=F)
    assert (np.random.uniform(size=n.shape) + n).eval(n=a)[0].shape == (4, 3)


def test_a_training_graph_is_the_block_in_training_mode():
    net = nn.HybridSequential()
    net.add(nn.Dense(4), nn.BatchNorm(), nn.Dropout(0.5), nn.Dense(2), nn.Dropout(0.3))
    net.initialize()
    x = data(6, 3)
    net(x)
    before = {n: p.data().copy() for n, p in net.collect_params().items()}
    y = net.to_symbol(ops.TensorType(("batch", 3), F), training=True)
    assert y.list_auxiliary_states() == ["1.running_mean", "1.running_var"]
    np.random.seed(3)
    with autograd.record():
        out = net(x)
    out.backward()
    after = {n: p.data().copy() for n, p in net.collect_params().items()}
    block = gluon.SymbolBlock(symbol.load_json(y.tojson()), symbol.var("data"))
    block.initialize()
    for hybridized in (False, True):
        block.hybridize(hybridized)
        for name, parameter in block.collect_params().items():
            parameter.set_data(before[name])
        block(x)
        assert all((p.data() == before[n]).all() for n, p in block.collect_params().items())
        np.random.seed(3)
        with autograd.record():
            again = block(x)
        again.backward()
        assert_almost_equal(again, out)
        for name, parameter in block.collect_params().items():
            assert_almost_equal(parameter.data(), after[name])
            if parameter.grad_req != "null":
                assert_almost_equal(
                    parameter.grad(), net.collect_params()[name].grad(), rtol=1e-4, atol=1e-5
                )
    with pytest.raises(ValueError, match=r"inputs 1.running_mean are no variables .*; those are"):
        gluon.SymbolBlock(y, symbol.var("1.running_mean"))


def test_a_block_that_writes_parameters_by_hand_is_refused():
    class Counting(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.calls = gluon.Parameter("calls", shape=(), init="zeros", grad_req="null")

        def forward(self, x):
            self.calls.data()[...] += 1
            return x * self.calls.data()

    with pytest.raises(
        NotImplementedError,
        match="writes its parameters calls by an operator that is not declared to overwrite them",
    ):
        Counting().to_symbol(ops.TensorType((2,), F))


def test_a_graph_that_draws_is_not_exported_to_other_programs():
    y = npx.dropout(symbol.var("x", shape=(3,), dtype=F), mode="always")
    with pytest.raises(
        NotImplementedError, match="a program without npcompat can't draw random numbers"
    ):
        as_function(y.heads)
