"""Programs of MXNet, to the letter: its module paths, arguments and older names."""

import ast
import builtins
import copy
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as onp
import pytest

import npcompat as mx
from npcompat import autograd, gluon, np, npx
from npcompat._mxnet_paths import MODULES
from npcompat.test_utils import assert_almost_equal

PACKAGE = Path(mx.__file__).parent


# --- module paths ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in MODULES if path != "npcompat"])
def test_each_path_is_a_module_whose_names_are_there(path):
    module = importlib.import_module(f"npcompat.{path}")
    assert sys.modules[f"npcompat.{path}"] is module
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)
    found = mx
    for part in path.split("."):
        found = getattr(found, part)
    assert found is module
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name


def test_a_path_leaves_the_names_of_its_package():
    program = (
        "import importlib, npcompat as mx\nfrom npcompat import gluon, optimizer, image, symbol\n"
    )
    program += f"paths = {[path for path in MODULES if path != 'npcompat']!r}\n"
    program += """
for path in paths:
    name, _, last = ("npcompat." + path).rpartition(".")
    owner = importlib.import_module(name)
    before = owner.__dict__.get(last)
    importlib.import_module("npcompat." + path)
    assert before is None or owner.__dict__[last] is before, path
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_paths_are_found_as_attributes_that_nobody_has_imported():
    program = f"""
import functools, npcompat as mx
for path in {[*MODULES]!r}:
    functools.reduce(getattr, path.split("."), mx)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_table_is_not_read_before_a_path_is_asked_for():
    program = """
import sys, npcompat
assert "npcompat._mxnet_paths" not in sys.modules
from npcompat.gluon.data.dataloader import DataLoader
assert DataLoader is npcompat.gluon.data.DataLoader
from npcompat.gluon.nn.basic_layers import *
assert Dense is npcompat.gluon.nn.Dense
import npcompat.metric
assert npcompat.metric is npcompat.gluon.metric
assert npcompat.gluon.metric.__spec__.name == "npcompat.gluon.metric"
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_names_are_those_of_their_new_home():
    from npcompat.context import Context, current_context
    from npcompat.gluon.contrib.estimator.event_handler import TrainBegin
    from npcompat.ndarray import NDArray

    from npcompat import nd

    assert Context is npx.Device is mx.Context and current_context() == npx.cpu()
    assert TrainBegin is mx.gluon.contrib.estimator.TrainBegin
    assert isinstance(nd.ones((2, 2)), NDArray) and nd.waitall() is None and mx.nd is nd
    assert mx.gluon.rnn.rnn_cell.LSTMCell is mx.gluon.rnn.LSTMCell
    assert mx.contrib.amp is mx.amp and mx.rnd is mx.random
    assert mx.gluon.contrib.nn.HybridConcurrent is mx.gluon.nn.HybridConcatenate
    assert mx.gluon.contrib.rnn.LSTMPCell is mx.gluon.rnn.LSTMPCell
    assert mx.gluon.contrib.cnn.DeformableConvolution is mx.gluon.nn.DeformableConvolution
    assert mx.image.image.ImageIter is mx.image.ImageIter
    assert mx.optimizer.optimizer.Adam is mx.optimizer.adam.Adam is mx.optimizer.Adam


@pytest.mark.parametrize(
    ("path", "name", "instead"),
    [
        ("nd", "broadcast_add", "use np or npx"),
        ("io", "NDArrayIter", "use gluon.data.DataLoader"),
        ("profiler", "set_config", "use npx.profile"),
        ("engine", "bulk", "use npx.jit"),
        ("callback", "Speedometer", "use a handler of gluon.contrib.estimator"),
        ("contrib", "quantization", "use amp"),
        ("contrib", "text", "use your own gluon.data.Dataset"),
        ("gluon.contrib.nn", "SparseEmbedding", "use gluon.nn.Embedding"),
        ("library", "load", "use npx.Custom"),
        ("context", "num_gpu", "did you mean 'num_gpus'"),
    ],
)
def test_what_is_not_here_names_its_replacement(path, name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(importlib.import_module(f"npcompat.{path}"), name)


def test_modules_of_no_path_are_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"npcompat\.nothing"):
        importlib.import_module("npcompat.nothing")


# --- errors ---------------------------------------------------------------------------------------


def raised():
    """Names of the classes of Python that `raise` statements of the package name."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if isinstance(called, ast.Name) and hasattr(builtins, called.id):
                    yield called.id


def test_mxnet_error_catches_what_npcompat_raises():
    from npcompat.base import MXNetError

    from npcompat._internal.support import errors

    found = {getattr(builtins, name) for name in raised()}
    found = {kind for kind in found if not issubclass(kind, Warning)}
    found -= {StopIteration, SystemExit}  # the protocol of iterators, the end of a command
    found |= {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning)
    }
    assert ValueError in found and errors.AutogradError in found
    assert [kind for kind in found if not issubclass(kind, MXNetError)] == []
    for wrong in (lambda: np.ones(2) @ np.ones(3), lambda: np.ones(2)[5], lambda: npx.pick(*[1])):
        with pytest.raises(MXNetError) as caught:
            wrong()
        assert caught.type in (ValueError, IndexError, TypeError)


def test_mxnet_error_is_raised_and_inherited_from_as_a_class():
    from npcompat.base import MXNetError

    with pytest.raises(MXNetError, match="mine"):
        raise MXNetError("mine")

    class MineError(MXNetError):
        pass

    assert issubclass(MineError, RuntimeError) and isinstance(MineError("a"), MXNetError)
    assert type(MXNetError("a")).__name__ == repr(MXNetError) == "MXNetError"
    try:
        raise KeyboardInterrupt
    except MXNetError:
        pytest.fail("an interruption is no error of npcompat")
    except KeyboardInterrupt:
        pass


# --- arguments ------------------------------------------------------------------------------------


def test_grad_req_null_leaves_no_gradient():
    x = np.ones(2)
    x.attach_grad()
    x.attach_grad("null")
    assert x.grad is None
    parameter = gluon.Parameter("w", shape=(2,), grad_req="null")
    parameter.initialize()
    assert parameter.data().grad is None


def test_concatenate_takes_a_generator():
    assert np.concatenate(np.ones(1) * i for i in range(3)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="sequence"):
        np.stack(np.ones(2) for _ in range(2))


def test_all_parameters_of_a_recurrent_layer_are_one_of_collect_params():
    net = gluon.nn.HybridSequential()
    net.add(gluon.rnn.LSTM(3, input_size=2), gluon.nn.Dense(1))
    net.initialize()
    params = net.collect_params()
    params["0.rnn_param"].set_data(np.arange(84.0))
    assert params["0.l0_i2h_weight"].data()[0].tolist() == [0, 1]
    assert "0.rnn_param" not in params and len(params) == 6
    with pytest.raises(KeyError, match="rnn_param"):
        params["rnn_param"]
    assert gluon.rnn.GRU(2).collect_params()["rnn_param"].shape == (-1,)


def test_what_programs_read_of_parameters_and_share():
    layer = gluon.nn.Dense(2, in_units=2)
    assert layer.weight._data is None and layer.weight._grad is None
    layer.initialize()
    assert layer.weight._grad[0].shape == (2, 2)
    layer.weight.grad_req = "null"
    assert layer.weight._grad is None
    assert layer.share_parameters(None) is layer
    empty = gluon.nn.Dense(0)
    empty.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match="its shape"):
        empty(np.ones((1, 2)))


def test_sequences_of_hybrid_blocks_warn_when_they_are_hybridized():
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(2))
    with pytest.warns(UserWarning, match="all blocks of this Sequential are hybrid"):
        net.hybridize()
    net.hybridize(active=False)
    net.add(gluon.nn.Sequential())
    net.hybridize()


def test_metrics_are_made_of_the_json_of_their_configuration():
    for metric in (
        gluon.metric.create("acc", axis=0),
        gluon.metric.create("f1", average="micro"),
        gluon.metric.create(["mse", "rmse"]),
    ):
        again = gluon.metric.create(json.dumps(metric.get_config()))
        assert type(again) is type(metric) and again.get_config() == metric.get_config()


@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_a_cell_unrolls_over_all_steps(layout):
    cell = gluon.rnn.LSTMCell(3)
    cell.initialize()
    x = np.random.normal(size=(4, 2, 5))
    begin = cell.begin_state(x.shape[layout.find("N")])
    expected, states = cell.unroll(x.shape[layout.find("T")], x, begin, layout, True)
    outputs, last = gluon.rnn.rnn_cell.dynamic_unroll(cell, x, begin, layout=layout)
    assert_almost_equal(outputs, expected)
    for found, wanted in zip(last, states, strict=True):
        assert_almost_equal(found, wanted)
    with autograd.record():
        dropped, _ = gluon.rnn.dynamic_unroll(cell, x, begin, drop_outputs=0.9, layout=layout)
    assert (dropped == 0).sum() > 5


@pytest.mark.parametrize("name", ["resnet18_v1", "mobilenet0.25"])
def test_networks_take_a_device_without_pretrained_parameters(name):
    net = gluon.model_zoo.vision.get_model(name, ctx=mx.cpu(), root="nowhere", classes=3)
    net.initialize(ctx=mx.cpu())
    assert net(np.zeros((1, 3, 64, 64))).shape == (1, 3)
    with pytest.raises(ValueError, match="does not exist"):
        gluon.model_zoo.vision.get_model(name, ctx=[mx.cpu(0), mx.gpu(0)])


def test_rmsprop_takes_mxnets_older_names():
    made = mx.optimizer.create("rmsprop", gamma1=0.8, gamma2=0.7, centered=True)
    assert (made.rho, made.momentum) == (0.8, 0.7)


def test_negative_binomial_is_that_of_scipy():
    from scipy import stats

    mine, its = gluon.probability.NegativeBinomial(3.0, 0.3), stats.nbinom(3, 0.3)
    onp.testing.assert_allclose(mine.log_prob(np.arange(6)), its.logpmf(onp.arange(6)), rtol=1e-5)
    onp.testing.assert_allclose([mine.mean, mine.variance], its.stats(), rtol=1e-5)
    mx.random.seed(1)
    assert abs(float(mine.sample((20000,)).mean()) - its.mean()) < 0.2


# --- recurrent layers -----------------------------------------------------------------------------


@pytest.mark.parametrize(("cell", "gates"), [("RNNCell", 1), ("GRUCell", 3), ("LSTMCell", 4)])
def test_cells_infer_shapes_as_layers_of_a_stack(cell, gates):
    for i, is_bidirect, width in ((0, False, 5), (0, True, 5), (1, False, 3), (1, True, 6)):
        made = getattr(gluon.rnn, cell)(3)
        made.infer_shape(i, np.ones((2, 5)), is_bidirect)
        assert made.i2h_weight.shape == (gates * 3, width)


def test_composed_cells_infer_shapes_of_their_parts():
    stack = gluon.rnn.SequentialRNNCell()
    both = gluon.rnn.BidirectionalCell(gluon.rnn.GRUCell(3), gluon.rnn.GRUCell(4))
    projected, last = gluon.rnn.LSTMPCell(8, 2), gluon.rnn.ResidualCell(gluon.rnn.RNNCell(2))
    stack.add(gluon.rnn.DropoutCell(0.5), both, projected, last)
    stack.infer_shape(0, np.ones((2, 5)), False)
    widths = [both.l_cell, both.r_cell, projected, last.base_cell]
    assert [cell.i2h_weight.shape[1] for cell in widths] == [5, 5, 7, 2]
    again = gluon.rnn.ResidualCell(gluon.rnn.RNNCell(2))
    again.infer_shape(1, np.ones((2, 5)), False)
    assert again.base_cell.i2h_weight.shape == (2, 2)


def test_shapes_of_convolutional_cells_are_known():
    cell = gluon.rnn.Conv1DLSTMCell((3, 10), 2, 3, 3)
    before = cell.i2h_weight.shape
    cell.infer_shape(0, np.ones((1, 3, 10)), False)
    assert cell.i2h_weight.shape == before


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_the_fused_parameter_is_read_and_set(kind):
    layer = getattr(gluon.rnn, kind)(4, num_layers=2, bidirectional=True)
    assert layer.rnn_param.shape == (-1,)
    layer.initialize()
    x = np.random.normal(size=(3, 2, 5))
    expected = layer(x)
    vector = layer.rnn_param.data()
    assert vector.shape == layer.rnn_param.shape and layer.rnn_param.dtype == "float32"
    layer.rnn_param.set_data(np.zeros_like(vector))
    assert not layer(x).any()
    layer.rnn_param.set_data(vector)
    onp.testing.assert_array_equal(layer(x).asnumpy(), expected.asnumpy())
    with autograd.record():
        loss = (layer.rnn_param.data() ** 2).sum()
    loss.backward()
    onp.testing.assert_allclose(layer.rnn_param.grad(), 2 * vector, rtol=1e-6)
    with pytest.raises(ValueError, match="set_data: expected a vector of shape"):
        layer.rnn_param.set_data(np.ones(3))


# --- blocks ---------------------------------------------------------------------------------------


class Old(gluon.HybridBlock):
    """A block as programs for MXNet 1 write it."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.weight = self.params.get("weight", shape=(units,), init="ones")

    def forward(self, x):
        return x * self.weight.data()


def test_blocks_take_a_prefix_and_parameters_to_share():
    first = Old(3, prefix="first_")
    second = Old(3, prefix="second_", params=first.params)
    assert (first.name, second.name, Old(3).name) == ("first", "second", "old")
    assert second.weight is first.weight and list(second.collect_params()) == ["weight"]
    assert Old(3).weight is not first.weight
    first.initialize()
    first.weight.set_data(np.array([1.0, 2.0, 3.0]))
    second.hybridize()
    assert second(np.ones(3)).tolist() == [1, 2, 3]
    assert gluon.nn.HybridSequential(prefix="features_").name == "features"
    with pytest.raises(TypeError, match="prefix: expected a str"):
        Old(3, prefix=1)
    with pytest.raises(TypeError, match="shared: expected a ParameterDict"):
        Old(3, params={})


def test_a_block_may_have_an_attribute_or_a_child_called_name():
    class Named(gluon.Block):
        def __init__(self, name):
            super().__init__()
            self.name = name

    child = gluon.nn.Dense(2, in_units=2)
    assert Named("mine").name == "mine"
    assert Named(child).name is child and "name.weight" in Named(child).collect_params()
    assert copy.deepcopy(Old(2, prefix="a_")).name == "a"
