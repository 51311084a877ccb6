"""Training on a mesh equals training on one device, however parameters are laid out."""

import pytest
from several_devices import run_on_devices

TRAINING = """
import optax

def make():
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Dense(32, "relu", in_units=16),
        gluon.nn.BatchNorm(in_channels=32),
        gluon.nn.Dropout(0.25),
        gluon.nn.Dense(64, "relu", in_units=32),
        gluon.nn.Dense(8, in_units=64),
    )
    return net

RULES = {
    r"^0\\.weight": ("model", None), r"^0\\.bias": "model", r"^3\\.weight": (None, "model"),
    r"^4\\.weight": (None, "model"),
}
OPTIMIZERS = {
    "sgd": lambda: ("sgd", {"learning_rate": 0.1, "momentum": 0.9}),
    "adam": lambda: ("adam", {"learning_rate": 0.01}),
    "optax": lambda: (optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.01)), None),
}

def batch_of(layout, way, x, y):
    if layout == "one":
        return x, y
    if layout == "ctx":
        (x,), (y,) = [gluon.utils.split_and_load(a, ctx) for a in (x, y)]
        return x, y
    where = grid if layout == "tensor" else mesh
    return npx.shard(x, where, "data"), npx.shard(y, where, "data")

def train(layout, way, optimizer, steps=5):
    np.random.seed(1)
    xs, ys = onp.random.default_rng(0).normal(size=(steps, 32, 16)), onp.arange(32) % 8
    net = make()
    if layout == "data":
        net.initialize(init.Xavier(), device=mesh)
    elif layout == "ctx":
        net.initialize(init.Xavier(), ctx=ctx)
    else:
        net.initialize(init.Xavier())
    if layout == "fsdp":
        table = net.shard(mesh, {"bias|gamma|beta|running": None}, fsdp="data", least=32)
    elif layout == "tensor":
        table = net.shard(grid, RULES)
    if way == "hybrid":
        net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), *OPTIMIZERS[optimizer]())
    def step(x, y):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(32)
        return loss.mean()
    if way == "step":
        step = npx.jit(step)
    places = {n: p.data().device for n, p in net.collect_params().items()}
    losses = []
    with npx.compile_log() as log:
        for x in xs:
            given = batch_of(layout, way, np.array(x, "float32"), np.array(ys))
            losses.append(float(step(*given)))
    if way == "step":
        assert sum(entry.name == "step" for entry in log) == 1, [e.name for e in log]
    params = net.collect_params()
    assert {n: p.data().device for n, p in params.items()} == places
    for n, p in params.items():
        if p.grad_req != "null":
            assert p.grad().device == places[n], (n, p.grad().device)
    if layout == "fsdp":
        check_bytes(net, trainer)
    if optimizer == "adam":
        for i, states in trainer._updater.states.items():
            for state in states:
                assert state.device == trainer._params[i].data().device, (i, state.device)
    return losses, {n: p.data().asnumpy() for n, p in params.items()}

def check_bytes(net, trainer):
    arrays = [p.data() for p in net.collect_params().values() if p.data().size >= 1024]
    arrays += [a for a in trainer._memory().values() if a.size >= 1024]
    total = sum(a.nbytes for a in arrays)
    here = sum(a._value.payload.addressable_shards[0].data.nbytes for a in arrays)
    assert here <= total / mesh.size * 1.05, (here, total)

def compare(layouts, ways, optimizers):
    worst = 0
    for optimizer in optimizers:
        for way in ways:
            losses, params = train("one", way, optimizer)
            for layout in layouts:
                found = train(layout, way, optimizer)
                apart = [onp.abs(onp.subtract(losses, found[0])).max()]
                apart += [onp.abs(params[n] - found[1][n]).max() for n in params]
                print(f"{mesh.size} {layout:7} {way:7} {optimizer:6} {max(apart):.1e}", flush=True)
                worst = max(worst, *apart)
    assert worst <= 1e-5, worst
"""
MESHES = """
mesh = npx.Mesh(data=-1)
grid = npx.Mesh(data=-1, model=2)
ctx = [npx.cpu(i) for i in range(mesh.size)]
"""
LAYOUTS = ["data", "fsdp", "tensor", "ctx"]


def test_training_with_adam_equals_that_of_one_device():
    run_on_devices(2, TRAINING, MESHES, f"compare({LAYOUTS}, ['step'], ['adam'])", timeout=600)


def test_eager_and_hybridized_training_equal_that_of_one_device():
    call = "compare(['fsdp'], ['eager', 'hybrid'], ['adam'])"
    run_on_devices(2, TRAINING, MESHES, call, timeout=600)


def test_training_with_optax_on_eight_devices_equals_that_of_one():
    run_on_devices(8, TRAINING, MESHES, "compare(['fsdp'], ['step'], ['optax'])", timeout=600)


MOVED = """
def train_on(layouts, optimizer, way):
    np.random.seed(0)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, in_units=8), gluon.nn.Dense(4, in_units=16))
    net.initialize(init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), *OPTIMIZERS[optimizer]())
    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
        return loss
    if way == "step":
        step = npx.jit(step)
    losses = []
    for i in range(6):
        x = np.array(onp.random.default_rng(i).normal(size=(16, 8)).astype("float32"))
        where = layouts.get(i // 2)
        if where and i % 2 == 0:
            net.shard(where, {"0.weight": "data"}, fsdp="data", least=8)
        losses.append(float(step(npx.shard(x, where, "data") if where else x)))
        state = trainer._memory().values() if i % 2 else ()
        assert not where or all(isinstance(a.device, npx.Sharding) for a in state), i
    return losses
for optimizer in ("adam", "optax"):
    for way in ("eager", "step"):
        expected = train_on({}, optimizer, way)
        found = train_on({1: mesh, 2: grid}, optimizer, way)
        assert onp.abs(onp.subtract(found, expected)).max() <= 1e-6, (optimizer, way)
"""


def test_a_network_that_is_laid_out_between_steps_trains_on():
    run_on_devices(4, TRAINING, MESHES, MOVED)


@pytest.mark.slow
@pytest.mark.parametrize("devices", [2, 8])
def test_all_ways_of_training_equal_one_device(devices):
    ways, rules = ["eager", "hybrid", "step"], ["sgd", "adam", "optax"]
    run_on_devices(devices, TRAINING, MESHES, f"compare({LAYOUTS}, {ways}, {rules})", timeout=1800)
