"""Scaled dot-product attention, and MXNet's interleaved attention products."""

import math
from collections.abc import Mapping
from typing import Any

from npcompat import numpy as np
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.random import stream
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import int64

# --- fused ----------------------------------------------------------------------------------------


def _with_mask(types: tuple[Type, ...], masked: bool) -> tuple[list[Any], Any]:
    """Type rule: all inputs are floats of one dtype, except for the mask, which comes last."""
    numbers = types[:-1] if masked else types
    dtype = dtypes.floating(numbers)[1]
    return [*[dtype] * len(numbers), *[None] * (len(types) - len(numbers))], dtype


def _attention_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return _with_mask(types, attrs["masked"])


def _apart(rest: tuple[Any, ...], masked: bool) -> tuple[Any, Any]:
    """Split optional inputs into bias and mask, None where not given."""
    return (rest[0] if len(rest) > masked else None), (rest[-1] if masked else None)


def _attention_compute(
    xp: Any, query: Any, key: Any, value: Any, *rest: Any, masked: bool, scale: float, causal: bool
) -> Any:
    """Scaled dot-product attention: values weighted by the softmax of scaled products.

    Parameters
    ----------
    scale : float
        Factor of the products.
    *rest : array
        The bias that is added to scores, if any, and the mask.
    masked : bool
        Whether the last input is a mask.
    causal : bool
        Whether a query looks only at keys up to its own position.
    """
    bias, mask = _apart(rest, masked)
    return xp.attended(query, key, value, bias, mask, scale, causal)


_attention = operator(
    "_npx_attention",
    rule=_attention_rule,
    pattern="complex",
    prefers_xla=True,
    kernels={"jax": _attention_compute},
)(_attention_compute)


def _dropped_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    casts, dtype = _with_mask(types[2:], attrs["masked"])
    return [None, None, *casts], (dtype, int64)


def _attention_dropout_compute(
    xp: Any,
    at: Any,
    counter: Any,
    query: Any,
    key: Any,
    value: Any,
    *rest: Any,
    masked: bool,
    scale: float,
    causal: bool,
    p: float,
) -> Any:
    """Scaled dot-product attention with dropout of the weights.

    Parameters
    ----------
    scale : float
        Factor of the products.
    at : array of uint32
        Key of the random stream.
    *rest : array
        The bias that is added to scores, if any, and the mask.
    masked : bool
        Whether the last input is a mask.
    causal : bool
        Whether a query looks only at keys up to its own position.
    p : float
        Probability with which a weight is zeroed.
    """
    bias, mask = _apart(rest, masked)

    def drop(weights: Any) -> Any:
        kept = xp.keep_mask(at, counter, 1 - p, weights.shape)
        return xp.where(kept, weights / xp.asarray(1 - p, weights.dtype), xp.zeros_like(weights))

    return xp.attended(query, key, value, bias, mask, scale, causal, drop), xp.next_counter(counter)


_attention_dropout = operator(
    "_npx_attention_dropout",
    rule=_dropped_rule,
    pattern="complex",
    outputs=2,
    prefers_xla=True,
    kernels={"jax": _attention_dropout_compute},
)(_attention_dropout_compute)


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    valid_length: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
) -> ndarray:
    """Scaled dot-product attention, `softmax(query @ key.T * scale) @ value`.

    Vaswani et al., 2017. It is one operator, which XLA fuses. A query without visible keys returns
    zeros.

    Parameters
    ----------
    query : array_like, shape (batch, time, heads, features)
        Queries.
    key, value : array_like, shape (batch, length, key_heads, features)
        Keys and values. `key_heads` divides `heads`: groups of heads share keys and values (Ainslie
        et al., 2023). Values may have another number of features than keys.
    mask : array_like of bool, optional
        True where a query attends to a key; broadcasts to (batch, heads, time, length).
    bias : array_like, optional
        Added to the scaled products; broadcasts to the same shape.
    valid_length : array_like of int, shape (batch,) or (batch, time), optional
        Number of keys that each sequence, or each query, attends to.
    is_causal : bool
        Causal mask: whether query `i` attends to the keys 0 to i only.
    scale : float, optional
        `1 / sqrt(features)` if not given.
    dropout : float
        Probability of a weight to be zeroed in training mode; the others are scaled so that the
        expected sum stays.

    Returns
    -------
    ndarray
        Of shape (batch, time, heads, features of the values).

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> q, v = np.zeros((1, 2, 1, 1)), np.array([2.0, 4.0]).reshape(1, 2, 1, 1)
    >>> npx.scaled_dot_product_attention(q, q, v).ravel()
    array([3., 3.])
    >>> npx.scaled_dot_product_attention(q, q, v, is_causal=True).ravel()
    array([2., 3.])
    """
    query, key, value = asarray(query), asarray(key), asarray(value)
    if not (query.ndim == key.ndim == value.ndim == 4):
        raise ValueError(
            "scaled_dot_product_attention: query, key and value must have axes (batch, time, "
            "heads, features), "
            f"got shapes {query.shape}, {key.shape}, {value.shape}"
        )
    batch, time, heads, features = query.shape
    length, key_heads = key.shape[1:3]
    if (
        key.shape != (batch, length, key_heads, features)
        or value.shape[:3] != key.shape[:3]
        or key_heads == 0
        or heads % key_heads
    ):
        raise ValueError(
            f"scaled_dot_product_attention: query of shape {query.shape} expects keys and values "
            f"of shape ({batch}, length, key_heads, "
            f"{features}), key_heads dividing {heads}; got {key.shape} and {value.shape}"
        )
    if not 0 <= dropout < 1:
        raise ValueError(
            f"scaled_dot_product_attention: dropout is a probability less than 1, got {dropout}"
        )
    seen = _visible(mask, valid_length, (batch, heads, time, length))
    operands = [query, key, value]
    if bias is not None:
        operands.append(_fitting("bias", bias, (batch, heads, time, length)))
    if seen is not None:
        operands.append(seen)
    attrs = (
        seen is not None,
        1 / math.sqrt(max(features, 1)) if scale is None else float(scale),
        bool(is_causal),
    )
    if dropout and modes.current().training:
        return handles.wrap(
            stream.default.draw(_attention_dropout, tuple(operands), (*attrs, float(dropout)))
        )
    return apply(_attention, operands, attrs)


def _fitting(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Return an array that broadcasts to the shape of the products, with as many axes."""
    array = asarray(given)
    if array.ndim > 4 or any(
        n not in (1, m) for n, m in zip(array.shape[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(
            f"scaled_dot_product_attention: {name} must broadcast to (batch, heads, time, length) "
            f"{shape}, got {array.shape}"
        )
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _visible(
    mask: ArrayLike | None, valid_length: ArrayLike | None, shape: tuple[int, int, int, int]
) -> Any:
    """Combine mask and lengths to one mask of four axes; None if all keys are visible."""
    batch, _, time, length = shape
    seen = None
    if mask is not None:
        seen = _fitting("mask", mask, shape)
        if seen.dtype != bool:
            raise TypeError(
                f"scaled_dot_product_attention: mask must be of bool, got {seen.dtype}; numbers "
                "to add are the argument bias"
            )
    if valid_length is not None:
        lengths = asarray(valid_length)
        if lengths.shape not in ((batch,), (batch, time)):
            raise ValueError(
                f"scaled_dot_product_attention: valid_length must have shape ({batch},) or "
                f"({batch}, {time}), got {lengths.shape}"
            )
        within = np.arange(length) < lengths.reshape(batch, 1, -1 if lengths.ndim == 2 else 1, 1)
        seen = within if seen is None else np.logical_and(seen, within)
    return seen


# --- MXNet's interleaved products -----------------------------------------------------------------


def _projections(name: str, array: Any, heads: int, count: int) -> list[Any]:
    """Split interleaved projections into arrays (length, batch, heads, features)."""
    if array.ndim != 3 or heads < 1 or array.shape[2] % (heads * count):
        raise ValueError(
            f"{name}: expected shape (length, batch, {heads} heads x {count} x features), got "
            f"{array.shape}"
        )
    parts = array.reshape(*array.shape[:2], heads, count, array.shape[2] // (heads * count))
    return [parts[:, :, :, i] for i in range(count)]


def _products(query: Any, key: Any) -> Any:
    scaled = query / math.sqrt(query.shape[-1])
    found = np.einsum("tbhd,sbhd->bhts", scaled, key)
    return found.reshape(-1 if found.size else found.shape[0] * found.shape[1], *found.shape[2:])


def _weighted(name: str, attention: ArrayLike, value: Any) -> Any:
    length, batch, heads, features = value.shape
    weights = asarray(attention)
    if weights.ndim != 3 or weights.shape[0] != batch * heads or weights.shape[2] != length:
        raise ValueError(
            f"{name}: attention must have shape ({batch * heads}, time, {length}), got "
            f"{weights.shape}"
        )
    time = weights.shape[1]
    found = np.einsum("bhts,sbhd->tbhd", weights.reshape(batch, heads, time, length), value)
    return found.reshape(time, batch, heads * features)


def interleaved_matmul_selfatt_qk(queries_keys_values: ArrayLike, heads: int) -> ndarray:
    """Query-key products of self-attention, divided by the root of the number of features.

    Parameters
    ----------
    queries_keys_values : array_like, shape (length, batch, heads * 3 * features)
        Projections: for each head query, key and value, one after the other.
    heads : int
        Number of heads.

    Returns
    -------
    ndarray, shape (batch * heads, length, length)
        The products.

    Examples
    --------
    >>> npx.interleaved_matmul_selfatt_qk(np.ones((4, 2, 3 * 3 * 5)), heads=3).shape
    (6, 4, 4)
    """
    query, key, _ = _projections(
        "interleaved_matmul_selfatt_qk", asarray(queries_keys_values), heads, 3
    )
    return _products(query, key)


def interleaved_matmul_selfatt_valatt(
    queries_keys_values: ArrayLike, attention: ArrayLike, heads: int
) -> ndarray:
    """Weighted values of self-attention.

    Parameters
    ----------
    queries_keys_values : array_like, shape (length, batch, heads * 3 * features)
        Projections, as in `interleaved_matmul_selfatt_qk`.
    attention : array_like, shape (batch * heads, length, length)
        Weights.
    heads : int
        Number of heads.

    Returns
    -------
    ndarray, shape (length, batch, heads * features)
        Weighted values.

    Examples
    --------
    >>> projections, weights = np.ones((4, 2, 3 * 3 * 5)), np.ones((6, 4, 4))
    >>> npx.interleaved_matmul_selfatt_valatt(projections, weights, heads=3).shape
    (4, 2, 15)
    """
    name = "interleaved_matmul_selfatt_valatt"
    return _weighted(name, attention, _projections(name, asarray(queries_keys_values), heads, 3)[2])


def interleaved_matmul_encdec_qk(queries: ArrayLike, keys_values: ArrayLike, heads: int) -> ndarray:
    """Query-key products of encoder-decoder attention.

    They are divided by the root of the number of features.

    Parameters
    ----------
    queries : array_like, shape (time, batch, heads * features)
        Projected queries.
    keys_values : array_like, shape (length, batch, heads * 2 * features)
        Projections: for each head key and value, one after the other.
    heads : int
        Number of heads.

    Returns
    -------
    ndarray, shape (batch * heads, time, length)
        The products.

    Examples
    --------
    >>> queries, keys_values = np.ones((4, 2, 3 * 5)), np.ones((6, 2, 3 * 2 * 5))
    >>> npx.interleaved_matmul_encdec_qk(queries, keys_values, heads=3).shape
    (6, 4, 6)
    """
    name = "interleaved_matmul_encdec_qk"
    (query,) = _projections(name, asarray(queries), heads, 1)
    key, _ = _projections(name, asarray(keys_values), heads, 2)
    if (query.shape[1], query.shape[3]) != (key.shape[1], key.shape[3]):
        raise ValueError(
            f"{name}: queries of {query.shape[1:]} (batch, heads, features) do not fit keys of "
            f"{key.shape[1:]}"
        )
    return _products(query, key)


def interleaved_matmul_encdec_valatt(
    keys_values: ArrayLike, attention: ArrayLike, heads: int
) -> ndarray:
    """Weighted values of encoder-decoder attention.

    Parameters
    ----------
    keys_values : array_like, shape (length, batch, heads * 2 * features)
        Projections, as in `interleaved_matmul_encdec_qk`.
    attention : array_like, shape (batch * heads, time, length)
        Weights.
    heads : int
        Number of heads.

    Returns
    -------
    ndarray, shape (time, batch, heads * features)
        Weighted values.

    Examples
    --------
    >>> keys_values, weights = np.ones((6, 2, 3 * 2 * 5)), np.ones((6, 4, 6))
    >>> npx.interleaved_matmul_encdec_valatt(keys_values, weights, heads=3).shape
    (4, 2, 15)
    """
    name = "interleaved_matmul_encdec_valatt"
    return _weighted(name, attention, _projections(name, asarray(keys_values), heads, 2)[1])


__all__ = [
    "interleaved_matmul_encdec_qk",
    "interleaved_matmul_encdec_valatt",
    "interleaved_matmul_selfatt_qk",
    "interleaved_matmul_selfatt_valatt",
    "scaled_dot_product_attention",
]
