"""Symbols: the public functions build graphs, whose types are inferred, and which are bound,
written and read.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.export
import numpy as onp
import pytest
from internals import (
    AutogradError,
    DefinitionError,
    InferenceError,
    ParameterFileError,
    SymbolError,
)
from safetensors.numpy import load_file

from npcompat import autograd, gluon, np, npx, ops, symbol
from npcompat.gluon import nn
from npcompat.test_utils import assert_almost_equal

F = "float32"


def x_and_w():
    return symbol.var("x", shape=("batch", 8), dtype=F), symbol.var("w", shape=(8, 3), dtype=F)


def data(*shape):
    return np.array(onp.random.default_rng(0).normal(size=shape).astype(F))


# --- building -------------------------------------------------------------------------------------

FUNCTIONS = {
    "operators": lambda x, w: -x[:, :3] * 2 + (x @ w) ** 2 / 3 - abs(x[:, 3:6]),
    "reductions": lambda x, w: x.mean(axis=1) + np.std(x, axis=-1) + x.max() + np.linalg.norm(w),
    "shapes": lambda x, w: np.concatenate(
        [x.T.reshape(4, -1), np.stack([x, x])[0].reshape(4, -1)], axis=1
    ),
    "indices": lambda x, w: (
        x[:, 1:3]
        + x[:, ::4]
        + x[..., 0:1]
        + x[:, -1][:, None]
        + np.take(x, np.array([0, 1]), axis=1)
    ),
    "networks": lambda x, w: npx.softmax(npx.relu(npx.fully_connected(x, w.T, flatten=False))),
    "shape arithmetic": lambda x, w: x.reshape(x.shape[0] * 2, x.shape[1] // 2).sum(axis=1),
    "selection": lambda x, w: (
        np.where(x > 0, x, 0) + np.clip(x, -1, 1) + np.sort(x, axis=1) + np.cumsum(x, axis=1)
    ),
    "einsum": lambda x, w: np.einsum("ij,jk->ki", x, w),
    "split": lambda x, w: np.split(x, 2, axis=1)[1] * 2,
    "constants": lambda x, w: x + np.arange(8, dtype=F) + onp.ones(8, F) + [1.0] * 8,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_public_functions_build_what_they_compute(name):
    function = FUNCTIONS[name]
    y = function(*x_and_w())
    assert isinstance(y, symbol.Symbol) and y.list_arguments()[0] == "x"
    arrays = {"x": data(4, 8), "w": data(8, 3)}
    given = {n: arrays[n] for n in y.list_arguments()}
    expected = function(arrays["x"], arrays["w"])
    for graph in (y, symbol.load_json(y.tojson())):
        (found,) = graph.eval(**given)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert_almost_equal(found, expected)
    assert y.infer_shape(**{n: a.shape for n, a in given.items()})[1] == [expected.shape]
    (kind,) = y.infer()[1]
    assert kind.substituted({"batch": 4}) == ops.TensorType(expected.shape, expected.dtype)


def test_writing_a_symbol_or_a_view_of_it():
    x, _ = x_and_w()
    before = x + 0
    row = x[:, 0]
    x[:, 0] = 5
    x *= 2
    row += 1
    (found, kept) = symbol.Group([x, before]).eval(x=np.ones((2, 8)))
    assert found.tolist() == [[11.0] + [2.0] * 7] * 2 and kept.tolist() == np.ones((2, 8)).tolist()


def test_operators_as_objects_take_symbols():
    x, w = x_and_w()
    (y,) = ops.Matmul()(x, w)
    assert y.type == ops.TensorType(("batch", 3), F)
    whole, part = np.modf(x)
    assert whole.name == part.name and symbol.Group([whole, part]).list_outputs() == [
        f"{whole.name}_output0",
        f"{whole.name}_output1",
    ]


def test_what_is_known_of_types_is_inferred_while_building():
    x, w = x_and_w()
    assert np.exp(symbol.var("u")).type == ops.TensorType()
    assert (x @ symbol.var("u", shape=(8, None))).type.dtype is None
    assert np.matmul(x, w).shape[1] == 3
    with pytest.raises(InferenceError, match=r"_npi_matmul\(x1: .*\(batch, 8\).*x2: .*\(4, 3\)"):
        x @ symbol.var("u", shape=(4, 3), dtype=F)
    with pytest.raises(InferenceError, match="symbol 'u' is of type .* but its shape is needed"):
        symbol.var("u").T.reshape(2, -1)
    with pytest.raises(
        InferenceError,
        match="the slice slice.1, None, None. of an axis of length batch is not known",
    ):
        x[1:]


def test_shapes_of_weights_follow_from_arguments_of_layers():
    v = symbol.var
    y = npx.convolution(
        v("x", shape=("batch", 1, 8, 8), dtype=F), v("w"), v("b"), kernel=(3, 3), num_filter=4
    )
    y = npx.pooling(npx.relu(y), kernel=(2, 2), stride=(2, 2))
    y = npx.fully_connected(y, v("units"), v("offset"), num_hidden=10, no_bias=False)
    shapes = [(2, 1, 8, 8), (4, 1, 3, 3), (4,), (10, 36), (10,)]
    assert y.infer_shape(x=(2, 1, 8, 8)) == (shapes, [(2, 10)], [])
    assert y.simple_bind(x=(2, 1, 8, 8)).forward()[0].shape == (2, 10)
    assert symbol.load_json(y.tojson()).infer_shape(x=(2, 1, 8, 8))[0] == shapes
    with pytest.raises(
        InferenceError, match=r"variable units: expected shape \(10, \?\), given \(9, 36\)"
    ):
        y.bind(args=[np.ones(s if s != (10, 36) else (9, 36)) for s in shapes])
    with pytest.raises(ValueError, match="num_hidden=3, but weight has 4 rows"):
        npx.fully_connected(v("x", shape=(2, 5)), v("w", shape=(4, 5)), num_hidden=3)


def test_what_asks_for_values_is_refused():
    x, w = x_and_w()
    for ask in (lambda: float(x), lambda: x.asnumpy(), lambda: onp.asarray(x), lambda: bool(x > 0)):
        with pytest.raises(SymbolError, match="asked for; it has one only when its graph is bound"):
            ask()
    with pytest.raises(SymbolError, match="can't be written into an array"):
        np.ones((8, 3))[...] = w
    with pytest.raises(SymbolError, match="a symbol is used in a compiled function"):
        npx.jit(lambda a: a @ w)(np.ones((2, 8)))
    with pytest.raises(NotImplementedError, match="a Generator draws for a graph of symbols"):
        np.random.default_rng(1).normal(w)
    with pytest.raises(
        TypeError, match="can't be iterated: the length of its first axis is not known"
    ):
        list(x)
    assert len(list(w)) == 8


# --- graphs ---------------------------------------------------------------------------------------


def test_arguments_outputs_internals_and_attributes():
    x, w = x_and_w()
    y = np.sum(np.tanh(x @ w), axis=1)
    assert (
        y.list_arguments() == ["x", "w"]
        and y.list_outputs() == [y.name]
        and y.list_auxiliary_states() == []
    )
    inner = y.get_internals()
    assert inner.list_outputs()[:2] == ["x", "w"] and len(inner) == 5 and inner["x"].type == x.type
    assert y.attr("axis") == 1 and y.attr("nothing") is None and x.attr("axis") is None
    assert y.attr_dict()[y.name]["axis"] == 1
    assert y.get_children().list_outputs() == [inner.list_outputs()[3]] and x.get_children() is None
    with pytest.raises(ValueError, match="several variables are named x"):
        (x + symbol.var("x")).list_arguments()
    with pytest.raises(ValueError, match="there is no output 'z'; there are x, w"):
        inner["z"]


def test_composition_replaces_variables():
    x, w = x_and_w()
    y = x @ w
    z = y(x=np.tanh(x), w=w * 2)
    assert_almost_equal(
        z.eval(x=data(2, 8), w=data(8, 3))[0], np.tanh(data(2, 8)) @ (data(8, 3) * 2)
    )
    assert y.list_arguments() == ["x", "w"]
    assert symbol.Group([y, x])(x=symbol.var("q", shape=(2, 8), dtype=F)).list_arguments() == [
        "q",
        "w",
    ]
    with pytest.raises(TypeError, match="there is no argument v; there are x, w"):
        y(v=x)
    with pytest.raises(TypeError, match="expected symbols, got ndarray for x; bind takes arrays"):
        y(x=np.ones((2, 8)))
    with pytest.raises(InferenceError, match="_npi_matmul"):
        y(w=symbol.var("w", shape=(5, 3), dtype=F))


def test_types_of_variables_follow_from_others():
    x, weight, bias = symbol.var("x"), symbol.var("weight", shape=(5, None)), symbol.var("bias")
    y = npx.fully_connected(x, weight, bias, no_bias=False)
    assert y.infer_shape(x=(4, 3, 2)) == ([(4, 3, 2), (5, 6), (5,)], [(4, 5)], [])
    assert y.infer_shape() == (None, None, None)
    assert y.infer_shape_partial()[0][0] is None
    assert y.infer_type(x=F, weight=F, bias=F)[1] == [onp.dtype(F)]
    with pytest.raises(
        InferenceError, match=r"argument weight: expected shape \(5?\??, 6\), given \(5, 7\)"
    ):
        y.infer_shape(x=(4, 6), weight=(5, 7))
    with pytest.raises(TypeError, match="infer_shape: there is no argument y"):
        y.infer_shape(y=(1,))


def test_listing_and_drawing():
    x, w = x_and_w()
    y = np.sum(x @ w, axis=1)
    lines = y.debug_str().splitlines()
    assert lines[0] == "x = variable: (batch, 8) float32" and lines[-1] == f"outputs: {y.name}"
    assert lines[-2].endswith("axis=1): (batch,) float32")
    drawing = y.to_dot()
    assert (
        drawing.startswith("digraph {")
        and "(batch, 8) float32" in drawing
        and drawing.count("->") == 3
    )


# --- values ---------------------------------------------------------------------------------------


def test_an_executor_runs_forward_and_backward():
    x, w = x_and_w()
    y = np.tanh(x @ w)
    a, b = data(4, 8), data(8, 3)
    executor = y.bind(args=[a, b], grad_req={"x": "null", "w": "add"})
    (out,) = executor.forward(is_train=True)
    assert_almost_equal(out, np.tanh(a @ b))
    executor.backward(np.ones((4, 3)))
    b.attach_grad()
    with autograd.record():
        loss = np.tanh(a @ b).sum()
    loss.backward()
    assert_almost_equal(executor.grad_dict["w"], b.grad)
    executor.forward(is_train=True)
    executor.backward()
    assert_almost_equal(executor.grad_dict["w"], 2 * b.grad)
    assert (
        executor.grad_arrays[0] is None
        and list(executor.arg_dict) == ["x", "w"]
        and executor.aux_dict == {}
    )
    assert executor.forward(x=np.zeros((4, 8)))[0].tolist() == [[0.0] * 3] * 4
    with pytest.raises(AutogradError, match=r"call forward\(is_train=True\) first"):
        executor.backward()


def test_binding_checks_what_it_is_given():
    x, w = x_and_w()
    y = x @ w
    a, b = data(4, 8), data(8, 3)
    for arguments, error, message in (
        ({"args": {"x": a}}, ValueError, "no array is given for w"),
        ({"args": [a]}, ValueError, "args has 1 entries, but is for x, w"),
        ({"args": {"x": a, "w": b, "v": a}}, ValueError, "args names v, but is for x, w"),
        (
            {"args": [a, data(7, 3)]},
            InferenceError,
            r"variable w: expected shape \(8, 3\), given \(7, 3\)",
        ),
        (
            {"args": [data(4, 7), b]},
            InferenceError,
            r"variable x: expected shape \(batch, 8\), given \(4, 7\)",
        ),
        (
            {"args": [a, b], "grad_req": "some"},
            ValueError,
            "grad_req must be 'write', 'add' or 'null', got 'some'",
        ),
        (
            {"args": [a, b], "args_grad": {"w": a}},
            ValueError,
            r"args_grad of w has shape \(4, 8\), expected \(8, 3\)",
        ),
        (
            {"args": [a, b], "aux_states": [a]},
            ValueError,
            "aux_states has 1 entries, but is for nothing",
        ),
    ):
        with pytest.raises(error, match=message):
            y.bind(**arguments)
    rows = symbol.var("rows", shape=("batch", 2), dtype=F)
    with pytest.raises(InferenceError, match="batch is 4 elsewhere, given 5"):
        symbol.Group([y, rows]).eval(x=a, w=b, rows=data(5, 2))


def test_arrays_of_zeros_are_bound_by_shapes():
    x, w = x_and_w()
    executor = (x @ w).simple_bind(x=(2, 8))
    assert executor.arg_dict["x"].shape == (2, 8) and executor.arg_dict["w"].shape == (8, 3)
    executor.copy_params_from({"w": np.ones((8, 3))})
    assert executor.forward(x=np.ones((2, 8)))[0].tolist() == [[8.0] * 3] * 2
    with pytest.raises(ValueError, match="the shapes of x don't follow"):
        (x @ w).simple_bind()


# --- files ----------------------------------------------------------------------------------------


def test_a_graph_is_written_and_read(tmp_path):
    x, w = x_and_w()
    y = np.sum(np.tanh(x @ w) + np.arange(3, dtype="float64") * 1.5, axis=1, dtype="float64")
    y.save(tmp_path / "graph.json")
    again = symbol.load(tmp_path / "graph.json")
    assert again.tojson() == y.tojson() and again.debug_str() == y.debug_str()
    both = symbol.load_json(symbol.Group([y, x]).tojson())
    assert isinstance(both, symbol.Group) and len(both) == 2


def test_damaged_graphs_say_what_is_wrong(tmp_path):
    x, w = x_and_w()
    text = (x @ w).tojson()
    found = json.loads(text)
    path = tmp_path / "graph.json"
    for damaged, message in (
        (text[:100], "its JSON ends, or is damaged, at character"),
        (json.dumps({"format": "other"}), "expected an object whose format is 'npcompat.symbol'"),
        (
            json.dumps({**found, "version": 7}),
            "version 7 of graphs is not known; this is version 1",
        ),
        (text.replace('"x"', '"y"'), "is damaged: its content does not have the checksum"),
        (json.dumps({k: v for k, v in found.items() if k != "heads"}), "heads is missing"),
    ):
        path.write_text(damaged)
        with pytest.raises(DefinitionError, match=f"graph.json.*{message}"):
            symbol.load(path)


# --- blocks ---------------------------------------------------------------------------------------


def lenet():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, kernel_size=3, padding=1, activation="relu"),
        nn.BatchNorm(),
        nn.MaxPool2D(pool_size=2, strides=2),
    )
    net.add(
        nn.Flatten(), nn.Dense(8, activation="relu"), nn.Dropout(0.5), nn.LayerNorm(), nn.Dense(3)
    )
    return net


def test_a_block_on_symbols_gives_its_graph():
    net = lenet()
    net.initialize()
    x = data(2, 1, 4, 4)
    expected = net(x)
    y = net(symbol.var("data", shape=("batch", 1, 4, 4), dtype=F))
    assert y.type == ops.TensorType(("batch", 3), F)
    assert set(y.list_arguments()) == {"data", *net.collect_params()}
    arrays = {n: p.data() for n, p in net.collect_params().items()}
    assert_almost_equal(
        y.eval(data=x, **{n: a for n, a in arrays.items() if n in y.list_arguments()})[0], expected
    )
    assert_almost_equal(net(x), expected)


def test_a_block_without_values_gives_its_graph():
    net = lenet()
    y = net.to_symbol(ops.TensorType(("batch", 1, 4, 4), F))
    shapes = dict(zip(y.list_arguments(), y.infer_shape(data=(2, 1, 4, 4))[0], strict=True))
    assert (
        shapes["0.weight"] == (4, 1, 3, 3)
        and shapes["4.weight"] == (8, 16)
        and shapes["7.bias"] == (3,)
    )
    with pytest.raises(RuntimeError, match="has not been initialized"):
        net[0].weight.data()


def test_a_graph_is_a_block():
    x, w = x_and_w()
    block = gluon.SymbolBlock([x @ w, x + 1], x)
    block.initialize(init="ones")
    a = data(2, 8)
    for _ in range(2):
        product, more = block(a)
        assert_almost_equal(product, a @ np.ones((8, 3)))
        assert_almost_equal(more, a + 1)
        block.hybridize()
    with autograd.record():
        loss = block(a)[0].sum()
    loss.backward()
    assert_almost_equal(
        block.collect_params()["w"].grad(), a.sum(axis=0)[:, None] * np.ones((1, 3))
    )
    with pytest.raises(ValueError, match="inputs q are no variables of the graph; those are x, w"):
        gluon.SymbolBlock(x @ w, symbol.var("q"))
    with pytest.raises(TypeError, match="expected the inputs x, got 2 arrays"):
        block(a, a)


def test_deferred_parameters_of_a_graph_follow_from_its_inputs():
    y = lenet().to_symbol(ops.TensorType(("batch", 1, 4, 4), F))
    block = gluon.SymbolBlock(y, y.get_internals()["data"])
    block.initialize()
    assert block(data(2, 1, 4, 4)).shape == (2, 3)


def test_an_output_that_follows_from_no_input_is_a_constant_of_the_graph(tmp_path):
    class Anchored(gluon.HybridBlock):
        def forward(self, x):
            return npx.multibox_prior(x, sizes=[0.5]), x.reshape(x.shape[0], -1)

    net, x = Anchored(), data(2, 1, 2, 2)
    net.hybridize()
    anchors, _ = net(x)
    files = net.export(tmp_path / "net", dynamic_batch=True)
    again = gluon.SymbolBlock.imports(files[0], ["data"])
    for found, expected in zip(again(x[:1]), (anchors, x[:1].reshape(1, 4)), strict=True):
        assert_almost_equal(found, expected)
    with pytest.raises(
        TypeError,
        match=r"symbol 'x' of type .* has no len\(\): take its first axis by shape\[0\], which is a symbol",
    ):
        len(symbol.var("x", shape=("batch", 3)))
    assert len(symbol.var("x", shape=(2, "features"))) == 2


def test_exported_blocks_run_elsewhere(tmp_path):
    net = lenet()
    net.initialize()
    with pytest.raises(
        RuntimeError, match="HybridSequential.export: hybridize the block and call it once"
    ):
        net.export(tmp_path / "net")
    net.hybridize()
    x = data(4, 1, 4, 4)
    expected = net(x)
    files = net.export(tmp_path / "net", dynamic_batch=True)
    assert [f.removeprefix(str(tmp_path)) for f in files] == [
        "/net-symbol.json",
        "/net-0000.params",
    ]
    onp.savez(tmp_path / "batch.npz", x=x.asnumpy(), y=expected.asnumpy())
    with_jax = """
        import sys
        import jax.export
        import numpy
        from safetensors.numpy import load_file
        program = jax.export.deserialize(bytearray(open("net-0000.stablehlo", "rb").read()))
        params, batch = load_file("net-0000.params"), numpy.load("batch.npz")
        for n in (4, 2, 1):
            (found,) = program.call(params, batch["x"][:n])
            numpy.testing.assert_allclose(found, batch["y"][:n], rtol=1e-5, atol=1e-6)
        assert "npcompat" not in sys.modules
    """
    with_npcompat = """
        import numpy
        from npcompat import gluon, np
        batch = numpy.load("batch.npz")
        block = gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0000.params")
        for n in (4, 1):
            numpy.testing.assert_allclose(block(np.array(batch["x"][:n])).asnumpy(), batch["y"][:n], rtol=1e-5, atol=1e-6)
    """
    for code in (with_jax, with_npcompat):
        subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code).strip()],
            cwd=tmp_path,
            check=True,
            timeout=120,
        )
    (tmp_path / "net-0000.params").write_bytes(b"short")
    with pytest.raises(ParameterFileError, match="net-0000.params"):
        gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    with pytest.raises(ValueError, match="there are no variables picture; there are data"):
        gluon.SymbolBlock.imports(files[0], "picture")


class Recurrent(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 4)
        self.lstm = gluon.rnn.LSTM(4, layout="NTC", input_size=4)
        self.output = nn.Dense(3, in_units=4)

    def forward(self, x):
        return self.output(self.lstm(self.embedding(x))[:, -1])


class Encoder(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 4)
        self.layer = nn.TransformerEncoderCell(4, 8, 2)
        self.output = nn.Dense(3, in_units=4)

    def forward(self, x):
        return self.output(self.layer(self.embedding(x)).mean(axis=1))


@pytest.mark.parametrize("make", [Recurrent, Encoder])
def test_models_of_sequences_are_written_read_and_exported(make, tmp_path):
    net = make()
    net.initialize()
    net.hybridize()
    x = np.array(onp.random.default_rng(0).integers(0, 20, (4, 5)))
    expected = net(x)
    graph, params = net.export(tmp_path / "net", dynamic_batch=True)
    program = tmp_path / "net-0000.stablehlo"
    block = gluon.SymbolBlock.imports(graph, ["data"], params)
    assert_almost_equal(block(x), expected)
    exported = jax.export.deserialize(bytearray(Path(program).read_bytes()))
    with jax.enable_x64(True):  # the words are 64-bit integers
        for n in (4, 2, 1):
            (found,) = exported.call(load_file(params), x.asnumpy()[:n])
            onp.testing.assert_allclose(found, expected.asnumpy()[:n], rtol=1e-5, atol=1e-6)


def test_new_arrays_may_have_the_length_of_a_symbol():
    x, _ = x_and_w()
    y = np.concatenate([x, np.zeros((x.shape[0], 2)), np.ones_like(x)], axis=1)
    assert y.type == ops.TensorType(("batch", 18), F)
    assert y.eval(x=data(3, 8))[0].shape == (3, 18)
    filled = np.full((x.shape[0], 2), [1.0, 7.0])
    assert filled.type == ops.TensorType(("batch", 2), F)
    assert (filled + x[:, :2] * 0).eval(x=data(3, 8))[0].tolist() == [[1, 7]] * 3
