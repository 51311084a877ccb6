"""Small Transformer that learns to sort numbers.

Sequences have different lengths; attention and loss ignore padding. The pre-norm encoder (Vaswani
et al., 2017) is trained as one compiled step, record and update included, on sequences that are
drawn in the same program. Prints some sequences sorted by the network, and the share of right ones;
`--plot` plots the curves of loss and accuracy to a file. Exits with 1 if the network did not learn.
"""

import argparse
import sys
from typing import Any

from curves import curves_file, draw
from rich.console import Console
from tqdm import tqdm

from npcompat import autograd, gluon, init, lr_scheduler, np, npx
from npcompat.gluon import nn

NUMBERS, SHORTEST, LONGEST = 16, 3, 8
BATCH, CHECKED = 64, 256


class Sorter(gluon.HybridBlock):
    """Sorter: scores of the number at each position of the sorted sequence."""

    def __init__(self, layers: int, units: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(NUMBERS, units)
        self.places = gluon.Parameter("places", shape=(LONGEST, units), init=init.Normal(0.1))
        self.layers = nn.HybridSequential()
        for _ in range(layers):
            self.layers.add(
                nn.TransformerEncoderCell(units, 4 * units, heads, dropout=0.0, pre_norm=True)
            )
        self.norm = nn.LayerNorm(in_channels=units)
        self.scores = nn.Dense(NUMBERS, flatten=False, in_units=units)

    def forward(self, x: Any, valid_length: Any) -> Any:
        h = self.embedding(x) + self.places.data()
        for layer in self.layers:
            h = layer(h, valid_length=valid_length)
        return self.scores(self.norm(h))


def sequences(count: int) -> tuple[Any, Any, Any]:
    """Return random sequences padded with zeros, the same sorted, and their lengths."""
    lengths = np.random.randint(SHORTEST, LONGEST + 1, count)
    numbers = np.random.randint(0, NUMBERS, (count, LONGEST))
    padding = np.arange(LONGEST) >= lengths[:, None]
    answers = np.sort(np.where(padding, NUMBERS, numbers), axis=1)  # padding comes last
    return np.where(padding, 0, numbers), np.where(padding, 0, answers), lengths


def main() -> int:
    """Train, and print examples."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300, help="steps of training (default: 300)")
    parser.add_argument("--layers", type=int, default=2, help="layers of the encoder (default: 2)")
    parser.add_argument(
        "--units", type=int, default=48, help="features; a multiple of 4 (default: 48)"
    )
    parser.add_argument(
        "--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)"
    )
    parser.add_argument(
        "--plot", type=curves_file, metavar="FILE", help="a PNG file for the curves"
    )
    options = parser.parse_args()
    if min(options.steps, options.layers) < 1 or options.units < 4 or options.units % 4:
        parser.error("--steps and --layers must be at least 1, and --units a multiple of 4")
    with npx.device(options.device):
        losses, accuracies, shown = train(options)

    console = Console()
    for given, sorted_ in shown:
        console.print(
            f"{' '.join(map(str, given)):22} -> {' '.join(map(str, sorted_))}", highlight=False
        )
    if options.plot is not None:
        draw(
            options.plot,
            {"loss": {"training": losses}, "sequences right": {"new sequences": accuracies}},
            "step",
        )
    reached = accuracies[-1]
    console.print(
        f"{reached:.1%} of new sequences are sorted right"
        + ("" if reached > 0.8 else ", which is not enough")
    )
    return int(reached <= 0.8)


def train(
    options: argparse.Namespace,
) -> tuple[list[float], list[float], list[tuple[list[int], list[int]]]]:
    """Return losses, shares of new sequences sorted right, and a few of them."""
    np.random.seed(11)
    net = Sorter(options.layers, options.units, heads=4)
    net.initialize(init.Xavier())
    net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    schedule = lr_scheduler.CosineScheduler(
        options.steps, base_lr=0.004, warmup_steps=options.steps // 10
    )
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule})

    @npx.jit
    def step() -> Any:
        x, y, lengths = sequences(BATCH)
        with autograd.record():
            real = npx.sequence_mask(np.ones((BATCH, LONGEST, 1)), lengths, True, axis=1)
            loss = loss_of(net(x, lengths), y, real).sum() * LONGEST / lengths.sum()
        loss.backward()
        trainer.step(1)
        return loss

    x, y, lengths = sequences(CHECKED)
    real = np.arange(LONGEST) < lengths[:, None]
    losses, accuracies = [], []
    with tqdm(
        total=options.steps, desc=f"Transformer of {options.layers} layers", unit="step"
    ) as bar:
        for i in range(options.steps):
            losses.append(step().item())
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
            bar.update()
            if (i + 1) % max(1, options.steps // 20) == 0:
                found = net(x, lengths).argmax(axis=-1)
                accuracies.append(((found == y) | ~real).all(axis=1).mean().item())
    shown = [(x[i, :n].tolist(), found[i, :n].tolist()) for i, n in enumerate(lengths[:5].tolist())]
    return losses, accuracies, shown


if __name__ == "__main__":
    sys.exit(main())
