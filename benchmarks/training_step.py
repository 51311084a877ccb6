"""Training steps (loss, gradient, Adam): npcompat against JAX, flax and torch.

npcompat runs eager, hybridized and as one compiled step. `by hand` is a donated `jax.jit` of JAX
and optax, `flax` the step of flax.nnx under its `nnx.jit`, `torch` torch eager, `inductor` the same
with the network under `torch.compile`. npcompat and `by hand` start with the same weights, and must
have the same losses; torch's network must have the same number of parameters.
"""

import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import optax

from benchmarks.models import CLASSES, MODELS
from benchmarks.report import Table
from benchmarks.timing import PAUSE, STEADY, Function
from npcompat import autograd, gluon, np, npx

COLUMNS = ("eager", "hybridized", "step", "by hand", "flax", "torch", "inductor")
PAIRS = (
    ("step", "by hand"),
    ("step", "flax"),
    ("step", "torch"),
    ("step", "inductor"),
    ("hybridized", "by hand"),
    ("eager", "torch"),
)
RATE = 1e-3


def run(seconds: float) -> dict[str, Any]:
    """Return a table with a row for each network."""
    table = Table("training steps, us", PAIRS, COLUMNS)
    for name, model in MODELS.items():
        table.measure(name, ways(model), seconds, pause=PAUSE, turn=STEADY)
    return {"training": table.close()}


def ways(model: ModuleType) -> dict[str, Function]:
    """Return functions that run a step and wait for it; those that must agree are compared."""
    x, y = batch(model)
    weights = initial(model)
    steps: dict[str, Function] = {
        mode: npcompats(model, mode, weights, x, y) for mode in ("eager", "hybridized", "step")
    }
    steps["by hand"] = by_hand(model, weights, x, y)
    losses = {name: [float(step()) for _ in range(3)] for name, step in steps.items()}  # type: ignore[arg-type]
    for name, found in losses.items():
        numpy.testing.assert_allclose(
            found, losses["by hand"], rtol=2e-3, err_msg=f"{model.__name__}, {name}"
        )
    if find_spec("flax"):
        steps["flax"] = flaxs(model, x, y)
    if find_spec("torch"):
        steps["torch"] = torchs(model, x, y, compiled=False)
        try:
            steps["inductor"] = torchs(model, x, y, compiled=True)
        except RuntimeError as error:  # no C++ compiler, or an unsupported network
            print(f"torch.compile fails on {model.__name__}: {str(error).splitlines()[0]}")
    return steps


def batch(model: ModuleType) -> tuple[Any, Any]:
    """Return NumPy arrays of inputs and of labels."""
    random = numpy.random.RandomState(0)
    return random.normal(size=model.SHAPE).astype("float32"), random.randint(
        0, CLASSES, size=model.SHAPE[0]
    )


def initial(model: ModuleType) -> dict[str, Any]:
    """Return initial weights, by the names of the block's parameters."""
    np.random.seed(0)
    net = model.net()
    net.initialize()
    net(np.array(batch(model)[0]))  # infers shapes
    return {name: parameter.data().asnumpy() for name, parameter in net.collect_params().items()}


def npcompats(
    model: ModuleType, mode: str, weights: dict[str, Any], inputs: Any, labels: Any
) -> Function:
    """Return a training step of Gluon; `mode` is eager, hybridized, or step."""
    net, loss_of = model.net(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    with npx.backend("jax"):  # the backend of the other batches
        x, y = np.array(inputs), np.array(labels)
    net(x)  # infers shapes
    parameters = net.collect_params()
    for name, parameter in parameters.items():
        parameter.set_data(np.array(weights[name]))
    trainer = gluon.Trainer(parameters, "adam", {"learning_rate": RATE})
    if mode == "hybridized":
        net.hybridize()
        loss_of.hybridize()

    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            loss = loss_of(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        if mode == "step":
            net.zero_grad()  # then no gradients are kept, as in the one by hand
        return loss

    function = npx.jit(step) if mode == "step" else step
    last = list(parameters.values())[-1]

    def waited() -> Any:
        loss = function(x, y)
        loss.wait_to_read()
        if mode != "step":
            last.data().wait_to_read()
        return loss

    return waited


def by_hand(model: ModuleType, weights: dict[str, Any], inputs: Any, labels: Any) -> Function:
    """Return a training step of plain JAX and optax, with explicit state."""
    optimizer = optax.adam(RATE)
    running = {name: jnp.array(value) for name, value in weights.items() if ".running_" in name}
    flat = {name: jnp.array(value) for name, value in weights.items() if name not in running}
    x, y = jnp.asarray(inputs), jnp.asarray(labels)

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(flat: Any, running: Any, state: Any, x: Any, y: Any) -> Any:
        def loss_of(flat: Any) -> Any:
            scores, changed = model.by_hand(flat | running, x)
            return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean(), changed

        (loss, running_now), grads = jax.value_and_grad(loss_of, has_aux=True)(flat)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(flat, updates), running_now, state, loss

    held = [flat, running, optimizer.init(flat)]

    def waited() -> Any:
        *held[:], loss = step(*held, x, y)
        return loss.block_until_ready()

    return waited


def flaxs(model: ModuleType, inputs: Any, labels: Any) -> Function:
    """Return a training step of flax.nnx and optax, as in its manual."""
    from flax import nnx  # optional: measured where it is installed

    net = model.flax_net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.adam(RATE), wrt=nnx.Param)
    x, y = (
        jnp.asarray(numpy.moveaxis(inputs, 1, -1) if inputs.ndim == 4 else inputs),
        jnp.asarray(labels),
    )

    @nnx.jit
    def step(net: Any, optimizer: Any, x: Any, y: Any) -> Any:
        def loss_of(net: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean()

        loss, grads = nnx.value_and_grad(loss_of)(net)
        optimizer.update(net, grads)
        return loss

    return lambda: step(net, optimizer, x, y).block_until_ready()


def torchs(model: ModuleType, inputs: Any, labels: Any, compiled: bool) -> Function:
    """Return a training step of torch, on the same kind of device as JAX's."""
    import torch  # optional: measured where it is installed

    device = "cuda" if jax.default_backend() == "gpu" and torch.cuda.is_available() else "cpu"
    wait: Callable[[], None] = torch.cuda.synchronize if device == "cuda" else lambda: None
    net = model.torch_net().to(device)
    count = sum(p.numel() for p in net.parameters())
    ours = sum(value.size for name, value in initial(model).items() if ".running_" not in name)
    assert count == ours, (
        f"{model.__name__}: torch's network has {count} parameters, npcompat's {ours}"
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    x, y = torch.tensor(inputs).to(device), torch.tensor(labels).to(device)
    forward = torch.compile(net) if compiled else net

    def step() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        wait()
        return loss

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.compile's own warnings
        step()
    return step
