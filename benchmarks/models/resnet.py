"""ResNet-18 (He et al., 2016) for small images, with a quarter of the channels.

There is no pooling at the beginning.
"""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp

from npcompat.gluon.model_zoo import vision

SHAPE = (16, 3, 32, 32)
CHANNELS = (16, 16, 32, 64, 128)
MOMENTUM, EPSILON = 0.9, 1e-5


def net() -> Any:
    return vision.ResNetV1(vision.BasicBlockV1, (2, 2, 2, 2), CHANNELS, classes=10, thumbnail=True)


def by_hand(p: Any, x: Any) -> Any:
    changed = {}

    def convolved(name: str, x: Any, stride: int) -> Any:
        width = p[f"{name}.weight"].shape[2] // 2
        numbers = ("NCHW", "OIHW", "NCHW")
        return jax.lax.conv_general_dilated(
            x,
            p[f"{name}.weight"],
            (stride, stride),
            [(width, width)] * 2,
            dimension_numbers=numbers,
        )

    def normalized(name: str, x: Any) -> Any:
        mean, variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
        for which, value in (("running_mean", mean), ("running_var", variance)):
            changed[f"{name}.{which}"] = MOMENTUM * p[f"{name}.{which}"] + (
                1 - MOMENTUM
            ) * jax.lax.stop_gradient(value)
        scale = p[f"{name}.gamma"] * jax.lax.rsqrt(variance + EPSILON)
        return (x - mean[:, None, None]) * scale[:, None, None] + p[f"{name}.beta"][:, None, None]

    x = convolved("features.0", x, 1)
    for stage in range(1, 5):
        for block in range(2):
            name, stride = f"features.{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            inner = jax.nn.relu(
                normalized(f"{name}.body.1", convolved(f"{name}.body.0", x, stride))
            )
            inner = normalized(f"{name}.body.4", convolved(f"{name}.body.3", inner, 1))
            if stride == 2:
                x = normalized(f"{name}.downsample.1", convolved(f"{name}.downsample.0", x, 2))
            x = jax.nn.relu(inner + x)
    return x.mean(axis=(2, 3)) @ p["output.weight"].T + p["output.bias"], changed


def torch_net() -> Any:
    from torch import nn  # optional: measured where it is installed

    class Block(nn.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(before, after, 3, stride, 1, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
                nn.Conv2d(after, after, 3, 1, 1, bias=False),
                nn.BatchNorm2d(after),
            )
            self.downsample = nn.Identity()
            if stride == 2:
                self.downsample = nn.Sequential(
                    nn.Conv2d(before, after, 1, 2, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x: Any) -> Any:
            return nn.functional.relu(self.body(x) + self.downsample(x))

    blocks = [
        Block(before if block == 0 else after, after, 2 if stage > 0 and block == 0 else 1)
        for stage, (before, after) in enumerate(pairwise(CHANNELS))
        for block in range(2)
    ]
    stem = nn.Conv2d(3, CHANNELS[0], 3, 1, 1, bias=False)
    return nn.Sequential(
        stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS[-1], 10)
    )


def flax_net(rngs: Any) -> Any:
    from flax import nnx  # optional: measured where it is installed

    def convolution(before: int, after: int, width: int, stride: int) -> Any:
        padding = [(width // 2, width // 2)] * 2
        return nnx.Conv(
            before,
            after,
            (width, width),
            (stride, stride),
            padding=padding,
            use_bias=False,
            rngs=rngs,
        )

    def norm(channels: int) -> Any:
        return nnx.BatchNorm(channels, momentum=MOMENTUM, epsilon=EPSILON, rngs=rngs)

    class Block(nnx.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            self.body = nnx.Sequential(
                convolution(before, after, 3, stride),
                norm(after),
                nnx.relu,
                convolution(after, after, 3, 1),
                norm(after),
            )
            self.downsample = (
                nnx.Sequential(convolution(before, after, 1, 2), norm(after))
                if stride == 2
                else None
            )

        def __call__(self, x: Any) -> Any:
            return nnx.relu(self.body(x) + (x if self.downsample is None else self.downsample(x)))

    blocks = [
        Block(before if block == 0 else after, after, 2 if stage > 0 and block == 0 else 1)
        for stage, (before, after) in enumerate(pairwise(CHANNELS))
        for block in range(2)
    ]
    return nnx.Sequential(
        convolution(3, CHANNELS[0], 3, 1),
        *blocks,
        lambda x: jnp.mean(x, axis=(1, 2)),
        nnx.Linear(CHANNELS[-1], 10, rngs=rngs),
    )
