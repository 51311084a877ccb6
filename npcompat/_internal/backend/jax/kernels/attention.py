"""Attention on XLA."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from npcompat._internal.backend.jax.kernels.linalg import HIGHEST
from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("attended", backend="jax")
def attended(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    mask: Any,
    scale: float,
    causal: bool,
    drop: Callable[[Any], Any] = lambda weights: weights,
) -> Any:
    """Scaled dot-product attention: values weighted by the softmax of scaled products.

    Axes are batch, time, heads, features. Rows without any key give zeros. The weights, whose axes
    are batch, heads, time and length, are changed by `drop` before they are used.
    """
    working = jnp.promote_types(query.dtype, jnp.float32)
    products = _by_group("btkgd,bskd->bkgts", query, key, working) * jnp.asarray(scale, working)
    products = products if bias is None else products + bias.astype(working)
    weights = jax.nn.softmax(products, axis=-1, where=_seen(mask, causal, products.shape))
    return _by_group("bkgts,bskd->btkgd", drop(weights).astype(query.dtype), value)


def _seen(mask: Any, causal: bool, shape: tuple[int, ...]) -> Any:
    """Mask of the keys that each query attends to; None for all."""
    if causal:
        earlier = jnp.tri(shape[-2], shape[-1], dtype=bool)
        mask = earlier if mask is None else jnp.logical_and(mask, earlier)
    return None if mask is None else jnp.broadcast_to(mask, shape)


def _by_group(formula: str, x: Any, y: Any, dtype: Any = None) -> Any:
    """Compute an `einsum` whose second operand may have fewer heads than the first.

    Each of its heads (k) serves a group (g) of the first operand's.
    """
    axis, at, heads = formula.index("k"), formula.partition("->")[2].index("k"), y.shape[2]
    if x.shape[axis] == heads:
        return jnp.einsum(
            formula.replace("g", ""), x, y, precision=HIGHEST, preferred_element_type=dtype
        )
    grouped = x.reshape(*x.shape[:axis], heads, x.shape[axis] // heads, *x.shape[axis + 1 :])
    found = jnp.einsum(formula, grouped, y, precision=HIGHEST, preferred_element_type=dtype)
    return found.reshape(*found.shape[:at], x.shape[axis], *found.shape[at + 2 :])
