"""Three dense layers."""

from itertools import pairwise
from typing import Any

import jax.numpy as jnp

from npcompat import gluon

SHAPE = (64, 256)
WIDTHS = (256, 128, 128, 10)


def net(widths: tuple[int, ...] = WIDTHS) -> Any:
    block = gluon.nn.HybridSequential()
    for before, after in pairwise(widths):
        block.add(
            gluon.nn.Dense(
                after, in_units=before, activation="relu" if after != widths[-1] else None
            )
        )
    return block


def by_hand(p: Any, x: Any) -> Any:
    for i in range(len(WIDTHS) - 1):
        x = x @ p[f"{i}.weight"].T + p[f"{i}.bias"]
        x = jnp.maximum(x, 0) if i + 2 < len(WIDTHS) else x
    return x, {}


def torch_net() -> Any:
    from torch import nn  # optional: measured where it is installed

    layers = [
        layer
        for before, after in pairwise(WIDTHS)
        for layer in (nn.Linear(before, after), nn.ReLU())
    ]
    return nn.Sequential(*layers[:-1])


def flax_net(rngs: Any) -> Any:
    from flax import nnx  # optional: measured where it is installed

    layers = [
        layer
        for before, after in pairwise(WIDTHS)
        for layer in (nnx.Linear(before, after, rngs=rngs), nnx.relu)
    ]
    return nnx.Sequential(*layers[:-1])
