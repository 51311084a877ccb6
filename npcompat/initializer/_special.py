"""Initializers for particular layers, and for parameters by name."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat.initializer._base import InitDesc, Initializer, register
from npcompat.initializer._distributions import Uniform, Zero
from npcompat.numpy_extension._nn_recurrent import network

# --- for particular layers ------------------------------------------------------------------------


@register
class Bilinear(Initializer):
    """Bilinear interpolation weights of a transposed convolution that enlarges images.

    Examples
    --------
    >>> a = np.zeros((1, 1, 4, 4))
    >>> init.Bilinear()("weight", a)
    >>> a[0, 0, 1]
    array([0.1875, 0.5625, 0.5625, 0.1875])
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        if arr.ndim != 4:
            raise ValueError(
                f"Bilinear: {name} must be the weight of a 2-d convolution, with 4 axes, got "
                f"shape {arr.shape}"
            )
        arr[...] = onp.outer(_triangle(arr.shape[2]), _triangle(arr.shape[3]))


def _triangle(size: int) -> Any:
    half = math.ceil(size / 2)
    centre = (2 * half - 1 - half % 2) / (2 * half)
    return 1 - onp.abs(onp.arange(size) / half - centre)


@register
class LSTMBias(Initializer):
    """LSTM bias initializer: zero, except for the forget gate (the second quarter).

    Parameters
    ----------
    forget_bias : float
        Bias of the forget gate.

    Examples
    --------
    >>> a = np.zeros(4)
    >>> init.LSTMBias()("lstm_bias", a)
    >>> a
    array([0., 1., 0., 0.])
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: Any) -> None:
        quarter = arr.shape[0] // 4
        arr[...] = 0
        arr[quarter : 2 * quarter] = self.forget_bias

    _init_bias = _init_weight


@register
class RNNFused(Initializer):
    """Initializer of the packed parameter vector of `npx.rnn`, with one initializer per part.

    Parameters
    ----------
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        The kind of network.
    num_layers, state_size : int
        Number of layers, size of the states.
    bidirectional : bool
        Whether each layer has two directions.
    projection_size : int, optional
        Size of the projected output of an LSTM.
    i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer : Initializer or str,
    optional
        For the weights; `Uniform()` if not given.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, optional
        For the biases; zeros if not given.

    Examples
    --------
    >>> a = np.zeros(2 * 3 + 2 * 2 + 2 + 2)
    >>> init.RNNFused("rnn_tanh", 1, 2, i2h_weight_initializer="ones")("parameters", a)
    >>> a[:6], a[-4:]
    (array([1., 1., 1., 1., 1., 1.]), array([0., 0., 0., 0.]))
    """

    def __init__(
        self,
        mode: str,
        num_layers: int,
        state_size: int,
        bidirectional: bool = False,
        projection_size: int | None = None,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = None,
        h2h_bias_initializer: Any = None,
        h2r_weight_initializer: Any = None,
    ) -> None:
        initializers = {
            "i2h_weight_initializer": i2h_weight_initializer,
            "h2h_weight_initializer": h2h_weight_initializer,
            "i2h_bias_initializer": i2h_bias_initializer,
            "h2h_bias_initializer": h2h_bias_initializer,
            "h2r_weight_initializer": h2r_weight_initializer,
        }
        texts = {
            name: i.dumps() if isinstance(i, Initializer) else i for name, i in initializers.items()
        }
        sizes = {
            "mode": mode,
            "num_layers": num_layers,
            "state_size": state_size,
            "bidirectional": bidirectional,
        }
        super().__init__(**sizes, projection_size=projection_size, **texts)
        self._net = network(
            "RNNFused", mode, state_size, num_layers, bidirectional, projection_size
        )
        self._initializers = initializers

    def _init_weight(self, name: str, arr: Any) -> None:
        if arr.ndim != 1:
            raise ValueError(
                f"RNNFused: {name} must be the vector of all parameters of a recurrent network, "
                f"got shape {arr.shape}"
            )
        begin = 0
        for part, shape in self._net.parameters(self._net.inputs(arr.size)):
            end = begin + math.prod(shape)
            own = self._initializers[f"{part.partition('_')[2]}_initializer"]
            default: Initializer = Zero() if part.endswith("bias") else Uniform()
            default(
                InitDesc(part, {"__init__": default if own is None else own}),
                arr[begin:end].reshape(shape),
            )
            begin = end

    _init_bias = _init_weight


# --- by name --------------------------------------------------------------------------------------


@register
class Load:
    """Initializer from a dict of arrays, by name.

    Parameters
    ----------
    param : dict of str to ndarray
        Arrays; a prefix `arg:` or `aux:` of names is removed.
    default_init : Initializer, optional
        For names that are not in the dict.
    verbose : bool
        Whether each array is reported.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> init.Load({"weight": np.ones(2)})("weight", a)
    >>> a
    array([1., 1.])
    """

    def __init__(
        self, param: Mapping[str, Any], default_init: Any = None, verbose: bool = False
    ) -> None:
        if not isinstance(param, Mapping):
            raise TypeError(f"Load: expected a dict of arrays, got {type(param).__name__}")
        self.param = {
            name.removeprefix("arg:").removeprefix("aux:"): array for name, array in param.items()
        }
        self.default_init, self.verbose = default_init, verbose

    def __call__(self, name: str, arr: Any) -> None:
        """Initialize an array in place."""
        if name in self.param:
            if self.param[name].shape != arr.shape:
                raise ValueError(
                    f"Load: {name} has shape {arr.shape}, but the loaded array has "
                    f"{self.param[name].shape}"
                )
            arr[...] = self.param[name]
        elif self.default_init is None:
            raise ValueError(f"Load: there is no array for {name}, and no default_init")
        else:
            self.default_init(str(name), arr)
        if self.verbose:
            print(
                f"initialized {name} "
                f"{'from a loaded array' if name in self.param else 'by default'}"
            )


@register
class Mixed:
    """Mixed initializer: the first one whose pattern matches the name.

    Parameters
    ----------
    patterns : sequence of str
        Regular expressions, matched at the beginning of the name.
    initializers : sequence of Initializer
        One for each.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> init.Mixed(["bias", ".*"], [init.Zero(), init.One()])("weight", a)
    >>> a
    array([1., 1.])
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        self.map = [(re.compile(p), i) for p, i in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: Any) -> None:
        """Initialize an array in place."""
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(str(name), arr)
                return
        raise ValueError(
            f"Mixed: no pattern fits {name!r}; add '.*' with a default initializer at the end"
        )


__all__ = ["Bilinear", "LSTMBias", "Load", "Mixed"]
