"""Transforms of a picture together with its bounding boxes.

A picture is (H, W, C); boxes are (N, 4 or more): left, top, right and bottom edge in pixels, and
further attributes, which stay as they are. Random transforms are seeded by `np.random.seed`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import npcompat.numpy as np
from npcompat.gluon.block import Block
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension import _image_geometry as geometry

Pair = tuple[ndarray, ndarray]
Limits = tuple[float | None, float | None]
_CONSTRAINTS: tuple[Limits, ...] = (
    (0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1.0),
)  # fmt: skip


def _check(transform: Block, picture: ndarray, boxes: ndarray) -> None:
    name = type(transform).__name__
    if picture.ndim != 3:
        raise ValueError(
            f"{name}: expected a picture (height, width, channels), got {picture.shape}"
        )
    if boxes.ndim != 2 or boxes.shape[1] < 4:
        raise ValueError(f"{name}: expected boxes (number, 4 or more), got {boxes.shape}")


def _draw(low: float = 0.0, high: float = 1.0) -> float:
    return float(np.random.uniform(low, high))


def _draw_int(high: int) -> int:
    """Draw an integer from 0 to `high`, both included."""
    return int(np.random.randint(0, high + 1))


def _cropped(boxes: ndarray, window: Sequence[int], allow_outside_center: bool) -> ndarray:
    """Return the boxes as they lie in a window (left, top, width, height), without empty ones."""
    corner = np.array(window[:2], dtype=boxes.dtype)
    end = corner + np.array(window[2:], dtype=boxes.dtype)
    first, last = np.maximum(boxes[:, :2], corner), np.minimum(boxes[:, 2:4], end)
    kept = (first < last).all(axis=1)
    if not allow_outside_center:
        centers = (boxes[:, :2] + boxes[:, 2:4]) / 2
        kept &= ((corner <= centers) & (centers < end)).all(axis=1)
    return np.concatenate([first - corner, last - corner, boxes[:, 4:]], axis=1)[kept]


def _overlaps(boxes: ndarray, window: Sequence[int]) -> ndarray:
    """Return the intersection over union of each box with a window (left, top, width, height)."""
    left, top, width, height = window
    corner, end = np.array([left, top]), np.array([left + width, top + height])
    sides = np.minimum(boxes[:, 2:4], end) - np.maximum(boxes[:, :2], corner)
    common = np.maximum(sides, 0).prod(axis=1)
    return common / ((boxes[:, 2:4] - boxes[:, :2]).prod(axis=1) + width * height - common)


class ImageBboxRandomFlipLeftRight(Block):
    """Flip a picture and its boxes left to right, with a probability.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> from npcompat.gluon.contrib.data.vision import ImageBboxRandomFlipLeftRight
    >>> flip = ImageBboxRandomFlipLeftRight(1)
    >>> flip(np.zeros((4, 10, 3)), np.array([[1.0, 0.0, 3.0, 2.0]]))[1]
    array([[7., 0., 9., 2.]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: ndarray, bbox: ndarray) -> Pair:
        """Return the picture and the boxes."""
        _check(self, img, bbox)
        if self.p <= 0 or (self.p < 1 and _draw() >= self.p):
            return img, bbox
        width = img.shape[1]
        flipped = bbox.copy()
        flipped[:, 0], flipped[:, 2] = width - bbox[:, 2], width - bbox[:, 0]
        return geometry.flip_left_right(img), flipped


class ImageBboxCrop(Block):
    """Crop a picture and its boxes to a window.

    Pictures that the window does not lie in stay as they are.

    Parameters
    ----------
    crop : (int, int, int, int)
        Left and upper edge, width and height.
    allow_outside_center : bool
        Keep boxes whose centers lie outside of the window.

    Examples
    --------
    >>> from npcompat.gluon.contrib.data.vision import ImageBboxCrop
    >>> picture, boxes = ImageBboxCrop((2, 0, 5, 4))(
    ...     np.zeros((6, 10, 3)), np.array([[1.0, 1.0, 6.0, 3.0, 8.0], [8.0, 4.0, 9.0, 5.0, 9.0]])
    ... )
    >>> picture.shape, boxes
    ((4, 5, 3), array([[0., 1., 4., 3., 8.]]))
    """

    def __init__(self, crop: Sequence[int], allow_outside_center: bool = False) -> None:
        super().__init__()
        if len(crop) != 4 or min(crop[:2]) < 0 or min(crop[2:]) <= 0:
            raise ValueError(
                f"ImageBboxCrop(crop={crop!r}): expected left and upper edge, width and height"
            )
        self._window, self._allow_outside_center = tuple(crop), allow_outside_center

    def forward(self, img: ndarray, bbox: ndarray) -> Pair:
        """Return the picture and the boxes."""
        _check(self, img, bbox)
        left, top, width, height = self._window
        if left + width >= img.shape[1] or top + height >= img.shape[0]:
            return img, bbox
        boxes = _cropped(bbox, self._window, self._allow_outside_center)
        return geometry.crop(img, left, top, width, height), boxes


class ImageBboxRandomCropWithConstraints(Block):
    """Crop a picture to a random window that overlaps with its boxes as constraints say (SSD).

    Parameters
    ----------
    p : float
        The probability; other pictures stay as they are.
    min_scale, max_scale : float
        Limits of the window's size, as a share of the picture's.
    max_aspect_ratio : float
        Largest ratio of width to height, and of height to width.
    constraints : iterable of (float or None, float or None), optional
        Limits of the intersection over union of the window with every box.
    max_trial : int
        Number of windows that are tried for each constraint.

    References
    ----------
    Liu et al., "SSD: Single Shot MultiBox Detector", 2016.

    Examples
    --------
    >>> from npcompat.gluon.contrib.data.vision import ImageBboxRandomCropWithConstraints
    >>> crop = ImageBboxRandomCropWithConstraints(p=1)
    >>> picture, boxes = crop(np.zeros((20, 30, 3)), np.array([[5.0, 5.0, 25.0, 15.0]]))
    >>> len(boxes)
    1
    """

    def __init__(
        self,
        p: float = 0.5,
        min_scale: float = 0.3,
        max_scale: float = 1,
        max_aspect_ratio: float = 2,
        constraints: Iterable[Limits] | None = None,
        max_trial: int = 50,
    ) -> None:
        super().__init__()
        self.p = p
        self._scale, self._ratio, self._trials = (min_scale, max_scale), max_aspect_ratio, max_trial
        self._constraints = _CONSTRAINTS if constraints is None else tuple(constraints)

    def forward(self, img: ndarray, bbox: ndarray) -> Pair:
        """Return the picture and the boxes."""
        _check(self, img, bbox)
        if _draw() > self.p:
            return img, bbox
        height, width = img.shape[:2]
        windows = [(0, 0, width, height)]
        for limits in self._constraints:
            found = self._window(bbox, limits, width, height)
            if found is not None:
                windows.append(found)
        while windows:
            window = windows.pop(_draw_int(len(windows) - 1))
            boxes = _cropped(bbox, window, allow_outside_center=False)
            if len(boxes) or not len(bbox):
                return geometry.crop(img, *window), boxes
        return img, bbox

    def _window(
        self, boxes: ndarray, limits: Limits, width: int, height: int
    ) -> tuple[int, int, int, int] | None:
        """Return a window that meets one constraint; None if none is found."""
        low = -np.inf if limits[0] is None else limits[0]
        high = np.inf if limits[1] is None else limits[1]
        for _ in range(self._trials):
            scale = _draw(*self._scale)
            ratio = _draw(max(1 / self._ratio, scale**2), min(self._ratio, 1 / scale**2))
            w, h = int(width * scale * ratio**0.5), int(height * scale / ratio**0.5)
            window = (_draw_int(width - w), _draw_int(height - h), w, h)
            if min(w, h) <= 0:
                continue
            overlaps = _overlaps(boxes, window)
            if not len(boxes) or (low <= overlaps.min() and overlaps.max() <= high):
                return window
        return None


class ImageBboxRandomExpand(Block):
    """Put a picture somewhere on a larger one, with a probability, and move its boxes with it.

    Parameters
    ----------
    p : float
        The probability.
    max_ratio : float
        The largest ratio of the new size to the old one.
    fill : float or sequence of float
        Value of the new pixels, for each channel.
    keep_ratio : bool
        Keep the ratio of width to height.

    Examples
    --------
    >>> from npcompat.gluon.contrib.data.vision import ImageBboxRandomExpand
    >>> expand = ImageBboxRandomExpand(p=1, fill=5)
    >>> picture, boxes = expand(np.zeros((4, 6, 3)), np.array([[1.0, 1.0, 3.0, 2.0]]))
    >>> (boxes[:, 2:] - boxes[:, :2])
    array([[2., 1.]])
    """

    def __init__(
        self, p: float = 0.5, max_ratio: float = 4, fill: Any = 0, keep_ratio: bool = True
    ) -> None:
        super().__init__()
        self.p = p
        self._max_ratio, self._fill, self._keep_ratio = max_ratio, fill, keep_ratio

    def forward(self, img: ndarray, bbox: ndarray) -> Pair:
        """Return the picture and the boxes."""
        _check(self, img, bbox)
        if self._max_ratio <= 1 or _draw() > self.p:
            return img, bbox
        height, width, channels = img.shape
        if np.ndim(self._fill) and len(self._fill) != channels:
            raise ValueError(
                f"ImageBboxRandomExpand(fill={self._fill!r}): expected {channels} values, one for "
                "each channel"
            )
        across = _draw(1, self._max_ratio)
        down = across if self._keep_ratio else _draw(1, self._max_ratio)
        new_height, new_width = int(height * down), int(width * across)
        top, left = _draw_int(new_height - height), _draw_int(new_width - width)
        picture = np.full((new_height, new_width, channels), self._fill, dtype=img.dtype)
        picture[top : top + height, left : left + width] = img
        boxes = bbox.copy()
        boxes[:, [0, 2]] += left
        boxes[:, [1, 3]] += top
        return picture, boxes


class ImageBboxResize(Block):
    """Resize a picture and its boxes.

    Parameters
    ----------
    width, height : int
        The new size.
    interp : int
        As of `npx.image.resize`; -1 draws one of 0 to 4.

    Examples
    --------
    >>> from npcompat.gluon.contrib.data.vision import ImageBboxResize
    >>> picture, boxes = ImageBboxResize(20, 8)(
    ...     np.zeros((4, 10, 3)), np.array([[1.0, 1.0, 3.0, 2.0]])
    ... )
    >>> picture.shape, boxes
    ((8, 20, 3), array([[2., 2., 6., 4.]]))
    """

    def __init__(self, width: int, height: int, interp: int = 1) -> None:
        super().__init__()
        self._size, self._interp = (width, height), interp

    def forward(self, img: ndarray, bbox: ndarray) -> Pair:
        """Return the picture and the boxes."""
        _check(self, img, bbox)
        interp = _draw_int(4) if self._interp == -1 else self._interp
        boxes = bbox.copy()
        boxes[:, [0, 2]] = bbox[:, [0, 2]] * (self._size[0] / img.shape[1])
        boxes[:, [1, 3]] = bbox[:, [1, 3]] * (self._size[1] / img.shape[0])
        return geometry.resize(img, self._size, False, interp), boxes


__all__ = [
    "ImageBboxCrop",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
]
