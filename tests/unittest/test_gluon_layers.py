"""Layers: shapes, options and errors; the template (test_layers.py) runs them in all ways, and what
they compute is tested with the operators.
"""

import numpy as onp
import pytest

from npcompat import autograd, init, np, npx
from npcompat.gluon import nn

LAYERS = [
    (lambda: nn.Dense(4, flatten=False), (2, 3, 5), (2, 3, 4)),
    (lambda: nn.Dense(4, use_bias=False), (2, 3, 5), (2, 4)),
    (lambda: nn.Conv1D(4, 3, strides=2), (2, 3, 9), (2, 4, 4)),
    (lambda: nn.Conv1D(4, 3, layout="NWC"), (2, 9, 3), (2, 7, 4)),
    (lambda: nn.Conv2D(4, (3, 2), padding=1, dilation=2, groups=2), (2, 6, 8, 8), (2, 4, 6, 8)),
    (lambda: nn.Conv2D(4, 3, layout="NHWC", activation="relu"), (2, 8, 8, 3), (2, 6, 6, 4)),
    (lambda: nn.Conv3D(2, 2), (1, 3, 4, 4, 4), (1, 2, 3, 3, 3)),
    (lambda: nn.MaxPool1D(3), (1, 2, 9), (1, 2, 3)),
    (lambda: nn.MaxPool2D(3, 2, 1), (1, 2, 8, 8), (1, 2, 4, 4)),
    (lambda: nn.MaxPool2D(2, ceil_mode=True), (1, 2, 7, 7), (1, 2, 4, 4)),
    (lambda: nn.MaxPool3D(), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
    (lambda: nn.AvgPool1D(), (1, 2, 8), (1, 2, 4)),
    (lambda: nn.AvgPool2D(layout="NHWC"), (1, 8, 8, 2), (1, 4, 4, 2)),
    (lambda: nn.AvgPool3D(), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
    (lambda: nn.GlobalAvgPool1D(), (2, 3, 5), (2, 3, 1)),
    (lambda: nn.GlobalAvgPool2D("NHWC"), (2, 5, 5, 3), (2, 1, 1, 3)),
    (lambda: nn.GlobalAvgPool3D(), (2, 3, 5, 5, 5), (2, 3, 1, 1, 1)),
    (lambda: nn.GlobalMaxPool1D(), (2, 3, 5), (2, 3, 1)),
    (lambda: nn.GlobalMaxPool2D(), (2, 3, 5, 5), (2, 3, 1, 1)),
    (lambda: nn.GlobalMaxPool3D(), (2, 3, 5, 5, 5), (2, 3, 1, 1, 1)),
    (lambda: nn.BatchNorm(axis=-1), (4, 5, 3), (4, 5, 3)),
    (lambda: nn.BatchNorm(center=False, scale=False), (4, 3), (4, 3)),
    (lambda: nn.LayerNorm(axis=1), (4, 5, 3), (4, 5, 3)),
    (lambda: nn.GroupNorm(2), (4, 6, 3), (4, 6, 3)),
    (lambda: nn.InstanceNorm(scale=True), (4, 6, 3), (4, 6, 3)),
    (lambda: nn.InstanceNorm(axis=-1), (4, 6, 3), (4, 6, 3)),
    (lambda: nn.Flatten(), (4, 6, 2), (4, 12)),
]


@pytest.mark.parametrize(
    ("make", "given", "expected"),
    LAYERS,
    ids=[f"{m().__class__.__name__}{s}" for m, s, _ in LAYERS],
)
def test_layers_have_the_shapes_they_promise(make, given, expected):
    with npx.backend("numpy"):
        layer = make()
        layer.initialize("zeros")
        assert layer(np.zeros(given)).shape == expected


def test_embedding_looks_up_rows(backend):
    layer = nn.Embedding(5, 2)
    layer.initialize(init.Normal(1))
    x = np.array([[0, 4]])
    onp.testing.assert_array_equal(layer(x).asnumpy(), layer.weight.data().asnumpy()[[[0, 4]]])
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        layer(np.array([5]))


def test_concatenate_joins_what_its_blocks_give():
    for kind in (nn.Concatenate, nn.HybridConcatenate):
        net = kind(axis=1)
        net.add(nn.Identity(), nn.Lambda("square"))
        net.hybridize()
        assert net(np.array([[1.0, 2.0]])).tolist() == [[1, 2, 1, 4]]


def test_lambda_takes_functions_and_names():
    assert nn.Lambda("relu")(np.array([-1.0])).tolist() == [0]
    assert repr(nn.Lambda(lambda x: x)) == "Lambda(<lambda>)"
    with pytest.raises(ValueError, match="neither np nor npx has a function 'nope'"):
        nn.Lambda("nope")
    with pytest.raises(TypeError, match="expected a function"):
        nn.HybridLambda(3)


def test_batch_norm_keeps_its_statistics_in_float32():
    layer = nn.BatchNorm(in_channels=2)
    layer.initialize()
    layer.cast("float16")
    assert (
        layer.running_mean.dtype == "float32"
        and layer(np.ones((2, 2), dtype="float16")).dtype == "float16"
    )
    layer.cast("float64")
    assert layer.gamma.dtype == "float64"


def test_batch_norm_with_global_statistics_does_not_move_them():
    layer = nn.BatchNorm(use_global_stats=True)
    layer.initialize()
    with autograd.train_mode():
        layer(np.ones((4, 2)))
    assert layer.running_mean.data().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.Conv2D(4, 3, layout="NCW"), ValueError, "layout must be one of NCHW, NHWC"),
        (
            lambda: nn.Conv2D(4, (3, 3, 3)),
            ValueError,
            "kernel_size: expected a number, or one for each of 2 axes",
        ),
        (
            lambda: nn.Conv2D(4, 3, groups=3, in_channels=6),
            ValueError,
            "3 groups must divide 6 input and 4 output channels",
        ),
        (lambda: nn.Activation("nope"), ValueError, "act_type must be one of"),
        (lambda: nn.Dropout(1.5), ValueError, "rate is a probability"),
        (lambda: nn.LeakyReLU(-1), ValueError, "must not be negative"),
        (lambda: nn.GELU("exact"), ValueError, "approximation must be"),
        (lambda: nn.Embedding(2, 2, sparse_grad=True), NotImplementedError, "gradients are dense"),
        (lambda: nn.GlobalAvgPool2D("HWC"), ValueError, "layout must be one of NCHW, NHWC"),
    ],
)
def test_wrong_options_are_errors_where_the_layer_is_made(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_wrong_number_of_axes_is_an_error():
    layer = nn.Conv2D(2, 3)
    layer.initialize()
    with pytest.raises(ValueError, match=r"expected data with axes NCHW, got shape \(2, 8, 8\)"):
        layer(np.ones((2, 8, 8)))
    dense = nn.Dense(2, in_units=4)
    dense.initialize()
    with pytest.raises(
        ValueError, match=r"data of shape \(3, 5\) does not fit weight of shape \(2, 4\)"
    ):
        dense(np.ones((3, 5)))
