"""Multi-head attention, and the Transformer's encoder layer."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.nn._basic import Dense, Dropout
from npcompat.gluon.nn._normalization import LayerNorm
from npcompat.numpy._ndarray import ndarray


class MultiHeadAttention(HybridBlock):
    """Multi-head attention (Vaswani et al., 2017).

    `concatenated(softmax(q k^T / sqrt(d)) v) W`, with projections q, k, v for each head.

    Parameters
    ----------
    units : int
        Number of features of the result, and of the projected queries together.
    num_heads : int
        Number of heads, which divides `units`.
    dropout : float
        Probability of a weight of attention to be zeroed in training mode.
    use_bias : bool
        Whether the projections have biases.
    num_key_heads : int, optional
        Number of heads of keys and values, which divides `num_heads`: grouped-query attention
        (Ainslie et al., 2023). `num_heads` if not given.
    weight_initializer, bias_initializer : Initializer or str, optional
        Initializers of the projections.
    in_units : int
        Number of features of queries, keys and values; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.MultiHeadAttention(units=8, num_heads=2)
    >>> layer.initialize()
    >>> x = np.ones((4, 5, 6))
    >>> layer(x, x, x, valid_length=np.array([5, 2, 3, 1])).shape
    (4, 5, 8)
    """

    def __init__(
        self,
        units: int,
        num_heads: int,
        dropout: float = 0.0,
        use_bias: bool = True,
        num_key_heads: int | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
    ) -> None:
        super().__init__()
        key_heads = num_heads if num_key_heads is None else num_key_heads
        if num_heads < 1 or units % num_heads or key_heads < 1 or num_heads % key_heads:
            raise ValueError(
                "MultiHeadAttention: num_heads must divide units, and num_key_heads num_heads; "
                f"got {units} units, {num_heads} heads "
                f"and {key_heads} heads of keys"
            )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"MultiHeadAttention: dropout is a probability less than 1, got {dropout}"
            )
        self._heads, self._features, self._dropout = (
            int(num_heads),
            units // num_heads,
            float(dropout),
        )

        def projection(count: int, features: int) -> Dense:
            return Dense(
                count,
                None,
                use_bias,
                False,
                "float32",
                weight_initializer,
                bias_initializer,
                features,
            )

        self.query_proj = projection(units, in_units)
        self.key_proj = projection(key_heads * self._features, in_units)
        self.value_proj = projection(key_heads * self._features, in_units)
        self.out_proj = projection(units, units)

    def _in_heads(self, x: Any) -> Any:
        return x.reshape(*x.shape[:2], x.shape[2] // self._features, self._features)

    def forward(
        self,
        query: ndarray,
        key: ndarray | None = None,
        value: ndarray | None = None,
        mask: ndarray | None = None,
        valid_length: ndarray | None = None,
        is_causal: bool = False,
    ) -> ndarray:
        """Apply attention; returns an array of shape (batch, time, units).

        Parameters
        ----------
        query : ndarray, shape (batch, time, features)
            Queries.
        key : ndarray, shape (batch, length, features), optional
            Keys; the queries if not given (self-attention).
        value : ndarray, shape (batch, length, features), optional
            Values; the keys if not given.
        mask : ndarray of bool, optional
            True where a query attends to a key; broadcasts to (batch, heads, time, length).
        valid_length : ndarray of int, shape (batch,) or (batch, time), optional
            Number of keys that each sequence, or each query, attends to.
        is_causal : bool
            Causal mask: whether query `i` attends to the keys 0 to i only.
        """
        if query.ndim != 3:
            raise ValueError(
                "MultiHeadAttention: expected axes (batch, time, features), got shape "
                f"{query.shape}"
            )
        key = query if key is None else key
        value = key if value is None else value
        seen = npx.scaled_dot_product_attention(
            self._in_heads(self.query_proj(query)),
            self._in_heads(self.key_proj(key)),
            self._in_heads(self.value_proj(value)),
            mask=mask,
            valid_length=valid_length,
            is_causal=is_causal,
            dropout=self._dropout,
        )
        return self.out_proj(seen.reshape(*seen.shape[:2], self._heads * self._features))

    def __repr__(self) -> str:
        lines = super().__repr__().split("\n", 1)
        return f"MultiHeadAttention(heads={self._heads}, dropout={self._dropout},\n{lines[1]}"


class TransformerEncoderCell(HybridBlock):
    """Transformer encoder layer: self-attention and two dense layers, with residuals.

    `y = norm(x + attention(x)); z = norm(y + W2 activation(W1 y))` (Vaswani et al., 2017), or, with
    `pre_norm`, `y = x + attention(norm(x)); z = y + W2 activation(W1 norm(y))` (Xiong et al.,
    2020).

    Parameters
    ----------
    units : int
        Number of features.
    hidden_size : int
        Number of units between the dense layers.
    num_heads : int
        Number of heads, which divides `units`.
    dropout : float
        Probability of elements to be zeroed in training mode: of attention, between the dense
        layers, and before each sum.
    activation : str
        Name of the activation between the dense layers.
    layer_norm_eps : float
        Added to variances, for numerical stability.
    pre_norm : bool
        Whether the inputs of attention and of the dense layers are normalized, or the sums.

    Examples
    --------
    >>> layer = nn.TransformerEncoderCell(units=8, hidden_size=16, num_heads=2)
    >>> layer.initialize()
    >>> layer(np.ones((4, 5, 8)), valid_length=np.array([5, 2, 3, 1])).shape
    (4, 5, 8)
    """

    def __init__(
        self,
        units: int,
        hidden_size: int,
        num_heads: int,
        dropout: float = 0.1,
        activation: str = "relu",
        layer_norm_eps: float = 1e-5,
        pre_norm: bool = False,
    ) -> None:
        super().__init__()
        self._pre_norm = bool(pre_norm)
        self.attention = MultiHeadAttention(units, num_heads, dropout, in_units=units)
        self.attention_norm = LayerNorm(epsilon=layer_norm_eps, in_channels=units)
        self.hidden = Dense(hidden_size, activation, flatten=False, in_units=units)
        self.output = Dense(units, flatten=False, in_units=hidden_size)
        self.output_norm = LayerNorm(epsilon=layer_norm_eps, in_channels=units)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: ndarray,
        mask: ndarray | None = None,
        valid_length: ndarray | None = None,
        is_causal: bool = False,
    ) -> ndarray:
        """Encode sequences; the arguments are those of `MultiHeadAttention`."""

        def attended(a: Any) -> Any:
            return self.dropout(
                self.attention(a, mask=mask, valid_length=valid_length, is_causal=is_causal)
            )

        def transformed(a: Any) -> Any:
            return self.dropout(self.output(self.dropout(self.hidden(a))))

        if self._pre_norm:
            y = x + attended(self.attention_norm(x))
            return y + transformed(self.output_norm(y))
        y = self.attention_norm(x + attended(x))
        return self.output_norm(y + transformed(y))


__all__ = ["MultiHeadAttention", "TransformerEncoderCell"]
