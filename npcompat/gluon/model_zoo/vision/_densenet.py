"""DenseNets, in which each layer gets the outputs of all previous layers."""

from collections.abc import Sequence
from typing import Any

from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray

_FORMS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}


def _convolved(in_channels: int, channels: int, kernel: int) -> list[HybridBlock]:
    """Return normalization and activation, then a convolution that keeps the size."""
    conv = nn.Conv2D(channels, kernel, padding=kernel // 2, use_bias=False, in_channels=in_channels)
    return [nn.BatchNorm(in_channels=in_channels), nn.Activation("relu"), conv]


def _layer(
    in_channels: int, growth_rate: int, bn_size: int, dropout: float
) -> nn.HybridConcatenate:
    """Return a block that concatenates its input with new channels computed from it."""
    new = nn.HybridSequential()
    new.add(
        *_convolved(in_channels, bn_size * growth_rate, 1),
        *_convolved(bn_size * growth_rate, growth_rate, 3),
    )
    if dropout:
        new.add(nn.Dropout(dropout))
    layer = nn.HybridConcatenate(axis=1)
    layer.add(nn.Identity(), new)
    return layer


class DenseNet(HybridBlock):
    """DenseNet-BC (Huang et al., 2017, https://arxiv.org/abs/1608.06993), for images of 224x224.

    Parameters
    ----------
    num_init_features : int
        Filters of the first convolution.
    growth_rate : int
        Number of channels that each layer adds.
    block_config : sequence of int
        Number of layers in each block.
    bn_size : int
        Channels inside of a layer, in multiples of `growth_rate`.
    dropout : float
        The share of new channels' elements that are dropped in training.
    classes : int
        Number of classes.
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
    ) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        self.features.add(
            nn.Conv2D(
                num_init_features,
                kernel_size=7,
                strides=2,
                padding=3,
                use_bias=False,
                in_channels=3,
            ),
            nn.BatchNorm(in_channels=num_init_features),
            nn.Activation("relu"),
            nn.MaxPool2D(pool_size=3, strides=2, padding=1),
        )
        channels = num_init_features
        for i, count in enumerate(block_config):
            if i:
                transition = nn.HybridSequential()
                transition.add(
                    *_convolved(channels, channels // 2, 1), nn.AvgPool2D(pool_size=2, strides=2)
                )
                self.features.add(transition)
                channels //= 2
            block = nn.HybridSequential()
            for _ in range(count):
                block.add(_layer(channels, growth_rate, bn_size, dropout))
                channels += growth_rate
            self.features.add(block)
        self.features.add(
            nn.BatchNorm(in_channels=channels),
            nn.Activation("relu"),
            nn.AvgPool2D(pool_size=7),
            nn.Flatten(),
        )
        self.output = nn.Dense(classes)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def _densenet(
    num_layers: int,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> DenseNet:
    return completed(
        DenseNet(*_FORMS[num_layers], **kwargs),
        f"densenet{num_layers}",
        pretrained,
        device,
        root,
        ctx,
    )


def densenet121(**kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers; arguments as for `get_vgg` and `DenseNet`."""
    return _densenet(121, **kwargs)


def densenet161(**kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers; arguments as for `get_vgg` and `DenseNet`."""
    return _densenet(161, **kwargs)


def densenet169(**kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers; arguments as for `get_vgg` and `DenseNet`."""
    return _densenet(169, **kwargs)


def densenet201(**kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers; arguments as for `get_vgg` and `DenseNet`."""
    return _densenet(201, **kwargs)


__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]
