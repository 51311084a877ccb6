"""LeNet (LeCun et al., 1998) with ReLU: two convolutions with pooling, three dense layers."""

from typing import Any

import jax
import jax.numpy as jnp

from npcompat import gluon

SHAPE = (32, 1, 28, 28)


def net() -> Any:
    block = gluon.nn.HybridSequential()
    for before, after in ((1, 6), (6, 16)):
        block.add(
            gluon.nn.Conv2D(
                after,
                in_channels=before,
                kernel_size=5,
                padding=2 if before == 1 else 0,
                activation="relu",
            )
        )
        block.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    block.add(gluon.nn.Flatten(), gluon.nn.Dense(120, in_units=400, activation="relu"))
    block.add(gluon.nn.Dense(84, in_units=120, activation="relu"), gluon.nn.Dense(10, in_units=84))
    return block


def by_hand(p: Any, x: Any) -> Any:
    for i, padding in ((0, "SAME"), (2, "VALID")):
        x = jax.lax.conv_general_dilated(
            x, p[f"{i}.weight"], (1, 1), padding, dimension_numbers=("NCHW", "OIHW", "NCHW")
        )
        x = jnp.maximum(x + p[f"{i}.bias"][:, None, None], 0)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = x.reshape(len(x), -1)
    for i in (5, 6):
        x = jnp.maximum(x @ p[f"{i}.weight"].T + p[f"{i}.bias"], 0)
    return x @ p["7.weight"].T + p["7.bias"], {}


def torch_net() -> Any:
    from torch import nn  # optional: measured where it is installed

    convolutions = [
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
    ]
    return nn.Sequential(
        *convolutions,
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def flax_net(rngs: Any) -> Any:
    from flax import nnx  # optional: measured where it is installed

    def pooled(x: Any) -> Any:
        return nnx.max_pool(nnx.relu(x), (2, 2), (2, 2))

    return nnx.Sequential(
        nnx.Conv(1, 6, (5, 5), rngs=rngs), pooled,
        nnx.Conv(6, 16, (5, 5), padding="VALID", rngs=rngs), pooled,
        lambda x: x.reshape(len(x), -1), nnx.Linear(400, 120, rngs=rngs), nnx.relu,
        nnx.Linear(120, 84, rngs=rngs), nnx.relu, nnx.Linear(84, 10, rngs=rngs),
    )  # fmt: skip
