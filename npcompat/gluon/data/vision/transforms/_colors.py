"""Transforms of colours; integers are rounded and kept in the range of their dtype."""

from typing import Any

from npcompat.gluon.data.vision.transforms._transform import Transform
from npcompat.numpy_extension import _image_color as color
from npcompat.numpy_extension._image_layout import coloured


class _Jitter(Transform):
    """A transform by a random factor of at most `amount` from 1."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        if amount < 0:
            raise ValueError(
                f"{type(self).__name__}: expected a number that is not negative, got {amount}"
            )
        self._limits = (max(0.0, 1 - amount), 1.0 + amount)


class RandomBrightness(_Jitter):
    """Pictures times a random number.

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

    def transformed(self, x: Any) -> Any:
        """The pictures, brighter or darker."""
        return color.random_brightness(x, *self._limits)


class RandomContrast(_Jitter):
    """Pictures whose distance from their mean luma is multiplied by a random number.

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

    def transformed(self, x: Any) -> Any:
        """The pictures, of more or less contrast."""
        return color.random_contrast(x, *self._limits)


class RandomSaturation(_Jitter):
    """Pictures whose pixels' distance from their own luma is multiplied by a random number.

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

    def transformed(self, x: Any) -> Any:
        """The pictures, more or less colourful."""
        return color.random_saturation(x, *self._limits)


class RandomHue(_Jitter):
    """Pictures whose hues are turned by a random share of a full turn.

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

    def transformed(self, x: Any) -> Any:
        """The pictures, of other hues."""
        return color.random_hue(x, *self._limits)


class RandomColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed at random, in random order.

    Parameters
    ----------
    brightness, contrast, saturation, hue : float
        How much: the factors lie between `max(0, 1 - x)` and `1 + x`.

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

    def transformed(self, x: Any) -> Any:
        """The pictures, of other colours."""
        return color.random_color_jitter(x, *self._amounts)


class RandomLighting(Transform):
    """Random principal components of the colours of ImageNet added to pictures of values 0 to 255
    (Krizhevsky et al., 2012).

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

    def transformed(self, x: Any) -> Any:
        """The pictures in another light."""
        return color.random_lighting(x, self._alpha)


class RandomGray(Transform):
    """Pictures made grey at random: all channels become the luma.

    Parameters
    ----------
    p : float
        How probable that is.

    Examples
    --------
    >>> gluon.data.vision.transforms.RandomGray(p=1)(np.array([[[255, 0, 0]]], dtype="uint8")).ravel()
    array([76, 76, 76], dtype=uint8)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"RandomGray: p is a probability, got {p}")
        self._p = float(p)

    def transformed(self, x: Any) -> Any:
        """The pictures, some grey."""
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
