"""AlexNet, in the form of Krizhevsky (2014)."""

from typing import Any

from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray


class AlexNet(HybridBlock):
    """AlexNet (Krizhevsky, 2014, https://arxiv.org/abs/1404.5997), for images of 224x224.

    Parameters
    ----------
    classes : int
        Number of classes.
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        self.features.add(
            nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation="relu", in_channels=3),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Conv2D(192, kernel_size=5, padding=2, activation="relu", in_channels=64),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Conv2D(384, kernel_size=3, padding=1, activation="relu", in_channels=192),
            nn.Conv2D(256, kernel_size=3, padding=1, activation="relu", in_channels=384),
            nn.Conv2D(256, kernel_size=3, padding=1, activation="relu", in_channels=256),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Flatten(),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            nn.Dense(4096, activation="relu", in_units=4096),
            nn.Dropout(0.5),
        )
        self.output = nn.Dense(classes, in_units=4096)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def alexnet(
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> AlexNet:
    """AlexNet.

    Parameters
    ----------
    pretrained : bool
        Whether to read its parameters from a file.
    device, ctx : Device or str, optional
        Device of the parameters.
    root : path, optional
        The folder of the file; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.
    **kwargs
        As for `AlexNet`.

    Examples
    --------
    >>> net = gluon.model_zoo.vision.alexnet(classes=10)
    >>> net.output
    Dense(4096 -> 10, linear)
    """
    return completed(AlexNet(**kwargs), "alexnet", pretrained, device, root, ctx)


__all__ = ["AlexNet", "alexnet"]
