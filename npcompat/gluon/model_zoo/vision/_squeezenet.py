"""SqueezeNet."""

from typing import Any

from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray

_FIRST = {"1.0": (96, 7), "1.1": (64, 3)}
# squeeze channels of the fire modules between poolings; a module has 8 times as many outputs
_STAGES = {
    "1.0": ((16, 16, 32), (32, 48, 48, 64), (64,)),
    "1.1": ((16, 16), (32, 32), (48, 48, 64, 64)),
}


def _activated(
    in_channels: int, channels: int, kernel: int, padding: int = 0
) -> nn.HybridSequential:
    layers = nn.HybridSequential()
    layers.add(
        nn.Conv2D(channels, kernel, padding=padding, in_channels=in_channels), nn.Activation("relu")
    )
    return layers


def _fire(in_channels: int, squeezed: int) -> nn.HybridSequential:
    """Return a fire module: a 1x1 convolution, then parallel 1x1 and 3x3 convolutions.

    The first one squeezes to few channels, the others expand to four times as many each.
    """
    expanded = nn.HybridConcatenate(axis=1)
    expanded.add(
        _activated(squeezed, 4 * squeezed, 1), _activated(squeezed, 4 * squeezed, 3, padding=1)
    )
    module = nn.HybridSequential()
    module.add(_activated(in_channels, squeezed, 1), expanded)
    return module


class SqueezeNet(HybridBlock):
    """SqueezeNet (Iandola et al., 2016, https://arxiv.org/abs/1602.07360), for images of 224x224.

    Parameters
    ----------
    version : {'1.0', '1.1'}
        As in the paper, or the later form that computes 2.4 times less.
    classes : int
        Number of classes.
    """

    def __init__(self, version: str, classes: int = 1000) -> None:
        super().__init__()
        if version not in _FIRST:
            raise ValueError(f"SqueezeNet: version must be '1.0' or '1.1', got {version!r}")
        before, kernel = _FIRST[version]
        self.features = nn.HybridSequential()
        self.features.add(
            nn.Conv2D(before, kernel, strides=2, in_channels=3), nn.Activation("relu")
        )
        for stage in _STAGES[version]:
            self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True))
            for squeezed in stage:
                self.features.add(_fire(before, squeezed))
                before = 8 * squeezed
        self.features.add(nn.Dropout(0.5))
        self.output = nn.HybridSequential()
        self.output.add(
            nn.Conv2D(classes, 1, in_channels=before),
            nn.Activation("relu"),
            nn.AvgPool2D(13),
            nn.Flatten(),
        )

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def _squeezenet(
    version: str,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> SqueezeNet:
    return completed(
        SqueezeNet(version, **kwargs), f"squeezenet{version}", pretrained, device, root, ctx
    )


def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0; arguments as for `get_vgg` and `SqueezeNet`."""
    return _squeezenet("1.0", **kwargs)


def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1; arguments as for `get_vgg` and `SqueezeNet`."""
    return _squeezenet("1.1", **kwargs)


__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]
