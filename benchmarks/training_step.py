"""A whole training step (record, backward, `trainer.step`) under `npx.jit`, against a hand-written, donated `jax.jit` + optax step."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import optax

from benchmarks.timing import geometric_mean, interleaved
from npcompat import autograd, gluon, np, npx


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratios for MLPs of several widths and a LeNet, and their geometric mean."""
    ratios = {}
    for width, batch in ((32, 64), (128, 64), (512, 128)):
        ratios[f"MLP 64-{width}-{width}-10, batch {batch}"] = _compare(_mlp(width), _mlp_by_hand, (batch, 64), seconds)
    ratios["LeNet on 8x8, batch 64"] = _compare(_lenet(), _lenet_by_hand, (64, 1, 8, 8), seconds)
    ratios["geometric mean"] = geometric_mean(list(ratios.values()))
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")
    return ratios


def _mlp(width: int) -> Any:
    net = gluon.nn.HybridSequential()
    for before, after in pairwise((64, width, width, 10)):
        net.add(gluon.nn.Dense(after, in_units=before, activation="relu" if after != 10 else None))
    return net


def _mlp_by_hand(flat: Any, x: Any) -> Any:
    for i, (weight, bias) in enumerate(zip(flat[::2], flat[1::2], strict=True)):
        x = x @ weight.T + bias
        x = jnp.maximum(x, 0) if i < 2 else x
    return x


def _lenet() -> Any:
    net = gluon.nn.HybridSequential()
    for before, after in ((1, 16), (16, 32)):
        net.add(gluon.nn.Conv2D(after, in_channels=before, kernel_size=3, padding=1, activation="relu"))
        net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    net.add(gluon.nn.Flatten(), gluon.nn.Dense(64, in_units=128, activation="relu"), gluon.nn.Dense(10, in_units=64))
    return net


def _lenet_by_hand(flat: Any, x: Any) -> Any:
    for weight, bias in zip(flat[0:4:2], flat[1:4:2], strict=True):
        x = jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        x = jnp.maximum(x + bias[:, None, None], 0)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = jnp.maximum(x.reshape(x.shape[0], -1) @ flat[4].T + flat[5], 0)
    return x @ flat[6].T + flat[7]


def _compare(net: Any, model_by_hand: Callable[[Any, Any], Any], shape: tuple[int, ...], seconds: float) -> float:
    random = numpy.random.RandomState(0)
    images = random.normal(size=shape).astype("float32")
    labels = random.randint(0, 10, size=shape[0])
    net.initialize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    flat = tuple(jnp.asarray(p.data().asnumpy()) for p in net.collect_params().values())

    @npx.jit
    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            loss = loss_of(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        return loss

    optimizer = optax.adam(1e-3)

    @partial(jax.jit, donate_argnums=(0, 1))
    def by_hand(flat: Any, state: Any, x: Any, y: Any) -> Any:
        def loss_by_hand(flat: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(model_by_hand(flat, x), y).mean()

        loss, grads = jax.value_and_grad(loss_by_hand)(flat)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(flat, updates), state, loss

    held = {"flat": flat, "state": optimizer.init(flat)}
    jx, jy = jnp.asarray(images), jnp.asarray(labels)
    x, y = np.array(images), np.array(labels)

    def reference() -> None:
        held["flat"], held["state"], loss = by_hand(held["flat"], held["state"], jx, jy)
        loss.block_until_ready()

    first = float(step(x, y))
    held["flat"], held["state"], expected = by_hand(held["flat"], held["state"], jx, jy)
    numpy.testing.assert_allclose(first, expected, rtol=1e-4)
    times = interleaved({"npx.jit": lambda: step(x, y).wait_to_read(), "by hand": reference}, seconds)
    print(f"npx.jit {times['npx.jit']:.1f} us, by hand {times['by hand']:.1f} us")
    return times.ratio("npx.jit", "by hand")
