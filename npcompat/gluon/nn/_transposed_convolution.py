"""Transposed convolution layers over one to three spatial axes."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat.gluon.nn._convolution import Sizes, _Conv, _sizes
from npcompat.numpy._ndarray import ndarray


class _ConvTranspose(_Conv):
    """Base class of transposed convolutions; subclasses define the number of spatial axes.

    The weight's first axis is the channel axis of the data.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes,
        padding: Sizes,
        output_padding: Sizes,
        dilation: Sizes,
        groups: int,
        layout: str,
        activation: str | None,
        use_bias: bool,
        weight_initializer: Any,
        bias_initializer: Any,
        in_channels: int,
    ) -> None:
        super().__init__(
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )
        self._output_padding = _sizes("output_padding", output_padding, layout)
        if any(
            n >= max(s, d)
            for n, s, d in zip(self._output_padding, self._strides, self._dilation, strict=True)
        ):
            raise ValueError(
                f"{type(self).__name__}: output_padding must be less than strides {self._strides} "
                f"or dilation {self._dilation}, "
                f"got {output_padding}"
            )

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        super()._weight_shape(in_channels)  # checks the groups
        filters = self._channels // self._groups
        return (
            (in_channels, filters, *self._kernel)
            if self._layout[1] == "C"
            else (in_channels, *self._kernel, filters)
        )

    def forward(self, x: ndarray) -> ndarray:
        """Apply the convolution to x, then the activation function."""
        y = npx.deconvolution(
            x,
            self.weight.data(),
            None if self.bias is None else self.bias.data(),
            stride=self._strides,
            dilate=self._dilation,
            pad=self._padding,
            adj=self._output_padding,
            num_group=self._groups,
            layout=self._layout,
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        length = (self.weight.shape or (-1,))[0]
        options = (
            f"kernel_size={self._kernel}, stride={self._strides}, padding={self._padding}, "
            f"output_padding={self._output_padding}"
        )
        return (
            f"{type(self).__name__}({length if length != -1 else None} -> {self._channels}, "
            f"{options})"
        )


class Conv1DTranspose(_ConvTranspose):
    """1-D transposed convolution; the parameters are those of `Conv2DTranspose`.

    Examples
    --------
    >>> layer = nn.Conv1DTranspose(4, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 3, 8))).shape
    (2, 4, 16)
    """

    _layouts = ("NCW", "NWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__(
            channels,
            kernel_size,
            strides,
            padding,
            output_padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


class Conv2DTranspose(_ConvTranspose):
    """2-D transposed convolution (deconvolution), which enlarges images (Zeiler et al., 2010).

    Spatial axes of length n become `strides (n - 1) + dilation (kernel_size - 1) + 1 - 2 padding +
    output_padding` long.

    Parameters
    ----------
    channels : int
        Number of channels of the result.
    kernel_size, strides, padding, dilation : int or sequence of int
        Those of the convolution whose transpose is computed: size of its window, its step, its
        padding at both ends, and the step between elements of the window.
    output_padding : int or sequence of int
        Length added at the end of each spatial axis; less than `strides` or `dilation`.
    groups : int
        Groups of channels that are convolved separately.
    layout : {'NCHW', 'NHWC'}
        Order of the axes; the weight's is the same, with the data's channels for N and those of a
        group's result for C.
    activation : str, optional
        Name of an activation function; none if not given.
    use_bias : bool
        Whether the layer has a bias.
    weight_initializer, bias_initializer : Initializer or str, optional
        Their own initializers; weights without one use that of `initialize`.
    in_channels : int
        Number of channels of the data; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.Conv2DTranspose(4, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 3, 8, 8))).shape
    (2, 4, 16, 16)
    """

    _layouts = ("NCHW", "NHWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        output_padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__(
            channels,
            kernel_size,
            strides,
            padding,
            output_padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


class Conv3DTranspose(_ConvTranspose):
    """3-D transposed convolution; the parameters are those of `Conv2DTranspose`.

    Examples
    --------
    >>> layer = nn.Conv3DTranspose(2, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(np.zeros((1, 3, 2, 3, 4))).shape
    (1, 2, 4, 6, 8)
    """

    _layouts = ("NCDHW", "NDHWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: Sizes = (0, 0, 0),
        output_padding: Sizes = (0, 0, 0),
        dilation: Sizes = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__(
            channels,
            kernel_size,
            strides,
            padding,
            output_padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]
