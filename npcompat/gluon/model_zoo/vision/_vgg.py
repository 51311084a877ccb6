"""VGG networks."""

from collections.abc import Sequence
from typing import Any

from npcompat import initializer
from npcompat.gluon import nn
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo._pretrained import completed
from npcompat.numpy._ndarray import ndarray

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_FILTERS = (64, 128, 256, 512, 512)


class VGG(HybridBlock):
    """VGG network (Simonyan and Zisserman, 2015, https://arxiv.org/abs/1409.1556).

    Stages of 3x3 convolutions, each followed by a downsampling to half the size.

    Parameters
    ----------
    layers, filters : sequence of int
        Number of convolutions in each stage, and of their filters.
    classes : int
        Number of classes.
    batch_norm : bool
        Whether each convolution is normalized.
    """

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        if len(layers) != len(filters):
            raise ValueError(
                f"VGG: layers and filters must be of equal length, got {len(layers)} and "
                f"{len(filters)}"
            )
        self.features = nn.HybridSequential()
        before = 3
        for count, channels in zip(layers, filters, strict=True):
            for _ in range(count):
                start = initializer.Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                self.features.add(
                    nn.Conv2D(channels, 3, padding=1, weight_initializer=start, in_channels=before)
                )
                if batch_norm:
                    self.features.add(nn.BatchNorm(in_channels=channels))
                self.features.add(nn.Activation("relu"))
                before = channels
            self.features.add(nn.MaxPool2D(strides=2))
        for units in (0, 4096):
            self.features.add(
                nn.Dense(4096, activation="relu", weight_initializer="normal", in_units=units),
                nn.Dropout(0.5),
            )
        self.output = nn.Dense(classes, weight_initializer="normal", in_units=4096)

    def forward(self, x: ndarray) -> ndarray:
        """Compute the scores of the classes."""
        return self.output(self.features(x))


def get_vgg(
    num_layers: int,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    *,
    ctx: Any = None,
    **kwargs: Any,
) -> VGG:
    """VGG network of a given number of layers.

    Parameters
    ----------
    num_layers : {11, 13, 16, 19}
        Number of layers with weights.
    pretrained : bool
        Whether to read its parameters from a file.
    device, ctx : Device or str, optional
        Device of the parameters.
    root : path, optional
        The folder of the file; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.
    **kwargs
        As for `VGG`.
    """
    if num_layers not in _LAYERS:
        raise ValueError(
            f"get_vgg: num_layers must be one of {', '.join(map(str, _LAYERS))}, got {num_layers!r}"
        )
    net = VGG(_LAYERS[num_layers], _FILTERS, **kwargs)
    return completed(
        net,
        f"vgg{num_layers}{'_bn' if kwargs.get('batch_norm') else ''}",
        pretrained,
        device,
        root,
        ctx,
    )


def vgg11(**kwargs: Any) -> VGG:
    """VGG of 11 layers; the arguments are those of `get_vgg`."""
    return get_vgg(11, **kwargs)


def vgg13(**kwargs: Any) -> VGG:
    """VGG of 13 layers; the arguments are those of `get_vgg`."""
    return get_vgg(13, **kwargs)


def vgg16(**kwargs: Any) -> VGG:
    """VGG of 16 layers; the arguments are those of `get_vgg`."""
    return get_vgg(16, **kwargs)


def vgg19(**kwargs: Any) -> VGG:
    """VGG of 19 layers; the arguments are those of `get_vgg`."""
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs: Any) -> VGG:
    """VGG of 11 layers with batch normalization; the arguments are those of `get_vgg`."""
    return get_vgg(11, batch_norm=True, **kwargs)


def vgg13_bn(**kwargs: Any) -> VGG:
    """VGG of 13 layers with batch normalization; the arguments are those of `get_vgg`."""
    return get_vgg(13, batch_norm=True, **kwargs)


def vgg16_bn(**kwargs: Any) -> VGG:
    """VGG of 16 layers with batch normalization; the arguments are those of `get_vgg`."""
    return get_vgg(16, batch_norm=True, **kwargs)


def vgg19_bn(**kwargs: Any) -> VGG:
    """VGG of 19 layers with batch normalization; the arguments are those of `get_vgg`."""
    return get_vgg(19, batch_norm=True, **kwargs)


__all__ = [
    "VGG",
    "get_vgg",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]
