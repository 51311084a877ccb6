"""Cases of `gluon.nn` but for those of pictures: dense layers, activations, normalisation,
attention, containers.
"""

from layer_cases.case import layer
from npcompat.gluon import nn


def containing(container, *blocks):
    container.add(*blocks)
    return container


layer("nn.Dense", lambda **k: nn.Dense(4, activation="tanh", **k), "3,2,5", in_units=10)
layer("nn.Dense", lambda **k: nn.Dense(4, use_bias=False, flatten=False, **k), "3,2,5", in_units=5)
layer("nn.Embedding", lambda: nn.Embedding(5, 3), "4,2 index5 int64")
layer("nn.Flatten", nn.Flatten, "3,2,2")
layer("nn.Identity", nn.Identity, "3,2")
layer("nn.Lambda", lambda: nn.Lambda("square"), "3,2")
layer("nn.HybridLambda", lambda: nn.HybridLambda(lambda x, y: x * y), "3,2", "3,2")
layer("nn.Dropout", lambda: nn.Dropout(0.5), "3,4")
layer("nn.Dropout", lambda: nn.Dropout(0.5, axes=(1,)), "3,4,2")

layer("nn.Activation", lambda: nn.Activation("softrelu"), "3,2")
layer("nn.ELU", nn.ELU, "3,2")
layer("nn.GELU", lambda: nn.GELU("tanh"), "3,2")
layer("nn.LeakyReLU", lambda: nn.LeakyReLU(0.1), "3,2")
layer("nn.PReLU", lambda: nn.PReLU(in_channels=3), "2,3,2")
layer("nn.SELU", nn.SELU, "3,2")
layer("nn.SiLU", nn.SiLU, "3,2")
layer("nn.Swish", lambda: nn.Swish(2.0), "3,2")

layer("nn.BatchNorm", lambda **k: nn.BatchNorm(axis=-1, **k), "4,2,3", in_channels=3)
layer(
    "nn.BatchNorm",
    lambda **k: nn.BatchNorm(center=False, scale=False, use_global_stats=True, **k),
    "4,3",
    in_channels=3,
)
layer("nn.BatchNormReLU", nn.BatchNormReLU, "4,3", in_channels=3)
layer("nn.SyncBatchNorm", lambda **k: nn.SyncBatchNorm(num_devices=1, **k), "4,3", in_channels=3)
layer("nn.LayerNorm", lambda **k: nn.LayerNorm(axis=1, **k), "3,4,2", in_channels=4)
layer("nn.GroupNorm", lambda **k: nn.GroupNorm(2, **k), "3,4,2", in_channels=4)
layer("nn.InstanceNorm", lambda **k: nn.InstanceNorm(scale=True, **k), "3,2,4", in_channels=2)
layer("nn.InstanceNorm", lambda **k: nn.InstanceNorm(axis=-1, **k), "3,4,2", in_channels=2)

layer(
    "nn.MultiHeadAttention",
    lambda **k: nn.MultiHeadAttention(4, 2, dropout=0.3, num_key_heads=1, **k),
    "2,3,4",
    in_units=4,
)
layer(
    "nn.TransformerEncoderCell",
    lambda: nn.TransformerEncoderCell(4, 6, 2, dropout=0.3),
    "2,3,4",
    loose=3,
)
layer(
    "nn.TransformerEncoderCell",
    lambda: nn.TransformerEncoderCell(4, 6, 2, activation="gelu", pre_norm=True),
    "2,3,4",
    loose=3,
)

layer(
    "nn.Sequential",
    lambda in_units=0: containing(nn.Sequential(), nn.Dense(3, in_units=in_units), nn.SiLU()),
    "3,2",
    in_units=2,
)
layer(
    "nn.HybridSequential",
    lambda in_units=0: containing(
        nn.HybridSequential(),
        nn.Dense(3, in_units=in_units),
        nn.Dropout(0.5),
        nn.BatchNorm(in_channels=3),
    ),
    "3,2",
    in_units=2,
)
layer(
    "nn.Concatenate",
    lambda in_units=0: containing(nn.Concatenate(), nn.Dense(3, in_units=in_units), nn.Identity()),
    "3,2",
    in_units=2,
)
layer(
    "nn.HybridConcatenate",
    lambda: containing(nn.HybridConcatenate(axis=1), nn.Identity(), nn.SiLU()),
    "3,2,2",
)
