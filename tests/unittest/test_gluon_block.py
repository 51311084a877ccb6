"""Blocks: the tree, names, and `hybridize`, which must change nothing but the speed."""

import copy

import numpy as onp
import pytest
from networks import network

from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn


class Scaled(gluon.HybridBlock):
    """A layer with a parameter of its own, completed by its input."""

    def __init__(self):
        super().__init__()
        self.scale = gluon.Parameter("scale", shape=(0,), init="ones", allow_deferred_init=True)

    def infer_shape(self, x):
        self.scale.shape = (x.shape[-1],)

    def forward(self, x):
        return x * self.scale.data()


class Older(gluon.HybridBlock):
    """A layer in MXNet's older form."""

    def __init__(self):
        super().__init__()
        self.weight = gluon.Parameter("weight", shape=(2, 3), init="ones")

    def hybrid_forward(self, F, x, weight):
        return F.relu(F.np.dot(x, weight.T)) + F.npx.sigmoid(x).sum()


class Lacking(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.nothing(x)


# --- the tree -------------------------------------------------------------------------------------


def test_attributes_register_children_and_parameters():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential()
            self.body.add(nn.Dense(2), Scaled())
            self.head = nn.Dense(1, use_bias=False)
            self.shift = gluon.Parameter("shift", shape=1)

    net = Net()
    assert list(net.collect_params()) == [
        "shift",
        "body.0.weight",
        "body.0.bias",
        "body.1.scale",
        "head.weight",
    ]
    assert list(net.collect_params(".*weight|shift")) == ["shift", "body.0.weight", "head.weight"]
    assert list(net.params) == ["shift"]
    del net.head
    assert "head.weight" not in net.collect_params()
    net.shift = None
    assert list(net.collect_params()) == ["body.0.weight", "body.0.bias", "body.1.scale"]


def test_numbers_may_be_set_before_the_block_begins():
    class Scaled(gluon.HybridBlock):
        def __init__(self):
            self.factor = 3
            super().__init__()

        def forward(self, x):
            return x * self.factor

    net = Scaled()
    assert net(np.ones(1)).tolist() == [3]


def test_wrong_assignments_are_errors():
    class Early(gluon.Block):
        def __init__(self):
            self.layer = nn.Dense(1)

    with pytest.raises(
        RuntimeError, match=r"call super\(\).__init__\(\) before setting attribute 'layer'"
    ):
        Early()
    net = nn.Dense(1)
    with pytest.raises(TypeError, match=r"Dense\.weight is a Parameter; it can't become a int"):
        net.weight = 3
    with pytest.raises(TypeError, match=r"Sequential\.add: expected blocks, one by one, got int"):
        nn.Sequential().add(3)


class Collected(gluon.HybridBlock):
    """Blocks in a list that grows, and in a dict with a tuple in it."""

    def __init__(self):
        super().__init__()
        self.layers = []
        self.heads = {"a": nn.Dense(1), "b": (nn.Dense(1), "no block")}
        self.layers.append(nn.Dense(3, activation="tanh"))
        self.first = self.layers[0]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.heads["a"](x) + self.heads["b"][0](x)


def test_blocks_in_lists_and_dicts_are_parts_of_a_block(tmp_path, capsys):
    net, x = Collected(), np.array([[1.0, 2.0]])
    names = [
        "first.weight",
        "first.bias",
        "heads.a.weight",
        "heads.a.bias",
        "heads.b.0.weight",
        "heads.b.0.bias",
    ]
    assert list(net.collect_params()) == names, (
        "a block that is a child already is not one for the second time"
    )
    net.initialize(init.Uniform(1))
    eager = net(x).asnumpy()
    net.hybridize()
    onp.testing.assert_allclose(net(x).asnumpy(), eager, rtol=1e-6)
    net.save_parameters(tmp_path / "p")
    same = Collected()
    same.load_parameters(tmp_path / "p")
    onp.testing.assert_allclose(same(x).asnumpy(), eager, rtol=1e-6)
    other = Collected().share_parameters(net.collect_params())
    assert other.heads["b"][0].weight is net.heads["b"][0].weight
    assert "(heads.b.0): Dense(3 -> 1, linear)" in repr(net)
    visited = []
    net.apply(lambda block: visited.append(type(block).__name__))
    assert visited == ["Activation", "Dense", "Dense", "Dense", "Collected"]
    net.summary(x)
    assert "heads.b.0: Dense" in capsys.readouterr().out
    net.cast("float16")
    assert net.heads["a"].weight.dtype == "float16"


class Mixed(gluon.HybridBlock):
    """Blocks as attributes, in containers, as nameless children, and one that was a child after
    it was in a list.
    """

    def __init__(self):
        self.early = [nn.Identity()]
        super().__init__()
        self.stem = nn.Dense(2)
        self.layers = [nn.Dense(3)]
        self.norm = nn.LayerNorm()
        self.heads = {"b": nn.Dense(4), "a": (nn.Dense(5), nn.Dense(6))}
        self.register_child(nn.Flatten())
        self.scale = gluon.Parameter("scale", shape=1)
        self.late = []
        self.output = nn.Dense(7)
        self.layers.append(self.output)
        self.late += [nn.Dense(8), self.stem]

    def forward(self, x):
        for part in (
            self.stem,
            *self.layers[:1],
            self.norm,
            self.heads["b"],
            *self.heads["a"],
            *self.late[:1],
        ):
            x = part(x)
        return self.output(x) * self.scale.data()


ORDER = [
    "early.0",
    "stem",
    "layers.0",
    "output",
    "norm",
    "heads.b",
    "heads.a.0",
    "heads.a.1",
    "2",
    "late.0",
]
"""The blocks of `Mixed`, in the order of their definition."""

WITH_PARAMETERS = [name for name in ORDER if name not in ("early.0", "2")]


def test_repr_lists_blocks_in_the_order_of_their_definition():
    lines = repr(Mixed()).splitlines()[1:-1]
    assert [line.split("(")[1].split(")")[0] for line in lines] == ORDER


def test_parameters_are_collected_in_the_order_of_definition():
    names = list(Mixed().collect_params())
    weights = [n.removesuffix(".weight") for n in names if n.endswith(".weight")]
    assert names[0] == "scale"
    assert weights == [n for n in WITH_PARAMETERS if n != "norm"]


def test_apply_visits_blocks_in_the_order_of_definition_and_the_whole_last():
    net, seen = Mixed(), []
    net.apply(seen.append)
    assert seen[:5] == [net.early[0], net.stem, net.layers[0], net.output, net.norm]
    assert seen[-2:] == [net.late[0], net]


def test_summary_has_a_row_for_each_block_that_has_parameters(capsys):
    net = Mixed()
    net.initialize()
    net.summary(np.ones((1, 2)))
    lines = [line for line in capsys.readouterr().out.splitlines() if ": " in line]
    assert sorted([line.split(":")[0].strip() for line in lines]) == sorted(WITH_PARAMETERS)


def test_what_is_deleted_and_defined_again_comes_last():
    net = Mixed()
    del net.layers
    net.norm = None
    net.layers = [nn.Dense(9)]
    net.norm = nn.LayerNorm()
    rest = [name for name in ORDER if name not in ("layers.0", "output", "norm")]
    assert list(net._blocks()) == [*rest, "output", "layers.0", "norm"]
    assert list(copy.deepcopy(net).collect_params()) == list(net.collect_params())


def test_a_deep_copy_keeps_the_order_of_definition():
    net = Mixed()
    net.initialize()
    net.summary(np.ones((1, 2)))
    assert list(copy.deepcopy(net).collect_params()) == list(net.collect_params())


def test_a_sequential_with_attributes_keeps_the_order_of_definition():
    net = nn.HybridSequential()
    net.first = nn.Dense(3)
    net.add(nn.Activation("relu"))
    net.last = nn.Dense(2)
    assert list(net) == [net.first, net[1], net.last] and list(net._blocks()) == [
        "first",
        "1",
        "last",
    ]
    net.initialize()
    assert net(np.ones((1, 4))).shape == (1, 2)
    assert [name for name, _ in net.collect_params().items()] == [
        "first.weight",
        "first.bias",
        "last.weight",
        "last.bias",
    ]


def test_a_compiled_block_sees_that_its_containers_changed():
    net, x = Collected(), np.array([[1.0, 2.0]])
    net.initialize(init.Uniform(1))
    net.hybridize()
    net(x)
    net.layers.append(nn.Dense(3))
    net.layers[1].initialize(init.Constant(2.0))
    grown = net(x).asnumpy()
    net.hybridize(False)
    onp.testing.assert_allclose(grown, net(x).asnumpy(), rtol=1e-6)
    net.hybridize()
    net(x)
    net.layers[1].act = nn.Activation("relu")
    net.heads["a"] = net.heads["b"][0]
    swapped = net(x).asnumpy()
    again = copy.deepcopy(net)
    net.hybridize(False)
    onp.testing.assert_allclose(swapped, net(x).asnumpy(), rtol=1e-6)
    assert not onp.allclose(swapped, grown) and again(x).asnumpy() == pytest.approx(swapped)


def test_sequential_is_a_sequence():
    net = nn.HybridSequential()
    layers = [nn.Dense(3), nn.Activation("relu"), nn.Dense(2)]
    net.add(*layers)
    assert len(net) == 3 and net[1] is layers[1] and net[-1] is layers[2] and list(net) == layers
    assert type(net[:2]) is nn.HybridSequential and list(net[:2]) == layers[:2]
    assert repr(net).splitlines()[1] == "  (0): Dense(None -> 3, linear)"


def test_sequential_passes_tuples_on_as_arguments():
    net = nn.Sequential()
    net.add(nn.Lambda(lambda x: (x, x + 1)), nn.Lambda(lambda a, b: (a + b, a)))
    first, second = net(np.array([1.0]))
    assert first.tolist() == [3] and second.tolist() == [1]


def test_apply_setattr_and_zero_grad():
    net = network()
    seen = []
    assert net.apply(lambda block: seen.append(type(block).__name__)) is net
    assert seen[-1] == "HybridSequential" and len(seen) == 11
    net.setattr("grad_req", "add")
    assert net[0].weight.grad_req == "add" and net[1].running_mean.grad_req == "null"
    small = nn.Dense(2)
    small.initialize()
    with autograd.record():
        y = small(np.ones((2, 3)))
    y.backward()
    assert (small.bias.grad() == 2).all()
    small.zero_grad()
    assert (small.bias.grad() == 0).all()


def test_a_dict_of_parameters_does_what_a_block_does():
    class Affine(gluon.Block):
        """As books write it: `params.get` makes the parameter."""

        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(2, 3), init="ones")

        def forward(self, x):
            return np.dot(x, self.weight.data().T)

    net = Affine()
    params = net.collect_params()
    params.initialize(ctx=npx.cpu())
    assert net(np.ones((1, 3))).tolist() == [[3, 3]]
    assert net.params.get("weight") is net.weight and net.params.get("bias") is None
    params.setattr("grad_req", "add")
    with autograd.record():
        y = net(np.ones((1, 3)))
    y.backward()
    params.zero_grad()
    params.reset_ctx(npx.cpu())
    assert net.weight.grad_req == "add" and (net.weight.grad() == 0).all()


def test_parameters_are_shared_by_the_name_that_get_was_given():
    class Scaled(gluon.Block):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            self.w = self.params.get("weight", shape=(2,), init="ones")

        def forward(self, x):
            return x * self.w.data()

    first = Scaled(prefix="first_")
    assert first.params.get("weight") is first.w
    second = Scaled(prefix="second_", params=first.params)
    assert second.w is first.w and list(second.collect_params()) == ["w"]
    first.initialize()
    first.w.set_data(np.array([2.0, 3.0]))
    assert second(np.ones(2)).tolist() == [2, 3]
    first.w = gluon.Parameter("other", shape=(2,))
    assert first.params.get("weight") is None and second.params.get("weight") is second.w


def test_initializing_verbosely_says_what_was_done(capsys):
    net = nn.Dense(1, in_units=2)
    net.initialize(init.One(), verbose=True)
    assert "initialized weight with One(): root mean square 1" in capsys.readouterr().out


def test_parameters_can_be_shared():
    a, b = nn.Dense(2, in_units=2), nn.HybridSequential()
    b.add(nn.Dense(2, in_units=2))
    b.share_parameters({"0.weight": a.weight})
    assert b[0].weight is a.weight and b[0].bias is not a.bias
    b.initialize()
    a.bias.initialize()
    assert a(np.ones((1, 2))).shape == (1, 2)


# --- calls ----------------------------------------------------------------------------------------


def test_deferred_shapes_are_completed_at_the_first_call(backend):
    net = nn.HybridSequential()
    net.add(nn.Dense(4), Scaled(), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    assert net[0].weight.shape == (4, -1)
    assert net(np.ones((5, 3))).shape == (5, 2)
    assert [p.shape for p in net.collect_params(".*(weight|scale|gamma)").values()] == [
        (4, 3),
        (4,),
        (4,),
        (2, 4),
    ]


def test_a_block_that_can_not_tell_its_shape_says_so():
    class Lost(Scaled):
        infer_shape = gluon.Block.infer_shape

    net = Lost()
    net.initialize()
    with pytest.raises(
        NotImplementedError, match=r"Lost has parameters of unknown shape \(scale\)"
    ):
        net(np.ones(2))

    class Forgetful(Scaled):
        def infer_shape(self, x):
            pass

    net = Forgetful()
    net.initialize()
    with pytest.raises(
        gluon.DeferredInitializationError, match="still not known after infer_shape"
    ):
        net(np.ones(2))


def test_calling_an_uninitialized_block_says_so():
    for net in (nn.Dense(2), nn.Dense(2, in_units=2)):
        with pytest.raises(RuntimeError, match="has not been initialized"):
            net(np.ones((1, 2)))


def test_a_block_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Block must define forward"):
        gluon.Block()(1)
    with pytest.raises(
        NotImplementedError, match=r"must define forward\(self, x, ...\) or hybrid_forward"
    ):
        gluon.HybridBlock()(1)


@pytest.mark.parametrize("hybridized", [False, True])
def test_the_older_form_gets_functions_and_parameters(hybridized):
    net = Older()
    net.initialize()
    net.hybridize(hybridized)
    x = np.ones((1, 3))
    onp.testing.assert_allclose(net(x).asnumpy(), [[3 + 3 * 0.7310586] * 2], rtol=1e-6)
    with pytest.raises(AttributeError, match=r"F\.nothing: neither npx nor np"):
        Lacking()(x)


def test_a_wrong_policy_of_loops_leaves_the_block_as_it_was():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    with pytest.raises(ValueError, match="loops='c': expected one of"):
        net.hybridize(loops="c")
    assert net(np.ones((1, 3))).shape == (1, 2)


# --- hybridize ------------------------------------------------------------------------------------


def train(hybridized, steps=4):
    np.random.seed(11)
    net = network()
    net.initialize(init.Xavier())
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    x, losses = np.random.normal(size=(6, 1, 8, 8)), []
    for _ in range(steps):
        with autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        losses.append(loss.item())
        for p in net.collect_params().values():
            if p.grad_req != "null":
                p.data()[...] -= 0.01 * p.grad()
    return (
        losses,
        net(x).asnumpy(),
        {n: p.data().asnumpy() for n, p in net.collect_params().items()},
    )


def test_hybridized_means_the_same_as_eager():
    """Losses, dropout's draws, running statistics, gradients, predictions."""
    eager, hybrid = train(False), train(True)
    onp.testing.assert_allclose(hybrid[0], eager[0], rtol=1e-5)
    onp.testing.assert_allclose(hybrid[1], eager[1], rtol=1e-4, atol=1e-5)
    for name, value in eager[2].items():
        onp.testing.assert_allclose(hybrid[2][name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_backends_train_alike():
    with npx.backend("numpy"):
        onp.testing.assert_allclose(train(False)[0], train(True)[0], rtol=1e-4)
        host = train(False)
    onp.testing.assert_allclose(host[0], train(False)[0], rtol=1e-4)


def test_one_program_for_each_kind_of_call():
    net = network()
    net.initialize()
    net.hybridize()
    with npx.compile_log() as log:
        for _ in range(3):
            net(np.ones((2, 1, 8, 8)))
    assert [e.name for e in log].count("HybridSequential") == 1
    with npx.compile_log() as log:
        net(np.ones((3, 1, 8, 8)))
        with autograd.train_mode():
            net(np.ones((3, 1, 8, 8)))
    reasons = [e.reason for e in log if e.name == "HybridSequential"]
    assert len(reasons) == 2 and "shape" in reasons[0] and "training" in reasons[1]


def test_what_changes_a_block_compiles_it_again():
    net = nn.HybridSequential()
    net.add(
        nn.Dense(2, in_units=2, weight_initializer="ones", use_bias=False), nn.HybridSequential()
    )
    net.initialize()
    net.hybridize()
    x = np.ones((1, 2))
    assert net(x).tolist() == [[2, 2]]
    net[1].add(nn.HybridLambda(lambda y: y + 1))
    assert net(x).tolist() == [[3, 3]]
    net[0].act = nn.HybridLambda(lambda y: y * 10)
    assert net(x).tolist() == [[21, 21]]
    net[0].weight.set_data(np.zeros((2, 2)))
    assert net(x).tolist() == [[1, 1]]
    net.cast("float64")
    assert net(x.astype("float64")).dtype == "float64"
    net[0].weight = gluon.Parameter("weight", shape=(2, 2), init="ones", dtype="float64")
    net[0].weight.initialize()
    assert net(x.astype("float64")).tolist() == [[21, 21]]
    net.hybridize(False)
    assert net(x.astype("float64")).tolist() == [[21, 21]]


def test_an_attribute_that_forward_reads_is_seen_after_compilation():
    class Times(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.factor = 2

        def forward(self, x):
            return x * self.factor

    inner, net = Times(), nn.HybridSequential()
    net.add(inner)
    net.hybridize()
    assert net(np.ones(1)).tolist() == [2]
    inner.factor = 3
    assert net(np.ones(1)).tolist() == [3]


def test_parameters_completed_while_compiling_are_ordinary_ones():
    net = network()
    net.initialize(init.Xavier())
    net.hybridize()
    step = npx.jit(lambda x: net(x))
    y = step(np.ones((2, 1, 8, 8)))
    assert net[0].weight.data().asnumpy().shape == (4, 1, 3, 3)
    onp.testing.assert_allclose(net(np.ones((2, 1, 8, 8))).asnumpy(), y.asnumpy(), rtol=1e-5)


def test_blocks_without_containers_are_not_watched_for_changes():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3), nn.Dropout(0.5))
    net.initialize()
    net.hybridize()
    net(np.ones((1, 3)))
    assert net._compiled is not None and net._watched is None  # or each call would look at them


def test_what_is_not_there_yet_says_so():
    net = nn.Dense(2)
    with pytest.raises(NotImplementedError, match="XLA is the only compiler"):
        net.optimize_for(np.ones(1))
