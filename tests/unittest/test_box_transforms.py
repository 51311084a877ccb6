"""Transforms of pictures with their bounding boxes, under MXNet's path."""

import numpy as onp
import pytest
from npcompat.gluon.contrib.data import vision
from npcompat.gluon.contrib.data.vision.transforms import bbox

from npcompat import np


def scene():
    """A picture whose box is marked by ones."""
    picture = onp.zeros((20, 30, 3), "float32")
    picture[4:10, 6:18] = 1
    return np.array(picture), np.array([[6.0, 4.0, 18.0, 10.0, 7.0]])


def assert_box_is_on_the_marks(picture, boxes):
    (left, top, right, bottom, label), *_ = boxes.asnumpy().astype(int)
    marks = onp.zeros(picture.shape[:2])
    marks[top:bottom, left:right] = 1
    assert label == 7 and (picture.asnumpy()[..., 0] == marks).all()


@pytest.mark.parametrize(
    "transform",
    [
        vision.ImageBboxRandomFlipLeftRight(1),
        vision.ImageBboxCrop((5, 3, 20, 12)),
        vision.ImageBboxCrop((8, 2, 15, 7)),
        vision.ImageBboxRandomExpand(1, max_ratio=2),
        vision.ImageBboxRandomExpand(1, max_ratio=2, keep_ratio=False),
        vision.ImageBboxRandomCropWithConstraints(1),
        vision.ImageBboxRandomCropWithConstraints(
            1, constraints=[(0.2, 0.9)], max_aspect_ratio=1.5
        ),
    ],
    ids=lambda t: type(t).__name__,
)
def test_boxes_stay_on_what_they_mark(transform):
    np.random.seed(0)
    for _ in range(8):
        picture, boxes = scene()
        before = boxes.copy()
        assert_box_is_on_the_marks(*transform(picture, boxes))
        assert (boxes == before).all()


def test_boxes_whose_center_is_outside_are_left_out():
    picture, boxes = scene()
    window = (14, 0, 10, 19)
    assert vision.ImageBboxCrop(window)(picture, boxes)[1].shape == (0, 5)
    found = vision.ImageBboxCrop(window, allow_outside_center=True)(picture, boxes)[1]
    assert found.tolist() == [[0, 4, 4, 10, 7]]
    same = vision.ImageBboxCrop((0, 0, 40, 10))(picture, boxes)
    assert same[0] is picture and same[1] is boxes


def test_constrained_windows_overlap_as_asked():
    np.random.seed(1)
    picture, boxes = scene()
    crop = vision.ImageBboxRandomCropWithConstraints(1, constraints=[(0.5, None)])
    sizes = {crop(picture, boxes)[0].shape for _ in range(12)}
    assert len(sizes) > 2
    for height, width, _ in sizes - {picture.shape}:
        assert 6 * 12 / (height * width) <= 2 and height * width * 0.5 <= 72 * 1.0001
    empty = np.zeros((0, 4))
    assert crop(picture, empty)[1].shape == (0, 4)


def test_probabilities_and_fill():
    picture, boxes = scene()
    for kind in (vision.ImageBboxRandomFlipLeftRight, vision.ImageBboxRandomExpand,
                 vision.ImageBboxRandomCropWithConstraints):  # fmt: skip
        found = kind(p=-1)(picture, boxes)
        assert found[0] is picture and found[1] is boxes
    np.random.seed(1)
    larger, _ = vision.ImageBboxRandomExpand(1, max_ratio=3, fill=(1, 2, 3))(picture, boxes)
    pixels = larger.asnumpy().reshape(-1, 3)
    assert (pixels == [1, 2, 3]).all(axis=1).sum() == len(pixels) - 20 * 30 > 0
    resized, scaled = vision.ImageBboxResize(60, 20)(picture, boxes)
    assert resized.shape == (20, 60, 3) and scaled.tolist() == [[12, 4, 36, 10, 7]]
    assert vision.ImageBboxResize(60, 20, interp=-1)(picture, boxes)[0].shape == (20, 60, 3)


def test_wrong_shapes_and_windows_are_refused():
    picture, boxes = scene()
    with pytest.raises(ValueError, match=r"expected boxes \(number, 4 or more\), got \(5,\)"):
        vision.ImageBboxResize(2, 2)(picture, boxes[0])
    with pytest.raises(ValueError, match="expected a picture"):
        vision.ImageBboxRandomFlipLeftRight(1)(picture[0], boxes)
    with pytest.raises(ValueError, match="expected left and upper edge"):
        vision.ImageBboxCrop((0, 0, 0, 3))
    with pytest.raises(ValueError, match="expected 3 values"):
        vision.ImageBboxRandomExpand(1, fill=(1, 2))(picture, boxes)
    assert bbox.ImageBboxCrop is vision.ImageBboxCrop
