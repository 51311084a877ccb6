"""Inception v3: modules of parallel branches whose outputs are concatenated."""

from typing import Any

from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray

# A convolution is (channels, kernel size, stride, padding); a branch is a pooling or None, followed
# by a sequence of convolutions.  If its last entry is a list of branches, these are parallel.
Size = int | tuple[int, int]


def _conv(
    in_channels: int, channels: int, kernel: Size, stride: int = 1, padding: Size = 0
) -> nn.HybridSequential:
    """Return a convolution with normalization and activation."""
    layers = nn.HybridSequential()
    layers.add(
        nn.Conv2D(channels, kernel, stride, padding, use_bias=False, in_channels=in_channels),
        nn.BatchNorm(epsilon=0.001, in_channels=channels),
        nn.Activation("relu"),
    )
    return layers


def _branch(in_channels: int, pool: str | None, *convolutions: Any) -> tuple[HybridBlock, int]:
    """Return a branch, and the number of its output channels."""
    *chain, last = convolutions or (None,)
    branch = nn.HybridSequential()
    if pool is not None:
        branch.add(nn.AvgPool2D(3, 1, 1) if pool == "avg" else nn.MaxPool2D(3, 2))
    for setting in (*chain, *([] if last is None or isinstance(last, list) else [last])):
        branch.add(_conv(in_channels, *setting))
        in_channels = setting[0]
    if not isinstance(last, list):
        return branch, in_channels
    whole = nn.HybridSequential()
    ends, in_channels = _joined(in_channels, *last)
    whole.add(branch, ends)
    return whole, in_channels


def _joined(in_channels: int, *branches: Any) -> tuple[HybridBlock, int]:
    """Return parallel branches, and the total number of their output channels."""
    module, total = nn.HybridConcatenate(axis=1), 0
    for branch in branches:
        block, channels = _branch(in_channels, *branch)
        module.add(block)
        total += channels
    return module, total


_ROW, _COLUMN = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
_SPLIT = [(None, (384, (1, 3), 1, (0, 1))), (None, (384, (3, 1), 1, (1, 0)))]


def _at_35(pooled: int) -> tuple[Any, ...]:
    return (
        (None, (64, 1)),
        (None, (48, 1), (64, 5, 1, 2)),
        (None, (64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
        ("avg", (pooled, 1)),
    )


def _at_17(inside: int) -> tuple[Any, ...]:
    return (
        (None, (192, 1)),
        (None, (inside, 1), (inside, *_ROW), (192, *_COLUMN)),
        (None, (inside, 1), (inside, *_COLUMN), (inside, *_ROW), (inside, *_COLUMN), (192, *_ROW)),
        ("avg", (192, 1)),
    )


_TO_17 = ((None, (384, 3, 2)), (None, (64, 1), (96, 3, 1, 1), (96, 3, 2)), ("max",))
_TO_8 = (
    (None, (192, 1), (320, 3, 2)),
    (None, (192, 1), (192, *_ROW), (192, *_COLUMN), (192, 3, 2)),
    ("max",),
)
_AT_8 = (
    (None, (320, 1)),
    (None, (384, 1), _SPLIT),
    (None, (448, 1), (384, 3, 1, 1), _SPLIT),
    ("avg", (192, 1)),
)
_MODULES = (
    _at_35(32),
    _at_35(64),
    _at_35(64),
    _TO_17,
    _at_17(128),
    _at_17(160),
    _at_17(160),
    _at_17(192),
    _TO_8,
    _AT_8,
    _AT_8,
)


class Inception3(HybridBlock):
    """Inception v3 (Szegedy et al., 2016, https://arxiv.org/abs/1512.00567), for images of 299x299.

    Parameters
    ----------
    classes : int
        Number of classes.
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        self.features.add(
            _conv(3, 32, 3, 2), _conv(32, 32, 3), _conv(32, 64, 3, 1, 1), nn.MaxPool2D(3, 2)
        )
        self.features.add(_conv(64, 80, 1), _conv(80, 192, 3), nn.MaxPool2D(3, 2))
        channels = 192
        for branches in _MODULES:
            module, channels = _joined(channels, *branches)
            self.features.add(module)
        self.features.add(nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
        self.output = nn.Dense(classes)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def inception_v3(
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> Inception3:
    """Inception v3.

    Parameters
    ----------
    pretrained : bool
        Whether to read its parameters from a file.
    device, ctx : Device or str, optional
        Device of the parameters.
    root : path, optional
        The folder of the file; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.
    **kwargs
        As for `Inception3`.
    """
    return completed(Inception3(**kwargs), "inceptionv3", pretrained, device, root, ctx)


__all__ = ["Inception3", "inception_v3"]
