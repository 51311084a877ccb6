"""Trainer: steps eager, hybridized and compiled as a whole; stale gradients; files of states."""

import gc
import pickle
from copy import deepcopy

import numpy as onp
import optax
import pytest

from npcompat import autograd, gluon, init, lr_scheduler, np, npx, optimizer
from npcompat.gluon import nn

RANDOM = onp.random.RandomState(1)
X, Y = RANDOM.normal(size=(24, 6)).astype("float32"), RANDOM.randint(0, 3, 24)
LOSS = gluon.loss.SoftmaxCrossEntropyLoss()


def network():
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dropout(0.2), nn.Dense(3))
    net.initialize(init.Xavier())
    return net


def training(mode, name, params, steps=7, sizes=(24, 24, 10)):
    np.random.seed(9)
    net = network()
    if mode == "hybridized":
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), name, dict(params))

    def step(x, y):
        with autograd.record():
            loss = LOSS(net(x), y)
        loss.backward()
        trainer.step(len(x))
        return loss.mean()

    run = npx.jit(step) if mode == "jit" else step
    losses = []
    for i in range(steps):
        if i == 4 and "lr_scheduler" not in params:
            trainer.set_learning_rate(trainer.learning_rate / 2)
        if i == 5:
            net[0].weight.lr_mult, net[3].bias.wd_mult = 0.5, 3.0
        size = sizes[i % len(sizes)]
        losses.append(run(np.array(X[:size]), np.array(Y[:size])).item())
    return (
        losses,
        [p.data().asnumpy() for p in net.collect_params().values()],
        trainer.optimizer.num_update,
    )


OPTIMIZERS = [
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    ("adam", {"learning_rate": 0.01, "clip_gradient": 0.05}),
    ("sgd", {"lr_scheduler": lr_scheduler.CosineScheduler(6, 0.2, warmup_steps=2)}),
]


@pytest.mark.parametrize(("name", "params"), OPTIMIZERS)
def test_all_modes_train_alike(name, params):
    losses, weights, count = training("eager", name, params)
    assert losses[-1] < losses[0] and count == 7
    for mode in ("hybridized", "jit"):
        others = training(mode, name, params)
        onp.testing.assert_allclose(others[0], losses, rtol=1e-4)
        for a, b in zip(others[1], weights, strict=True):
            onp.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
        assert others[2] == 7


def test_the_backends_train_alike():
    expected = training("eager", *OPTIMIZERS[0])[0]
    with npx.backend("numpy"):
        onp.testing.assert_allclose(training("eager", *OPTIMIZERS[0])[0], expected, rtol=1e-4)


def test_a_whole_step_is_one_program():
    net = network()
    net(np.array(X))
    trainer = gluon.Trainer(net.collect_params(), "adam")

    @npx.jit
    def step(x, y):
        with autograd.record():
            loss = LOSS(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        return loss

    x, y = np.array(X), np.array(Y)
    with npx.compile_log() as log:
        step(x, y)
    assert "step" in [e.name for e in log]
    with npx.compile_log() as log:
        for i in range(4):
            trainer.set_learning_rate(0.1 / (i + 1))
            step(x, y)
    assert [str(e) for e in log] == []


def simple():
    net = nn.Dense(1, in_units=1, weight_initializer="ones", use_bias=False)
    net.initialize()
    return net, gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})


def backward(net, x=2.0):
    with autograd.record():
        y = net(np.array([[x]]))
    y.backward()


def test_step_divides_by_the_batch_size():
    net, trainer = simple()
    backward(net)
    trainer.step(4)
    onp.testing.assert_allclose(net.weight.data().asnumpy(), [[1 - 0.1 * 2 / 4]])


def test_a_gradient_is_used_once():
    net, trainer = simple()
    with pytest.raises(RuntimeError, match="has not been initialized"):
        gluon.Trainer([gluon.Parameter(shape=1)], "sgd").step(1)
    backward(net)
    trainer.step(1)
    with pytest.raises(
        UserWarning,
        match=r"gradients of parameters 0 \(weight\) were not computed by backward since the last step",
    ):
        trainer.step(1)
    before = net.weight.data().asnumpy()
    trainer.step(1, ignore_stale_grad=True)
    onp.testing.assert_array_equal(net.weight.data().asnumpy(), before)
    backward(net)
    trainer.step(1)
    assert (net.weight.data().asnumpy() < before).all()


@pytest.mark.parametrize("copy", [deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
@pytest.mark.parametrize("stepped", [False, True])
def test_a_copied_trainer_takes_the_gradients_of_its_copies(copy, stepped):
    net, trainer = simple()
    if stepped:
        backward(net)
        trainer.step(1)
    copied, others = copy((net, trainer))
    with pytest.raises(UserWarning, match="were not computed by backward"):
        others.step(1)
    before = net.weight.data().asnumpy()
    for _ in range(2):
        backward(copied)
        others.step(1)
    assert (copied.weight.data().asnumpy() < before).all()
    onp.testing.assert_array_equal(net.weight.data().asnumpy(), before)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_parameter_that_backward_did_not_reach_is_found(compiled):
    used, unused = nn.Dense(1, in_units=1), nn.Dense(1, in_units=1, weight_initializer="ones")
    net = nn.HybridSequential()
    net.add(used, unused)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"wd": 0.5})

    def step(ignore):
        with autograd.record():
            y = used(np.ones((1, 1)))
        y.backward()
        trainer.step(1, ignore_stale_grad=ignore)

    run = npx.jit(step) if compiled else step
    run(True)
    if not compiled:
        with pytest.raises(UserWarning, match=r"parameters 2 \(weight\), 3 \(bias\)"):
            run(False)
    else:
        with pytest.raises(UserWarning, match=r"parameters 2 \(weight\), 3 \(bias\)"):
            npx.jit(step)(False)


def test_parameters_without_gradient_are_left_alone():
    net = nn.BatchNorm(in_channels=2)
    net.initialize()
    net.gamma.grad_req = "null"
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with autograd.record():
        y = net(np.array([[1.0, 2.0], [3.0, 5.0]])).sum()
    y.backward()
    trainer.step(1)
    assert net.gamma.data().tolist() == [1, 1] and (net.beta.data() == -2).all()


def test_a_shared_parameter_is_updated_once():
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1, use_bias=False), nn.Dense(1, in_units=1, use_bias=False))
    net[1].weight = net[0].weight
    net.initialize(init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        y = net(np.ones((1, 1)))
    y.backward()
    trainer.step(1)
    onp.testing.assert_allclose(net[0].weight.data().asnumpy(), [[0.8]], rtol=1e-6)


def test_an_optimizer_object_and_a_list_of_parameters():
    net, _ = simple()
    adam = optimizer.Adam(0.5)
    trainer = gluon.Trainer(list(net.collect_params().values()), adam)
    assert trainer.optimizer is adam and trainer.learning_rate == 0.5
    with pytest.raises(ValueError, match="optimizer_params go with the name"):
        gluon.Trainer(net.collect_params(), adam, {"learning_rate": 1})
    with pytest.raises(TypeError, match="params must be what"):
        gluon.Trainer([1], adam)
    for options in (
        {"kvstore": "dist_async"},
        {"compression_params": {"type": "2bit"}},
        {"update_on_kvstore": True},
    ):
        with pytest.raises(NotImplementedError):
            gluon.Trainer(net.collect_params(), "sgd", **options)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_states_survive_a_file(name, tmp_path):
    path, params = (
        tmp_path / "states",
        {"learning_rate": 0.1} | ({"momentum": 0.9} if name == "sgd" else {}),
    )
    net, _ = simple()
    trainer = gluon.Trainer(net.collect_params(), name, params)
    for _ in range(3):
        backward(net)
        trainer.step(1)
    trainer.set_learning_rate(0.05)
    trainer.save_states(path)
    twin, _ = simple()
    twin.weight.set_data(net.weight.data())
    other = gluon.Trainer(twin.collect_params(), name, params)
    other.load_states(path)
    assert other.learning_rate == 0.05 and other.optimizer.num_update == 3
    for n, t in ((net, trainer), (twin, other)):
        backward(n)
        t.step(1)
    onp.testing.assert_array_equal(net.weight.data().asnumpy(), twin.weight.data().asnumpy())


@pytest.mark.parametrize("by_optax", [False, True])
def test_states_from_before_the_first_step_take_a_trainer_back_there(by_optax, tmp_path):
    net, _ = simple()
    rule = optax.adam(0.1) if by_optax else optimizer.Adam(learning_rate=0.1)
    trainer = gluon.Trainer(net.collect_params(), rule)
    net.save_parameters(tmp_path / "net")
    trainer.save_states(tmp_path / "states")
    ways = []
    for _ in range(2):
        net.load_parameters(tmp_path / "net")
        trainer.load_states(tmp_path / "states")
        for _ in range(3):
            backward(net)
            trainer.step(1)
        ways.append(net.weight.data().tolist())
    assert ways[0] == ways[1]


def test_states_of_parameters_that_have_no_values_yet_are_saved(tmp_path):
    net = nn.Dense(2)
    net.initialize()
    gluon.Trainer(net.collect_params(), "adam").save_states(tmp_path / "states")
    net(np.zeros((1, 3)))
    with pytest.raises(ValueError, match=r"0\.0: missing there"):
        gluon.Trainer(net.collect_params(), "adam").load_states(tmp_path / "states")


def test_states_that_do_not_fit_are_refused(tmp_path):
    net, trainer = simple()
    backward(net)
    trainer.step(1)
    trainer.save_states(tmp_path / "sgd")
    adam = gluon.Trainer(net.collect_params(), "adam")
    with pytest.raises(
        ValueError, match=r"(?s)do not fit the trainer; nothing was loaded:.*0\.0: missing there"
    ):
        adam.load_states(tmp_path / "sgd")
    (tmp_path / "sgd").write_bytes((tmp_path / "sgd").read_bytes()[:-3])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        trainer.load_states(tmp_path / "sgd")


def test_training_leaves_nothing_behind():
    """Arrays of past steps are freed without the garbage collector."""
    net = network()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    x, y = np.array(X), np.array(Y)

    def step():
        with autograd.record():
            loss = LOSS(net(x), y)
        loss.backward()
        trainer.step(24)

    step()
    step()
    gc.collect()
    gc.disable()
    try:
        before = len([o for o in gc.get_objects() if type(o).__name__ == "Node"])
        step()
        step()
        assert len([o for o in gc.get_objects() if type(o).__name__ == "Node"]) == before
    finally:
        gc.enable()


def test_clip_global_norm_and_split_and_load():
    arrays = [np.array([3.0]), np.array([[4.0]])]
    assert gluon.utils.clip_global_norm(arrays, 10.0) == pytest.approx(5) and arrays[0].item() == 3
    assert gluon.utils.clip_global_norm(arrays, 1.0, check_isfinite=False).item() == pytest.approx(
        5
    )
    onp.testing.assert_allclose([a.item() for a in arrays], [0.6, 0.8], rtol=1e-6)
    arrays[0][...] = onp.inf
    with pytest.warns(UserWarning, match="the norm is inf"):
        gluon.utils.clip_global_norm(arrays, 1.0)
    parts = gluon.utils.split_and_load(
        onp.arange(10).reshape(5, 2), [npx.cpu(), "cpu(0)"], even_split=False
    )
    assert [p.shape for p in parts] == [(3, 2), (2, 2)]
    assert [p.shape for p in gluon.utils.split_data(np.zeros((2, 6)), 3, batch_axis=1)] == [
        (2, 2)
    ] * 3
    with pytest.raises(ValueError, match="can't be cut into 3 equal parts"):
        gluon.utils.split_data(np.zeros(4), 3)
    with pytest.raises(ValueError, match="can't be cut into 3 equal parts"):
        gluon.utils.split_data(np.zeros(2), 3)
    parts = gluon.utils.split_data(np.arange(5), 7, even_split=False)
    assert [p.tolist() for p in parts] == [[0], [1], [2], [3], [4], [], []]


def test_download_keeps_a_file_that_is_there(tmp_path):
    file = tmp_path / "data.bin"
    file.write_bytes(b"content")
    sha1 = "040f06fd774092478d450774f5ba30c5da78acc8"
    assert gluon.utils.download("http://nowhere.invalid/data.bin", file, sha1_hash=sha1) == str(
        file
    )
    target = gluon.utils.download(file.as_uri(), tmp_path / "copy", sha1_hash=sha1)
    assert gluon.utils.check_sha1(target, sha1)
    with pytest.raises(OSError, match="another SHA-1"):
        gluon.utils.download(file.as_uri(), tmp_path / "other", sha1_hash="0" * 40, retries=1)


def test_compiled_steps_see_another_scale():
    net = gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize("ones")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})

    @npx.jit
    def step(x):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
        trainer.step(1)

    changes = []
    for scale in (1.0, 0.5, 0.5, 2.0):
        trainer._scale = scale  # programs that sum gradients themselves divide it
        before = net.weight.data().asnumpy()
        step(np.ones((1, 2)))
        changes.append((before - net.weight.data().asnumpy())[0, 0])
    assert changes == [1.0, 0.5, 0.5, 2.0]
