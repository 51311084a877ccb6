"""Kernels of attention on XLA."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def attended(query: Any, key: Any, value: Any, bias: Any, mask: Any, scale: float, causal: bool) -> Any:
    """Values weighted by the softmax of scaled products; rows without any key give zeros.  Axes are batch, time, heads, features."""
    if query.dtype not in (jnp.float32, jnp.bfloat16):  # JAX makes the softmax in float32, and has no float16 on CPUs
        return attended_in_part(query, key, value, bias, mask, scale, causal, lambda weights: weights)
    if mask is not None and causal:
        mask = _with_earlier(mask, query, key)
    query, key, padded = _as_wide(query, key, value)
    out = jax.nn.dot_product_attention(query, key, padded, bias, mask, scale=scale, is_causal=causal and mask is None)
    out = out[..., : value.shape[-1]]
    if mask is None:
        return out
    some = jnp.moveaxis(jnp.any(mask, axis=-1, keepdims=True), 1, 2)
    return jnp.where(some, out, jnp.zeros_like(out))


def attended_in_part(query: Any, key: Any, value: Any, bias: Any, mask: Any, scale: float, causal: bool, drop: Callable[[Any], Any]) -> Any:
    """The same, by weights of axes (batch, heads, time, length) that a function changes before they are used."""
    groups = query.shape[2] // key.shape[2]
    key, value = jnp.repeat(key, groups, 2), jnp.repeat(value, groups, 2)
    working = jnp.promote_types(query.dtype, jnp.float32)
    products = jnp.einsum("bthd,bshd->bhts", query, key, preferred_element_type=working) * jnp.asarray(scale, working)
    products = products if bias is None else products + bias.astype(working)
    seen = jnp.ones((1, 1, 1, 1), bool) if mask is None else mask
    weights = jax.nn.softmax(products, axis=-1, where=jnp.broadcast_to(_with_earlier(seen, query, key) if causal else seen, products.shape))
    return jnp.einsum("bhts,bshd->bthd", drop(weights).astype(query.dtype), value)


def _with_earlier(mask: Any, query: Any, key: Any) -> Any:
    return jnp.logical_and(mask, jnp.tri(query.shape[1], key.shape[1], dtype=bool))


def _as_wide(query: Any, key: Any, value: Any) -> list[Any]:
    """The arrays with as many features each; zeros change no product."""
    width = max(key.shape[-1], value.shape[-1])
    return [jnp.pad(a, [(0, 0)] * 3 + [(0, width - a.shape[-1])]) for a in (query, key, value)]
