"""The usual list of augmenters for classification."""

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
    """Create the requested color augmenters."""
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
    """Create the usual list of augmenters for classification.

    Parameters
    ----------
    data_shape : (int, int, int)
        Channels, height and width of the result.
    resize : int
        Length to which the shorter edge is resized first; 0 disables it.
    rand_crop : bool
        Whether to crop at a random position, instead of the center.
    rand_resize : bool
        Whether the window has a random size and aspect ratio, too; needs `rand_crop`.
    rand_mirror : bool
        Whether half of the images are mirrored.
    mean, std : array_like or True, optional
        Mean and standard deviation of each channel, for normalization; True means ImageNet's.
    brightness, contrast, saturation, hue, pca_noise : float
        Amounts of change, as for their augmenters.
    rand_gray : float
        Probability of conversion to grayscale.
    inter_method : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> augmenters = image.CreateAugmenter((3, 8, 8), resize=10, rand_mirror=True, mean=True)
    >>> [type(a).__name__ for a in augmenters]
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
