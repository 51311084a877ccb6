"""The augmenters that classification usually needs, in the usual order."""

from typing import Any

import numpy as onp

from npcompat.image._augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomSizedCropAug,
    ResizeAug,
    plain,
)
from npcompat.numpy_extension import _image_color as color

IMAGENET_MEAN, IMAGENET_STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)


def _statistic(value: Any, imagenet: tuple[float, ...], name: str) -> Any:
    if value is True:
        return onp.array(imagenet, "float32")
    if value is None or value is False:
        return None
    found = onp.ravel(plain(value)).astype("float32")
    if len(found) not in (1, 3):
        raise ValueError(
            f"CreateAugmenter: expected {name}=True, one number or three, got {value!r}"
        )
    return found


def colour_augmenters(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
    mean: Any,
    std: Any,
) -> list[Augmenter]:
    """Augmenters of the values of pictures, those that are asked for."""
    found: list[Augmenter] = [CastAug()]
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        found.append(LightingAug(pca_noise, color.EIGENVALUES, color.EIGENVECTORS))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    mean, std = _statistic(mean, IMAGENET_MEAN, "mean"), _statistic(std, IMAGENET_STD, "std")
    if mean is not None or std is not None:
        found.append(ColorNormalizeAug(mean, std))
    return found


def CreateAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """The augmenters that classification usually needs, in order.

    Parameters
    ----------
    data_shape : (int, int, int)
        Channels, height and width of what comes out.
    resize : int
        Length to which the shorter edge is resized first; 0 leaves it.
    rand_crop : bool
        Whether the window is at a random place, or in the middle.
    rand_resize : bool
        Whether it has a random size and shape, too; needs `rand_crop`.
    rand_mirror : bool
        Whether half of the pictures are mirrored.
    mean, std : array_like or True, optional
        What is taken away from each channel, and what it is divided by; True means ImageNet's.
    brightness, contrast, saturation, hue, pca_noise : float
        How much they change, as for their augmenters.
    rand_gray : float
        How probable it is that a picture becomes grey.
    inter_method : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> [type(a).__name__ for a in image.CreateAugmenter((3, 8, 8), resize=10, rand_mirror=True, mean=True)]
    ['ResizeAug', 'CenterCropAug', 'HorizontalFlipAug', 'CastAug', 'ColorNormalizeAug']
    """
    found: list[Augmenter] = []
    if resize > 0:
        found.append(ResizeAug(resize, inter_method))
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        if not rand_crop:
            raise ValueError("CreateAugmenter: rand_resize=True needs rand_crop=True")
        found.append(RandomSizedCropAug(size, 0.08, (3 / 4, 4 / 3), inter_method))
    elif rand_crop:
        found.append(RandomCropAug(size, inter_method))
    else:
        found.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        found.append(HorizontalFlipAug(0.5))
    return found + colour_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )


__all__ = ["CreateAugmenter"]
