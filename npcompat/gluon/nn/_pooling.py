"""Pooling layers."""

import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._convolution import Sizes, _check_layout, _sizes
from npcompat.numpy._ndarray import ndarray

# --- pooling --------------------------------------------------------------------------------------


class _Pooling(HybridBlock):
    """Base class of pooling layers; subclasses define the reduction and the spatial axes."""

    _kind = "max"
    _layouts: tuple[str, ...] = ()

    def __init__(
        self,
        pool_size: Sizes,
        strides: Sizes | None,
        padding: Sizes,
        ceil_mode: bool,
        layout: str,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        _check_layout(self, layout, self._layouts)
        self._layout, self._ceil, self._count_include_pad = (
            layout,
            bool(ceil_mode),
            bool(count_include_pad),
        )
        self._kernel = _sizes("pool_size", pool_size, layout)
        self._strides = self._kernel if strides is None else _sizes("strides", strides, layout)
        self._padding = _sizes("padding", padding, layout)

    def forward(self, x: ndarray) -> ndarray:
        """Apply pooling to x."""
        return npx.pooling(
            x,
            kernel=self._kernel,
            stride=self._strides,
            pad=self._padding,
            pool_type=self._kind,
            pooling_convention="full" if self._ceil else "valid",
            count_include_pad=self._count_include_pad,
            layout=self._layout,
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self._kernel}, stride={self._strides}, "
            f"padding={self._padding}, ceil_mode={self._ceil})"
        )


class _GlobalPooling(HybridBlock):
    """Base class of global pooling layers, whose window is as large as the data."""

    _kind = "max"
    _layouts: tuple[str, ...] = ()

    def __init__(self, layout: str) -> None:
        super().__init__()
        _check_layout(self, layout, self._layouts)
        self._layout = layout

    def forward(self, x: ndarray) -> ndarray:
        """Apply global pooling to x; spatial axes stay, with length 1."""
        return npx.pooling(x, pool_type=self._kind, global_pool=True, layout=self._layout)


class MaxPool1D(_Pooling):
    """1-D max pooling; the parameters are those of `MaxPool2D`.

    Examples
    --------
    >>> nn.MaxPool1D()(np.arange(4.0).reshape(1, 1, 4))
    array([[[1., 3.]]])
    """

    _layouts = ("NCW", "NWC")

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout)


class MaxPool2D(_Pooling):
    """2-D max pooling.

    Parameters
    ----------
    pool_size : int or sequence of int
        Size of the window.
    strides : int or sequence of int, optional
        Its step; its size if not given.
    padding : int or sequence of int
        Padding at both ends.
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    ceil_mode : bool
        Whether a last window that only partly covers data is kept.

    Examples
    --------
    >>> nn.MaxPool2D()(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """

    _layouts = ("NCHW", "NHWC")

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout)


class MaxPool3D(_Pooling):
    """3-D max pooling; the parameters are those of `MaxPool2D`.

    Examples
    --------
    >>> nn.MaxPool3D()(np.zeros((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _layouts = ("NCDHW", "NDHWC")

    def __init__(
        self,
        pool_size: Sizes = (2, 2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout)


class AvgPool1D(_Pooling):
    """1-D average pooling; the parameters are those of `AvgPool2D`.

    Examples
    --------
    >>> nn.AvgPool1D()(np.arange(4.0).reshape(1, 1, 4))
    array([[[0.5, 2.5]]])
    """

    _kind, _layouts = "avg", ("NCW", "NWC")

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, count_include_pad)


class AvgPool2D(_Pooling):
    """2-D average pooling.

    Parameters
    ----------
    pool_size : int or sequence of int
        Size of the window.
    strides : int or sequence of int, optional
        Its step; its size if not given.
    padding : int or sequence of int
        Padding at both ends.
    ceil_mode : bool
        Whether a last window that only partly covers data is kept.
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    count_include_pad : bool
        Whether means count padding as zeros.

    Examples
    --------
    >>> nn.AvgPool2D()(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """

    _kind, _layouts = "avg", ("NCHW", "NHWC")

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, count_include_pad)


class AvgPool3D(_Pooling):
    """3-D average pooling; the parameters are those of `AvgPool2D`.

    Examples
    --------
    >>> nn.AvgPool3D()(np.zeros((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    _kind, _layouts = "avg", ("NCDHW", "NDHWC")

    def __init__(
        self,
        pool_size: Sizes = (2, 2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(pool_size, strides, padding, ceil_mode, layout, count_include_pad)


class GlobalMaxPool1D(_GlobalPooling):
    """1-D global max pooling; the spatial axis stays, with length 1.

    Examples
    --------
    >>> nn.GlobalMaxPool1D()(np.arange(4.0).reshape(1, 1, 4))
    array([[[3.]]])
    """

    _layouts = ("NCW", "NWC")

    def __init__(self, layout: str = "NCW") -> None:
        super().__init__(layout)


class GlobalMaxPool2D(_GlobalPooling):
    """2-D global max pooling; spatial axes stay, with length 1.

    Examples
    --------
    >>> nn.GlobalMaxPool2D()(np.zeros((2, 3, 4, 4))).shape
    (2, 3, 1, 1)
    """

    _layouts = ("NCHW", "NHWC")

    def __init__(self, layout: str = "NCHW") -> None:
        super().__init__(layout)


class GlobalMaxPool3D(_GlobalPooling):
    """3-D global max pooling; spatial axes stay, with length 1.

    Examples
    --------
    >>> nn.GlobalMaxPool3D()(np.zeros((2, 3, 4, 4, 4))).shape
    (2, 3, 1, 1, 1)
    """

    _layouts = ("NCDHW", "NDHWC")

    def __init__(self, layout: str = "NCDHW") -> None:
        super().__init__(layout)


class GlobalAvgPool1D(_GlobalPooling):
    """1-D global average pooling; the spatial axis stays, with length 1.

    Examples
    --------
    >>> nn.GlobalAvgPool1D()(np.arange(4.0).reshape(1, 1, 4))
    array([[[1.5]]])
    """

    _kind, _layouts = "avg", ("NCW", "NWC")

    def __init__(self, layout: str = "NCW") -> None:
        super().__init__(layout)


class GlobalAvgPool2D(_GlobalPooling):
    """2-D global average pooling; spatial axes stay, with length 1.

    Examples
    --------
    >>> nn.GlobalAvgPool2D()(np.zeros((2, 3, 4, 4))).shape
    (2, 3, 1, 1)
    """

    _kind, _layouts = "avg", ("NCHW", "NHWC")

    def __init__(self, layout: str = "NCHW") -> None:
        super().__init__(layout)


class GlobalAvgPool3D(_GlobalPooling):
    """3-D global average pooling; spatial axes stay, with length 1.

    Examples
    --------
    >>> nn.GlobalAvgPool3D()(np.zeros((2, 3, 4, 4, 4))).shape
    (2, 3, 1, 1, 1)
    """

    _kind, _layouts = "avg", ("NCDHW", "NDHWC")

    def __init__(self, layout: str = "NCDHW") -> None:
        super().__init__(layout)


__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
]
