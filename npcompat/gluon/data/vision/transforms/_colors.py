"""Color transforms; integers are rounded and clipped to the range of their dtype."""

from npcompat.gluon.data.vision.transforms._transform import Transform
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension import _image_color as color
from npcompat.numpy_extension._image_layout import coloured


class _Jitter(Transform):
    """Base class of transforms by a random factor of at most `amount` from 1."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        if amount < 0:
            raise ValueError(
                f"{type(self).__name__}: expected a number that is not negative, got {amount}"
            )
        self._limits = (max(0.0, 1 - amount), 1.0 + amount)


class RandomBrightness(_Jitter):
    """Random brightness: multiplies images by a random factor.

    Parameters
    ----------
    brightness : float
        The number lies between `max(0, 1 - brightness)` and `1 + brightness`.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomBrightness(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)

    def transformed(self, x: ndarray) -> ndarray:
        """Change the brightness."""
        return color.random_brightness(x, *self._limits)


class RandomContrast(_Jitter):
    """Random contrast: scales the difference from the mean luma by a random factor.

    Parameters
    ----------
    contrast : float
        The number lies between `max(0, 1 - contrast)` and `1 + contrast`.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomContrast(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)

    def transformed(self, x: ndarray) -> ndarray:
        """Change the contrast."""
        return color.random_contrast(x, *self._limits)


class RandomSaturation(_Jitter):
    """Random saturation: scales the difference of pixels from their luma by a random factor.

    Parameters
    ----------
    saturation : float
        The number lies between `max(0, 1 - saturation)` and `1 + saturation`.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomSaturation(0.5)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)

    def transformed(self, x: ndarray) -> ndarray:
        """Change the saturation."""
        return color.random_saturation(x, *self._limits)


class RandomHue(_Jitter):
    """Random hue: rotates hues by a random share of a full turn.

    Parameters
    ----------
    hue : float
        The share lies between `max(0, 1 - hue)` and `1 + hue`; 1 is a full turn, which changes
        nothing.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomHue(0.1)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, hue: float) -> None:
        super().__init__(hue)

    def transformed(self, x: ndarray) -> ndarray:
        """Change the hue."""
        return color.random_hue(x, *self._limits)


class RandomColorJitter(Transform):
    """Color jitter: random brightness, contrast, saturation and hue, in random order.

    Parameters
    ----------
    brightness, contrast, saturation, hue : float
        Amounts: the factors lie between `max(0, 1 - x)` and `1 + x`.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        self._amounts = (brightness, contrast, saturation, hue)
        if min(self._amounts) < 0:
            raise ValueError(
                f"RandomColorJitter: expected numbers that are not negative, got {self._amounts}"
            )

    def transformed(self, x: ndarray) -> ndarray:
        """Change the colors."""
        return color.random_color_jitter(x, *self._amounts)


class RandomLighting(Transform):
    """Random lighting: PCA color augmentation (AlexNet; Krizhevsky et al., 2012).

    Adds random multiples of the principal components of ImageNet's colors to images of values 0 to
    255.

    Parameters
    ----------
    alpha : float
        Standard deviation of the components' shares.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomLighting(0.1)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        if alpha < 0:
            raise ValueError(f"RandomLighting: expected a number that is not negative, got {alpha}")
        self._alpha = float(alpha)

    def transformed(self, x: ndarray) -> ndarray:
        """Change the lighting."""
        return color.random_lighting(x, self._alpha)


class RandomGray(Transform):
    """Random grayscale: replaces all channels by the luma.

    Parameters
    ----------
    p : float
        Probability.

    Examples
    --------
    >>> red = np.array([[[255, 0, 0]]], dtype="uint8")
    >>> gluon.data.vision.transforms.RandomGray(p=1)(red).ravel()
    array([76, 76, 76], dtype=uint8)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"RandomGray: p is a probability, got {p}")
        self._p = float(p)

    def transformed(self, x: ndarray) -> ndarray:
        """Convert random images to grayscale."""
        x = coloured(x, "RandomGray")
        return x if x.shape[-1] == 1 else color.greyed(x, self._p)


__all__ = [
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomSaturation",
]
