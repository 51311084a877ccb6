"""Handwritten digits: a real model, trained in three modes that must agree.

Two models on scikit-learn's digits (1797 real images of 8x8), each trained eagerly, hybridized, and
with the whole step (record, backward, trainer.step) compiled into one program. Prints a table;
exits with 1 if the three disagree. On all devices of several processes:
`python -m npcompat.launch -n 2 examples/digits.py --mesh data`.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as onp
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

from npcompat import autograd, gluon, initializer, np, npx
from npcompat.gluon import nn

MODES = ("eager", "hybridized", "compiled step")
BATCH = 64


def mlp() -> nn.HybridSequential:
    """Return a multilayer perceptron with two hidden layers."""
    net = nn.HybridSequential()
    net.add(
        nn.Flatten(),
        nn.Dense(128, activation="relu"),
        nn.Dense(64, activation="relu"),
        nn.Dense(10),
    )
    return net


def lenet() -> nn.HybridSequential:
    """Return a LeNet (LeCun et al., 1998) for images of 8x8."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Conv2D(32, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Flatten(),
        nn.Dense(64, activation="relu"),
        nn.Dense(10),
    )
    return net


MODELS: dict[str, Callable[[], nn.HybridSequential]] = {"mlp": mlp, "lenet": lenet}


@dataclass
class Outcome:
    """Results of one training."""

    losses: list[float] = field(default_factory=list)
    accuracy: float = 0.0
    microseconds: float = 0.0
    programs: int = 0


def data() -> tuple[gluon.data.ArrayDataset, gluon.data.ArrayDataset]:
    """Return training and test images (1 channel, in [0, 1]) with their labels."""
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype("float32")
    order = onp.random.RandomState(0).permutation(len(images))
    parts = order[:1437], order[1437:]
    train, test = [gluon.data.ArrayDataset(images[part], digits.target[part]) for part in parts]
    return train, test


def batches(
    train: gluon.data.ArrayDataset, place: npx.Sharding | None = None
) -> gluon.data.DataLoader:
    """Return a loader of the training images, shuffled by `np.random`."""
    return gluon.data.DataLoader(
        train, batch_size=BATCH, shuffle=True, last_batch="discard", device=place
    )


def accuracy(
    net: nn.HybridSequential, test: gluon.data.ArrayDataset, place: npx.Sharding | None = None
) -> float:
    """Return the accuracy on the test images."""
    metric = gluon.metric.Accuracy()
    for x, y in gluon.data.DataLoader(test, batch_size=120, device=place):
        metric.update(y, net(x))
    return float(metric.get()[1])


def train_one(
    model: str,
    mode: str,
    epochs: int,
    progress: Callable[[], None],
    place: npx.Sharding | None = None,
) -> Outcome:
    """Train from the same initial state and on the same batches as the other modes.

    If a place of the batches is given, the parameters lie on its mesh, a copy on each device.
    """
    np.random.seed(42)
    train, test = data()
    net = MODELS[model]()
    net.initialize(initializer.Xavier())
    net(np.zeros((1, 1, 8, 8)))  # completes the shapes of the parameters
    if place is not None:
        net.shard(place.mesh)
    if mode != "eager":
        net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})

    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            loss = loss_of(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        return loss

    run = npx.jit(step) if mode == "compiled step" else step
    outcome = Outcome()
    times: list[float] = []
    with npx.compile_log() as log:
        for _ in range(epochs):
            losses = []
            for x, y in batches(train, place):
                start = time.perf_counter()
                losses.append(run(x, y))
                losses[-1].wait_to_read()
                times.append(time.perf_counter() - start)
                progress()
            outcome.losses.append(float(sum(float(loss) for loss in losses) / len(losses)))
    outcome.programs = len(log)
    outcome.accuracy = accuracy(net, test, place)
    outcome.microseconds = sorted(times)[len(times) // 2] * 1e6
    return outcome


def disagreements(outcomes: dict[str, Outcome], tolerance: float) -> Iterator[str]:
    """Iterate over epochs whose losses differ between modes by more than a relative tolerance."""
    reference = outcomes[MODES[0]].losses
    for mode in MODES[1:]:
        for epoch, (expected, got) in enumerate(zip(reference, outcomes[mode].losses, strict=True)):
            if not abs(got - expected) <= tolerance * abs(expected):
                yield f"epoch {epoch + 1}: {mode} has loss {got:.7f}, {MODES[0]} has {expected:.7f}"


def main() -> int:
    """Train, print the table, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--epochs", type=int, default=8, help="passes over the training images (default: 8)"
    )
    parser.add_argument(
        "--model",
        choices=(*MODELS, "all"),
        default="all",
        help="which model to train (default: all)",
    )
    parser.add_argument(
        "--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        help="allowed relative difference of losses (default: 1e-4)",
    )
    parser.add_argument(
        "--mesh", metavar="AXIS", help="train on all devices of all processes, and name their axis"
    )
    options = parser.parse_args()
    npx.distributed.initialize()
    place = npx.Mesh(**{options.mesh: -1})(options.mesh) if options.mesh else None
    if options.epochs < 1:
        parser.error("--epochs must be at least 1")

    console = Console(quiet=npx.distributed.rank() > 0)
    table = Table(title=f"digits, {options.epochs} epochs, batches of {BATCH}")
    for column in ("model", "mode", "loss", "test accuracy", "time per step", "programs"):
        table.add_column(column, justify="left" if column in ("model", "mode") else "right")
    models = list(MODELS) if options.model == "all" else [options.model]
    steps = options.epochs * (1437 // BATCH)
    problems: list[str] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    here = contextlib.nullcontext() if place is not None else npx.device(options.device)
    with Progress(*columns, console=console) as bars, here:
        for model in models:
            outcomes = {}
            for mode in MODES:
                bar = bars.add_task(f"{model}, {mode}", total=steps)
                found = outcomes[mode] = train_one(
                    model, mode, options.epochs, lambda bar=bar: bars.advance(bar), place
                )
                cells = (
                    f"{found.losses[-1]:.5f}",
                    f"{found.accuracy:.4f}",
                    f"{found.microseconds:.0f} us",
                    str(found.programs),
                )
                table.add_row(model, mode, *cells)
            problems += [f"{model}: {text}" for text in disagreements(outcomes, options.tolerance)]
    console.print(table)
    for problem in problems:
        console.print(f"[red]{problem}")
    console.print("the modes disagree" if problems else "all modes agree at every epoch")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
