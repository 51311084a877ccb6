"""Conversion of images to tensors, and normalization."""

from collections.abc import Sequence

from npcompat.gluon.data.vision.transforms._transform import Transform
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension import _image_color as color


class ToTensor(Transform):
    """Convert images (H, W, C) of 0 to 255 to float32 tensors (C, H, W) of 0 to 1.

    Batches are converted in the same way.

    Examples
    --------
    >>> x = gluon.data.vision.transforms.ToTensor()(np.full((4, 2, 3), 255, dtype="uint8"))
    >>> x.shape, x.dtype, x.max()
    ((3, 4, 2), dtype('float32'), np.float32(1.0))
    """

    def transformed(self, x: ndarray) -> ndarray:
        """Convert the images."""
        return color.to_tensor(x)


class Normalize(Transform):
    """Standardize the channels of float images (C, H, W) or (N, C, H, W): (x - mean) / std.

    Parameters
    ----------
    mean, std : float or sequence of float
        For all channels, or for each.

    Examples
    --------
    >>> gluon.data.vision.transforms.Normalize(mean=(0.0, 1.0), std=2)(np.ones((2, 1, 1))).ravel()
    array([0.5, 0. ])
    """

    def __init__(
        self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0
    ) -> None:
        super().__init__()
        self._mean, self._std = color.channel_values(mean), color.channel_values(std)

    def transformed(self, x: ndarray) -> ndarray:
        """Normalize the images."""
        return color.normalize(x, self._mean, self._std)

    def __repr__(self) -> str:
        mean, std = (", ".join([f"{v:g}" for v in values]) for values in (self._mean, self._std))
        return f"Normalize(mean=({mean}), std=({std}))"


__all__ = ["Normalize", "ToTensor"]
