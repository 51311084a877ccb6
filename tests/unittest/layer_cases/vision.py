"""Cases of layers for pictures, and for sequences and volumes: convolutions, pooling, pixels; and
the blocks of the zoo's networks.
"""

from layer_cases.case import layer
from npcompat.gluon import nn
from npcompat.gluon.model_zoo import vision

layer("nn.Conv1D", lambda **k: nn.Conv1D(4, 3, strides=2, **k), "2,3,9", in_channels=3)
layer("nn.Conv1D", lambda **k: nn.Conv1D(4, 3, layout="NWC", **k), "2,5,3", in_channels=3)
layer(
    "nn.Conv2D",
    lambda **k: nn.Conv2D(4, (3, 2), padding=1, dilation=2, groups=2, **k),
    "2,4,5,4",
    in_channels=4,
)
layer(
    "nn.Conv2D",
    lambda **k: nn.Conv2D(4, 3, layout="NHWC", activation="relu", use_bias=False, **k),
    "2,4,5,3",
    in_channels=3,
)
layer("nn.Conv3D", lambda **k: nn.Conv3D(2, 2, **k), "2,3,3,2,3", in_channels=3)
layer(
    "nn.Conv1DTranspose",
    lambda **k: nn.Conv1DTranspose(3, 3, strides=2, output_padding=1, **k),
    "2,2,4",
    in_channels=2,
)
layer(
    "nn.Conv2DTranspose",
    lambda **k: nn.Conv2DTranspose(4, (3, 2), 2, padding=(1, 0), groups=2, **k),
    "2,4,3,2",
    in_channels=4,
)
layer(
    "nn.Conv2DTranspose",
    lambda **k: nn.Conv2DTranspose(3, 2, 2, layout="NHWC", activation="relu", **k),
    "2,3,2,2",
    in_channels=2,
)
layer(
    "nn.Conv3DTranspose",
    lambda **k: nn.Conv3DTranspose(2, 2, strides=2, use_bias=False, **k),
    "2,3,2,1,2",
    in_channels=3,
)
layer(
    "nn.DeformableConvolution",
    lambda **k: nn.DeformableConvolution(4, 3, padding=1, **k),
    "2,3,4,3",
    in_channels=3,
    loose=30,
)
layer(
    "nn.ModulatedDeformableConvolution",
    lambda **k: nn.ModulatedDeformableConvolution(2, 2, activation="relu", **k),
    "2,3,3,3",
    in_channels=3,
    loose=30,
)

layer("nn.MaxPool1D", lambda: nn.MaxPool1D(3), "2,2,9 distinct")
layer("nn.MaxPool2D", lambda: nn.MaxPool2D(3, 2, 1), "2,2,5,4 distinct")
layer("nn.MaxPool2D", lambda: nn.MaxPool2D(2, ceil_mode=True), "2,2,5,5 distinct")
layer("nn.MaxPool3D", nn.MaxPool3D, "2,2,4,2,2 distinct")
layer("nn.AvgPool1D", lambda: nn.AvgPool1D(3, 1, 1, count_include_pad=False), "2,2,4")
layer("nn.AvgPool2D", lambda: nn.AvgPool2D(layout="NHWC"), "2,4,4,2")
layer("nn.AvgPool3D", nn.AvgPool3D, "2,2,4,2,2")
layer("nn.GlobalAvgPool1D", nn.GlobalAvgPool1D, "2,3,5")
layer("nn.GlobalAvgPool2D", lambda: nn.GlobalAvgPool2D("NHWC"), "2,3,4,2")
layer("nn.GlobalAvgPool3D", nn.GlobalAvgPool3D, "2,3,2,2,2")
layer("nn.GlobalMaxPool1D", nn.GlobalMaxPool1D, "2,3,5 distinct")
layer("nn.GlobalMaxPool2D", nn.GlobalMaxPool2D, "2,3,3,2 distinct")
layer("nn.GlobalMaxPool3D", nn.GlobalMaxPool3D, "2,3,2,2,2 distinct")
layer("nn.PixelShuffle1D", lambda: nn.PixelShuffle1D(2), "2,4,3")
layer("nn.PixelShuffle2D", lambda: nn.PixelShuffle2D((1, 2)), "2,4,2,3")
layer("nn.PixelShuffle3D", lambda: nn.PixelShuffle3D((1, 2, 2)), "2,4,2,2,1")
layer("nn.ReflectionPad2D", lambda: nn.ReflectionPad2D(1), "2,2,3,2")

layer(
    "zoo.BasicBlockV1",
    lambda **k: vision.BasicBlockV1(2, 1, **k),
    "2,2,4,4",
    loose=10,
    in_channels=2,
)
layer(
    "zoo.BasicBlockV2",
    lambda **k: vision.BasicBlockV2(3, 2, downsample=True, **k),
    "2,2,4,4",
    loose=10,
    in_channels=2,
)
layer(
    "zoo.BottleneckV1",
    lambda **k: vision.BottleneckV1(4, 2, downsample=True, **k),
    "2,2,4,4",
    loose=10,
    in_channels=2,
)
layer(
    "zoo.BottleneckV2",
    lambda **k: vision.BottleneckV2(4, 1, **k),
    "2,4,4,4",
    loose=10,
    in_channels=4,
)
