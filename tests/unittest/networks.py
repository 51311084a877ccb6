"""Networks that several files of tests train, save and compare."""

from npcompat.gluon import nn


def network():
    """A convolutional network with normalizations and dropout, for pictures of one channel."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, 3, activation="relu"),
        nn.BatchNorm(),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Dense(8, activation="tanh"),
        nn.LayerNorm(),
        nn.Dense(3),
    )
    return net
