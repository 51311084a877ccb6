"""Transforms as blocks: eager on the host and hybridized, on pictures and batches; on XLA the
operators are tested.
"""

import numpy as onp
import pytest

from npcompat import gluon, np
from npcompat.gluon.data.vision import transforms
from npcompat.numpy_extension._image_layout import host_picture

pytest.importorskip("PIL", reason="8-bit pictures are resized by Pillow on the host")
PICTURE = onp.random.default_rng(3).integers(0, 256, (10, 12, 3)).astype("uint8")

OF_PICTURES = [
    (lambda: transforms.ToTensor(), (3, 10, 12)),
    (lambda: transforms.Cast("float16"), (10, 12, 3)),
    (lambda: transforms.Resize((4, 6), interpolation=2), (6, 4, 3)),
    (lambda: transforms.CropResize(1, 2, 6, 5), (5, 6, 3)),
    (lambda: transforms.CropResize(1, 2, 6, 5, 3), (3, 3, 3)),
    (lambda: transforms.CenterCrop((16, 4)), (4, 16, 3)),
    (lambda: transforms.RandomCrop(8, pad=2, pad_value=9), (8, 8, 3)),
    (lambda: transforms.RandomResizedCrop((6, 4)), (4, 6, 3)),
    (lambda: transforms.RandomFlipLeftRight(), (10, 12, 3)),
    (lambda: transforms.RandomFlipTopBottom(), (10, 12, 3)),
    (lambda: transforms.RandomBrightness(0.5), (10, 12, 3)),
    (lambda: transforms.RandomContrast(0.5), (10, 12, 3)),
    (lambda: transforms.RandomSaturation(0.5), (10, 12, 3)),
    (lambda: transforms.RandomHue(0.5), (10, 12, 3)),
    (lambda: transforms.RandomColorJitter(0.5, 0, 0.5, 0), (10, 12, 3)),
    (lambda: transforms.RandomLighting(0.5), (10, 12, 3)),
    (lambda: transforms.RandomGray(), (10, 12, 3)),
    (lambda: transforms.HybridRandomApply([transforms.RandomBrightness(0.5)]), (10, 12, 3)),
]
OF_TENSORS = [
    lambda: transforms.Normalize(np.array([0.1, 0.2, 0.3]), 0.5),
    lambda: transforms.Rotate(20, zoom_in=True),
    lambda: transforms.RandomRotation((-40, 40), rotate_with_proba=0.5),
]


def agree(make, pictures, shape):
    """The results on the host and hybridized are the same."""
    results = []
    for x, hybridized in ((host_picture(pictures), False), (np.array(pictures), True)):
        transform = make()
        transform.hybridize(hybridized)
        np.random.seed(11)
        y = transform(x)
        assert y.shape == shape, repr(transform)
        results.append(y.asnumpy())
    eager, compiled = results
    assert eager.dtype == compiled.dtype
    onp.testing.assert_allclose(
        compiled.astype("float64"), eager, rtol=1e-4, atol=1 if eager.dtype == "uint8" else 1e-4
    )
    assert (abs(compiled.astype("float64") - eager) > 1e-3).mean() < 0.01
    return eager


@pytest.mark.parametrize(
    ("make", "shape"), OF_PICTURES, ids=[type(m()).__name__ for m, _ in OF_PICTURES]
)
def test_transforms_of_pictures_agree_everywhere(make, shape):
    agree(make, onp.stack([PICTURE] * 2), (2, *shape))
    assert make()(host_picture(PICTURE)).shape == shape


@pytest.mark.parametrize("make", OF_TENSORS, ids=[type(m()).__name__ for m in OF_TENSORS])
def test_transforms_of_tensors_agree_everywhere(make):
    agree(make, onp.random.default_rng(1).random((2, 3, 6, 5)).astype("float32"), (2, 3, 6, 5))


def test_composed_transforms():
    to_input = transforms.Compose(
        [transforms.Resize(6), lambda x: x, transforms.ToTensor(), transforms.Normalize(0.5, 0.25)]
    )
    found = to_input(host_picture(PICTURE))
    assert (
        found.shape == (3, 6, 6)
        and found.dtype == "float32"
        and isinstance(found._value.payload, onp.ndarray)
    )
    small = transforms.Resize(6)(host_picture(PICTURE)).asnumpy()
    onp.testing.assert_allclose(
        found.asnumpy(), (small.transpose(2, 0, 1) / 255 - 0.5) / 0.25, rtol=1e-5, atol=1e-5
    )
    assert len(to_input) == 4 and "Resize(6, keep_ratio=False, interpolation=1)" in repr(to_input)
    assert "Normalize(mean=(0.5), std=(0.25))" in repr(to_input)
    compiled = transforms.HybridCompose([transforms.CenterCrop(6), transforms.ToTensor()])
    onp.testing.assert_allclose(
        compiled(np.array(PICTURE)).asnumpy(), PICTURE[2:8, 3:9].transpose(2, 0, 1) / 255, rtol=1e-5
    )
    with pytest.raises(
        TypeError,
        match="HybridCompose: expected blocks that can be compiled, HybridBlocks, got function",
    ):
        transforms.HybridCompose([lambda x: x])
    with pytest.raises(TypeError, match="Compose: expected transforms, got int"):
        transforms.Compose([3])


def test_one_seed_repeats_augmentations():
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(8),
            transforms.RandomFlipLeftRight(),
            transforms.RandomColorJitter(0.4, 0.4, 0.4, 0.1),
            transforms.RandomApply(transforms.RandomGray(1), 0.5),
            transforms.RandomLighting(0.1),
        ]
    )

    def some():
        np.random.seed(8)
        return [augment(host_picture(PICTURE)).asnumpy() for _ in range(6)]

    first, second = some(), some()
    onp.testing.assert_array_equal(first, second)
    assert len({x.tobytes() for x in first}) == 6


def test_probabilities():
    x = host_picture(onp.broadcast_to(PICTURE, (400, 10, 12, 3)).copy())
    for transform, changed in (
        (transforms.RandomFlipLeftRight(0.25), lambda y: (y != PICTURE).any((1, 2, 3))),
        (transforms.RandomGray(0.25), lambda y: (y[..., 0] == y[..., 1]).all((1, 2))),
        (transforms.RandomFlipTopBottom(0.25), lambda y: (y != PICTURE).any((1, 2, 3))),
    ):
        assert 0.17 < changed(transform(x).asnumpy()).mean() < 0.33
    one = host_picture(PICTURE)
    for kind in (transforms.RandomApply, transforms.HybridRandomApply):
        flip = kind(transforms.RandomFlipLeftRight(1), 0.25)
        assert 0.1 < onp.mean([(flip(one).asnumpy() != PICTURE).any() for _ in range(120)]) < 0.4


def test_a_loader_applies_transforms():
    data = gluon.data.ArrayDataset(onp.stack([PICTURE] * 4), onp.arange(4)).transform_first(
        transforms.Compose([transforms.RandomCrop(8), transforms.ToTensor()])
    )
    (batch,) = gluon.data.DataLoader(data, 4)
    assert batch[0].shape == (4, 3, 8, 8) and batch[1].tolist() == [0, 1, 2, 3]


def test_what_a_sample_holds_besides_the_picture_passes_through():
    chain = transforms.Compose(
        [
            transforms.CenterCrop(4),
            transforms.RandomApply(transforms.RandomGray(1), 1),
            transforms.ToTensor(),
        ]
    )
    picture, label = chain(host_picture(PICTURE), 3)
    assert picture.shape == (3, 4, 4) and label == 3
    picture, *boxes = transforms.HybridCompose([transforms.Rotate(90)])(
        np.ones((1, 2, 2)), np.array([1]), np.array([2])
    )
    assert picture.shape == (1, 2, 2) and [b.tolist() for b in boxes] == [[1], [2]]
    assert transforms.HybridRandomApply(transforms.RandomGray(1))(host_picture(PICTURE), 5)[1] == 5


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: transforms.Resize((1, 2, 3)),
            ValueError,
            r"Resize: expected a positive number or \(width, height\)",
        ),
        (
            lambda: transforms.RandomResizedCrop(4, scale=(0.5, 2)),
            ValueError,
            r"RandomResizedCrop: expected scale=\(low, high\)",
        ),
        (
            lambda: transforms.RandomFlipLeftRight(2),
            ValueError,
            "RandomFlipLeftRight: p is a probability, got 2",
        ),
        (
            lambda: transforms.RandomBrightness(-1),
            ValueError,
            "RandomBrightness: expected a number that is not negative",
        ),
        (lambda: transforms.RandomRotation((3, 1)), ValueError, "low < high"),
        (lambda: transforms.Rotate(3, True, True), ValueError, "exclude each other"),
        (
            lambda: transforms.RandomApply(transforms.ToTensor(), -1),
            ValueError,
            "RandomApply: p is a probability",
        ),
        (
            lambda: transforms.HybridRandomApply(transforms.ToTensor())(np.array(PICTURE)),
            ValueError,
            "must keep shape and dtype, but made",
        ),
        (
            lambda: transforms.CropResize(9, 0, 6, 5)(np.array(PICTURE)),
            ValueError,
            "not within a picture of 12 x 10",
        ),
        (
            lambda: transforms.ToTensor()(np.ones((2, 2))),
            ValueError,
            r"to_tensor: expected a picture \(H, W, C\)",
        ),
    ],
)
def test_wrong_options_are_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
