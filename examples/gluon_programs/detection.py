"""Small single-shot detection (Liu et al., 2016): boxes around shapes in generated images."""

from itertools import islice
from typing import Any

import numpy as onp

from examples.gluon_programs.modes import Outcome, forever
from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn

SCORE = "figures found"
STEPS = 20
SIDE, CLASSES = 32, 2
SIZES, RATIOS = ((0.3, 0.4), (0.55, 0.7)), (1, 2, 0.5)
ANCHORS = len(SIZES[0]) + len(RATIOS) - 1


def figures(count: int, seed: int) -> gluon.data.ArrayDataset:
    """Return noise images with a bright rectangle (0) or a dark ellipse (1), and their labels.

    A label is a class and a box.
    """
    random = onp.random.RandomState(seed)
    pictures = random.uniform(0.35, 0.65, (count, 3, SIDE, SIDE)).astype("float32")
    labels = onp.empty((count, 1, 5), "float32")
    rows, columns = onp.mgrid[:SIDE, :SIDE] + 0.5
    for picture, label in zip(pictures, labels, strict=True):
        (height, width), kind = random.randint(8, 22, 2), random.randint(CLASSES)
        top, left = random.randint(0, SIDE - height + 1), random.randint(0, SIDE - width + 1)
        down, across = (
            (rows - top - height / 2) / (height / 2),
            (columns - left - width / 2) / (width / 2),
        )
        inside = (abs(down) < 1) & (abs(across) < 1) if kind == 0 else down**2 + across**2 < 1
        picture[:, inside] += 0.35 if kind == 0 else -0.35
        label[0] = kind, left / SIDE, top / SIDE, (left + width) / SIDE, (top + height) / SIDE
    return gluon.data.ArrayDataset(pictures, labels)


def halved(channels: int) -> nn.HybridSequential:
    """Return layers that halve height and width."""
    block = nn.HybridSequential()
    block.add(
        nn.Conv2D(channels, 3, padding=1, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(2),
    )
    return block


class Detector(gluon.HybridBlock):
    """Detector: anchors, class scores (background first), and box codes, at two scales."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(halved(8), halved(16))
        self.rest = halved(24)
        self.classes, self.boxes = nn.HybridSequential(), nn.HybridSequential()
        for _ in SIZES:
            self.classes.add(nn.Conv2D(ANCHORS * (CLASSES + 1), 3, padding=1))
            self.boxes.add(nn.Conv2D(ANCHORS * 4, 3, padding=1))

    def forward(self, x: Any) -> tuple[Any, Any, Any]:
        near = self.body(x)
        anchors, scores, codes = [], [], []
        for i, features in enumerate((near, self.rest(near))):
            anchors.append(npx.multibox_prior(features, sizes=SIZES[i], ratios=RATIOS))
            scores.append(npx.batch_flatten(self.classes[i](features).transpose(0, 2, 3, 1)))
            codes.append(npx.batch_flatten(self.boxes[i](features).transpose(0, 2, 3, 1)))
        scores = np.concatenate(scores, axis=1)
        return (
            np.concatenate(anchors, axis=1),
            scores.reshape(x.shape[0], -1, CLASSES + 1),
            np.concatenate(codes, axis=1),
        )


def train(mode: str, steps: int) -> Outcome:
    """Train with hard negative mining; the score is the share of shapes found by the best box."""
    np.random.seed(4)
    loader = gluon.data.DataLoader(
        figures(256, seed=0), batch_size=16, shuffle=True, last_batch="discard"
    )
    net = Detector()
    net.initialize(init.Xavier())
    if mode != "eager":
        net.hybridize()
    class_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.02, "momentum": 0.9, "wd": 5e-4}
    )

    def step(x: Any, y: Any) -> Any:
        x = x + np.random.uniform(-0.1, 0.1, size=(len(x), 1, 1, 1))  # random brightness
        with autograd.record():
            anchors, scores, codes = net(x)
            targets, masks, classes = npx.multibox_target(
                anchors, y, scores.transpose(0, 2, 1), negative_mining_ratio=3
            )
            counted = np.expand_dims(classes >= 0, -1)
            found = (classes > 0).sum()
            loss = (
                class_loss(scores, np.maximum(classes, 0), counted).sum() * classes.shape[1] / found
            )
            loss = loss + box_loss(codes * masks, targets * masks).sum() * masks.shape[1] / found
        loss.backward()
        trainer.step(1)
        return loss

    run = npx.jit(step) if mode == "compiled step" else step
    losses = [run(x, y).item() for x, y in islice(forever(lambda: loader), steps)]
    return Outcome.of(
        losses,
        {name: p.data() for name, p in net.collect_params().items()},
        found_share(net, figures(64, seed=1)),
    )


def found_share(net: Detector, dataset: gluon.data.ArrayDataset) -> Any:
    """Return the share of shapes found by the best box: its class, and an IoU above 0.5."""
    ((x, y),) = gluon.data.DataLoader(dataset, batch_size=len(dataset))
    anchors, scores, codes = net(x)
    best = npx.multibox_detection(npx.softmax(scores).transpose(0, 2, 1), codes, anchors)[:, 0]
    overlap = npx.box_iou(best[:, 2:], y[:, 0, 1:]).diagonal()
    return ((best[:, 0] == y[:, 0, 0]) & (overlap > 0.5)).mean()
