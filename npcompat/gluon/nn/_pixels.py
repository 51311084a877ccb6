"""Layers that rearrange or pad pixels."""

import itertools
import math
from collections.abc import Sequence

import numpy as onp

from npcompat import numpy as np
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._convolution import Sizes, _sizes
from npcompat.numpy._ndarray import ndarray


class _PixelShuffle(HybridBlock):
    """Base class of pixel shuffles; subclasses define the number of spatial axes."""

    _layout = ""

    def __init__(self, factor: Sizes) -> None:
        super().__init__()
        self._factors = _sizes("factor", factor, self._layout)
        if any(f < 1 for f in self._factors):
            raise ValueError(f"{type(self).__name__}: factor must be positive, got {factor}")

    def forward(self, x: ndarray) -> ndarray:
        """Rearrange channels of x into larger spatial axes."""
        factors, count = self._factors, len(self._factors)
        if x.ndim != count + 2:
            raise ValueError(
                f"{type(self).__name__}: expected data with axes {self._layout}, got shape "
                f"{x.shape}"
            )
        batch, channels, *sizes = x.shape
        if channels % math.prod(factors):
            raise ValueError(
                f"{type(self).__name__}: {math.prod(factors)} (of factor {factors}) must divide "
                f"{channels} channels"
            )
        kept = channels // math.prod(factors)
        apart = x.reshape(batch, kept, *factors, *sizes)
        together = apart.transpose(
            0, 1, *itertools.chain.from_iterable((2 + count + i, 2 + i) for i in range(count))
        )
        return together.reshape(batch, kept, *[n * f for n, f in zip(sizes, factors, strict=True)])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


class PixelShuffle1D(_PixelShuffle):
    """1-D pixel shuffle: rearranges channels into a longer spatial axis.

    Parameters
    ----------
    factor : int
        The factor: shape (N, f C, W) becomes (N, C, f W).

    Examples
    --------
    >>> nn.PixelShuffle1D(2)(np.arange(4.0).reshape(1, 2, 2))
    array([[[0., 2., 1., 3.]]])
    """

    _layout = "NCW"


class PixelShuffle2D(_PixelShuffle):
    """2-D pixel shuffle: rearranges channels into larger images.

    A convolution followed by it is a sub-pixel convolution (Shi et al., 2016).

    Parameters
    ----------
    factor : int or sequence of two int
        The factors f and g: shape (N, f g C, H, W) becomes (N, C, f H, g W).

    Examples
    --------
    >>> nn.PixelShuffle2D((2, 3))(np.zeros((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _layout = "NCHW"


class PixelShuffle3D(_PixelShuffle):
    """3-D pixel shuffle: rearranges channels into larger volumes; see `PixelShuffle2D`.

    Parameters
    ----------
    factor : int or sequence of three int
        The factors f, g and h: shape (N, f g h C, D, H, W) becomes (N, C, f D, g H, h W).

    Examples
    --------
    >>> nn.PixelShuffle3D(2)(np.zeros((1, 8, 1, 3, 5))).shape
    (1, 1, 2, 6, 10)
    """

    _layout = "NCDHW"


class ReflectionPad2D(HybridBlock):
    """Reflection padding: adds pixels around images, mirrored at the border.

    Parameters
    ----------
    padding : int or sequence of eight int
        Number of pixels on each side; or, as in MXNet, the numbers before and after each of the
        four axes, where those of the first two must be 0.

    Examples
    --------
    >>> nn.ReflectionPad2D(1)(np.arange(4.0).reshape(1, 1, 2, 2))
    array([[[[3., 2., 3., 2.],
             [1., 0., 1., 0.],
             [3., 2., 3., 2.],
             [1., 0., 1., 0.]]]])
    """

    def __init__(self, padding: int | Sequence[int] = 0) -> None:
        super().__init__()
        widths = (
            (0, 0, 0, 0, *[padding] * 4)
            if isinstance(padding, int | onp.integer)
            else tuple(padding)
        )
        if len(widths) != 8 or any(widths[:4]) or any(n < 0 for n in widths):
            raise ValueError(
                "ReflectionPad2D: padding is a number, or 8 of which the first 4 are 0, none "
                f"negative; got {padding}"
            )
        self._widths = tuple(zip(widths[::2], widths[1::2], strict=True))

    def forward(self, x: ndarray) -> ndarray:
        """Pad the images."""
        if x.ndim != 4 or any(
            max(w) >= n for w, n in zip(self._widths[2:], x.shape[2:], strict=True)
        ):
            raise ValueError(
                "ReflectionPad2D: images of axes NCHW, larger than the padding "
                f"{self._widths[2:]}, expected, got {x.shape}"
            )
        return np.pad(x, self._widths, mode="reflect")

    def __repr__(self) -> str:
        return f"ReflectionPad2D({self._widths[2:]})"


__all__ = ["PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D", "ReflectionPad2D"]
