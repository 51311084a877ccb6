"""Augmenters: callables that change an image (H, W, C), most of them at random.

`np.random.seed` makes them reproducible.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat.image import _cropping as cropping
from npcompat.numpy import random
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy_extension import _image_color as color
from npcompat.numpy_extension._image_layout import coloured, on_backend_of, pictures
from npcompat.numpy_extension._image_resampling import pair

Size = int | tuple[int, int]


def plain(value: Any) -> Any:
    """Convert an argument to a JSON value."""
    if isinstance(value, Handle):
        return handles.to_host(value).tolist()
    if isinstance(value, onp.ndarray | onp.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.name if isinstance(value, onp.dtype) else value


class Augmenter:
    """Base class of augmenters; a subclass defines `__call__(src)`, which returns the image.

    Parameters
    ----------
    **kwargs
        Arguments, for `dumps`.

    Examples
    --------
    >>> image.ResizeAug(8).dumps()
    '["resizeaug", {"size": 8, "interp": 2}]'
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self) -> str | list[Any]:
        """Serialize name and arguments to JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: ArrayLike) -> ndarray:
        """Augment an image."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__(src)")


class SequentialAug(Augmenter):
    """Sequence of augmenters.

    Parameters
    ----------
    ts : sequence of Augmenter
        The augmenters.

    Examples
    --------
    >>> augment = image.SequentialAug([image.ForceResizeAug((4, 4)), image.CastAug()])
    >>> augment(np.zeros((8, 8, 3), dtype="uint8")).dtype
    dtype('float32')
    """

    def __init__(self, ts: Sequence[Augmenter]) -> None:
        super().__init__()
        self.ts = list(ts)

    def dumps(self) -> list[Any]:
        """Return the name, and the results of the augmenters' `dumps`."""
        return [type(self).__name__.lower(), [t.dumps() for t in self.ts]]

    def __call__(self, src: ArrayLike) -> ndarray:
        """Augment an image."""
        image: Any = src
        for t in self.ts:
            image = t(image)
        return image


class RandomOrderAug(SequentialAug):
    """Sequence of augmenters in random order.

    Parameters
    ----------
    ts : sequence of Augmenter
        The augmenters.

    Examples
    --------
    >>> augment = image.RandomOrderAug([image.BrightnessJitterAug(0.1), image.HueJitterAug(0.1)])
    >>> augment(np.ones((8, 8, 3))).shape
    (8, 8, 3)
    """

    def __call__(self, src: ArrayLike) -> ndarray:
        """Augment an image."""
        image: Any = src
        for i in random.permutation(len(self.ts)).tolist():
            image = self.ts[i](image)
        return image


# --- sizes and windows ----------------------------------------------------------------------------


class ResizeAug(Augmenter):
    """Resize the shorter edge to a length, see `resize_short`.

    Parameters
    ----------
    size : int
        Length of the shorter edge.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> image.ResizeAug(4)(np.zeros((8, 16, 3), dtype="uint8")).shape
    (4, 8, 3)
    """

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: ArrayLike) -> ndarray:
        """Resize an image."""
        return cropping.resize_short(src, self.size, self.interp)


class _Sized(Augmenter):
    """Base class of augmenters with a size (width, height) and an interpolation."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp


class ForceResizeAug(_Sized):
    """Resize an image to a size, regardless of its aspect ratio.

    Parameters
    ----------
    size : (int, int)
        Width and height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> image.ForceResizeAug((4, 6))(np.zeros((8, 16, 3), dtype="uint8")).shape
    (6, 4, 3)
    """

    def __call__(self, src: ArrayLike) -> ndarray:
        """Resize an image."""
        width, height = pair(self.size, "ForceResizeAug")
        return cropping.imresize(src, width, height, self.interp)


class RandomCropAug(_Sized):
    """Random crop, see `random_crop`.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> image.RandomCropAug((4, 6))(np.zeros((8, 16, 3), dtype="uint8")).shape
    (6, 4, 3)
    """

    def __call__(self, src: ArrayLike) -> ndarray:
        """Crop an image."""
        return cropping.random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """Center crop, see `center_crop`.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> image.CenterCropAug((4, 6))(np.zeros((8, 16, 3), dtype="uint8")).shape
    (6, 4, 3)
    """

    def __call__(self, src: ArrayLike) -> ndarray:
        """Crop an image."""
        return cropping.center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Random resized crop, see `random_size_crop`.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    area : float or (float, float)
        Range of the window's area, as a share of the image's.
    ratio : (float, float)
        Range of the window's aspect ratio, width / height.
    interp : {0, 1, 2, 3, 4, 9, 10}
        The interpolation, as for `npx.image.resize`.

    Examples
    --------
    >>> augment = image.RandomSizedCropAug((4, 6), 0.2, (0.75, 1.33))
    >>> augment(np.zeros((8, 16, 3), dtype="uint8")).shape
    (6, 4, 3)
    """

    def __init__(
        self,
        size: Size,
        area: float | tuple[float, float],
        ratio: tuple[float, float],
        interp: int = 2,
    ) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src: ArrayLike) -> ndarray:
        """Crop and resize an image."""
        return cropping.random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


def happens(p: float) -> bool:
    """Return True with a probability."""
    return bool(random.uniform() < p)


class HorizontalFlipAug(Augmenter):
    """Random horizontal flip.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> image.HorizontalFlipAug(1)(np.arange(3).reshape(1, 3, 1)).ravel()
    array([2, 1, 0])
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: ArrayLike) -> ndarray:
        """Flip an image with the probability."""
        src = pictures(src, "HorizontalFlipAug")
        return np.flip(src, -2) if happens(self.p) else src


# --- colours --------------------------------------------------------------------------------------


class CastAug(Augmenter):
    """Cast to a dtype.

    Parameters
    ----------
    typ : dtype
        The dtype.

    Examples
    --------
    >>> image.CastAug()(np.zeros((2, 2, 3), dtype="uint8")).dtype
    dtype('float32')
    """

    def __init__(self, typ: DTypeLike = "float32") -> None:
        super().__init__(type=dtypes.canonical(typ))
        self.typ = typ

    def __call__(self, src: ArrayLike) -> ndarray:
        """Cast an image."""
        return np.asarray(src).astype(self.typ)


class _JitterAug(Augmenter):
    """Base class of color adjustments by a factor that is uniform around 1."""

    kind: int

    def __init__(self, amount: float, **kwargs: float) -> None:
        super().__init__(**kwargs)
        if amount < 0:
            raise ValueError(
                f"{type(self).__name__}: expected a number that is not negative, got {amount}"
            )
        self._amount = amount

    def __call__(self, src: ArrayLike) -> ndarray:
        """Adjust an image by a random factor."""
        src = coloured(src, type(self).__name__)
        with on_backend_of(src):
            return color.adjusted(src, self.kind, 1 + random.uniform(-self._amount, self._amount))


class BrightnessJitterAug(_JitterAug):
    """Brightness jitter: multiplies the image by a random factor.

    Parameters
    ----------
    brightness : float
        The number lies between `1 - brightness` and `1 + brightness`.

    Examples
    --------
    >>> image.BrightnessJitterAug(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    kind = color.BRIGHTNESS

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness, brightness=brightness)


class ContrastJitterAug(_JitterAug):
    """Contrast jitter: scales the difference from the mean luma by a random factor.

    Parameters
    ----------
    contrast : float
        The number lies between `1 - contrast` and `1 + contrast`.

    Examples
    --------
    >>> image.ContrastJitterAug(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    kind = color.CONTRAST

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast, contrast=contrast)


class SaturationJitterAug(_JitterAug):
    """Saturation jitter: scales the difference of pixels from their luma by a random factor.

    Parameters
    ----------
    saturation : float
        The number lies between `1 - saturation` and `1 + saturation`.

    Examples
    --------
    >>> image.SaturationJitterAug(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    kind = color.SATURATION

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation, saturation=saturation)


class HueJitterAug(_JitterAug):
    """Hue jitter: rotates colors about the gray axis of YIQ by a random share of half a turn.

    Parameters
    ----------
    hue : float
        The share lies between `-hue` and `hue`.

    Examples
    --------
    >>> image.HueJitterAug(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    kind = color.HUE

    def __init__(self, hue: float) -> None:
        super().__init__(hue / 2, hue=hue)


class ColorJitterAug(RandomOrderAug):
    """Color jitter: random brightness, contrast and saturation, in random order.

    Parameters
    ----------
    brightness, contrast, saturation : float
        Amounts, as for the augmenters of each; 0 disables one.

    Examples
    --------
    >>> image.ColorJitterAug(0.1, 0.1, 0.1)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = (
            (BrightnessJitterAug, brightness),
            (ContrastJitterAug, contrast),
            (SaturationJitterAug, saturation),
        )
        super().__init__([kind(amount) for kind, amount in kinds if amount])


class LightingAug(Augmenter):
    """Lighting noise: adds random multiples of colors, usually of principal components.

    Krizhevsky et al., 2012.

    Parameters
    ----------
    alphastd : float
        Standard deviation of the coefficients.
    eigval : array_like, shape (3,)
        Eigenvalues: factors of the coefficients.
    eigvec : array_like, shape (3, 3)
        Eigenvectors: the colors, as columns.

    Examples
    --------
    >>> image.LightingAug(0.1, [55.46, 4.794, 1.148], onp.eye(3))(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, alphastd: float, eigval: ArrayLike, eigvec: ArrayLike) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self._components = (onp.array(plain(eigvec)) * onp.array(plain(eigval))).T.astype("float32")

    def __call__(self, src: ArrayLike) -> ndarray:
        """Change the lighting of an image."""
        src = coloured(src, "LightingAug")
        if src.shape[-1] == 1:
            return src
        with on_backend_of(src):
            alpha = random.normal(0.0, self.alphastd, 3)
            return color.recolored(
                src, onp.eye(3, dtype="float32"), np.matmul(alpha, self._components)
            )


class ColorNormalizeAug(Augmenter):
    """Color normalization, see `color_normalize`.

    Parameters
    ----------
    mean, std : array_like, optional
        Mean and standard deviation of each channel.

    Examples
    --------
    >>> image.ColorNormalizeAug(1.0, 2.0)(np.full((1, 1, 3), 5.0)).ravel()
    array([2., 2., 2.])
    """

    def __init__(self, mean: ArrayLike | None, std: ArrayLike | None) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (
            None if v is None else onp.array(plain(v), "float32") for v in (mean, std)
        )

    def __call__(self, src: ArrayLike) -> ndarray:
        """Normalize an image."""
        return cropping.color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Random grayscale: all channels become 0.21 R + 0.72 G + 0.07 B (ITU-R BT.709 luma).

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> image.RandomGrayAug(1)(np.array([[[100.0, 0.0, 0.0]]])).ravel().round()
    array([21., 21., 21.])
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: ArrayLike) -> ndarray:
        """Convert an image to grayscale with the probability."""
        src = coloured(src, "RandomGrayAug")
        return src if src.shape[-1] == 1 else color.greyed(src, self.p, (0.21, 0.72, 0.07))


__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
]
