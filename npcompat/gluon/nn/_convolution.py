"""Convolution and pooling layers over one to three spatial axes."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy_extension as npx
from npcompat._internal.core.op import as_shape
from npcompat._internal.support.argument_errors import count
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._activations import Activation
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray

Sizes = int | Sequence[int]


def _sizes(what: str, sizes: Sizes, layout: str) -> tuple[int, ...]:
    spatial = len(layout) - 2
    found = (sizes,) * spatial if isinstance(sizes, int | onp.integer) else as_shape(sizes)
    if len(found) != spatial:
        raise ValueError(
            f"{what}: expected a number, or one for each of {spatial} axes, got {sizes}"
        )
    return found


def _check_layout(layer: Any, layout: str, allowed: tuple[str, ...]) -> None:
    if layout not in allowed:
        raise ValueError(
            f"{type(layer).__name__}: layout must be one of {', '.join(allowed)}, got {layout!r}"
        )


# --- convolution ----------------------------------------------------------------------------------


class _Conv(HybridBlock):
    """Base class of convolution layers; subclasses define the number of spatial axes.

    Parameters
    ----------
    channels : int
        Number of filters.
    kernel_size, strides, padding, dilation : int or sequence of int
        Size of the window, its step, padding at both ends, and the step between its elements.
    groups : int
        Groups of channels that are convolved separately.
    layout : str
        Order of the axes, which is the weight's too: (filters, channels / groups, ...) or (filters,
        ..., channels / groups).
    activation : str, optional
        Name of an activation function; none if not given.
    use_bias : bool
        Whether the layer has a bias.
    weight_initializer, bias_initializer : Initializer or str, optional
        Their own initializers; weights without one use that of `initialize`.
    in_channels : int
        Number of channels; inferred at the first call if 0.
    """

    _layouts: tuple[str, ...] = ()

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes,
        padding: Sizes,
        dilation: Sizes,
        groups: int,
        layout: str,
        activation: str | None,
        use_bias: bool,
        weight_initializer: Any,
        bias_initializer: Any,
        in_channels: int,
    ) -> None:
        super().__init__()
        _check_layout(self, layout, self._layouts)
        owner = type(self).__name__
        self._layout, self._channels, self._groups = (
            layout,
            count(owner, "channels", channels),
            count(owner, "groups", groups),
        )
        self._kernel = _sizes("kernel_size", kernel_size, layout)
        self._strides, self._padding = (
            _sizes("strides", strides, layout),
            _sizes("padding", padding, layout),
        )
        self._dilation = _sizes("dilation", dilation, layout)
        self.weight = Parameter(
            "weight",
            shape=self._weight_shape(in_channels),
            init=weight_initializer,
            allow_deferred_init=True,
        )
        self.bias = (
            Parameter("bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True)
            if use_bias
            else None
        )
        self.act = None if activation is None else Activation(activation)

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        if in_channels % self._groups or self._channels % self._groups:
            raise ValueError(
                f"{type(self).__name__}: {self._groups} groups must divide {in_channels} input "
                f"and {self._channels} output channels"
            )
        per_group = in_channels // self._groups
        return (
            (self._channels, per_group, *self._kernel)
            if self._layout[1] == "C"
            else (self._channels, *self._kernel, per_group)
        )

    def infer_shape(self, x: Any, *args: Any) -> None:
        """Infer the number of channels from the input."""
        if x.ndim != len(self._layout):
            raise ValueError(
                f"{type(self).__name__}: expected data with axes {self._layout}, got shape "
                f"{x.shape}"
            )
        self.weight.shape = self._weight_shape(x.shape[self._layout.index("C")])

    def forward(self, x: ndarray) -> ndarray:
        """Apply the convolution to x, then the activation function."""
        y = npx.convolution(
            x,
            self.weight.data(),
            None if self.bias is None else self.bias.data(),
            stride=self._strides,
            dilate=self._dilation,
            pad=self._padding,
            num_group=self._groups,
            layout=self._layout,
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        shape = self.weight.shape or ()
        per_group = shape[1 if self._layout[1] == "C" else -1]
        options = f"kernel_size={self._kernel}, stride={self._strides}, padding={self._padding}"
        return (
            f"{type(self).__name__}({per_group * self._groups if per_group != -1 else None} -> "
            f"{self._channels}, {options})"
        )


class Conv1D(_Conv):
    """1-D convolution.

    The parameters are those of `Conv2D`.

    Examples
    --------
    >>> layer = nn.Conv1D(4, kernel_size=3)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 3, 10))).shape
    (2, 4, 8)
    """

    _layouts = ("NCW", "NWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
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
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


class Conv2D(_Conv):
    """2-D convolution.

    Parameters
    ----------
    channels : int
        Number of filters.
    kernel_size, strides, padding, dilation : int or sequence of int
        Size of the window, its step, padding at both ends, and the step between its elements.
    groups : int
        Groups of channels that are convolved separately.
    layout : {'NCHW', 'NHWC'}
        Order of the axes, also of the weight, where N is filters.
    activation : str, optional
        Name of an activation function; none if not given.
    use_bias : bool
        Whether the layer has a bias.
    weight_initializer, bias_initializer : Initializer or str, optional
        Their own initializers; weights without one use that of `initialize`.
    in_channels : int
        Number of channels; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.Conv2D(4, kernel_size=3, padding=1, activation="relu")
    >>> layer.initialize()
    >>> layer(np.zeros((2, 1, 8, 8))).shape
    (2, 4, 8, 8)
    """

    _layouts = ("NCHW", "NHWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
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
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


class Conv3D(_Conv):
    """3-D convolution.

    The parameters are those of `Conv2D`.

    Examples
    --------
    >>> layer = nn.Conv3D(4, kernel_size=2)
    >>> layer.initialize()
    >>> layer(np.zeros((2, 1, 4, 4, 4))).shape
    (2, 4, 3, 3, 3)
    """

    _layouts = ("NCDHW", "NDHWC")

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: Sizes = (0, 0, 0),
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
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
        )


__all__ = ["Conv1D", "Conv2D", "Conv3D"]
