"""Recurrent layers over whole sequences."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.parameter import Parameter
from npcompat.gluon.rnn._sequences import axis_of_time
from npcompat.numpy._typing import DTypeLike
from npcompat.numpy_extension._nn_recurrent import Clip, Network, state_bounds


class FusedParameter:
    """Parameters of a recurrent layer as one vector, in the order of `npx.rnn`.

    Parameters
    ----------
    name : str
        Name for errors.
    parts : sequence of Parameter
        The parameters.
    """

    __slots__ = ("_parts", "name")

    def __init__(self, name: str, parts: Sequence[Parameter]) -> None:
        self.name, self._parts = name, tuple(parts)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape: the number of elements, -1 if it is not known."""
        if not all([part.shape_is_known for part in self._parts]):
            return (-1,)
        return (sum([math.prod(part.shape or ()) for part in self._parts]),)

    @property
    def dtype(self) -> Any:
        """Dtype of the parameters."""
        return self._parts[0].dtype

    def data(self) -> Any:
        """Return the values, in one new array; gradients lead to the parts."""
        return np.concatenate([part.data().reshape(-1) for part in self._parts])

    def grad(self) -> Any:
        """Return the gradients, in one new array."""
        return np.concatenate([part.grad().reshape(-1) for part in self._parts])

    def set_data(self, data: Any) -> None:
        """Set the values of all parts.

        Parameters
        ----------
        data : array_like
            A vector of the shape of the parameter.
        """
        data = np.asarray(data)
        if data.shape != self.shape:
            raise ValueError(
                f"{self.name}.set_data: expected a vector of shape {self.shape}, got {data.shape}"
            )
        begin = 0
        for part in self._parts:
            shape = part.shape or ()
            end = begin + math.prod(shape)
            part.set_data(data[begin:end].reshape(shape))
            begin = end

    def __repr__(self) -> str:
        return f"FusedParameter {self.name} (shape={self.shape}, dtype={self.dtype})"


class _RecurrentLayer(HybridBlock):
    """Base class of `RNN`, `LSTM` and `GRU`, which call `npx.rnn`.

    Parameters are named `l0_i2h_weight`, ... (`r0_...` for the reverse direction).
    """

    def __init__(
        self,
        net: Network,
        layout: str,
        dropout: float,
        input_size: int,
        initializers: dict[str, Any],
        dtype: DTypeLike,
        use_sequence_length: bool,
        clip: Clip = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if net.size < 1 or net.layers < 1:
            raise ValueError(
                f"{name}: hidden_size and num_layers must be positive, got {net.size} and "
                f"{net.layers}"
            )
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout is a probability, got {dropout}")
        axis_of_time(layout)
        self._net, self._layout, self._dropout, self._clip = net, layout, float(dropout), clip
        self._use_sequence_length = bool(use_sequence_length)
        self._names = tuple(name for name, _ in net.parameters(input_size))
        for parameter, shape in net.parameters(input_size):
            init = initializers[parameter.partition("_")[2]]
            setattr(
                self,
                parameter,
                Parameter(parameter, shape=shape, init=init, dtype=dtype, allow_deferred_init=True),
            )

    @property
    def rnn_param(self) -> FusedParameter:
        """All parameters as one vector, as MXNet keeps them: it can be read and set.

        Examples
        --------
        >>> layer = gluon.rnn.GRU(2, input_size=3)
        >>> layer.initialize()
        >>> layer.rnn_param.set_data(np.ones(layer.rnn_param.shape))
        >>> layer.rnn_param.shape, layer.l0_i2h_bias.data()
        ((42,), array([1., 1., 1., 1., 1., 1.]))
        """
        return FusedParameter("rnn_param", [self._reg_params[name] for name in self._names])

    def infer_shape(self, inputs: Any, *args: Any) -> None:
        """Infer the number of features from the input."""
        self._check_data(inputs)
        for name, shape in self._net.parameters(inputs.shape[2]):
            self._reg_params[name].shape = shape

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states: a dict with `shape`, `__layout__` and `dtype` for each.

        Parameters
        ----------
        batch_size : int
            Number of samples.

        Examples
        --------
        >>> gluon.rnn.GRU(3, num_layers=2).state_info(4)
        [{'shape': (2, 4, 3), '__layout__': 'LNC', 'dtype': dtype('float32')}]
        """
        net = self._net
        sizes = (net.output, net.size) if net.mode == "lstm" else (net.output,)
        dtype = self._reg_params[self._names[0]].dtype
        return [
            {
                "shape": (net.layers * net.directions, batch_size, size),
                "__layout__": "LNC",
                "dtype": dtype,
            }
            for size in sizes
        ]

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return the initial states.

        Parameters
        ----------
        batch_size : int
            Number of samples.
        func : callable
            Creates each state from its shape, with the keyword `dtype`; zeros if not given.
        **kwargs
            Further arguments of `func`.

        Examples
        --------
        >>> [state.shape for state in gluon.rnn.LSTM(3).begin_state(2)]
        [(1, 2, 3), (1, 2, 3)]
        """
        return [
            func(info["shape"], **{"dtype": info["dtype"], **kwargs})
            for info in self.state_info(batch_size)
        ]

    def _check_data(self, inputs: Any) -> None:
        if inputs.ndim != 3:
            raise ValueError(
                f"{type(self).__name__}: expected data with axes {self._layout}, got shape "
                f"{inputs.shape}"
            )

    def _given_states(self, states: Any, batch_size: int) -> list[Any]:
        """Return the states as a list, after a check of their shapes."""
        given = [states] if isinstance(states, np.ndarray) else list(states)
        infos = self.state_info(batch_size)
        shapes, found = [info["shape"] for info in infos], [state.shape for state in given]
        if shapes != found:
            raise ValueError(
                f"{type(self).__name__}: states must have shapes {shapes}, got {found}"
            )
        return given

    def forward(self, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
        """Run the layer over sequences.

        Returns the outputs of all steps; with states given, a pair of outputs and last states.
        """
        self._check_data(inputs)
        if self._use_sequence_length != (sequence_length is not None):
            given = "missing" if sequence_length is None else "given"
            raise ValueError(
                f"{type(self).__name__}: use_sequence_length={self._use_sequence_length}, but "
                f"sequence_length is {given}"
            )
        data = inputs if self._layout == "TNC" else inputs.swapaxes(0, 1)
        batch_size = data.shape[1]
        begin = (
            self.begin_state(batch_size)
            if states is None
            else self._given_states(states, batch_size)
        )
        net = self._net
        low, high, nan_too = self._clip or (None, None, False)
        outputs, *last = npx.rnn(
            data,
            [self._reg_params[name].data() for name in self._names],
            begin[0],
            begin[1] if net.mode == "lstm" else None,
            sequence_length,
            mode=net.mode,
            state_size=net.size,
            num_layers=net.layers,
            bidirectional=net.directions == 2,
            state_outputs=True,
            p=self._dropout,
            use_sequence_length=self._use_sequence_length,
            projection_size=net.projection,
            lstm_state_clip_min=low,
            lstm_state_clip_max=high,
            lstm_state_clip_nan=nan_too,
        )
        if self._layout == "NTC":
            outputs = outputs.swapaxes(0, 1)
        return outputs if states is None else (outputs, last)

    def __repr__(self) -> str:
        net = self._net
        features = (self._reg_params[self._names[0]].shape or (None, None))[1]
        options = [f"{features if features != -1 else None} -> {net.size}", self._layout]
        options += [f"num_layers={net.layers}"] if net.layers != 1 else []
        options += [f"dropout={self._dropout}"] if self._dropout else []
        options += ["bidirectional"] if net.directions == 2 else []
        return f"{type(self).__name__}({', '.join(options)})"


def _initializers(
    i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any, h2r_weight: Any = None
) -> dict[str, Any]:
    return {
        "i2h_weight": i2h_weight,
        "h2h_weight": h2h_weight,
        "h2r_weight": h2r_weight,
        "i2h_bias": i2h_bias,
        "h2h_bias": h2h_bias,
    }


class RNN(_RecurrentLayer):
    """Multi-layer Elman RNN: `h' = activation(W_i2h x + b_i2h + W_h2h h + b_h2h)`.

    Called with a batch of sequences, and optionally with initial states and with lengths. Returns
    the outputs of all steps, and if states were given also a list of the last ones.

    Parameters
    ----------
    hidden_size, num_layers : int
        Size of the states, number of layers.
    activation : {'relu', 'tanh'}
        Activation function.
    layout : {'TNC', 'NTC'}
        Axes of inputs and outputs, T for time and N for the batch; states always have the axes
        layer, batch, feature.
    dropout : float
        Probability that an element between layers is zeroed, in training mode.
    bidirectional : bool
        Whether each layer has a second network that reads backwards, which doubles the states and
        outputs.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters of all layers; weights without one use that of `initialize`.
    input_size : int
        Number of features; inferred at the first call if 0.
    dtype : dtype
        Dtype of the parameters.
    use_sequence_length : bool
        Whether the layer is called with lengths of the sequences (third argument).

    Examples
    --------
    >>> layer = gluon.rnn.RNN(4, layout="NTC")
    >>> layer.initialize()
    >>> layer(np.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: DTypeLike = "float32",
        *,
        use_sequence_length: bool = False,
    ) -> None:
        if activation not in ("relu", "tanh"):
            raise ValueError(f"RNN: activation must be 'relu' or 'tanh', got {activation!r}")
        net = Network(
            f"rnn_{activation}", int(hidden_size), int(num_layers), 2 if bidirectional else 1
        )
        initializers = _initializers(
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(net, layout, dropout, input_size, initializers, dtype, use_sequence_length)


class LSTM(_RecurrentLayer):
    """Multi-layer long short-term memory network (Hochreiter and Schmidhuber, 1997).

    The rows of the weights are the input, forget, cell and output gates, in this order, as in cuDNN
    and torch; `npx.rnn` has the formulas. Called with a batch of sequences, and optionally with a
    list of initial states (h and c) and with lengths. Returns the outputs of all steps, and if
    states were given also a list of the last ones.

    Parameters
    ----------
    hidden_size, num_layers : int
        Size of the cell states, number of layers.
    layout : {'TNC', 'NTC'}
        Axes of inputs and outputs, T for time and N for the batch; states always have the axes
        layer, batch, feature.
    dropout : float
        Probability that an element between layers is zeroed, in training mode.
    bidirectional : bool
        Whether each layer has a second network that reads backwards, which doubles the states and
        outputs.
    input_size : int
        Number of features; inferred at the first call if 0.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters of all layers; weights without one use that of `initialize`.
    projection_size : int, optional
        Size to which the output of each layer is projected (Sak et al., 2014).
    h2r_weight_initializer : Initializer or str, optional
        Initializer of the projections.
    state_clip_min, state_clip_max : float, optional
        Bounds of the cell states.
    state_clip_nan : bool
        Whether nan becomes the lower bound.
    dtype : dtype
        Dtype of the parameters.
    use_sequence_length : bool
        Whether the layer is called with lengths of the sequences (third argument).

    Examples
    --------
    >>> layer = gluon.rnn.LSTM(4, num_layers=2)
    >>> layer.initialize()
    >>> output, (h, c) = layer(np.ones((5, 2, 3)), layer.begin_state(2))
    >>> output.shape, h.shape, c.shape
    ((5, 2, 4), (2, 2, 4), (2, 2, 4))
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: DTypeLike = "float32",
        *,
        use_sequence_length: bool = False,
    ) -> None:
        projection = None if projection_size is None else int(projection_size)
        net = Network(
            "lstm", int(hidden_size), int(num_layers), 2 if bidirectional else 1, projection
        )
        biases = (i2h_bias_initializer, h2h_bias_initializer)
        initializers = _initializers(
            i2h_weight_initializer, h2h_weight_initializer, *biases, h2r_weight_initializer
        )
        if projection is not None and projection < 1:
            raise ValueError(f"LSTM: projection_size must be positive, got {projection}")
        clip = state_bounds("LSTM", state_clip_min, state_clip_max, state_clip_nan)
        super().__init__(
            net, layout, dropout, input_size, initializers, dtype, use_sequence_length, clip
        )


class GRU(_RecurrentLayer):
    """Multi-layer gated recurrent unit network (Cho et al., 2014), reset gate after the product.

    The rows of the weights are the reset gate, the update gate and the new state, in this order, as
    in cuDNN and torch; `npx.rnn` has the formulas. Called with a batch of sequences, and optionally
    with initial states and with lengths. Returns the outputs of all steps, and if states were given
    also a list of the last ones.

    Parameters
    ----------
    hidden_size, num_layers : int
        Size of the states, number of layers.
    layout : {'TNC', 'NTC'}
        Axes of inputs and outputs, T for time and N for the batch; states always have the axes
        layer, batch, feature.
    dropout : float
        Probability that an element between layers is zeroed, in training mode.
    bidirectional : bool
        Whether each layer has a second network that reads backwards, which doubles the states and
        outputs.
    input_size : int
        Number of features; inferred at the first call if 0.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
    Initializer or str, optional
        Initializers of the parameters of all layers; weights without one use that of `initialize`.
    dtype : dtype
        Dtype of the parameters.
    use_sequence_length : bool
        Whether the layer is called with lengths of the sequences (third argument).

    Examples
    --------
    >>> layer = gluon.rnn.GRU(4, bidirectional=True, input_size=3)
    >>> layer
    GRU(3 -> 4, TNC, bidirectional)
    >>> list(layer.params)[:2]
    ['l0_i2h_weight', 'l0_h2h_weight']
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: DTypeLike = "float32",
        *,
        use_sequence_length: bool = False,
    ) -> None:
        net = Network("gru", int(hidden_size), int(num_layers), 2 if bidirectional else 1)
        initializers = _initializers(
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(net, layout, dropout, input_size, initializers, dtype, use_sequence_length)


__all__ = ["GRU", "LSTM", "RNN"]
