"""Basic layers: dense, dropout, embedding, flatten."""

import math
from collections.abc import Sequence
from typing import Any

import npcompat.numpy_extension as npx
from npcompat._internal.support.argument_errors import count
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._activations import Activation
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import DTypeLike


class Dense(HybridBlock):
    """Dense (fully connected) layer: `activation(x @ weight.T + bias)`.

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str, optional
        Name of an activation function; none if not given.
    use_bias : bool
        Whether the layer has a bias.
    flatten : bool
        Whether all axes but the first are features, or only the last.
    dtype : dtype
        Dtype of the parameters.
    weight_initializer, bias_initializer : Initializer or str, optional
        Their own initializers; weights without one use that of `initialize`.
    in_units : int
        Number of features; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.Dense(2)
    >>> layer.initialize()
    >>> layer(np.ones((4, 3))).shape
    (4, 2)
    >>> layer.weight.shape
    (2, 3)
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: DTypeLike = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
    ) -> None:
        super().__init__()
        units = count("Dense", "units", units, 0)
        in_units = count("Dense", "in_units", in_units, 0)
        self._units, self._flatten = units, bool(flatten)
        self.weight = Parameter(
            "weight",
            shape=(units, in_units),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
        )
        self.bias = (
            Parameter(
                "bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True
            )
            if use_bias
            else None
        )
        self.act = None if activation is None else Activation(activation)

    def infer_shape(self, x: Any, *args: Any) -> None:
        """Infer the number of features from the input."""
        self.weight.shape = (self._units, math.prod(x.shape[1:]) if self._flatten else x.shape[-1])

    def forward(self, x: ndarray) -> ndarray:
        """Apply the layer to x."""
        bias = None if self.bias is None else self.bias.data()
        y = npx.fully_connected(
            x, self.weight.data(), bias, no_bias=bias is None, flatten=self._flatten
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        features = (self.weight.shape or (None, None))[1]
        return (
            f"Dense({features if features != -1 else None} -> {self._units}, "
            f"{'linear' if self.act is None else self.act})"
        )


class Dropout(HybridBlock):
    """Dropout: zeroes random elements in training mode (Srivastava et al., 2014).

    Parameters
    ----------
    rate : float
        Probability of an element to be zeroed.
    axes : sequence of int
        Axes along which all elements share one choice.

    Examples
    --------
    >>> layer = nn.Dropout(0.5)
    >>> layer(np.ones(3))
    array([1., 1., 1.])
    """

    def __init__(self, rate: float, axes: Sequence[int] = ()) -> None:
        super().__init__()
        if not 0 <= rate <= 1:
            raise ValueError(f"Dropout: rate is a probability, got {rate}")
        self._rate, self._axes = float(rate), tuple(axes)

    def forward(self, x: ndarray) -> ndarray:
        """Apply dropout to x; the identity outside of training."""
        return npx.dropout(x, p=self._rate, axes=self._axes)

    def __repr__(self) -> str:
        return f"Dropout(p={self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Embedding: a learned vector for each index.

    Parameters
    ----------
    input_dim : int
        Size of the vocabulary: indices are less than it.
    output_dim : int
        Length of the vectors.
    dtype : dtype
        Their dtype.
    weight_initializer : Initializer or str, optional
        Initializer of the vectors; that of `initialize` if not given.
    sparse_grad : bool
        Sparse gradients are not supported: True raises NotImplementedError.

    Examples
    --------
    >>> layer = nn.Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(np.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: DTypeLike = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
    ) -> None:
        super().__init__()
        if sparse_grad:
            raise NotImplementedError("Embedding(sparse_grad=True): gradients are dense")
        self._input_dim, self._output_dim = (
            count("Embedding", "input_dim", input_dim),
            count("Embedding", "output_dim", output_dim),
        )
        self.weight = Parameter(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
        )

    def forward(self, x: ndarray) -> ndarray:
        """Return the vectors of the indices."""
        return npx.embedding(x, self.weight.data(), self._input_dim, self._output_dim)

    def __repr__(self) -> str:
        return f"Embedding({self._input_dim} -> {self._output_dim}, {self.weight.dtype})"


class Flatten(HybridBlock):
    """Flatten all axes but the first.

    Examples
    --------
    >>> nn.Flatten()(np.zeros((2, 3, 4))).shape
    (2, 12)
    """

    def forward(self, x: ndarray) -> ndarray:
        """Flatten x to the shape (batch, features)."""
        return npx.batch_flatten(x)


__all__ = ["Dense", "Dropout", "Embedding", "Flatten"]
