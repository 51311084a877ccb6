"""MobileNets, built on depthwise separable convolutions."""

from collections.abc import Iterable
from typing import Any

import npcompat.numpy as np
from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray

_SEPARABLE = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
"""Channels and strides of the layers of version 1, after the first 32 channels."""
_BOTTLENECKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Layers of version 2: expansion, channels, repetitions, and stride of the first."""


class _ReLU6(HybridBlock):
    """ReLU6: clips elements to the range 0 to 6."""

    def forward(self, x: ndarray) -> ndarray:
        """Clip x to the range 0 to 6."""
        return np.clip(x, 0, 6)


def _normalized(
    in_channels: int,
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    groups: int = 1,
    activation: HybridBlock | None = None,
) -> Iterable[HybridBlock]:
    """Return a padded convolution, then normalization and activation."""
    conv = nn.Conv2D(
        channels,
        kernel,
        stride,
        kernel // 2,
        groups=groups,
        use_bias=False,
        in_channels=in_channels,
    )
    return [conv, nn.BatchNorm(in_channels=channels), *([] if activation is None else [activation])]


class MobileNet(HybridBlock):
    """MobileNet (Howard et al., 2017, https://arxiv.org/abs/1704.04861).

    Parameters
    ----------
    multiplier : float
        Width multiplier: factor of all numbers of channels.
    classes : int
        Number of classes.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000) -> None:
        super().__init__()
        before = int(32 * multiplier)
        self.features = nn.HybridSequential()
        self.features.add(*_normalized(3, before, 3, 2, activation=nn.Activation("relu")))
        for width, stride in _SEPARABLE:
            channels = int(width * multiplier)
            self.features.add(
                *_normalized(
                    before, before, 3, stride, groups=before, activation=nn.Activation("relu")
                )
            )
            self.features.add(*_normalized(before, channels, activation=nn.Activation("relu")))
            before = channels
        self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes, in_units=before)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


class _Bottleneck(HybridBlock):
    """Inverted residual: expansion, depthwise convolution, projection, and shortcut.

    There is a shortcut if input and output have the same shape.
    """

    def __init__(self, in_channels: int, channels: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = in_channels * expansion
        self.use_shortcut = stride == 1 and in_channels == channels
        self.out = nn.HybridSequential()
        self.out.add(
            *_normalized(in_channels, wide, activation=_ReLU6()),
            *_normalized(wide, wide, 3, stride, groups=wide, activation=_ReLU6()),
            *_normalized(wide, channels),
        )

    def forward(self, x: ndarray) -> ndarray:
        """Compute the output channels."""
        out = self.out(x)
        return out + x if self.use_shortcut else out


class MobileNetV2(HybridBlock):
    """MobileNet V2 (Sandler et al., 2018, https://arxiv.org/abs/1801.04381).

    Parameters
    ----------
    multiplier : float
        Width multiplier of the numbers of channels; the last layer is not reduced.
    classes : int
        Number of classes.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000) -> None:
        super().__init__()
        before = int(32 * multiplier)
        self.features = nn.HybridSequential()
        self.features.add(*_normalized(3, before, 3, 2, activation=_ReLU6()))
        for expansion, width, count, first in _BOTTLENECKS:
            channels = int(width * multiplier)
            for stride in (first, *[1] * (count - 1)):
                self.features.add(_Bottleneck(before, channels, expansion, stride))
                before = channels
        last = int(1280 * max(multiplier, 1.0))
        self.features.add(*_normalized(before, last, activation=_ReLU6()), nn.GlobalAvgPool2D())
        self.output = nn.HybridSequential()
        self.output.add(nn.Conv2D(classes, 1, use_bias=False, in_channels=last), nn.Flatten())

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def _suffix(multiplier: float) -> str:
    """Format a multiplier as in file names: 1.0, 0.75, 0.5."""
    text = f"{multiplier:.2f}"
    return text.removesuffix("0") if text.endswith("0") else text


def get_mobilenet(
    multiplier: float,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> MobileNet:
    """MobileNet of a given width.

    Parameters
    ----------
    multiplier : float
        Width multiplier: factor of all numbers of channels.
    pretrained : bool
        Whether to read its parameters from a file.
    device, ctx : Device or str, optional
        Device of the parameters.
    root : path, optional
        The folder of the file; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.
    **kwargs
        As for `MobileNet`.
    """
    return completed(
        MobileNet(multiplier, **kwargs),
        f"mobilenet{_suffix(multiplier)}",
        pretrained,
        device,
        root,
        ctx,
    )


def get_mobilenet_v2(
    multiplier: float,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> MobileNetV2:
    """MobileNet V2 of a given width; arguments as for `get_mobilenet` and `MobileNetV2`."""
    return completed(
        MobileNetV2(multiplier, **kwargs),
        f"mobilenetv2_{_suffix(multiplier)}",
        pretrained,
        device,
        root,
        ctx,
    )


def mobilenet1_0(**kwargs: Any) -> MobileNet:
    """MobileNet; the arguments are those of `get_mobilenet`."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs: Any) -> MobileNet:
    """MobileNet with 3/4 of the channels; the arguments are those of `get_mobilenet`."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs: Any) -> MobileNet:
    """MobileNet with half of the channels; the arguments are those of `get_mobilenet`."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs: Any) -> MobileNet:
    """MobileNet with a quarter of the channels; the arguments are those of `get_mobilenet`."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs: Any) -> MobileNetV2:
    """MobileNet V2; the arguments are those of `get_mobilenet_v2`."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs: Any) -> MobileNetV2:
    """MobileNet V2 with 3/4 of the channels; the arguments are those of `get_mobilenet_v2`."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs: Any) -> MobileNetV2:
    """MobileNet V2 with half of the channels; the arguments are those of `get_mobilenet_v2`."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs: Any) -> MobileNetV2:
    """MobileNet V2 with 1/4 of the channels; the arguments are those of `get_mobilenet_v2`."""
    return get_mobilenet_v2(0.25, **kwargs)


__all__ = [
    "MobileNet",
    "MobileNetV2",
    "get_mobilenet",
    "get_mobilenet_v2",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
]
