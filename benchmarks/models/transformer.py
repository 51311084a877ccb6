"""Two post-norm Transformer encoder layers (Vaswani et al., 2017); the mean is classified."""

from typing import Any

import jax
import jax.numpy as jnp

from npcompat import gluon

SHAPE = (16, 32, 64)
UNITS, INNER, HEADS, LAYERS = 64, 256, 4, 2


class Classifier(gluon.HybridBlock):
    """Classifier of sequences."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = gluon.nn.HybridSequential()
        for _ in range(LAYERS):
            self.layers.add(gluon.nn.TransformerEncoderCell(UNITS, INNER, HEADS, dropout=0.0))
        self.output = gluon.nn.Dense(10, in_units=UNITS)

    def forward(self, x: Any) -> Any:
        return self.output(self.layers(x).mean(axis=1))


def net() -> Any:
    return Classifier()


def by_hand(p: Any, x: Any) -> Any:
    def dense(name: str, x: Any) -> Any:
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def normalized(name: str, x: Any) -> Any:
        mean = x.mean(axis=-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p[f"{name}.gamma"] + p[f"{name}.beta"]

    def attention(name: str, x: Any) -> Any:
        q, k, v = [
            dense(f"{name}.{part}_proj", x).reshape(*x.shape[:2], HEADS, -1)
            for part in ("query", "key", "value")
        ]
        weights = jax.nn.softmax(
            jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1]), axis=-1
        )
        return dense(f"{name}.out_proj", jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape))

    for i in range(LAYERS):
        x = normalized(f"layers.{i}.attention_norm", x + attention(f"layers.{i}.attention", x))
        inner = dense(f"layers.{i}.output", jax.nn.relu(dense(f"layers.{i}.hidden", x)))
        x = normalized(f"layers.{i}.output_norm", x + inner)
    return dense("output", x.mean(axis=1)), {}


def torch_net() -> Any:
    from torch import nn  # optional: measured where it is installed

    class Torchs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(
                *[
                    nn.TransformerEncoderLayer(UNITS, HEADS, INNER, dropout=0.0, batch_first=True)
                    for _ in range(LAYERS)
                ]
            )
            self.output = nn.Linear(UNITS, 10)

        def forward(self, x: Any) -> Any:
            return self.output(self.layers(x).mean(dim=1))

    return Torchs()


def flax_net(rngs: Any) -> Any:
    from flax import nnx  # optional: measured where it is installed

    class Layer(nnx.Module):
        def __init__(self) -> None:
            self.attention = nnx.MultiHeadAttention(HEADS, UNITS, decode=False, rngs=rngs)
            self.attention_norm = nnx.LayerNorm(UNITS, epsilon=1e-5, rngs=rngs)
            self.hidden = nnx.Linear(UNITS, INNER, rngs=rngs)
            self.inner = nnx.Linear(INNER, UNITS, rngs=rngs)
            self.output_norm = nnx.LayerNorm(UNITS, epsilon=1e-5, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.attention_norm(x + self.attention(x))
            return self.output_norm(x + self.inner(nnx.relu(self.hidden(x))))

    return nnx.Sequential(
        *[Layer() for _ in range(LAYERS)],
        lambda x: x.mean(axis=1),
        nnx.Linear(UNITS, 10, rngs=rngs),
    )
