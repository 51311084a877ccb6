"""Recurrent cells of dense layers: Elman, LSTM, GRU, and LSTM with a projection."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat.gluon.parameter import Parameter
from npcompat.gluon.rnn._cell import ElmanStep, GatedCell, GRUStep, LSTMStep, States, as_function


class _DenseCell(GatedCell):
    """Base class of cells whose maps are matrices with `_gates * hidden_size` rows."""

    def __init__(
        self,
        hidden_size: int,
        output_size: int,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
    ) -> None:
        super().__init__()
        if hidden_size < 1:
            raise ValueError(
                f"{type(self).__name__}: hidden_size must be positive, got {hidden_size}"
            )
        self._hidden_size, self._output_size = int(hidden_size), int(output_size)
        rows = self._gates * hidden_size
        self._declare(
            i2h_weight=((rows, input_size), i2h_weight_initializer),
            h2h_weight=((rows, output_size), h2h_weight_initializer),
            i2h_bias=((rows,), i2h_bias_initializer),
            h2h_bias=((rows,), h2h_bias_initializer),
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states: a dict with `shape` and `__layout__` for each."""
        return [
            {"shape": (batch_size, self._hidden_size), "__layout__": "NC"}
            for _ in range(self._kept)
        ]

    def _infer_from_call(self, *args: Any) -> None:
        self._infer_from(args[0].shape[-1])

    def _width(self) -> int:
        return self._output_size

    def _infer_from(self, width: int) -> int:
        self.i2h_weight.shape = (self._gates * self._hidden_size, width)
        return self._output_size

    def _from_input(self, inputs: Any) -> Any:
        return npx.fully_connected(
            inputs, self.i2h_weight.data(), self.i2h_bias.data(), no_bias=False, flatten=False
        )

    def _from_state(self, state: Any) -> Any:
        return npx.fully_connected(
            state, self.h2h_weight.data(), self.h2h_bias.data(), no_bias=False, flatten=False
        )

    def __repr__(self) -> str:
        features = (self.i2h_weight.shape or (None, None))[1]
        return (
            f"{type(self).__name__}({features if features != -1 else None} -> {self._hidden_size})"
        )


class RNNCell(ElmanStep, _DenseCell):
    """Elman RNN cell: `h' = activation(W_i2h x + b_i2h + W_h2h h + b_h2h)`.

    Called with inputs of shape (N, C) and a list of one state of shape (N, hidden_size).

    Parameters
    ----------
    hidden_size : int
        Size of the state.
    activation : str or callable
        Activation function.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    input_size : int
        Number of features; inferred at the first call if 0.

    Examples
    --------
    >>> cell = gluon.rnn.RNNCell(4)
    >>> cell.initialize()
    >>> output, states = cell(np.ones((2, 3)), cell.begin_state(2))
    >>> output.shape
    (2, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
    ) -> None:
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, hidden_size, input_size, *initializers)
        self.activation = as_function(activation)


class LSTMCell(LSTMStep, _DenseCell):
    """Long short-term memory (LSTM) cell (Hochreiter and Schmidhuber, 1997).

    `c' = sigmoid(f) c + sigmoid(i) tanh(g)` and `h' = sigmoid(o) tanh(c')`, where the rows of
    `W_i2h x + b_i2h + W_h2h h + b_h2h` are the gates input, forget, cell, output (i, f, g, o), as
    in `npx.rnn`.

    Called with inputs of shape (N, C) and a list of two states of shape (N, hidden_size), h and c.

    Parameters
    ----------
    hidden_size : int
        Size of the states.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    input_size : int
        Number of features; inferred at the first call if 0.
    activation, recurrent_activation : str or callable
        Functions used in place of tanh and sigmoid.

    Examples
    --------
    >>> cell = gluon.rnn.LSTMCell(4)
    >>> cell.initialize()
    >>> output, (h, c) = cell(np.ones((2, 3)), cell.begin_state(2))
    >>> output.shape, c.shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, hidden_size, input_size, *initializers)
        self.activation, self.recurrent_activation = (
            as_function(activation),
            as_function(recurrent_activation),
        )


class GRUCell(GRUStep, _DenseCell):
    """Gated recurrent unit (GRU) cell (Cho et al., 2014), reset gate after the product.

    `r = sigmoid(a_r + b_r)`, `z = sigmoid(a_z + b_z)`, `h' = (1 - z) tanh(a_n + r b_n) + z h`,
    where the rows of `a = W_i2h x + b_i2h` and of `b = W_h2h h + b_h2h` are reset, update, new, as
    in `npx.rnn`.

    Called with inputs of shape (N, C) and a list of one state of shape (N, hidden_size).

    Parameters
    ----------
    hidden_size : int
        Size of the state.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters; weights without one use that of `initialize`.
    input_size : int
        Number of features; inferred at the first call if 0.
    activation, recurrent_activation : str or callable
        Functions used in place of tanh and sigmoid.

    Examples
    --------
    >>> cell = gluon.rnn.GRUCell(4, input_size=3)
    >>> cell
    GRUCell(3 -> 4)
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, hidden_size, input_size, *initializers)
        self.activation, self.recurrent_activation = (
            as_function(activation),
            as_function(recurrent_activation),
        )


class LSTMPCell(LSTMStep, _DenseCell):
    """LSTM cell with a projected output (Sak et al., 2014): `h' = W_h2r sigmoid(o) tanh(c')`.

    Called with inputs of shape (N, C) and a list of two states, h of shape (N, projection_size) and
    c of shape (N, hidden_size).

    Parameters
    ----------
    hidden_size, projection_size : int
        Size of the cell state, and of the output.
    i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer : Initializer or str,
    optional
        Initializers of the weights; without one they use that of `initialize`.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, optional
        Initializers of the biases.
    input_size : int
        Number of features; inferred at the first call if 0.

    Examples
    --------
    >>> cell = gluon.rnn.LSTMPCell(8, 4)
    >>> cell.initialize()
    >>> output, states = cell(np.ones((2, 3)), cell.begin_state(2))
    >>> [s.shape for s in states]
    [(2, 4), (2, 8)]
    """

    h2r_weight: Parameter

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
    ) -> None:
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, projection_size, input_size, *initializers)
        self._declare(h2r_weight=((projection_size, hidden_size), h2r_weight_initializer))
        self.activation, self.recurrent_activation = as_function("tanh"), as_function("sigmoid")

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states: a dict with `shape` and `__layout__` for each."""
        return [
            {"shape": (batch_size, size), "__layout__": "NC"}
            for size in (self._output_size, self._hidden_size)
        ]

    def _step(self, a: Any, b: Any, states: States) -> tuple[Any, States]:
        whole, (_, cell) = super()._step(a, b, states)
        out = npx.fully_connected(whole, self.h2r_weight.data(), flatten=False)
        return out, [out, cell]


__all__ = ["GRUCell", "LSTMCell", "LSTMPCell", "RNNCell"]
