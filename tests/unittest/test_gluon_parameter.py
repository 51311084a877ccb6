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
    assert p.data().tolist() == [[1, 1, 1], [1, 1, 1]] and p.grad().tolist() == [
        [0, 0, 0],
        [0, 0, 0],
    ]
    p.data()[0] = 5
    assert p.data()[0].tolist() == [5, 5, 5]
    assert p.list_data()[0] is p.data() and p.list_ctx() == [npx.cpu(0)] and p.dtype == "float32"
    assert repr(p) == "Parameter weight (shape=(2, 3), dtype=float32)"


def test_reading_before_values_are_known_says_what_to_do():
    p = gluon.Parameter("weight", shape=(2, 0), allow_deferred_init=True)
    with pytest.raises(
        RuntimeError, match=r"Parameter 'weight' has not been initialized: call initialize\(\)"
    ):
        p.data()
    p.initialize()
    with pytest.raises(
        gluon.DeferredInitializationError,
        match=r"its shape \(2, -1\) is not known.*Call the block on a batch first",
    ):
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
    assert (
        p.data() is array
        and array.dtype == "float16"
        and p.grad().dtype == "float16"
        and p.dtype == "float16"
    )
    p.dtype = "float64"
    assert array.dtype == "float64" and array.strides == (8,)


@pytest.mark.parametrize("request_", ["write", "add"])
def test_cast_keeps_the_gradient_and_its_age(request_):
    p = gluon.Parameter(shape=2, grad_req=request_)
    p.initialize(init="ones")
    trainer = gluon.Trainer([p], "sgd", {"learning_rate": 1})
    p.cast("float64")
    with pytest.raises(UserWarning, match="were not computed by backward"):
        trainer.step(1)
    for _ in range(2):
        with autograd.record():
            loss = (3 * p.data()).sum()
        loss.backward()
    expected = [6, 6] if request_ == "add" else [3, 3]
    p.cast("float16")
    assert p.grad().tolist() == expected and p.grad().dtype == "float16"
    trainer.step(1)
    assert p.data().tolist() == [1 - expected[0]] * 2
    p.cast("float32")
    with pytest.raises(UserWarning, match="were not computed by backward"):
        trainer.step(1)
    assert p.grad().tolist() == expected


def test_devices():
    p = gluon.Parameter(shape=2)
    p.initialize(ctx=npx.cpu(0))
    p.reset_ctx(npx.cpu(0))
    assert p.data(npx.cpu(0)) is p.data() and p.list_device() == [npx.cpu(0)]
    with pytest.raises(ValueError, match=r"device gpu\(1\) does not exist"):
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
        return [p.data().asnumpy() for p in net.collect_params().values()] + [
            np.random.uniform(size=2).asnumpy()
        ]

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
    assert net.params.get_constant("weights") is net.weights and isinstance(
        net.collect_params(), gluon.parameter.ParameterDict
    )
    assert net.collect_params().list_ctx() == net.collect_params().list_device() == [npx.cpu()]
    with pytest.raises(
        ValueError, match="there is no constant 'other', and no value to make it of"
    ):
        net.params.get_constant("other")
    named = gluon.Constant("c", [[1, 2]])
    named.initialize()
    assert named.name == "c" and named.data().tolist() == [[1, 2]]
    with pytest.raises(TypeError, match="expected a value, or a name and a value"):
        gluon.Constant([1], [2])


def test_a_shape_that_is_set_completes_what_waits_for_it():
    given, called = nn.Dense(2), nn.Dense(2)
    for net in (given, called):
        np.random.seed(3)
        net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match=r"shape \(2, -1\) is not known"):
        given.weight.data()
    given.weight.shape = (2, 4)
    called(np.zeros((1, 4)))
    assert (given.weight.data() == called.weight.data()).all() and given.weight.grad().shape == (
        2,
        4,
    )


# --- dicts of parameters, as MXNet 1 has them -----------------------------------------------------


def test_a_dict_makes_parameters_finds_them_and_trains_them():
    params = gluon.ParameterDict("net_")
    weight = params.get("weight", shape=(1, 3), init="ones")
    bias = params.get("bias", shape=1, init="zeros")
    assert (
        params.prefix == "net_"
        and list(params) == ["net_weight", "net_bias"]
        and weight.name == "net_weight"
    )
    assert (
        params.get("weight") is weight is params["net_weight"]
        and params.get("other") is None
        and "net_other" not in params
    )
    params.initialize(init.Constant(2.0), ctx=[npx.cpu()])
    assert (
        weight.data().tolist() == [[1, 1, 1]]
        and bias.data().tolist() == [0]
        and params.list_ctx() == [npx.cpu()]
    )
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 1.0})
    with autograd.record():
        loss = (np.ones((2, 3)) @ weight.data().T + bias.data()).sum()
    loss.backward()
    trainer.step(2)
    assert weight.data().tolist() == [[0, 0, 0]] and bias.data().tolist() == [-1]
    params.zero_grad()
    assert not weight.grad().any()
    params.setattr("grad_req", "null")
    params.reset_ctx(npx.cpu())
    assert bias.grad_req == "null"


def test_a_parameter_that_is_found_must_agree_and_learns_what_was_not_known():
    params = gluon.ParameterDict("net_")
    weight = params.get("weight", shape=(2, 0), dtype="float16", allow_deferred_init=True)
    weight.initialize(init.One())
    assert params.get(
        "weight", shape=(2, 3), dtype=onp.float16, init=None
    ) is weight and weight.shape == (2, 3)
    assert weight.data().sum() == 6, "its shape is known now"
    assert (
        params.get("weight", shape=(0, 3), init="ones").init == "ones"
        and params.get("weight", init=init.One()) is weight
    )
    for asked, words in [
        (
            {"shape": (2, 4)},
            r"Parameter 'net_weight' is there already, and has shape=\(2, 3\); shape=\(2, 4\) was asked for",
        ),
        ({"shape": (2, 3, 1)}, r"has shape=\(2, 3\)"),
        ({"dtype": "float32"}, r"has dtype=dtype\('float16'\); dtype='float32' was asked for"),
        ({"grad_req": "add"}, "has grad_req='write'"),
        ({"init": "zeros"}, "has init='ones'; init='zeros'"),
        ({"lr_mult": 2}, "has lr_mult=1.0"),
        ({"differentiable": False}, "has _?differentiable=True"),
    ]:
        with pytest.raises(ValueError, match=words):
            params.get("weight", **asked)
    assert weight.shape == (2, 3) and weight.init == "ones", "what is refused changes nothing"
    with pytest.raises(TypeError, match="unexpected keyword argument 'shapes'"):
        params.get("weight", shapes=(2, 3))
    with pytest.raises(NotImplementedError, match="stype='row_sparse'"):
        params.get("weight", stype="row_sparse")


def test_dicts_share_parameters():
    params = gluon.ParameterDict("net_")
    weight, scale = params.get("weight", shape=(2,)), params.get_constant("scale", [2.0, onp.nan])
    twin = gluon.ParameterDict("net_", shared=params)
    assert (
        len(twin) == 0 and twin.get("weight", shape=(2,)) is weight and list(twin) == ["net_weight"]
    )
    assert twin.get_constant("scale", [2.0, onp.nan]) is scale and scale.name == "net_scale"
    twin.get("bias", shape=(1,))
    assert "net_bias" not in params
    with pytest.raises(
        ValueError, match="the constant 'net_scale' is there already, and has another value"
    ):
        twin.get_constant("scale", [2.0, 3.0])
    with pytest.raises(
        ValueError, match="'net_weight' is there already, and is a parameter that is learned"
    ):
        twin.get_constant("weight", [2.0, 3.0])
    with pytest.raises(
        TypeError, match="ParameterDict: shared: expected a ParameterDict, got dict"
    ):
        gluon.ParameterDict("net_", {})
    with pytest.raises(TypeError, match="ParameterDict: prefix: expected a str, got dict"):
        gluon.ParameterDict({})


def test_updating_a_dict_never_replaces_a_parameter():
    one, other = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    params = one.collect_params()
    params.update(one.collect_params())
    with pytest.raises(
        ValueError,
        match=r"ParameterDict.update: weight, bias: another parameter of that name is there already",
    ):
        params.update({"new": gluon.Parameter(), **other.collect_params()})
    assert list(params) == ["weight", "bias"] and params["weight"] is one.weight


def test_a_dict_survives_a_file_and_names_change_their_beginning(tmp_path):
    path = tmp_path / "net.params"
    one, other = gluon.ParameterDict("one_"), gluon.ParameterDict("other_")
    for params in (one, other):
        params.get("weight", shape=(2, 0), allow_deferred_init=True)
        params.get("bias", shape=2)
    one.initialize(init.Constant(3.0))
    with pytest.raises(
        gluon.DeferredInitializationError, match="Parameter 'one_weight' has no values yet"
    ):
        one.save(path)
    one["one_weight"].shape = (2, 1)
    one.save(path, strip_prefix="one_")
    assert sorted(npx.load(path)) == ["bias", "weight"]
    other.load(path, ctx=npx.cpu(), restore_prefix="other_")
    assert other["other_weight"].data().tolist() == [[3], [3]] and other[
        "other_bias"
    ].data().tolist() == [3, 3]
    with pytest.raises(
        ValueError,
        match=r"ParameterDict.save\(strip_prefix='other_'\): these names begin otherwise: one_weight, one_bias",
    ):
        one.save(path, strip_prefix="other_")
    with pytest.raises(
        ValueError,
        match=r"load\(restore_prefix='one_'\): these names begin otherwise: other_weight",
    ):
        other.load(path, restore_prefix="one_")
    with pytest.raises(ValueError, match="do not fit ParameterDict; nothing was loaded") as caught:
        other.load(path)
    assert str(caught.value).splitlines()[1:] == [
        "  other_weight: a parameter of the dict, missing there",
        "  other_bias: a parameter of the dict, missing there",
        "  bias: not a parameter of the dict",
        "  weight: not a parameter of the dict",
    ]
    other.load(path, allow_missing=True, ignore_extra=True)
    other.setattr("dtype", "float16")
    with pytest.raises(
        ValueError, match="other_weight: has dtype float32 there, float16 in the dict"
    ):
        other.load(path, restore_prefix="other_")
    other.load(path, restore_prefix="other_", cast_dtype=True)
    assert other["other_weight"].data().dtype == "float16"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_dicts_go_on_as_the_dict(copied):
    params = gluon.ParameterDict("net_", shared=gluon.ParameterDict("net_"))
    params.get("weight", shape=(2,), init="ones").initialize()
    twin = copied(params)
    assert (
        twin.prefix == "net_"
        and twin.get("weight").data().tolist() == [1, 1]
        and twin.get("weight") is not params.get("weight")
    )


def test_what_a_block_makes_by_its_dict_is_its_own():
    class Affine(gluon.HybridBlock):
        """One parameter with the name of its attribute, one with another name, and one without an
        attribute.
        """

        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(2,), init="ones")
            self.shift = self.params.get("bias", shape=(2,), init="ones")
            self.params.get("scale", shape=(2,), init=init.Constant(3.0))

        def hybrid_forward(self, F, x, weight, shift):
            return (x * weight + shift) * self.params.get("scale").data()

    net = Affine()
    assert list(net.collect_params()) == list(net.params) == ["weight", "shift", "scale"]
    net.initialize()
    assert net(np.ones(2)).tolist() == [6, 6]
    net.hybridize()
    assert net(np.ones(2)).tolist() == [6, 6]
    net.collect_params().get("new", shape=1)
    assert "new" not in net.params, "what is collected is a dict of its own"
