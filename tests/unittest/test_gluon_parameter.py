"""Parameters: shapes that are known later, values, gradients, errors."""

import copy
import pickle

import numpy as onp
import pytest

from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn


def test_an_initialized_parameter_is_its_array(backend):
    p = gluon.Parameter("weight", shape=(2, 3))
    p.initialize(init.One())
    assert p.data().tolist() == [[1, 1, 1], [1, 1, 1]] and p.grad().tolist() == [[0, 0, 0], [0, 0, 0]]
    p.data()[0] = 5
    assert p.data()[0].tolist() == [5, 5, 5]
    assert p.list_data()[0] is p.data() and p.list_ctx() == [npx.cpu(0)] and p.dtype == "float32"
    assert repr(p) == "Parameter weight (shape=(2, 3), dtype=float32)"


def test_reading_before_values_are_known_says_what_to_do():
    p = gluon.Parameter("weight", shape=(2, 0), allow_deferred_init=True)
    with pytest.raises(RuntimeError, match=r"Parameter 'weight' has not been initialized: call initialize\(\)"):
        p.data()
    p.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match=r"its shape \(2, -1\) is not known.*Call the block on a batch first"):
        p.data()
    with pytest.raises(ValueError, match=r"its shape \(2, -1\) is not known"):
        gluon.Parameter("weight", shape=(2, 0)).initialize()


def test_a_shape_is_completed_but_never_contradicted():
    p = gluon.Parameter(shape=(2, -1, None))
    assert p.shape == (2, -1, -1) and not p.shape_is_known
    p.shape = (2, 3, 4)
    assert p.shape == (2, 3, 4)
    with pytest.raises(ValueError, match=r"has shape \(2, 3, 4\); it can't become \(2, 3, 5\)"):
        p.shape = (2, 3, 5)
    assert gluon.Parameter(shape=3).shape == (3,) and gluon.Parameter().shape is None


def test_initializing_twice_warns_and_changes_nothing():
    p = gluon.Parameter(shape=2)
    p.initialize(init="ones")
    before = p.data()
    with pytest.warns(UserWarning, match="is initialized already"):
        p.initialize(init="zeros")
    assert p.data().tolist() == [1, 1]
    p.initialize(init="zeros", force_reinit=True)
    assert p.data() is before and before.tolist() == [0, 0]


def test_grad_req_write_add_and_null():
    p = gluon.Parameter(shape=2)
    p.initialize(init="ones")

    def backward():
        with autograd.record():
            y = (p.data() * 3).sum()
        y.backward()

    backward()
    backward()
    assert p.grad().tolist() == [3, 3]
    p.grad_req = "add"
    backward()
    backward()
    assert p.grad().tolist() == [6, 6]
    p.zero_grad()
    assert p.grad().tolist() == [0, 0]
    p.grad_req = "null"
    with pytest.raises(RuntimeError, match="its grad_req is 'null'"):
        p.grad()
    with pytest.raises(RuntimeError, match="not recorded"):
        backward()
    with pytest.raises(ValueError, match="grad_req must be"):
        p.grad_req = "sum"
    assert gluon.Parameter(shape=2, differentiable=False).grad_req == "null"


def test_set_data_writes_in_place_and_checks_the_shape():
    p = gluon.Parameter(shape=(2,))
    with pytest.raises(RuntimeError, match="has not been initialized"):
        p.set_data(np.ones(2))
    p.initialize()
    array = p.data()
    p.set_data(onp.array([1.0, 2.0]))
    assert array.tolist() == [1, 2] and array.dtype == "float32"
    with pytest.raises(ValueError, match=r"it can't become \(3,\)"):
        p.set_data(np.ones(3))
    late = gluon.Parameter(shape=(0,), allow_deferred_init=True)
    late.initialize()
    late.set_data(np.array([7.0]))
    assert late.data().tolist() == [7] and late.grad().tolist() == [0]


def test_cast_changes_values_and_gradient(backend):
    p = gluon.Parameter(shape=2)
    p.initialize(init="ones")
    array = p.data()
    p.cast("float16")
    assert p.data() is array and array.dtype == "float16" and p.grad().dtype == "float16" and p.dtype == "float16"
    p.dtype = "float64"
    assert array.dtype == "float64" and array.strides == (8,)


def test_devices():
    p = gluon.Parameter(shape=2)
    p.initialize(ctx=npx.cpu(0))
    p.reset_ctx(npx.cpu(0))
    assert p.data(npx.cpu(0)) is p.data() and p.list_device() == [npx.cpu(0)]
    with pytest.raises(NotImplementedError, match="lives on one device"):
        p.initialize(ctx=[npx.cpu(0), npx.Device("gpu", 1)], force_reinit=True)
    with pytest.raises(TypeError, match="device and ctx are the same argument"):
        p.initialize(device=npx.cpu(0), ctx=npx.cpu(0))
    with pytest.raises(RuntimeError, match=r"is on cpu\(0\), not on gpu\(0\)"):
        p.data(npx.Device("gpu", 0))


def test_what_is_not_supported_says_so():
    with pytest.raises(NotImplementedError, match="grad_stype='row_sparse'"):
        gluon.Parameter(grad_stype="row_sparse")


def test_a_constant_keeps_its_value():
    block = gluon.Block()
    block.scale = gluon.Constant([2.0, 3.0])
    block.initialize(init.Zero())
    assert block.scale.data().tolist() == [2, 3] and block.scale.grad_req == "null"
    block.scale.grad_req = "write"
    assert block.scale.grad_req == "null"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_independent(copied):
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.BatchNorm())
    net.initialize()
    net.hybridize()
    x = np.ones((3, 2))
    y = net(x)
    twin = copied(net)
    onp.testing.assert_array_equal(twin(x).asnumpy(), y.asnumpy())
    twin[0].weight.data()[...] = 0
    onp.testing.assert_array_equal(net(x).asnumpy(), y.asnumpy())
    assert not (twin(x) == y).all()
    with autograd.record():
        loss = twin(x).sum()
    loss.backward()
    assert twin[0].bias.grad().shape == (2,)


def test_initial_values_do_not_depend_on_when_shapes_become_known(backend):
    def values(in_units, draws_between):
        np.random.seed(3)
        net = nn.HybridSequential()
        net.add(nn.Dense(4, in_units=in_units), nn.Dense(2, in_units=in_units and 4))
        net.initialize(init.Xavier())
        np.random.uniform(size=draws_between)
        net(np.ones((1, 3)))
        return [p.data().asnumpy() for p in net.collect_params().values()] + [np.random.uniform(size=2).asnumpy()]

    for known, later in zip(values(3, 5), values(0, 5), strict=True):
        onp.testing.assert_array_equal(known, later)
    onp.testing.assert_array_equal(values(3, 5)[0], values(3, 1000)[0])


def test_constants_and_devices_as_mxnet_1_has_them():
    class Fixed(gluon.Block):
        def __init__(self):
            super().__init__()
            self.weights = self.params.get_constant("weights", np.array([2.0, 3.0]))
            self.dense = nn.Dense(2, in_units=2, use_bias=False)

        def forward(self, x):
            return self.dense(x) * self.weights.data()

    net = Fixed()
    net.initialize(init.One(), ctx=[npx.cpu()])
    assert net(np.ones((1, 2))).tolist() == [[4, 6]] and net.weights.grad_req == "null"
    assert net.params.get_constant("weights") is net.weights and isinstance(net.collect_params(), gluon.parameter.ParameterDict)
    assert net.collect_params().list_ctx() == net.collect_params().list_device() == [npx.cpu()]
    with pytest.raises(ValueError, match="there is no constant 'other', and no value to make it of"):
        net.params.get_constant("other")


def test_a_shape_that_is_set_completes_what_waits_for_it():
    given, called = nn.Dense(2), nn.Dense(2)
    for net in (given, called):
        np.random.seed(3)
        net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match=r"shape \(2, -1\) is not known"):
        given.weight.data()
    given.weight.shape = (2, 4)
    called(np.zeros((1, 4)))
    assert (given.weight.data() == called.weight.data()).all() and given.weight.grad().shape == (2, 4)
