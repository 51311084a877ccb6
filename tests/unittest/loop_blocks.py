"""Blocks whose `forward` loops over time steps, as people write them."""

from npcompat import np
from npcompat.gluon import nn


class LSTM(nn.HybridBlock):
    """An LSTM cell in a loop, which returns the last output."""

    def __init__(self, units, inputs):
        super().__init__()
        self.units = units
        self.i2h = nn.Dense(4 * units, in_units=inputs, flatten=False)
        self.h2h = nn.Dense(4 * units, in_units=units, flatten=False, use_bias=False)

    def forward(self, x):
        h = np.zeros((x.shape[1], self.units))
        c = np.zeros((x.shape[1], self.units))
        for t in range(x.shape[0]):
            gates = self.i2h(x[t]) + self.h2h(h)
            i, f, g, o = np.split(gates, 4, axis=-1)
            c = npx_sigmoid(f) * c + npx_sigmoid(i) * np.tanh(g)
            h = npx_sigmoid(o) * np.tanh(c)
        return h


def npx_sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Collected(LSTM):
    """The same, which returns all outputs, written into one array."""

    def forward(self, x):
        h = np.zeros((x.shape[1], self.units))
        out = np.zeros((x.shape[0], x.shape[1], self.units))
        for t in range(x.shape[0]):
            h = np.tanh(self.h2h(h)[:, : self.units] + self.i2h(x[t])[:, : self.units])
            out[t] = h
        return out


class Beam(nn.HybridBlock):
    """Search for the likeliest sequences of tokens, until all have ended."""

    def __init__(self, vocabulary, width, longest):
        super().__init__()
        self.width, self.longest, self.vocabulary = width, longest, vocabulary
        self.scores = nn.Dense(vocabulary, in_units=vocabulary, flatten=False)

    def forward(self, start):
        width, vocabulary = self.width, self.vocabulary
        tokens = np.zeros((width, self.longest), dtype="int32")
        tokens[:, 0] = start
        total = np.full((width,), -1e9)
        total[0] = 0
        ended = np.zeros((width,), dtype=bool)
        n = 1
        while n < self.longest and not ended.all():
            last = tokens[np.arange(width), n - 1]
            step = self.scores(np.eye(vocabulary)[last])
            step = step - np.log(np.exp(step).sum(-1, keepdims=True))
            step = np.where(ended[:, None], np.where(np.arange(vocabulary) == 0, 0.0, -1e9), step)
            every = (total[:, None] + step).reshape(-1)
            best = np.argsort(-every)[:width]
            total = every[best]
            parents = best // vocabulary
            tokens = tokens[parents]
            tokens[:, n] = best % vocabulary
            ended = ended[parents] | (best % vocabulary == 0)
            n += 1
        return tokens, total


class Tree(nn.HybridBlock):
    """A recursion of which data decide the depth."""

    def forward(self, x):
        def down(y):
            if y.sum() > 1:
                return down(y / 2) + 1
            return y

        return down(x)
