"""Variational autoencoder (Kingma and Welling, 2014) of digits, by `gluon.probability`.

The encoder is a stochastic block: it samples the code of an image, and collects the KL divergence
of the code's distribution from its prior.
"""

from itertools import islice
from typing import Any

import numpy as onp
from sklearn.datasets import load_digits

from examples.gluon_programs.modes import Outcome, forever
from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn
from npcompat.gluon import probability as mgp

SCORE = "test loss, nats"
STEPS = 200
PIXELS, CODE, HIDDEN = 64, 8, 96


class Encoder(mgp.StochasticBlock):
    """Encoder: samples the code of each image, and collects its KL divergence from the prior."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Dense(HIDDEN, activation="relu", in_units=PIXELS)
        self.loc = nn.Dense(CODE, in_units=HIDDEN)
        self.scale = nn.Dense(CODE, in_units=HIDDEN)

    @mgp.StochasticBlock.collectLoss
    def forward(self, x: Any) -> Any:
        h = self.hidden(x)
        code = mgp.Independent(mgp.Normal(self.loc(h), npx.softplus(self.scale(h)) + 1e-3), 1)
        prior = mgp.Independent(mgp.Normal(np.zeros((1, CODE)), 1.0), 1)
        self.add_loss(mgp.kl_divergence(code, prior))
        return code.sample()


class Autoencoder(mgp.StochasticSequential):
    """Autoencoder: computes the logits of the pixels from a sampled code."""

    def __init__(self) -> None:
        super().__init__()
        self.add(
            Encoder(),
            nn.Dense(HIDDEN, activation="relu", in_units=CODE),
            nn.Dense(PIXELS, in_units=HIDDEN),
        )

    def bound(self, x: Any) -> Any:
        """Return the negative evidence lower bound (ELBO) of each image."""
        pixels = mgp.Independent(mgp.Bernoulli(logit=self(x)), 1)
        ((divergence,),) = self.losses
        return divergence - pixels.log_prob(x)


def train(mode: str, steps: int) -> Outcome:
    """Train; the score is the bound of test images."""
    np.random.seed(5)
    images = (load_digits().data / 16).astype("float32")
    order = onp.random.RandomState(0).permutation(len(images))
    loader = gluon.data.DataLoader(
        gluon.data.ArrayDataset(images[order[:1440]]),
        batch_size=64,
        shuffle=True,
        last_batch="discard",
    )
    net = Autoencoder()
    net.initialize(init.Xavier())
    if mode != "eager":
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})

    def step(x: Any) -> Any:
        with autograd.record():
            loss = net.bound(x)
        loss.backward()
        trainer.step(len(x))
        return loss.mean()

    run = npx.jit(step) if mode == "compiled step" else step
    losses = [run(x).item() for x in islice(forever(lambda: loader), steps)]
    bound = net.bound(np.array(images[order[1440:]])).mean()
    return Outcome.of(losses, {name: p.data() for name, p in net.collect_params().items()}, bound)
