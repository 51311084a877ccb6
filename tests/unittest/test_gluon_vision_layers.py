"""Layers for images: transposed convolutions, pixel shuffles, padding; against torch, hybridized."""

import numpy as onp
import pytest

from npcompat import autograd, init, np, npx
from npcompat.gluon import nn

torch = pytest.importorskip("torch", reason="compares with torch")


def trained(layer, x, head):
    """The result of a layer, hybridized, and the gradients of its data and parameters."""
    layer.hybridize()
    data = np.array(x)
    data.attach_grad()
    with autograd.record():
        y = layer(data)
    y.backward(np.array(head))
    return [
        a.asnumpy()
        for a in (
            y,
            data.grad,
            *[p.grad() for p in layer.collect_params().values() if p.grad_req != "null"],
        )
    ]


def by_torch(module, parameters, x, head):
    """The same of torch's module, with these parameters."""
    module = module.double()
    with torch.no_grad():
        for own, given in zip(module.parameters(), parameters, strict=True):
            own.copy_(torch.tensor(given))
    data = torch.tensor(x, requires_grad=True)
    y = module(data)
    y.backward(torch.tensor(head))
    return [a.detach().numpy() for a in (y, data.grad, *[p.grad for p in module.parameters()])]


TRANSPOSED = [
    (
        lambda: nn.Conv1DTranspose(4, 3, strides=2, padding=1, output_padding=1),
        lambda: torch.nn.ConvTranspose1d(2, 4, 3, 2, 1, 1),
        (2, 2, 5),
    ),
    (
        lambda: nn.Conv2DTranspose(4, (3, 2), (2, 3), (4, 0), (1, 2), dilation=(1, 2), groups=2),
        lambda: torch.nn.ConvTranspose2d(
            6, 4, (3, 2), (2, 3), (4, 0), (1, 2), 2, True, (1, 2)
        ),  # padding beyond the kernel
        (1, 6, 7, 3),
    ),
    (
        lambda: nn.Conv3DTranspose(2, 2, strides=2, use_bias=False),
        lambda: torch.nn.ConvTranspose3d(3, 2, 2, 2, bias=False),
        (1, 3, 2, 1, 3),
    ),
]


@pytest.mark.parametrize(("make", "theirs", "shape"), TRANSPOSED, ids=["1d", "2d", "3d"])
def test_transposed_convolutions_are_those_of_torch(make, theirs, shape):
    rng = onp.random.default_rng(1)
    x = rng.normal(size=shape)
    layer = make()
    layer.initialize(init.Normal(1))
    layer.cast("float64")
    head = rng.normal(size=layer(np.array(x)).shape)
    parameters = [p.data().asnumpy() for p in layer.collect_params().values()]
    for mine, its in zip(
        trained(layer, x, head), by_torch(theirs(), parameters, x, head), strict=True
    ):
        onp.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-10)


def test_transposed_convolution_takes_channels_last_and_activates():
    x = onp.random.default_rng(2).normal(size=(2, 3, 4, 2)).astype("float32")
    last, first = (
        nn.Conv2DTranspose(3, 2, 2, layout="NHWC", activation="relu"),
        nn.Conv2DTranspose(3, 2, 2, activation="relu"),
    )
    last.initialize()
    first.initialize()
    expected_shape = (2, 6, 8, 3)
    assert last(np.array(x)).shape == expected_shape and last.weight.shape == (2, 2, 2, 3)
    first(np.array(onp.moveaxis(x, -1, 1)))
    first.weight.set_data(last.weight.data().transpose(0, 3, 1, 2))
    moved = first(np.array(onp.moveaxis(x, -1, 1))).asnumpy()
    onp.testing.assert_allclose(
        last(np.array(x)).asnumpy(), onp.moveaxis(moved, 1, -1), rtol=1e-5, atol=1e-6
    )
    assert moved.min() == 0
    assert (
        repr(first)
        == "Conv2DTranspose(2 -> 3, kernel_size=(2, 2), stride=(2, 2), padding=(0, 0), output_padding=(0, 0))"
    )


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_transposed_convolution_undoes_the_shape_of_a_convolution(backend):
    with npx.backend(backend):
        for n in (7, 8, 9):
            x, w = np.ones((1, 1, n)), np.ones((1, 1, 3))
            y = npx.convolution(x, w, stride=3, pad=1)
            assert npx.deconvolution(y, w, stride=3, target_shape=n).shape == x.shape
        assert npx.deconvolution(np.ones((0, 1, 4)), np.ones((1, 2, 3))).shape == (0, 2, 6)
        assert (
            npx.deconvolution(
                np.ones((1, 1, 2), dtype="float16"), np.ones((1, 1, 1), dtype="float16")
            ).dtype
            == "float16"
        )


@pytest.mark.parametrize(("layer", "theirs", "shape"), [
    (nn.PixelShuffle2D(2), torch.nn.PixelShuffle(2), (2, 8, 3, 2)),
    (nn.ReflectionPad2D(2), torch.nn.ReflectionPad2d(2), (2, 1, 3, 4)),
    (nn.ReflectionPad2D((0, 0, 0, 0, 1, 2, 0, 1)), torch.nn.ReflectionPad2d((0, 1, 1, 2)), (1, 2, 3, 4)),
])  # fmt: skip
def test_pixel_layers_are_those_of_torch(layer, theirs, shape):
    rng = onp.random.default_rng(3)
    x = rng.normal(size=shape)
    head = rng.normal(size=layer(np.array(x)).shape)
    for mine, its in zip(trained(layer, x, head), by_torch(theirs, [], x, head), strict=True):
        onp.testing.assert_allclose(mine, its, rtol=1e-12)


def test_pixel_shuffles_take_the_channels_of_a_pixel_in_order():
    x = onp.arange(24).reshape(1, 6, 2, 2)
    y = nn.PixelShuffle2D((2, 3))(np.array(x)).asnumpy()
    volume = nn.PixelShuffle3D((1, 2, 3))(np.array(x.reshape(1, 6, 1, 2, 2))).asnumpy()
    for c in range(6):
        onp.testing.assert_array_equal(y[0, 0, c // 3 :: 2, c % 3 :: 3], x[0, c])
    onp.testing.assert_array_equal(volume[:, :, 0], y)
    assert nn.PixelShuffle1D(3)(np.array([[[1, 2], [3, 4], [5, 6]]])).tolist() == [
        [[1, 3, 5, 2, 4, 6]]
    ]


def test_sync_batch_norm_is_batch_norm_on_one_device():
    x = np.random.normal(size=(4, 3, 2))
    results = []
    for layer in (nn.BatchNorm(), nn.SyncBatchNorm(num_devices=1)):
        layer.initialize()
        with autograd.train_mode():
            results.append((layer(x).tolist(), layer.running_var.data().tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.SyncBatchNorm(num_devices=2), NotImplementedError, "num_devices=2: statistics are those of the whole batch"),
        (lambda: npx.sync_batch_norm(*[np.ones(1)] * 5, ndev=2), NotImplementedError, "ndev=2"),
        (lambda: nn.Conv2DTranspose(2, 3, output_padding=1), ValueError, "output_padding must be less than strides"),
        (lambda: nn.Conv1DTranspose(2, 3, groups=2, in_channels=3), ValueError, "2 groups must divide 3 input and 2 output channels"),
        (lambda: nn.PixelShuffle2D(0), ValueError, "factor must be positive, got 0"),
        (lambda: nn.PixelShuffle2D(2)(np.ones((1, 3, 2, 2))), ValueError, "must divide 3 channels"),
        (lambda: nn.PixelShuffle1D(2)(np.ones((1, 2))), ValueError, r"expected data with axes NCW, got shape \(1, 2\)"),
        (lambda: nn.ReflectionPad2D((1, 1)), ValueError, "padding is a number, or 8"),
        (lambda: nn.ReflectionPad2D(2)(np.ones((1, 1, 2, 5))), ValueError, "larger than the padding"),
        (lambda: npx.deconvolution(np.ones((1, 3, 4)), np.ones((2, 1, 2))), ValueError, "has 3 channels; weight of shape .* expects 2"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), adj=1), ValueError, "adj must be less than stride"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), pad=3), ValueError, "cuts off all of a result"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), target_shape=9), ValueError, "larger than the"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), pad=1, target_shape=4), ValueError, "give one or the other"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), np.ones(2)), ValueError, r"bias must have shape \(1,\)"),
        (lambda: npx.deconvolution(np.ones((1, 2, 4)), np.ones((2, 1, 2)), kernel=3), ValueError, r"kernel=3, but weight .* has kernel \(2,\)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error(call, error, text):
    with pytest.raises(error, match=text):
        call()
