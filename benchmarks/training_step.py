"""A whole training step (record, backward, `trainer.step`) under `npx.jit`, against a hand-written, donated `jax.jit` + optax step."""

from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import optax

from benchmarks.timing import interleaved
from npcompat import autograd, gluon, np, npx


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratio for an MLP of several widths."""
    return {f"{width}": _compare(width, batch, seconds) for width, batch in ((32, 64), (128, 64), (512, 128))}


def _compare(width: int, batch: int, seconds: float) -> float:
    random = numpy.random.RandomState(0)
    images = random.normal(size=(batch, 64)).astype("float32")
    labels = random.randint(0, 10, size=batch)

    net = gluon.nn.HybridSequential()
    sizes = (64, width, width, 10)
    for before, after in pairwise(sizes):
        net.add(gluon.nn.Dense(after, in_units=before, activation="relu" if after != 10 else None))
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
            h = x
            for i, (weight, bias) in enumerate(zip(flat[::2], flat[1::2], strict=True)):
                h = h @ weight.T + bias
                h = jnp.maximum(h, 0) if i < 2 else h
            return optax.softmax_cross_entropy_with_integer_labels(h, y).mean()

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
    ratio = times["npx.jit"] / times["by hand"]
    ours, by_hand_time = times["npx.jit"], times["by hand"]
    print(f"MLP 64-{width}-{width}-10, batch {batch}: npx.jit {ours:.1f} us, by hand {by_hand_time:.1f} us, ratio {ratio:.2f}")
    return ratio
