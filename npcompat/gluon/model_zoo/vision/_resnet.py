"""ResNets, of both versions."""

from collections.abc import Sequence
from typing import Any

import npcompat.numpy_extension as npx
from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray


def _conv3x3(in_channels: int, channels: int, stride: int = 1) -> nn.Conv2D:
    return nn.Conv2D(
        channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels
    )


def _conv1x1(in_channels: int, channels: int, stride: int = 1, use_bias: bool = False) -> nn.Conv2D:
    return nn.Conv2D(
        channels, kernel_size=1, strides=stride, use_bias=use_bias, in_channels=in_channels
    )


# --- version 1: activation after the sum ----------------------------------------------------------


class _ResidualV1(HybridBlock):
    """Residual block of version 1: normalized convolutions, shortcut, activation."""

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool,
        in_channels: int,
        convolutions: Sequence[nn.Conv2D],
    ) -> None:
        super().__init__()
        self.body = nn.HybridSequential()
        for i, conv in enumerate(convolutions):
            if i:
                self.body.add(nn.Activation("relu"))
            self.body.add(
                conv, nn.BatchNorm(in_channels=conv.weight.shape[0] if conv.weight.shape else 0)
            )
        self.downsample: HybridBlock | None = None
        if downsample:
            self.downsample = nn.HybridSequential()
            self.downsample.add(
                _conv1x1(in_channels, channels, stride), nn.BatchNorm(in_channels=channels)
            )

    def forward(self, x: ndarray) -> ndarray:
        """Compute the activated sum."""
        return npx.relu(self.body(x) + (x if self.downsample is None else self.downsample(x)))


class BasicBlockV1(_ResidualV1):
    """Residual block of two 3x3 convolutions, for 18 and 34 layers.

    He et al., 2016, https://arxiv.org/abs/1512.03385.

    Parameters
    ----------
    channels : int
        Number of output channels.
    stride : int
        Step of the first convolution, and of the shortcut.
    downsample : bool
        Whether the shortcut is a convolution; it must be if size or channels change.
    in_channels : int
        Number of input channels; inferred at the first call if 0.

    Examples
    --------
    >>> block = gluon.model_zoo.vision.BasicBlockV1(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(np.zeros((1, 4, 6, 6))).shape
    (1, 8, 3, 3)
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0
    ) -> None:
        convolutions = [_conv3x3(in_channels, channels, stride), _conv3x3(channels, channels)]
        super().__init__(channels, stride, downsample, in_channels, convolutions)


class BottleneckV1(_ResidualV1):
    """Bottleneck residual block: 1x1, 3x3 and 1x1 convolutions, for 50 and more layers.

    He et al., 2016. The parameters are those of `BasicBlockV1`.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0
    ) -> None:
        inside = channels // 4
        convolutions = [
            _conv1x1(in_channels, inside, stride, use_bias=True),
            _conv3x3(inside, inside),
            _conv1x1(inside, channels, use_bias=True),
        ]
        super().__init__(channels, stride, downsample, in_channels, convolutions)


# --- version 2: normalization and activation before convolutions ----------------------------------


class BasicBlockV2(HybridBlock):
    """Pre-activation residual block of two 3x3 convolutions, for 18 and 34 layers.

    He et al., 2016b, https://arxiv.org/abs/1603.05027. The parameters are those of `BasicBlockV1`.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0
    ) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm(in_channels=in_channels)
        self.conv1 = _conv3x3(in_channels, channels, stride)
        self.bn2 = nn.BatchNorm(in_channels=channels)
        self.conv2 = _conv3x3(channels, channels)
        self.downsample = _conv1x1(in_channels, channels, stride) if downsample else None

    def forward(self, x: ndarray) -> ndarray:
        """Compute the sum."""
        activated = npx.relu(self.bn1(x))
        residual = x if self.downsample is None else self.downsample(activated)
        return self.conv2(npx.relu(self.bn2(self.conv1(activated)))) + residual


class BottleneckV2(HybridBlock):
    """Pre-activation bottleneck residual block, for 50 and more layers.

    1x1, 3x3 and 1x1 convolutions, each after normalization and activation (He et al., 2016b). The
    parameters are those of `BasicBlockV1`.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0
    ) -> None:
        super().__init__()
        inside = channels // 4
        self.bn1 = nn.BatchNorm(in_channels=in_channels)
        self.conv1 = _conv1x1(in_channels, inside)
        self.bn2 = nn.BatchNorm(in_channels=inside)
        self.conv2 = _conv3x3(inside, inside, stride)
        self.bn3 = nn.BatchNorm(in_channels=inside)
        self.conv3 = _conv1x1(inside, channels)
        self.downsample = _conv1x1(in_channels, channels, stride) if downsample else None

    def forward(self, x: ndarray) -> ndarray:
        """Compute the sum."""
        activated = npx.relu(self.bn1(x))
        residual = x if self.downsample is None else self.downsample(activated)
        x = self.conv2(npx.relu(self.bn2(self.conv1(activated))))
        return self.conv3(npx.relu(self.bn3(x))) + residual


# --- networks -------------------------------------------------------------------------------------


def _begin(features: nn.HybridSequential, channels: int, thumbnail: bool) -> None:
    """Add the layers before the first block: for small images a convolution that keeps the size."""
    if thumbnail:
        features.add(_conv3x3(3, channels))
        return
    features.add(
        nn.Conv2D(channels, kernel_size=7, strides=2, padding=3, use_bias=False, in_channels=3),
        nn.BatchNorm(in_channels=channels),
        nn.Activation("relu"),
        nn.MaxPool2D(pool_size=3, strides=2, padding=1),
    )


def _add_stages(
    features: nn.HybridSequential, block: Any, layers: Sequence[int], channels: Sequence[int]
) -> None:
    """Add the blocks; each stage but the first halves the size."""
    if len(layers) != len(channels) - 1:
        raise ValueError(
            f"ResNet: channels must be one longer than layers, got {len(channels)} and "
            f"{len(layers)}"
        )
    for i, count in enumerate(layers):
        before, now = channels[i], channels[i + 1]
        stage = nn.HybridSequential()
        stage.add(block(now, 2 if i else 1, before != now, in_channels=before))
        stage.add(*[block(now, 1, False, in_channels=now) for _ in range(count - 1)])
        features.add(stage)


class ResNetV1(HybridBlock):
    """ResNet (He et al., 2016, https://arxiv.org/abs/1512.03385).

    Parameters
    ----------
    block : type
        `BasicBlockV1` or `BottleneckV1`.
    layers : sequence of int
        Number of blocks in each stage.
    channels : sequence of int
        Channels before the first stage, and of each.
    classes : int
        Number of classes.
    thumbnail : bool
        Whether images are small (32x32): they are not downsampled before the first block.
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
    ) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        _begin(self.features, channels[0], thumbnail)
        _add_stages(self.features, block, layers, channels)
        self.features.add(nn.GlobalAvgPool2D())
        self.output = nn.Dense(classes, in_units=channels[-1])

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


class ResNetV2(HybridBlock):
    """ResNet with pre-activation (He et al., 2016b, https://arxiv.org/abs/1603.05027).

    Parameters
    ----------
    block : type
        `BasicBlockV2` or `BottleneckV2`.
    layers, channels, classes, thumbnail
        As for `ResNetV1`.
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
    ) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        self.features.add(nn.BatchNorm(scale=False, center=False, in_channels=3))
        _begin(self.features, channels[0], thumbnail)
        _add_stages(self.features, block, layers, channels)
        last = channels[-1]
        self.features.add(
            nn.BatchNorm(in_channels=last),
            nn.Activation("relu"),
            nn.GlobalAvgPool2D(),
            nn.Flatten(),
        )
        self.output = nn.Dense(classes, in_units=last)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


# --- forms ----------------------------------------------------------------------------------------

_WIDE, _NARROW = (64, 256, 512, 1024, 2048), (64, 64, 128, 256, 512)
_FORMS: dict[int, tuple[bool, tuple[int, ...]]] = {
    18: (False, (2, 2, 2, 2)),
    34: (False, (3, 4, 6, 3)),
    50: (True, (3, 4, 6, 3)),
    101: (True, (3, 4, 23, 3)),
    152: (True, (3, 8, 36, 3)),
}
_VERSIONS: dict[int, tuple[Any, Any, Any]] = {
    1: (ResNetV1, BasicBlockV1, BottleneckV1),
    2: (ResNetV2, BasicBlockV2, BottleneckV2),
}


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> ResNetV1 | ResNetV2:
    """ResNet of a given version and number of layers.

    Parameters
    ----------
    version : {1, 2}
        Its version.
    num_layers : {18, 34, 50, 101, 152}
        Number of layers with weights.
    pretrained : bool
        Whether to read its parameters from a file.
    device, ctx : Device or str, optional
        Device of the parameters.
    root : path, optional
        The folder of the file; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.
    **kwargs
        `classes` and `thumbnail`, as for `ResNetV1`.

    Examples
    --------
    >>> net = gluon.model_zoo.vision.get_resnet(1, 18, classes=10, thumbnail=True)
    >>> net.output
    Dense(512 -> 10, linear)
    """
    if version not in _VERSIONS:
        raise ValueError(f"get_resnet: version must be 1 or 2, got {version!r}")
    if num_layers not in _FORMS:
        raise ValueError(
            f"get_resnet: num_layers must be one of {', '.join(map(str, _FORMS))}, got "
            f"{num_layers!r}"
        )
    network, basic, bottleneck = _VERSIONS[version]
    wide, layers = _FORMS[num_layers]
    net: ResNetV1 | ResNetV2 = network(
        bottleneck if wide else basic, layers, _WIDE if wide else _NARROW, **kwargs
    )
    return completed(net, f"resnet{num_layers}_v{version}", pretrained, device, root, ctx)


def resnet18_v1(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of 18 layers; the arguments are those of `get_resnet`."""
    return get_resnet(1, 18, **kwargs)


def resnet34_v1(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of 34 layers; the arguments are those of `get_resnet`."""
    return get_resnet(1, 34, **kwargs)


def resnet50_v1(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of 50 layers; the arguments are those of `get_resnet`."""
    return get_resnet(1, 50, **kwargs)


def resnet101_v1(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of 101 layers; the arguments are those of `get_resnet`."""
    return get_resnet(1, 101, **kwargs)


def resnet152_v1(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of 152 layers; the arguments are those of `get_resnet`."""
    return get_resnet(1, 152, **kwargs)


def resnet18_v2(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of version 2 of 18 layers; the arguments are those of `get_resnet`."""
    return get_resnet(2, 18, **kwargs)


def resnet34_v2(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of version 2 of 34 layers; the arguments are those of `get_resnet`."""
    return get_resnet(2, 34, **kwargs)


def resnet50_v2(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of version 2 of 50 layers; the arguments are those of `get_resnet`."""
    return get_resnet(2, 50, **kwargs)


def resnet101_v2(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of version 2 of 101 layers; the arguments are those of `get_resnet`."""
    return get_resnet(2, 101, **kwargs)


def resnet152_v2(**kwargs: Any) -> ResNetV1 | ResNetV2:
    """ResNet of version 2 of 152 layers; the arguments are those of `get_resnet`."""
    return get_resnet(2, 152, **kwargs)


__all__ = [
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "ResNetV1",
    "ResNetV2",
    "get_resnet",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
]
