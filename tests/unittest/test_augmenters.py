"""Augmenters, of pictures and of pictures with objects, and the iterators that use them."""

import io
import json

import numpy as onp
import pytest
from internals import DataFileError

from npcompat import image, np, recordio
from npcompat.numpy_extension._image_layout import host_picture

Image = pytest.importorskip("PIL.Image", reason="8-bit pictures are decoded and resized by Pillow")
PICTURE = onp.random.default_rng(3).integers(0, 256, (10, 12, 3)).astype("uint8")
LUMA = onp.array([0.299, 0.587, 0.114])


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


# --- pictures -------------------------------------------------------------------------------------


def test_sizes_and_windows():
    x = host_picture(PICTURE)
    assert image.ResizeAug(5)(x).shape == (5, 6, 3) and image.ForceResizeAug((5, 7), 1)(
        x
    ).shape == (7, 5, 3)
    onp.testing.assert_array_equal(image.CenterCropAug((4, 6))(x).asnumpy(), PICTURE[2:8, 4:8])
    assert (
        image.RandomCropAug(5)(x).shape
        == (5, 5, 3)
        == image.RandomSizedCropAug((5, 5), (0.3, 0.6), (0.5, 2))(x).shape
    )
    onp.testing.assert_array_equal(image.HorizontalFlipAug(1)(x).asnumpy(), PICTURE[:, ::-1])
    onp.testing.assert_array_equal(image.HorizontalFlipAug(0)(x).asnumpy(), PICTURE)


WIDE = PICTURE.astype("float64")
JITTERS = {  # an augmenter, and what it makes a picture more or less distant from
    "brightness": (image.BrightnessJitterAug, onp.zeros_like(WIDE)),
    "contrast": (image.ContrastJitterAug, onp.full_like(WIDE, (WIDE @ LUMA).mean())),
    "saturation": (image.SaturationJitterAug, onp.repeat((WIDE @ LUMA)[..., None], 3, -1)),
}


@pytest.fixture
def floats():
    """The picture, in float32."""
    return host_picture(PICTURE.astype("float32"))


@pytest.mark.parametrize("name", JITTERS)
def test_jitter_multiplies_the_distance_from_a_base_by_one_number_a_call(name, floats):
    make, base = JITTERS[name]
    augmenter, far = make(0.5), abs(WIDE - base) > 20
    factors = []
    for _ in range(8):
        ratios = (augmenter(floats).asnumpy() - base)[far] / (WIDE - base)[far]
        assert ratios.std() < 1e-3
        factors.append(ratios.mean())
    assert len(set(onp.round(factors, 6))) == 8
    assert 0.5 <= min(factors) < 1 < max(factors) <= 1.5


def test_a_negative_jitter_is_an_error():
    with pytest.raises(
        ValueError, match="BrightnessJitterAug: expected a number that is not negative, got -1"
    ):
        image.BrightnessJitterAug(-1)


def test_another_hue_keeps_the_luma(floats):
    found = image.HueJitterAug(0.4)(floats).asnumpy()
    onp.testing.assert_allclose(found @ LUMA, WIDE @ LUMA, rtol=1e-3, atol=0.1)


def test_lighting_adds_one_colour_along_the_eigenvectors(floats):
    eigvec = onp.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    added = image.LightingAug(2.0, [1.0, 10.0, 100.0], eigvec)(floats).asnumpy() - WIDE
    assert added.reshape(-1, 3).std(0).max() < 1e-3
    assert abs(added[0, 0, 2]) < 1e-3 and added[0, 0, 0] != 0


def test_grey_pictures_are_as_frequent_as_asked_for(floats):
    grey = image.RandomGrayAug(1)(floats).asnumpy()
    onp.testing.assert_allclose(grey[..., 1], WIDE @ [0.21, 0.72, 0.07], rtol=1e-5)
    onp.testing.assert_array_equal(image.RandomGrayAug(0)(floats).asnumpy(), WIDE)


def test_colours_are_normalized_by_channel(floats):
    found = image.ColorNormalizeAug([1, 2, 3], [2, 2, 4])(floats).asnumpy()
    onp.testing.assert_allclose(found, (WIDE - [1, 2, 3]) / [2, 2, 4], rtol=1e-5)


def test_a_cast_changes_the_dtype(floats):
    assert image.CastAug("float16")(floats).dtype == "float16"


def test_orders_and_dumps():
    class Append(image.Augmenter):
        def __init__(self, name):
            super().__init__(name=name)
            self.name = name

        def __call__(self, src):
            return src + self.name

    letters = [Append(c) for c in "abc"]
    assert image.SequentialAug(letters)("") == "abc"
    orders = {image.RandomOrderAug(letters)("") for _ in range(60)}
    assert len(orders) == 6 and all(sorted(o) == ["a", "b", "c"] for o in orders)
    assert image.SequentialAug(letters[:1]).dumps() == [
        "sequentialaug",
        ['["append", {"name": "a"}]'],
    ]
    lighting = json.loads(image.LightingAug(0.1, np.array([1.0, 2.0, 3.0]), onp.eye(3)).dumps())
    assert lighting == [
        "lightingaug",
        {"alphastd": 0.1, "eigval": [1, 2, 3], "eigvec": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
    ]
    assert len(image.ColorJitterAug(0.1, 0, 0.1).ts) == 2


def test_the_usual_augmenters_follow_the_seed():
    augmenters = image.CreateAugmenter(
        (3, 6, 5),
        8,
        True,
        True,
        True,
        True,
        True,
        brightness=0.1,
        contrast=0.1,
        saturation=0.1,
        hue=0.1,
        pca_noise=0.1,
        rand_gray=0.2,
    )
    names = "ResizeAug RandomSizedCropAug HorizontalFlipAug CastAug ColorJitterAug HueJitterAug LightingAug RandomGrayAug ColorNormalizeAug"
    assert [type(a).__name__ for a in augmenters] == names.split()

    def some():
        np.random.seed(6)
        return onp.stack(
            [image.SequentialAug(augmenters)(host_picture(PICTURE)).asnumpy() for _ in range(3)]
        )

    first = some()
    assert (
        first.shape == (3, 6, 5, 3)
        and first.dtype == "float32"
        and abs(first).max() < 5
        and (first[0] != first[1]).any()
    )
    onp.testing.assert_array_equal(some(), first)
    assert [type(a).__name__ for a in image.CreateAugmenter((3, 6, 5), rand_crop=True)] == [
        "RandomCropAug",
        "CastAug",
    ]
    with pytest.raises(ValueError, match="rand_resize=True needs rand_crop=True"):
        image.CreateAugmenter((3, 6, 5), rand_resize=True)
    with pytest.raises(ValueError, match="expected mean=True, one number or three"):
        image.CreateAugmenter((3, 6, 5), mean=(1, 2))


# --- pictures with objects ------------------------------------------------------------------------


def marked(boxes, height=40, width=60):
    """A picture whose pixels in box i are i + 1, and the label of the boxes."""
    pixels = onp.zeros((height, width, 3), "uint8")
    for i, (left, top, right, bottom) in enumerate(boxes):
        pixels[top:bottom, left:right] = i + 1
    shares = onp.array(boxes) / [width, height, width, height]
    return host_picture(pixels), onp.concatenate([onp.arange(len(boxes))[:, None], shares], 1)


def check(picture, label):
    """The label's boxes are where the picture has its marks."""
    pixels = picture.asnumpy()[..., 0]
    for row in label:
        rows, columns = onp.nonzero(pixels == row[0] + 1)
        scale = onp.array([pixels.shape[1], pixels.shape[0]] * 2)
        found = onp.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        onp.testing.assert_allclose(row[1:5] * scale, found, atol=1e-3)


BOXES = [(5, 5, 15, 20), (30, 10, 55, 35)]


def test_boxes_move_with_their_objects():
    picture, label = marked(BOXES)
    flipped, turned = image.DetHorizontalFlipAug(1)(picture, label)
    check(flipped, turned)
    assert (turned != label.astype("float32")).any() and label[0, 1] == onp.float64(5 / 60)
    for _ in range(10):
        padded, moved = image.DetRandomPadAug(area_range=(1.5, 3), pad_val=(9, 9, 9))(
            picture, np.array(label)
        )
        check(padded, moved)
        assert 1.4 < padded.size / picture.size < 3.1 and 9 in padded.asnumpy()
    crop = image.DetRandomCropAug(0.6, (0.5, 2.0), (0.1, 0.7), 0.5)
    kept = set()
    for _ in range(30):
        window, moved = crop(picture, label)
        assert window.size < picture.size
        check(window, moved)
        kept.add(len(moved))
    assert kept == {1, 2}
    everything = image.DetRandomCropAug(0.999, area_range=(0.01, 0.02), max_attempts=5)(
        picture, label
    )
    assert everything[0].shape == picture.shape and len(everything[1]) == 2
    with pytest.raises(
        ValueError, match=r"expected a label of shape \(objects, 5 or more\), got \(4,\)"
    ):
        crop(picture, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"DetRandomCropAug: expected area_range=\(low, high\)"):
        image.DetRandomCropAug(area_range=(0.1, 2))


def test_choices_of_augmenters():
    picture, label = marked(BOXES)
    flip = image.DetHorizontalFlipAug(1)
    results = [image.DetRandomSelectAug([flip], 0.5)(picture, label)[1] for _ in range(40)]
    assert 8 < sum((r != label.astype("float32")).any() for r in results) < 32
    several = image.CreateMultiRandCropAugmenter([0.1, 0.5], area_range=[(0.1, 1.0), (0.3, 1.0)])
    assert len(several.aug_list) == 2 and several.dumps()[0] == "detrandomselectaug"
    with pytest.raises(ValueError, match="expected lists of equal length"):
        image.CreateMultiRandCropAugmenter([0.1, 0.5], max_attempts=[1, 2, 3])
    with pytest.raises(TypeError, match="DetBorrowAug: expected an Augmenter, got int"):
        image.DetBorrowAug(3)
    with pytest.raises(TypeError, match="DetRandomSelectAug: expected DetAugmenters, got CastAug"):
        image.DetRandomSelectAug([image.CastAug()])
    usual = image.CreateDetAugmenter(
        (3, 16, 24), 30, 1.0, 1.0, 0.5, True, True, True, 0.1, 0.1, 0.1, 0.1, 0.1
    )
    for _ in range(3):
        found, moved = picture, label
        for augmenter in usual:
            found, moved = augmenter(found, moved)
        assert (
            found.shape == (16, 24, 3)
            and found.dtype == "float32"
            and moved.shape[1] == 5
            and 0 <= moved[:, 1:].min() <= moved.max() <= 1
        )


# --- iterators ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Seven pictures of one colour, their number, as files with a list, and as records."""
    lines = []
    with recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w") as file:
        for i in range(7):
            content = png(onp.full((8, 10, 3), i, "uint8"))
            (tmp_path / f"{i}.png").write_bytes(content)
            lines.append(f"{i}\t{i}\t{i * i}\t{i}.png\n")
            file.write_idx(i, recordio.pack((0, float(i), i, 0), content))
    (tmp_path / "a.lst").write_text("".join(lines))
    return tmp_path


def numbers(iterator):
    """The colours of the batches, which are their labels, too."""
    found = []
    for batch in iterator:
        assert (
            batch.data[0].asnumpy()[:, 0, 0, 0]
            == batch.label[0].asnumpy().reshape(len(batch.data[0]), -1)[:, 0]
        ).all()
        found.append(
            (
                batch.label[0].asnumpy().reshape(len(batch.data[0]), -1)[:, 0].astype(int).tolist(),
                batch.pad,
            )
        )
    return found


def test_pictures_in_batches(files):
    everything = [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]
    records = image.ImageIter(3, (3, 4, 5), path_imgrec=files / "a.rec")
    for _ in range(2):
        assert numbers(records) == everything and numbers(records) == []
        records.reset()
    first = records.next()
    assert (
        first.data[0].shape == (3, 3, 4, 5)
        and first.data[0].dtype == "float32"
        and first.label[0].shape == (3,)
    )
    assert records.provide_data == [
        ("data", (3, 3, 4, 5), onp.dtype("float32"))
    ] and records.provide_label[0][:2] == (
        "softmax_label",
        (3,),
    )
    listed = image.ImageIter(
        3,
        (3, 4, 5),
        2,
        path_imglist=files / "a.lst",
        path_root=files,
        last_batch_handle="discard",
        dtype="uint8",
    )
    assert numbers(listed) == everything[:2]
    listed.reset()
    batch = next(listed)
    assert batch.label[0].tolist() == [[0, 0], [1, 1], [2, 4]] and batch.data[0].dtype == "uint8"
    rolling = image.ImageIter(
        3,
        (1, 8, 10),
        imglist=[[i, f"{i}.png"] for i in range(7)],
        path_root=files,
        last_batch_handle="roll_over",
    )
    assert numbers(rolling) == everything[:2]
    rolling.reset()
    assert numbers(rolling) == [([6, 0, 1], 0), ([2, 3, 4], 0)]
    rolling.hard_reset()
    assert numbers(rolling) == everything[:2]


def test_parts_and_orders(files):
    given = {"path_imgrec": files / "a.rec", "path_imgidx": files / "a.idx"}
    parts = [image.ImageIter(1, (3, 8, 8), part_index=i, num_parts=3, **given) for i in range(3)]
    assert [[n for (n,), _ in numbers(part)] for part in parts] == [[0, 1, 2], [3, 4], [5, 6]]
    shuffled = image.ImageIter(7, (3, 8, 8), shuffle=True, **given)
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        shuffled.reset()
        orders.append(numbers(shuffled)[0][0])
    assert orders[0] == orders[1] != orders[2] and sorted(orders[2]) == list(range(7))
    relabelled = image.ImageIter(7, (3, 8, 8), 2, path_imglist=files / "a.lst", **given)
    assert next(relabelled).label[0][:, 1].tolist() == [i * i for i in range(7)]


def test_what_can_not_be_read_is_named(files):
    for options, error, text in (
        (
            {},
            ValueError,
            "expected path_imgrec, path_imglist or imglist: there is nothing to read from",
        ),
        (
            {"path_imgrec": files / "a.rec", "shuffle": True},
            ValueError,
            "shuffle=True and num_parts need path_imgidx",
        ),
        (
            {"path_imgrec": files / "a.rec", "part_index": 2, "num_parts": 2},
            ValueError,
            r"part_index must be in \[0, 2\), got 2",
        ),
        (
            {"path_imgrec": files / "a.rec", "last_batch_handle": "drop"},
            ValueError,
            "last_batch_handle must be 'pad', 'discard'",
        ),
        (
            {"path_imgrec": files / "a.rec", "aug_list": [], "resize": 3},
            TypeError,
            "resize belong to CreateAugmenter",
        ),
    ):
        with pytest.raises(error, match=text):
            image.ImageIter(2, (3, 8, 8), **options)
    with pytest.raises(
        ValueError,
        match=r"data_shape must be \(channels, height, width\) with 1 or 3 channels, got \(8, 8, 3\)",
    ):
        image.ImageIter(2, (8, 8, 3), path_imgrec=files / "a.rec")
    with pytest.raises(
        ValueError,
        match=r"record 0: the augmenters made a picture of shape \(8, 10, 3\); data_shape means \(8, 8, 3\)",
    ):
        next(image.ImageIter(2, (3, 8, 8), path_imgrec=files / "a.rec", aug_list=[]))
    with pytest.raises(ValueError, match=r"0\.png: expected 1 labels, as label_width says, got 2"):
        next(image.ImageIter(2, (3, 8, 8), path_imglist=files / "a.lst", path_root=files))
    (files / "1.png").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"1\.png: not a picture of one of the formats"):
        next(image.ImageIter(2, (3, 8, 8), imglist=[[0, "1.png"]], path_root=files))
    with recordio.MXRecordIO(files / "b.rec", "w") as file:
        file.write(b"short")
    with pytest.raises(
        DataFileError, match=r"b\.rec, record 0: unpack: expected a header of 24 bytes, got 5 bytes"
    ):
        next(image.ImageIter(2, (3, 8, 8), path_imgrec=files / "b.rec"))


def test_objects_in_batches(files):
    one, two = [2, 5, 0, 0.1, 0.1, 0.6, 0.7], [2, 5, 1, 0.2, 0.2, 0.4, 0.4, 0, 0.5, 0.5, 0.9, 0.9]
    wrong = [2, 5, 1, 0.4, 0.4, 0.2, 0.2]
    given = {"imglist": [[*one, "1.png"], [*two, "2.png"], [*one, "3.png"]], "path_root": files}
    iterator = image.ImageDetIter(2, (3, 6, 7), **given)
    batch = next(iterator)
    assert batch.data[0].shape == (2, 3, 6, 7) and iterator.provide_label[0][:2] == (
        "label",
        (2, 2, 5),
    ) == ("label", batch.label[0].shape)
    onp.testing.assert_allclose(
        batch.label[0].asnumpy(), [[one[2:], [-1] * 5], [two[2:7], two[7:]]], rtol=1e-6
    )
    other = image.ImageDetIter(1, (3, 6, 7), imglist=[[*one, "1.png"]], path_root=files)
    iterator.sync_label_shape(other)
    assert next(other).label[0].shape == (1, 2, 5)
    iterator.reshape((3, 6, 7), (4, 5))
    assert iterator.next().label[0].shape == (2, 4, 5)
    with pytest.raises(
        ValueError, match=r"label_shape must have \(4, 5\) or more rows, got \(3, 5\)"
    ):
        iterator.reshape(label_shape=(3, 5))
    for labels, text in (
        (wrong, r"1\.png: no object has a box with left < right and top < bottom"),
        ([1.0], r"1\.png: expected labels \[length of the head"),
        (one[:-1], r"1\.png: expected labels"),
    ):
        with pytest.raises(ValueError, match=text):
            image.ImageDetIter(1, (3, 6, 7), imglist=[[*labels, "1.png"]], path_root=files)


def test_the_steps_of_a_sample_can_be_defined_in_another_way(files):
    class Dark(image.ImageIter):
        def augmentation_transform(self, data):
            return super().augmentation_transform(data) * 0

        def postprocess_data(self, datum):
            return super().postprocess_data(datum) + 7

    listing = [[i, f"{i}.png"] for i in range(2)]
    batch = next(Dark(2, (3, 8, 8), imglist=listing, path_root=files))
    assert batch.data[0].shape == (2, 3, 8, 8) and (batch.data[0] == 7).all()
    steps = image.ImageIter(2, (3, 8, 8), imglist=listing, path_root=files)
    label, content = steps.next_sample()
    assert (
        label.tolist() == [0]
        and content == steps.read_image("0.png") == (files / "0.png").read_bytes()
    )
    assert steps.augmentation_transform(steps.imdecode(content)).shape == (8, 8, 3)
    steps.next_sample()
    with pytest.raises(StopIteration):
        steps.next_sample()
    with pytest.raises(
        ValueError, match=r"1\.png: expected a picture of shape \(H, W, C\), got \(2, 2\)"
    ):
        steps.check_valid_image([np.zeros((2, 2))])
    with pytest.raises(ValueError, match="ImageIter: data_shape must be"):
        steps.check_data_shape((2, 8, 8))
