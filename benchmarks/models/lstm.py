"""LSTM layer (Hochreiter and Schmidhuber, 1997), whose last output is classified."""

from typing import Any

import jax
import jax.numpy as jnp

from npcompat import gluon

SHAPE = (32, 40, 32)
HIDDEN = 64


class Classifier(gluon.HybridBlock):
    """Classifier of sequences."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = gluon.rnn.LSTM(HIDDEN, layout="NTC", input_size=SHAPE[2])
        self.output = gluon.nn.Dense(10, in_units=HIDDEN)

    def forward(self, x: Any) -> Any:
        return self.output(self.lstm(x)[:, -1])


def net() -> Any:
    return Classifier()


def by_hand(p: Any, x: Any) -> Any:
    weight, bias = p["lstm.l0_h2h_weight"].T, p["lstm.l0_i2h_bias"] + p["lstm.l0_h2h_bias"]
    gates = jnp.swapaxes(x, 0, 1) @ p["lstm.l0_i2h_weight"].T + bias  # of all steps at once

    def step(state: Any, gates: Any) -> Any:
        h, c = state
        into, keep, new, out = jnp.split(gates + h @ weight, 4, axis=1)
        c = jax.nn.sigmoid(keep) * c + jax.nn.sigmoid(into) * jnp.tanh(new)
        return (jax.nn.sigmoid(out) * jnp.tanh(c), c), None

    zeros = jnp.zeros((len(x), HIDDEN), x.dtype)
    (h, _), _ = jax.lax.scan(step, (zeros, zeros), gates)
    return h @ p["output.weight"].T + p["output.bias"], {}


def torch_net() -> Any:
    from torch import nn  # optional: measured where it is installed

    class Torchs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(SHAPE[2], HIDDEN, batch_first=True)
            self.output = nn.Linear(HIDDEN, 10)

        def forward(self, x: Any) -> Any:
            return self.output(self.lstm(x)[0][:, -1])

    return Torchs()


def flax_net(rngs: Any) -> Any:
    from flax import nnx  # optional: measured where it is installed

    cell = nnx.OptimizedLSTMCell(SHAPE[2], HIDDEN, rngs=rngs)
    return nnx.Sequential(nnx.RNN(cell), lambda x: x[:, -1], nnx.Linear(HIDDEN, 10, rngs=rngs))
