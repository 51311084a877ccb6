"""Augmenters for object detection, which change an image and its bounding boxes.

A label is a NumPy array with a row for each object: its class, and its box as left, top, right,
bottom in shares of the image's width and height; further columns are kept.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat.image import _augmenters as single
from npcompat.image import _cropping as cropping
from npcompat.image._augmenters import Augmenter, happens
from npcompat.image._usual import colour_augmenters
from npcompat.numpy import random
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._image_geometry import check_range
from npcompat.numpy_extension._image_layout import pictures

Label = onp.ndarray[Any, Any]
Range = tuple[float, float]


def as_label(label: ArrayLike) -> Label:
    """Copy a label to a NumPy array."""
    found = onp.array(handles.to_host(label) if isinstance(label, Handle) else label, "float32")
    if found.ndim != 2 or found.shape[1] < 5:
        raise ValueError(f"expected a label of shape (objects, 5 or more), got {found.shape}")
    return found


class DetAugmenter:
    """Base class of detection augmenters.

    A subclass defines `__call__(src, label)`, which returns both.

    Parameters
    ----------
    **kwargs
        Arguments, for `dumps`.

    Examples
    --------
    >>> image.DetHorizontalFlipAug(0.5).dumps()
    '["dethorizontalflipaug", {"p": 0.5}]'
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def dumps(self) -> str | list[Any]:
        """Serialize name and arguments to JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Augment an image and its label."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__(src, label)")


class DetBorrowAug(DetAugmenter):
    """Adapter for augmenters that do not move pixels: the label stays.

    Parameters
    ----------
    augmenter : Augmenter
        Such as `CastAug`, or `ForceResizeAug`.

    Examples
    --------
    >>> augment = image.DetBorrowAug(image.CastAug())
    >>> picture, label = augment(np.zeros((2, 2, 3), dtype="uint8"), [[0, 0, 0, 1, 1]])
    >>> picture.dtype
    dtype('float32')
    """

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"DetBorrowAug: expected an Augmenter, got {type(augmenter).__name__}")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> list[Any]:
        """Return the name, and the result of the augmenter's `dumps`."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Augment an image; the label stays."""
        return self.augmenter(src), as_label(label)


class DetRandomSelectAug(DetAugmenter):
    """Random choice of one of several augmenters, or none.

    Parameters
    ----------
    aug_list : sequence of DetAugmenter
        The augmenters.
    skip_prob : float
        Probability that no augmenter is applied.

    Examples
    --------
    >>> augment = image.DetRandomSelectAug([image.DetHorizontalFlipAug(1)])
    >>> _, label = augment(np.zeros((2, 2, 3)), [[0, 0, 0, 0.25, 1]])
    >>> label[0, 1]
    np.float32(0.75)
    """

    def __init__(
        self, aug_list: Sequence[DetAugmenter] | DetAugmenter, skip_prob: float = 0
    ) -> None:
        super().__init__(skip_prob=skip_prob)
        self.aug_list = [aug_list] if isinstance(aug_list, DetAugmenter) else list(aug_list)
        for augmenter in self.aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise TypeError(
                    f"DetRandomSelectAug: expected DetAugmenters, got {type(augmenter).__name__}"
                )
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> list[Any]:
        """Return the name, and the results of the augmenters' `dumps`."""
        return [type(self).__name__.lower(), [a.dumps() for a in self.aug_list]]

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Augment an image and its label, or return them unchanged."""
        if happens(self.skip_prob):
            return src, as_label(label)
        return self.aug_list[int(random.randint(0, len(self.aug_list)))](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Random horizontal flip of image and boxes.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> _, label = image.DetHorizontalFlipAug(1)(np.zeros((2, 2, 3)), [[0, 0.25, 0, 0.5, 1]])
    >>> label
    array([[0.  , 0.5 , 0.  , 0.75, 1.  ]], dtype=float32)
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Flip an image and its label with the probability."""
        src, label = pictures(src, "DetHorizontalFlipAug"), as_label(label)
        if happens(self.p):
            src = np.flip(src, -2)
            label[:, [1, 3]] = 1 - label[:, [3, 1]]
        return src, label


def _areas(boxes: Label) -> Label:
    """Return the areas of boxes (left, top, right, bottom); 0 for inverted ones."""
    found: Label = onp.maximum(boxes[:, 2] - boxes[:, 0], 0) * onp.maximum(
        boxes[:, 3] - boxes[:, 1], 0
    )
    return found


def _coverage(boxes: Label, window: Sequence[float]) -> Label:
    """Return the share of each box that lies in a window."""
    inside = onp.concatenate(
        [onp.maximum(boxes[:, :2], window[:2]), onp.minimum(boxes[:, 2:], window[2:])], axis=1
    )
    areas = _areas(boxes)
    found: Label = onp.where(areas > 0, _areas(inside) / onp.where(areas > 0, areas, 1), 0)
    return found


class DetRandomCropAug(DetAugmenter):
    """Random crop that covers enough of its objects (SSD; Liu et al., 2016).

    Parameters
    ----------
    min_object_covered : float
        Minimum share of each object touched by the window that must lie in it.
    aspect_ratio_range : (float, float)
        Range of the window's aspect ratio, width / height.
    area_range : (float, float)
        Range of the window's area, as a share of the image's.
    min_eject_coverage : float
        Objects with a smaller share in the window are removed from the label.
    max_attempts : int
        Number of windows to try; if none is valid, the image is not cropped.

    Examples
    --------
    >>> crop = image.DetRandomCropAug(min_object_covered=0.5, area_range=(0.5, 1.0))
    >>> picture, label = crop(np.zeros((20, 20, 3)), [[0, 0.25, 0.25, 0.75, 0.75]])
    >>> label.shape
    (1, 5)
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        check_range("DetRandomCropAug", "aspect_ratio_range", aspect_ratio_range)
        check_range("DetRandomCropAug", "area_range", area_range, 1.0)
        self._covered, self._eject = min_object_covered, min_eject_coverage
        self._ratio, self._area, self._attempts = aspect_ratio_range, area_range, int(max_attempts)

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Crop an image and its label."""
        src, label = pictures(src, "DetRandomCropAug"), as_label(label)
        height, width = src.shape[:2]
        for area, ratio, across, down in random.uniform(size=(self._attempts, 4)).tolist():
            pixels = _between(self._area, area) * width * height
            wide = _between(self._ratio, ratio)
            w, h = round(math.sqrt(pixels * wide)), round(math.sqrt(pixels / wide))
            if not (1 <= w <= width and 1 <= h <= height):
                continue
            left, top = (
                min(int(across * (width - w + 1)), width - w),
                min(int(down * (height - h + 1)), height - h),
            )
            window = (left / width, top / height, (left + w) / width, (top + h) / height)
            coverage = _coverage(label[:, 1:5], window)
            touched = coverage[coverage > 0]
            kept = coverage >= max(self._eject, 1e-6)
            if touched.size and touched.min() > self._covered and kept.any():
                return cropping.fixed_crop(src, left, top, w, h), _moved(label[kept], window)
        return src, label


def _between(limits: Range, share: float) -> float:
    return limits[0] + (limits[1] - limits[0]) * share


def _moved(label: Label, window: Sequence[float]) -> Label:
    """Return a label relative to a window (left, top, right, bottom), with boxes clipped."""
    left, top, right, bottom = window
    label = label.copy()
    label[:, [1, 3]] = (label[:, [1, 3]] - left) / (right - left)
    label[:, [2, 4]] = (label[:, [2, 4]] - top) / (bottom - top)
    label[:, 1:5] = onp.clip(label[:, 1:5], 0, 1)
    return label


class DetRandomPadAug(DetAugmenter):
    """Random padding: places the image at a random position of a larger one.

    Parameters
    ----------
    aspect_ratio_range : (float, float)
        Range of its aspect ratio, width / height.
    area_range : (float, float)
        Range of its area, as a multiple of the given image's.
    max_attempts : int
        Number of sizes to try; if the image fits into none, it is not padded.
    pad_val : sequence of float
        The color of the padding.

    Examples
    --------
    >>> augment = image.DetRandomPadAug(area_range=(2.0, 2.0))
    >>> picture, label = augment(np.zeros((20, 20, 3)), [[0, 0, 0, 1, 1]])
    >>> bool(abs(picture.size / 1200 - 2) < 0.2)
    True
    """

    def __init__(
        self,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Sequence[float] = (128, 128, 128),
    ) -> None:
        super().__init__(
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            pad_val=pad_val,
        )
        check_range("DetRandomPadAug", "aspect_ratio_range", aspect_ratio_range)
        check_range("DetRandomPadAug", "area_range", area_range)
        self._ratio, self._area, self._attempts, self._pad_val = (
            aspect_ratio_range,
            area_range,
            int(max_attempts),
            tuple(pad_val),
        )

    def __call__(self, src: ArrayLike, label: ArrayLike) -> tuple[Any, Label]:
        """Pad an image and its label."""
        src, label = pictures(src, "DetRandomPadAug"), as_label(label)
        height, width, channels = src.shape
        colours = self._pad_val if len(self._pad_val) == channels else self._pad_val[:1] * channels
        for area, ratio, across, down in random.uniform(size=(self._attempts, 4)).tolist():
            pixels, wide = _between(self._area, area) * width * height, _between(self._ratio, ratio)
            w, h = round(math.sqrt(pixels * wide)), round(math.sqrt(pixels / wide))
            if w < width or h < height or (w, h) == (width, height):
                continue
            left, top = (
                min(int(across * (w - width + 1)), w - width),
                min(int(down * (h - height + 1)), h - height),
            )
            padded = cropping.copyMakeBorder(
                src, top, h - height - top, left, w - width - left, values=colours
            )
            window = (-left / width, -top / height, (w - left) / width, (h - top) / height)
            return padded, _moved(label, window)
        return src, label


# --- the usual ones -------------------------------------------------------------------------------


def CreateMultiRandCropAugmenter(
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """Create a random choice of several `DetRandomCropAug`.

    Parameters
    ----------
    min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts
        As for `DetRandomCropAug`; a list has one for each.
    skip_prob : float
        Probability that no augmenter is applied.

    Examples
    --------
    >>> len(image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.3, 0.5]).aug_list)
    3
    """
    arguments = [
        min_object_covered,
        aspect_ratio_range,
        area_range,
        min_eject_coverage,
        max_attempts,
    ]
    lists = [value if isinstance(value, list) else [value] for value in arguments]
    count = max(map(len, lists))
    if any(len(values) not in (1, count) for values in lists):
        raise ValueError(
            "CreateMultiRandCropAugmenter: expected lists of equal length, got "
            f"{[len(values) for values in lists]}"
        )
    crops = [DetRandomCropAug(*[values[i % len(values)] for values in lists]) for i in range(count)]
    return DetRandomSelectAug(crops, skip_prob)


def CreateDetAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Range = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Sequence[float] = (127, 127, 127),
) -> list[DetAugmenter]:
    """Create the usual list of augmenters for detection.

    Parameters
    ----------
    data_shape : (int, int, int)
        Channels, height and width of the result.
    resize : int
        Length to which the shorter edge is resized first; 0 disables it.
    rand_crop, rand_pad : float
        Probabilities of cropping and of padding.
    rand_gray : float
        Probability of conversion to grayscale.
    rand_mirror : bool
        Whether half of the images are mirrored.
    mean, std : array_like or True, optional
        Mean and standard deviation of each channel, for normalization; True means ImageNet's.
    brightness, contrast, saturation, pca_noise, hue : float
        Amounts of change, as for their augmenters.
    inter_method : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.
    min_object_covered, aspect_ratio_range, min_eject_coverage, max_attempts
        As for `CreateMultiRandCropAugmenter`.
    area_range : (float, float)
        Range of the result's area, as a share of the image's: up to 1 by cropping, from 1 by
        padding.
    pad_val : sequence of float
        The color of the padding.

    Examples
    --------
    >>> augmenters = image.CreateDetAugmenter((3, 8, 8), rand_crop=0.5, rand_mirror=True)
    >>> [type(a).__name__ for a in augmenters]
    ['DetRandomSelectAug', 'DetHorizontalFlipAug', 'DetBorrowAug', 'DetBorrowAug']
    """
    found: list[DetAugmenter] = []
    if resize > 0:
        found.append(DetBorrowAug(single.ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        within = (area_range[0], min(1.0, area_range[1]))
        crops = (min_object_covered, aspect_ratio_range, within, min_eject_coverage, max_attempts)
        found.append(CreateMultiRandCropAugmenter(*crops, skip_prob=1 - rand_crop))
    if rand_mirror:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        ratio, attempts = (
            v[0] if isinstance(v, list) else v for v in (aspect_ratio_range, max_attempts)
        )
        pad = DetRandomPadAug(ratio, (1.0, max(1.0, area_range[1])), attempts, pad_val)
        found.append(DetRandomSelectAug([pad], 1 - rand_pad))
    found.append(DetBorrowAug(single.ForceResizeAug((data_shape[2], data_shape[1]), inter_method)))
    colours = colour_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
    return found + [DetBorrowAug(augmenter) for augmenter in colours]


__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
]
