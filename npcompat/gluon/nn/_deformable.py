"""Deformable convolution layers, with learned sampling offsets."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._activations import Activation
from npcompat.gluon.nn._convolution import Sizes, _check_layout, _sizes
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray


class DeformableConvolution(HybridBlock):
    """2-D deformable convolution (Dai et al., 2017).

    A second convolution computes an offset for each element of the window.

    Parameters
    ----------
    channels : int
        Number of filters.
    kernel_size, strides, padding, dilation : int or sequence of int
        Size of the window, its step, padding at both ends, and the step between its elements.
    groups : int
        Groups of channels that are convolved separately.
    num_deformable_group : int
        Groups of channels that have offsets of their own.
    layout : {'NCHW'}
        Order of the axes.
    use_bias, offset_use_bias : bool
        Whether the convolution, and that of the offsets, has a bias.
    in_channels : int
        Number of channels; inferred at the first call if 0.
    activation : str, optional
        Name of an activation function; none if not given.
    weight_initializer, bias_initializer, offset_weight_initializer, offset_bias_initializer :
    Initializer or str, optional
        Their own initializers; with zeros for the offsets the layer begins as a convolution.

    Examples
    --------
    >>> layer = nn.DeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 3, 8, 8))).shape
    (2, 4, 8, 8)
    """

    _offsets = 2  # channels for each element of the window

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes = (1, 1),
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
    ) -> None:
        super().__init__()
        _check_layout(self, layout, ("NCHW",))
        self._channels, self._groups, self._offset_groups = (
            int(channels),
            int(groups),
            int(num_deformable_group),
        )
        self._kernel, self._strides = (
            _sizes("kernel_size", kernel_size, layout),
            _sizes("strides", strides, layout),
        )
        self._padding, self._dilation = (
            _sizes("padding", padding, layout),
            _sizes("dilation", dilation, layout),
        )
        self._offset_channels = (
            self._offsets * self._offset_groups * self._kernel[0] * self._kernel[1]
        )

        def parameter(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, shape=shape, init=init, allow_deferred_init=True)

        own, of_offsets = self._weight_shapes(in_channels)
        self.offset_weight = parameter("offset_weight", of_offsets, offset_weight_initializer)
        self.offset_bias = (
            parameter("offset_bias", (self._offset_channels,), offset_bias_initializer)
            if offset_use_bias
            else None
        )
        self.deformable_conv_weight = parameter("deformable_conv_weight", own, weight_initializer)
        self.deformable_conv_bias = (
            parameter("deformable_conv_bias", (self._channels,), bias_initializer)
            if use_bias
            else None
        )
        self.act = None if activation is None else Activation(activation)

    def _weight_shapes(self, in_channels: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if (
            in_channels % self._groups
            or self._channels % self._groups
            or in_channels % self._offset_groups
        ):
            raise ValueError(
                f"{type(self).__name__}: {self._groups} groups must divide {in_channels} input "
                f"and {self._channels} output channels, "
                f"and {self._offset_groups} deformable groups the input channels"
            )
        return (self._channels, in_channels // self._groups, *self._kernel), (
            self._offset_channels,
            in_channels,
            *self._kernel,
        )

    def infer_shape(self, x: Any, *args: Any) -> None:
        """Infer the number of channels from the input."""
        if x.ndim != 4:
            raise ValueError(
                f"{type(self).__name__}: expected data with axes NCHW, got shape {x.shape}"
            )
        self.deformable_conv_weight.shape, self.offset_weight.shape = self._weight_shapes(
            x.shape[1]
        )

    def _moved(self, x: Any) -> Any:
        """Compute the offsets."""
        return npx.convolution(
            x,
            self.offset_weight.data(),
            None if self.offset_bias is None else self.offset_bias.data(),
            stride=self._strides,
            dilate=self._dilation,
            pad=self._padding,
        )

    def _convolved(self, operator: Any, *operands: Any) -> Any:
        y = operator(
            *operands,
            self.deformable_conv_weight.data(),
            None if self.deformable_conv_bias is None else self.deformable_conv_bias.data(),
            stride=self._strides,
            dilate=self._dilation,
            pad=self._padding,
            num_group=self._groups,
            num_deformable_group=self._offset_groups,
        )
        return y if self.act is None else self.act(y)

    def forward(self, x: ndarray) -> ndarray:
        """Apply the convolution to x, then the activation function."""
        return self._convolved(npx.deformable_convolution, x, self._moved(x))

    def __repr__(self) -> str:
        channels = (self.offset_weight.shape or (-1, -1))[1]
        options = f"kernel_size={self._kernel}, stride={self._strides}, padding={self._padding}"
        return (
            f"{type(self).__name__}({channels if channels != -1 else None} -> "
            f"{self._channels}, {options})"
        )


class ModulatedDeformableConvolution(DeformableConvolution):
    """Modulated deformable convolution (DCNv2; Zhu et al., 2019).

    The second convolution also computes a weight for each element of the window, as `2 sigmoid` of
    its output. The parameters are those of `DeformableConvolution`.

    Examples
    --------
    >>> layer = nn.ModulatedDeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 3, 8, 8))).shape
    (2, 4, 8, 8)
    """

    _offsets = 3

    def forward(self, x: ndarray) -> ndarray:
        """Apply the convolution to x, then the activation function."""
        moved = self._moved(x)
        split = 2 * (self._offset_channels // 3)
        return self._convolved(
            npx.modulated_deformable_convolution,
            x,
            moved[:, :split],
            2 * npx.sigmoid(moved[:, split:]),
        )


__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
