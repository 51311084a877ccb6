"""Compiled training steps on two devices that XLA simulates on a CPU, against JAX.

Both have the same weights, the same shardings, and optax's or our Adam; each step is waited for,
and gradients are not kept. The rows of a batch are cut in two (data parallel), or parameters and
their states, too (`fsdp=`).
"""

import json
import sys
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import optax
from jax.sharding import NamedSharding, PartitionSpec

from benchmarks.processes import output
from benchmarks.report import Table
from benchmarks.timing import STEADY, Function
from npcompat import autograd, gluon, np, npx

FLAG = "--xla_force_host_platform_device_count=2"
RATE = 1e-3
SIZES = ((64, 64), (512, 256))  # units of a layer, and rows
CLASSES = 16


def run(seconds: float) -> dict[str, Any]:
    """Print and return a table, made by a process that has two devices."""
    printed = output(["-m", "benchmarks.devices", str(seconds)], XLA_FLAGS=FLAG).splitlines()
    print("\n".join(printed[:-1]))
    found: dict[str, Any] = json.loads(printed[-1])
    return found


def here(seconds: float) -> dict[str, Any]:
    """Return the table, where JAX has two devices."""
    columns = ("step", "by hand")
    table = Table("training steps on two devices, us", [columns], columns)
    for is_cut in (False, True):
        for loss in ("squared", "cross-entropy"):
            for units, rows in SIZES:
                how = "fsdp" if is_cut else "data parallel"
                name = f"{loss}, {units} units, {how}"
                table.measure(name, ways(loss, units, rows, is_cut), seconds, turn=STEADY)
    return {"devices": table.close()}


def ways(loss: str, units: int, rows: int, is_cut: bool) -> dict[str, Function]:
    """Return functions that run a step and wait for it, and have the same losses."""
    random = numpy.random.default_rng(0)
    x = random.normal(size=(rows, units)).astype("float32")
    if loss == "squared":
        y: Any = random.normal(size=(rows, CLASSES)).astype("float32")
    else:
        y = random.integers(0, CLASSES, rows).astype("int32")
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(units, "relu"), gluon.nn.Dense(units, "relu"), gluon.nn.Dense(CLASSES))
    net.initialize()
    net(np.array(x))  # infers shapes
    weights = {name: p.data().asnumpy() for name, p in net.collect_params().items()}
    steps = {
        "step": npcompats(net, loss, x, y, is_cut),
        "by hand": by_hand(weights, loss, x, y, is_cut),
    }
    losses = {name: [float(step()) for _ in range(3)] for name, step in steps.items()}  # type: ignore[arg-type]
    numpy.testing.assert_allclose(losses["step"], losses["by hand"], rtol=2e-3)
    return steps


def npcompats(net: Any, loss: str, inputs: Any, labels: Any, is_cut: bool) -> Function:
    """Return a compiled training step of Gluon on a mesh."""
    mesh = npx.Mesh(data=-1)
    net.shard(mesh, fsdp="data" if is_cut else None, least=1)
    x, y = (np.array(a, dtype=a.dtype, device=mesh("data")) for a in (inputs, labels))
    loss_of = gluon.loss.L2Loss() if loss == "squared" else gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": RATE})

    @npx.jit
    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            found = loss_of(net(x), y).mean()
        found.backward()
        trainer.step(1)
        net.zero_grad()  # then no gradients are kept, as in the one by hand
        return found

    def waited() -> Any:
        found = step(x, y)
        found.wait_to_read()
        return found

    return waited


def by_hand(weights: dict[str, Any], loss: str, inputs: Any, labels: Any, is_cut: bool) -> Function:
    """Return a training step of JAX and optax with the shardings of `net.shard`."""
    mesh = jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    whole, cut = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",)))
    optimizer = optax.adam(RATE)
    flat = {
        name: jax.device_put(value, cut if is_cut else whole) for name, value in weights.items()
    }
    state = jax.tree.map(
        lambda a: jax.device_put(a, cut if is_cut and a.ndim else whole), optimizer.init(flat)
    )
    x, y = (jax.device_put(a, cut) for a in (inputs, labels))

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(flat: Any, state: Any, x: Any, y: Any) -> Any:
        def loss_of(flat: Any) -> Any:
            h = x
            for layer in range(3):
                h = h @ flat[f"{layer}.weight"].T + flat[f"{layer}.bias"]
                h = jnp.maximum(h, 0) if layer < 2 else h
            if loss == "squared":
                return (jnp.square(h - y) / 2).mean()
            return optax.softmax_cross_entropy_with_integer_labels(h, y).mean()

        value, grads = jax.value_and_grad(loss_of)(flat)
        updates, state = optimizer.update(grads, state)
        flat = optax.apply_updates(flat, updates)
        if is_cut:
            flat, state = (
                jax.tree.map(
                    lambda a: jax.lax.with_sharding_constraint(a, cut if a.ndim else whole), tree
                )
                for tree in (flat, state)
            )
        return flat, state, value

    held = [flat, state]

    def waited() -> Any:
        *held[:], value = step(*held, x, y)
        return value.block_until_ready()

    return waited


if __name__ == "__main__":
    print(json.dumps(here(float(sys.argv[1]))))
