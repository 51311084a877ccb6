"""LeNet (LeCun et al., 1998) on handwritten digits, with a DataLoader and a Trainer."""

from itertools import islice
from typing import Any

import numpy as onp
from sklearn.datasets import load_digits

from examples.gluon_programs.modes import Outcome, forever
from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn
from npcompat.gluon.data.vision import transforms

SCORE = "test accuracy"
STEPS = 150


def datasets() -> tuple[gluon.data.ArrayDataset, gluon.data.ArrayDataset]:
    """Return labelled training and test images of 16x16 (height, width, channel) in [0, 255]."""
    digits = load_digits()
    images = onp.kron(digits.images, onp.ones((2, 2)))[..., None] / 16 * 255
    order = onp.random.RandomState(0).permutation(len(images))
    train, test = (
        gluon.data.ArrayDataset(images[part].astype("uint8"), digits.target[part])
        for part in (order[:1500], order[1500:1628])
    )
    return train, test


def lenet() -> nn.HybridSequential:
    """Return two convolutions and two dense layers, with dropout between them."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Conv2D(16, kernel_size=3, activation="relu"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Dense(64, activation="relu"),
        nn.Dropout(0.2),
        nn.Dense(10),
    )
    return net


def train(mode: str, steps: int) -> Outcome:
    """Train on images of random brightness; two threads make batches."""
    np.random.seed(2)
    train_set, test_set = datasets()
    plain = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    augmented = transforms.Compose([transforms.RandomBrightness(0.3), plain])
    batches = gluon.data.DataLoader(
        train_set.transform_first(augmented),
        batch_size=32,
        shuffle=True,
        last_batch="discard",
        num_workers=2,
        thread_pool=True,
    )
    net = lenet()
    net.initialize(init.Xavier())
    if mode != "eager":
        net.hybridize()
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-4}
    )

    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(len(x))
        return loss.mean()

    run = npx.jit(step) if mode == "compiled step" else step
    losses = [run(x, y).item() for x, y in islice(forever(lambda: batches), steps)]

    accuracy = gluon.metric.Accuracy()
    for x, y in gluon.data.DataLoader(test_set.transform_first(plain), batch_size=128):
        accuracy.update(y, net(x))
    return Outcome.of(
        losses, {name: p.data() for name, p in net.collect_params().items()}, accuracy.get()[1]
    )
