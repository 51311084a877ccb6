"""A variational autoencoder of handwritten digits, trained three ways that must agree.

Kingma and Welling, "Auto-encoding variational Bayes" (2014), on scikit-learn's digits (1797 real images of 8x8).  The encoder
is a stochastic block: it samples the code of an image, and collects the divergence of the code's distribution from its prior.
Trained eagerly, hybridized, and with the whole step (record, backward, trainer.step) compiled into one program; the random draws
are the same.  Ends with a table; exits with 1 if the three disagree, or if the loss does not fall.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as onp
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from tqdm import tqdm

from npcompat import autograd, gluon, initializer, np, npx
from npcompat.gluon import nn
from npcompat.gluon import probability as mgp

MODES = ("eager", "hybridized", "compiled step")
BATCH, PIXELS, CODE, HIDDEN = 64, 64, 8, 128


class Encoder(mgp.StochasticBlock):
    """A sample of the code of each image; the loss that it collects is the divergence from the prior."""

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
    """Logits of the pixels of each image, by way of its code."""

    def __init__(self) -> None:
        super().__init__()
        self.add(Encoder(), nn.Dense(HIDDEN, activation="relu", in_units=CODE), nn.Dense(PIXELS, in_units=HIDDEN))

    def bound(self, x: Any) -> tuple[Any, Any]:
        """The two parts of the negative evidence bound of each image: of its pixels, and of its code."""
        pixels = mgp.Independent(mgp.Bernoulli(logit=self(x)), 1)
        ((divergence,),) = self.losses
        return -pixels.log_prob(x), divergence


@dataclass
class Outcome:
    """What one training reached; losses are in nats per image."""

    losses: list[float] = field(default_factory=list)
    pixels: float = 0.0
    codes: float = 0.0
    microseconds: float = 0.0
    programs: int = 0


def data() -> tuple[Any, Any]:
    """Training and test images, as rows of pixels in [0, 1]."""
    images = (load_digits().data / 16).astype("float32")
    order = onp.random.RandomState(0).permutation(len(images))
    return images[order[:1437]], images[order[1437:]]


def train_one(mode: str, epochs: int, progress: Callable[[], object]) -> Outcome:
    """Train from the same start, on the same batches and with the same random draws as any other mode."""
    np.random.seed(42)
    train, test = data()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(train), batch_size=BATCH, shuffle=True, last_batch="discard")
    net = Autoencoder()
    net.initialize(initializer.Xavier())
    if mode != "eager":
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})

    def step(x: Any) -> Any:
        with autograd.record():
            pixels, codes = net.bound(x)
            loss = (pixels + codes).mean()
        loss.backward()
        trainer.step(1)
        return loss

    run = npx.jit(step) if mode == "compiled step" else step
    outcome = Outcome()
    times: list[float] = []
    with npx.compile_log() as log:
        for _ in range(epochs):
            losses = []
            for x in loader:
                start = time.perf_counter()
                losses.append(run(x))
                losses[-1].wait_to_read()
                times.append(time.perf_counter() - start)
                progress()
            outcome.losses.append(float(sum(float(loss) for loss in losses) / len(losses)))
    outcome.programs = len(log)
    outcome.pixels, outcome.codes = (float(part.mean()) for part in net.bound(np.array(test)))
    outcome.microseconds = sorted(times)[len(times) // 2] * 1e6
    return outcome


def problems(outcomes: dict[str, Outcome], tolerance: float) -> Iterator[str]:
    """Where the losses of an epoch differ between modes by more than the tolerance, relatively, or do not fall."""
    reference = outcomes[MODES[0]].losses
    for mode, outcome in outcomes.items():
        for epoch, (expected, got) in enumerate(zip(reference, outcome.losses, strict=True)):
            if not abs(got - expected) <= tolerance * abs(expected):
                yield f"epoch {epoch + 1}: {mode} has loss {got:.7f}, {MODES[0]} has {expected:.7f}"
        if len(outcome.losses) > 1 and not outcome.losses[-1] < outcome.losses[0]:
            yield f"{mode}: the loss does not fall: {outcome.losses[0]:.7f} at first, {outcome.losses[-1]:.7f} at last"


def main() -> int:
    """Train, print the table, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="passes over the training images (default: 20)")
    parser.add_argument("--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="allowed relative difference of losses (default: 1e-3)")
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error("--epochs must be at least 1")

    table = Table(title=f"losses in nats per image, {options.epochs} epochs; pixels and codes of test images")
    for column in ("mode", "first", "last", "pixels", "codes", "per step", "programs"):
        table.add_column(column, justify="left" if column == "mode" else "right", no_wrap=True)
    outcomes: dict[str, Outcome] = {}
    with npx.device(options.device):
        for mode in MODES:
            with tqdm(total=options.epochs * (1437 // BATCH), desc=f"{mode:13}", unit="step") as bar:
                found = outcomes[mode] = train_one(mode, options.epochs, bar.update)
            numbers = (found.losses[0], found.losses[-1], found.pixels, found.codes)
            table.add_row(mode, *[f"{x:.3f}" for x in numbers], f"{found.microseconds:.0f} us", str(found.programs))
    console = Console()
    console.print(table)
    wrong = list(problems(outcomes, options.tolerance))
    for problem in wrong:
        console.print(f"[red]{problem}")
    console.print("something is wrong" if wrong else "the loss falls, and all modes agree at every epoch")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
