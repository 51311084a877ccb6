"""ResNet on handwritten digits, trained by the Estimator.

ResNet-18 of the model zoo, in its form for small images and with a quarter of the channels, on
scikit-learn's digits (1797 real images of 8x8, drawn twice as large). Shows progress bars, and
prints a table; `--plot` plots the curves of loss and accuracy to a file. Exits with 1 if the
network did not learn.
"""

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as onp
from curves import curves_file, draw
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from npcompat import amp, gluon, initializer, lr_scheduler, np, npx
from npcompat.gluon.contrib.estimator import (
    CheckpointHandler,
    EpochEnd,
    Estimator,
    ProgressBarHandler,
)
from npcompat.gluon.model_zoo import vision

BATCH = 64


def data() -> tuple[gluon.data.DataLoader, gluon.data.DataLoader]:
    """Return training and test images: 3 equal channels of 16x16, in [-1, 1], with their labels."""
    digits = load_digits()
    images = onp.kron(digits.images, onp.ones((2, 2)))[:, None].repeat(3, axis=1) / 8 - 1
    order = onp.random.RandomState(0).permutation(len(images))
    train, test = [
        gluon.data.ArrayDataset(images[part].astype("float32"), digits.target[part])
        for part in (order[:1437], order[1437:])
    ]
    return gluon.data.DataLoader(
        train, BATCH, shuffle=True, last_batch="discard"
    ), gluon.data.DataLoader(test, BATCH)


def network() -> vision.ResNetV1:
    """Return a ResNet-18 with a quarter of the channels, for small images."""
    return vision.ResNetV1(
        vision.BasicBlockV1, (2, 2, 2, 2), (16, 16, 32, 64, 128), classes=10, thumbnail=True
    )


class Curves(EpochEnd):
    """Handler that stores the metrics after each epoch."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        for metric in (*estimator.train_metrics, *estimator.val_metrics):
            for name, value in metric.get_name_value():
                self.values.setdefault(name, []).append(value)

    def of(self, what: str) -> dict[str, list[float]]:
        """Return the values of one quantity, in training and in validation."""
        return {
            name.split()[0]: values for name, values in self.values.items() if name.endswith(what)
        }


def main() -> int:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--epochs", type=int, default=4, help="passes over the training images (default: 4)"
    )
    parser.add_argument(
        "--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)"
    )
    parser.add_argument("--amp", action="store_true", help="compute products in bfloat16")
    parser.add_argument(
        "--checkpoints", type=Path, help="a folder for checkpoints, from which training goes on"
    )
    parser.add_argument(
        "--plot", type=curves_file, metavar="FILE", help="a PNG file for the curves"
    )
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error("--epochs must be at least 1")
    if options.amp:
        amp.init("bfloat16")

    np.random.seed(42)
    with npx.device(options.device):
        train, test = data()
        net = network()
        net.initialize(initializer.Xavier())
        net.hybridize()
        schedule = lr_scheduler.CosineScheduler(
            options.epochs * len(train), base_lr=0.05, warmup_steps=len(train) // 2
        )
        trainer = gluon.Trainer(
            net.collect_params(), "nag", {"lr_scheduler": schedule, "momentum": 0.9, "wd": 1e-4}
        )
        measured = [gluon.metric.Accuracy(), gluon.metric.Loss()]
        estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), measured, trainer=trainer)
        estimator.logger.setLevel(logging.WARNING)
        curves = Curves()
        handlers = [ProgressBarHandler(), curves]
        if options.checkpoints is not None:
            handlers.append(CheckpointHandler(options.checkpoints, resume_from_checkpoint=True))
        estimator.fit(train, test, epochs=options.epochs, event_handlers=handlers)

    console = Console()
    table = Table(
        title=f"ResNet-18, {sum(p.data().size for p in net.collect_params().values()):,} parameters"
    )
    table.add_column("epoch", justify="right")
    for name in curves.values:
        table.add_column(name, justify="right")
    for epoch, row in enumerate(
        zip(*curves.values.values(), strict=True),
        1 + options.epochs - len(next(iter(curves.values.values()))),
    ):
        table.add_row(str(epoch), *[f"{value:.4f}" for value in row])
    console.print(table)
    if options.plot is not None:
        draw(options.plot, {what: curves.of(what) for what in ("loss", "accuracy")}, "epoch")
    reached = curves.values["validation accuracy"][-1]
    console.print(
        f"the network reached an accuracy of {reached:.4f}"
        + ("" if reached > 0.9 else ", which is not enough")
    )
    return int(reached <= 0.9)


if __name__ == "__main__":
    sys.exit(main())
