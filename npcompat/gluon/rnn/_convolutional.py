"""Convolutional recurrent cells (Shi et al., 2015), over one to three spatial axes."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy_extension as npx
from npcompat._internal.core.op import as_shape
from npcompat.gluon.rnn._cell import ElmanStep, GatedCell, GRUStep, LSTMStep, as_function

Sizes = int | Sequence[int]
_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class _ConvCell(GatedCell):
    """Base class of cells whose maps are convolutions with stride 1.

    The convolution of the state keeps its size.
    """

    _spatial = 1

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes,
        i2h_dilate: Sizes,
        h2h_dilate: Sizes,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        conv_layout: str,
        activation: Any,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if conv_layout not in _LAYOUTS[self._spatial]:
            raise ValueError(
                f"{name}: conv_layout must be one of {', '.join(_LAYOUTS[self._spatial])}, got "
                f"{conv_layout!r}"
            )
        shape = as_shape(input_shape)
        if len(shape) != self._spatial + 1:
            raise ValueError(
                f"{name}: input_shape needs {self._spatial + 1} lengths, in the layout "
                f"{conv_layout[1:]}, got {shape}"
            )
        self._layout, self._axis = conv_layout, conv_layout.index("C")
        self._channels = int(hidden_channels)
        kernel, self._h2h_kernel = (
            self._sizes("i2h_kernel", i2h_kernel, 1),
            self._sizes("h2h_kernel", h2h_kernel, 1),
        )
        self._i2h_pad, self._i2h_dilate = (
            self._sizes("i2h_pad", i2h_pad, 0),
            self._sizes("i2h_dilate", i2h_dilate, 1),
        )
        self._h2h_dilate = self._sizes("h2h_dilate", h2h_dilate, 1)
        if any(k % 2 == 0 for k in self._h2h_kernel):
            raise ValueError(
                f"{name}: h2h_kernel must be odd, so that the state keeps its size, got "
                f"{h2h_kernel}"
            )
        self._h2h_pad = tuple(
            d * (k - 1) // 2 for k, d in zip(self._h2h_kernel, self._h2h_dilate, strict=True)
        )
        channel = self._axis - 1
        lengths = [n for i, n in enumerate(shape) if i != channel]
        sides = zip(lengths, kernel, self._i2h_pad, self._i2h_dilate, strict=True)
        self._state_shape = self._placed(
            self._channels, [n + 2 * p - d * (k - 1) for n, k, p, d in sides]
        )
        if min(self._state_shape) < 1:
            raise ValueError(
                f"{name}: i2h_kernel={i2h_kernel} does not fit into input_shape={shape}"
            )
        filters = self._gates * self._channels
        self._declare(
            i2h_weight=((filters, *self._placed(shape[channel], kernel)), i2h_weight_initializer),
            h2h_weight=(
                (filters, *self._placed(self._channels, self._h2h_kernel)),
                h2h_weight_initializer,
            ),
            i2h_bias=((filters,), i2h_bias_initializer),
            h2h_bias=((filters,), h2h_bias_initializer),
        )
        self.activation, self.recurrent_activation = as_function(activation), as_function("sigmoid")

    def _sizes(self, argument: str, sizes: Sizes, least: int) -> tuple[int, ...]:
        found = as_shape(sizes)
        if isinstance(sizes, int | onp.integer):
            found *= self._spatial
        if len(found) != self._spatial or min(found) < least:
            expected = f"a number, or one for each of {self._spatial} axes, at least {least}"
            raise ValueError(f"{type(self).__name__}: {argument}: expected {expected}, got {sizes}")
        return found

    def _placed(self, channels: int, lengths: Sequence[int]) -> tuple[int, ...]:
        """Return channels and lengths in the order of the layout."""
        return (channels, *lengths) if self._axis == 1 else (*lengths, channels)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states: a dict with `shape` and `__layout__` for each."""
        return [
            {"shape": (batch_size, *self._state_shape), "__layout__": self._layout}
            for _ in range(self._kept)
        ]

    def _from_input(self, inputs: Any) -> Any:
        weight, bias = self.i2h_weight.data(), self.i2h_bias.data()
        return npx.convolution(
            inputs, weight, bias, dilate=self._i2h_dilate, pad=self._i2h_pad, layout=self._layout
        )

    def _from_state(self, state: Any) -> Any:
        weight, bias = self.h2h_weight.data(), self.h2h_bias.data()
        return npx.convolution(
            state, weight, bias, dilate=self._h2h_dilate, pad=self._h2h_pad, layout=self._layout
        )

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape or ()
        return f"{type(self).__name__}({shape[self._axis]} -> {self._channels}, {self._layout})"


class _Conv1DCell(_ConvCell):
    _spatial = 1

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes = (0,),
        i2h_dilate: Sizes = (1,),
        h2h_dilate: Sizes = (1,),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCW",
        activation: Any = "tanh",
    ) -> None:
        sizes = (i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate)
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(
            input_shape, hidden_channels, *sizes, *initializers, conv_layout, activation
        )


class _Conv2DCell(_ConvCell):
    _spatial = 2

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes = (0, 0),
        i2h_dilate: Sizes = (1, 1),
        h2h_dilate: Sizes = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCHW",
        activation: Any = "tanh",
    ) -> None:
        sizes = (i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate)
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(
            input_shape, hidden_channels, *sizes, *initializers, conv_layout, activation
        )


class _Conv3DCell(_ConvCell):
    _spatial = 3

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes = (0, 0, 0),
        i2h_dilate: Sizes = (1, 1, 1),
        h2h_dilate: Sizes = (1, 1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCDHW",
        activation: Any = "tanh",
    ) -> None:
        sizes = (i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate)
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(
            input_shape, hidden_channels, *sizes, *initializers, conv_layout, activation
        )


class Conv1DRNNCell(ElmanStep, _Conv1DCell):
    r"""1-D convolutional Elman cell: `h' = activation(i2h(x) + h2h(h))`.

    Called with inputs of shape (N, \*input_shape) and a list of one state.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of an input, without the batch, in the order of `conv_layout`.
    hidden_channels : int
        Channels of the state.
    i2h_kernel, h2h_kernel : int or tuple of int
        Windows over the input and over the state; the latter must be odd.
    i2h_pad : int or tuple of int
        Zeros added at both ends of the input; the state is always padded so that it keeps its size.
    i2h_dilate, h2h_dilate : int or tuple of int
        Steps between the elements of the windows.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    conv_layout : {'NCW', 'NWC'}
        Order of the axes.
    activation : str or callable
        Activation function of the new state.

    Examples
    --------
    >>> cell = gluon.rnn.Conv1DRNNCell((2, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((1, 2, 5)), cell.begin_state(1))[0].shape
    (1, 4, 5)
    """


class Conv2DRNNCell(ElmanStep, _Conv2DCell):
    """2-D convolutional Elman cell; the arguments are those of `Conv1DRNNCell`.

    Examples
    --------
    >>> gluon.rnn.Conv2DRNNCell((2, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv2DRNNCell(2 -> 4, NCHW)
    """


class Conv3DRNNCell(ElmanStep, _Conv3DCell):
    """3-D convolutional Elman cell; the arguments are those of `Conv1DRNNCell`.

    Examples
    --------
    >>> gluon.rnn.Conv3DRNNCell((2, 5, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv3DRNNCell(2 -> 4, NCDHW)
    """


class Conv1DLSTMCell(LSTMStep, _Conv1DCell):
    r"""1-D convolutional LSTM cell: gates as in `LSTMCell`, from `i2h(x) + h2h(h)`.

    Called with inputs of shape (N, \*input_shape) and a list of two states, h and c.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of an input, without the batch, in the order of `conv_layout`.
    hidden_channels : int
        Channels of the state.
    i2h_kernel, h2h_kernel : int or tuple of int
        Windows over the input and over the state; the latter must be odd.
    i2h_pad : int or tuple of int
        Zeros added at both ends of the input; the state is always padded so that it keeps its size.
    i2h_dilate, h2h_dilate : int or tuple of int
        Steps between the elements of the windows.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    conv_layout : {'NCW', 'NWC'}
        Order of the axes.
    activation : str or callable
        Activation function of the new state.

    Examples
    --------
    >>> cell = gluon.rnn.Conv1DLSTMCell((2, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((1, 2, 5)), cell.begin_state(1))[0].shape
    (1, 4, 5)
    """


class Conv2DLSTMCell(LSTMStep, _Conv2DCell):
    """2-D convolutional LSTM cell; the arguments are those of `Conv1DLSTMCell`.

    Examples
    --------
    >>> gluon.rnn.Conv2DLSTMCell((2, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv2DLSTMCell(2 -> 4, NCHW)
    """


class Conv3DLSTMCell(LSTMStep, _Conv3DCell):
    """3-D convolutional LSTM cell; the arguments are those of `Conv1DLSTMCell`.

    Examples
    --------
    >>> gluon.rnn.Conv3DLSTMCell((2, 5, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv3DLSTMCell(2 -> 4, NCDHW)
    """


class Conv1DGRUCell(GRUStep, _Conv1DCell):
    r"""1-D convolutional GRU cell: gates as in `GRUCell`, from `i2h(x)` and `h2h(h)`.

    Called with inputs of shape (N, \*input_shape) and a list of one state.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of an input, without the batch, in the order of `conv_layout`.
    hidden_channels : int
        Channels of the state.
    i2h_kernel, h2h_kernel : int or tuple of int
        Windows over the input and over the state; the latter must be odd.
    i2h_pad : int or tuple of int
        Zeros added at both ends of the input; the state is always padded so that it keeps its size.
    i2h_dilate, h2h_dilate : int or tuple of int
        Steps between the elements of the windows.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    conv_layout : {'NCW', 'NWC'}
        Order of the axes.
    activation : str or callable
        Activation function of the new state.

    Examples
    --------
    >>> cell = gluon.rnn.Conv1DGRUCell((2, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((1, 2, 5)), cell.begin_state(1))[0].shape
    (1, 4, 5)
    """


class Conv2DGRUCell(GRUStep, _Conv2DCell):
    """2-D convolutional GRU cell; the arguments are those of `Conv1DGRUCell`.

    Examples
    --------
    >>> gluon.rnn.Conv2DGRUCell((2, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv2DGRUCell(2 -> 4, NCHW)
    """


class Conv3DGRUCell(GRUStep, _Conv3DCell):
    """3-D convolutional GRU cell; the arguments are those of `Conv1DGRUCell`.

    Examples
    --------
    >>> gluon.rnn.Conv3DGRUCell((2, 5, 5, 5), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    Conv3DGRUCell(2 -> 4, NCDHW)
    """


__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]
