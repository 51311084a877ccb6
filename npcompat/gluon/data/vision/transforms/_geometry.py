"""Geometric transforms: resize, crop, flip, rotate."""

from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat.gluon.data.vision.transforms._transform import Transform
from npcompat.image import _cropping as cropping
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension import _image_geometry as geometry
from npcompat.numpy_extension._image_layout import uniform
from npcompat.numpy_extension._image_resampling import pair

Size = int | tuple[int, int]


class Resize(Transform):
    """Resize images.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.  One number means both or, with `keep_ratio`, the shorter edge.
    keep_ratio : bool
        Whether one number is the length of the shorter edge.
    interpolation : {0, 1, 2, 3, 4, 9, 10}
        As `interp` of `npx.image.resize`.

    Examples
    --------
    >>> resize = gluon.data.vision.transforms.Resize(10, keep_ratio=True)
    >>> resize(np.zeros((20, 40, 3), dtype="uint8")).shape
    (10, 20, 3)
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        pair(size, "Resize")
        self._size, self._keep_ratio, self._interpolation = size, bool(keep_ratio), interpolation

    def transformed(self, x: ndarray) -> ndarray:
        """Resize the images."""
        return geometry.resize(x, self._size, self._keep_ratio, self._interpolation)

    def __repr__(self) -> str:
        return (
            f"Resize({self._size}, keep_ratio={self._keep_ratio}, "
            f"interpolation={self._interpolation})"
        )


class CropResize(Transform):
    """Crop a window of images, and resize it if a size is given.

    Parameters
    ----------
    x, y : int
        The left and the upper edge.
    width, height : int
        Size of the window.
    size : int or (int, int), optional
        Width and height of the result.
    interpolation : {0, 1, 2, 3, 4, 9, 10}, optional
        As `interp` of `npx.image.resize`; bilinear if not given.

    Examples
    --------
    >>> gluon.data.vision.transforms.CropResize(1, 1, 4, 4, size=2)(np.zeros((8, 8, 3))).shape
    (2, 2, 3)
    """

    def __init__(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        size: Size | None = None,
        interpolation: int | None = None,
    ) -> None:
        super().__init__()
        self._window = (x, y, width, height)
        self._size, self._interpolation = size, 1 if interpolation is None else interpolation

    def transformed(self, x: ndarray) -> ndarray:
        """Crop and resize the images."""
        window = geometry.crop(x, *self._window)
        return (
            window
            if self._size is None
            else geometry.resize(window, pair(self._size, "CropResize"), False, self._interpolation)
        )


class CenterCrop(Transform):
    """Center crop; smaller images are cropped to the aspect ratio of `size` and enlarged.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interpolation : {0, 1, 2, 3, 4, 9, 10}
        As `interp` of `npx.image.resize`.

    Examples
    --------
    >>> gluon.data.vision.transforms.CenterCrop((4, 2))(np.zeros((8, 8, 3))).shape
    (2, 4, 3)
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._size, self._interpolation = pair(size, "CenterCrop"), interpolation

    def transformed(self, x: ndarray) -> ndarray:
        """Crop the images."""
        return cropping.center_crop(x, self._size, self._interpolation)[0]


class RandomCrop(Transform):
    """Random crop; smaller images are cropped to the aspect ratio of `size` and enlarged.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    pad : int or sequence, optional
        Width of a border that is added to the images first; a sequence is the `pad_width` of
        `np.pad`.
    pad_value : float
        Value of the border.
    interpolation : {0, 1, 2, 3, 4, 9, 10}
        As `interp` of `npx.image.resize`.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomCrop(8, pad=2)(np.zeros((8, 8, 3))).shape
    (8, 8, 3)
    """

    def __init__(
        self, size: Size, pad: Any = None, pad_value: float = 0, interpolation: int = 1
    ) -> None:
        super().__init__()
        self._size, self._interpolation = pair(size, "RandomCrop"), interpolation
        self._pad, self._pad_value = pad, pad_value

    def transformed(self, x: ndarray) -> ndarray:
        """Crop the images."""
        if self._pad is not None:
            border = (self._pad, self._pad)
            width = (
                [(0, 0)] * (x.ndim - 3) + [border, border, (0, 0)]
                if isinstance(self._pad, int | onp.integer)
                else self._pad
            )
            x = np.pad(x, width, constant_values=self._pad_value)
        return cropping.random_crop(x, self._size, self._interpolation)[0]


class RandomResizedCrop(Transform):
    """Random resized crop: a random window of each image, resized (Szegedy et al., 2015).

    Parameters
    ----------
    size : int or (int, int)
        Width and height of the result.
    scale : (float, float)
        Range of the window's area, as a share of the image's.
    ratio : (float, float)
        Range of the window's aspect ratio, width / height.
    interpolation : {0, 1, 2, 3, 4, 9, 10}
        As `interp` of `npx.image.resize`.

    Examples
    --------
    >>> image = np.zeros((20, 30, 3), dtype="uint8")
    >>> gluon.data.vision.transforms.RandomResizedCrop(8)(image).shape
    (8, 8, 3)
    """

    def __init__(
        self,
        size: Size,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        geometry.check_range("RandomResizedCrop", "scale", scale, 1.0)
        geometry.check_range("RandomResizedCrop", "ratio", ratio)
        self._size = pair(size, "RandomResizedCrop")
        self._scale, self._ratio, self._interpolation = scale, ratio, interpolation

    def transformed(self, x: ndarray) -> ndarray:
        """Crop and resize the images."""
        return geometry.random_resized_crop(
            x, *self._size, self._scale, self._ratio, self._interpolation
        )


class _RandomFlip(Transform):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: p is a probability, got {p}")
        self._p = float(p)


class RandomFlipLeftRight(_RandomFlip):
    """Random horizontal flip.

    Parameters
    ----------
    p : float
        Probability.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomFlipLeftRight(p=1)(np.arange(2).reshape(1, 2, 1)).ravel()
    array([1, 0])
    """

    def transformed(self, x: ndarray) -> ndarray:
        """Flip random images."""
        return geometry.random_flip_left_right(x, self._p)


class RandomFlipTopBottom(_RandomFlip):
    """Random vertical flip.

    Parameters
    ----------
    p : float
        Probability.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomFlipTopBottom(p=1)(np.arange(2).reshape(2, 1, 1)).ravel()
    array([1, 0])
    """

    def transformed(self, x: ndarray) -> ndarray:
        """Flip random images."""
        return geometry.random_flip_top_bottom(x, self._p)


class Rotate(Transform):
    """Rotate float images (C, H, W) or (N, C, H, W) about their centers.

    Parameters
    ----------
    rotation_degrees : float
        Angle; positive angles rotate counter-clockwise.
    zoom_in, zoom_out : bool
        Whether the image is enlarged until no outside pixel is visible, or shrunk until all of it
        is visible.

    Examples
    --------
    >>> gluon.data.vision.transforms.Rotate(90)(np.array([[[1.0, 2.0], [3.0, 4.0]]])).round(3)
    array([[[2., 4.],
            [1., 3.]]])
    """

    def __init__(
        self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False
    ) -> None:
        super().__init__()
        if zoom_in and zoom_out:
            raise ValueError("Rotate: zoom_in and zoom_out exclude each other")
        self._degrees, self._zoom = float(rotation_degrees), (bool(zoom_in), bool(zoom_out))

    def transformed(self, x: ndarray) -> ndarray:
        """Rotate the images."""
        return geometry.imrotate(x, self._degrees, *self._zoom)


class RandomRotation(Transform):
    """Rotate float images (C, H, W) or (N, C, H, W) by random angles.

    Parameters
    ----------
    angle_limits : (float, float)
        Range of the angles, in degrees.
    zoom_in, zoom_out : bool
        As for `Rotate`.
    rotate_with_proba : float
        Probability that an image is rotated at all.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomRotation((-30, 30))(np.ones((2, 1, 1, 1))).shape
    (2, 1, 1, 1)
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError(
                "RandomRotation: expected angle_limits=(low, high) with low < high, got "
                f"{angle_limits}"
            )
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(
                f"RandomRotation: rotate_with_proba is a probability, got {rotate_with_proba}"
            )
        if zoom_in and zoom_out:
            raise ValueError("RandomRotation: zoom_in and zoom_out exclude each other")
        self._limits, self._zoom, self._p = (
            (float(low), float(high)),
            (bool(zoom_in), bool(zoom_out)),
            float(rotate_with_proba),
        )

    def transformed(self, x: ndarray) -> ndarray:
        """Rotate random images."""
        turned = geometry.random_rotate(x, self._limits, *self._zoom)
        return (
            turned
            if self._p == 1
            else np.where(uniform(x, 0.0, 1.0, (1, 1, 1)) < self._p, turned, x)
        )


__all__ = [
    "CenterCrop",
    "CropResize",
    "RandomCrop",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomResizedCrop",
    "RandomRotation",
    "Resize",
    "Rotate",
]
