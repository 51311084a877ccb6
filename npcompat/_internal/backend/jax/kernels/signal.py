"""Convolution and correlation of vectors on XLA, as exact as NumPy's.

Floats are computed in full precision, integers as integers.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("convolve", backend="jax")
def convolve(a: Any, v: Any, mode: str) -> Any:
    """Convolution: sums of products of two vectors, one of them reversed, at each distance."""
    if jnp.issubdtype(a.dtype, jnp.inexact):
        return jnp.convolve(a, v, mode, precision=lax.Precision.HIGHEST)
    longer, shorter = (a, v) if len(a) >= len(v) else (v, a)
    return _integer_sums(longer, jnp.flip(shorter), mode)


@register_kernel("correlate", backend="jax")
def correlate(a: Any, v: Any, mode: str) -> Any:
    """Correlation: sums of products of two vectors, the second conjugated, at each distance."""
    if jnp.issubdtype(a.dtype, jnp.inexact):
        return jnp.correlate(a, v, mode, precision=lax.Precision.HIGHEST)
    if len(a) >= len(v):
        return _integer_sums(a, v, mode)
    return jnp.flip(_integer_sums(v, a, mode))


def _integer_sums(longer: Any, shorter: Any, mode: str) -> Any:
    """Convolve integers shift by shift.

    XLA convolves integers on some devices only, and JAX converts them to floats.
    """
    span = len(shorter)
    before, after = {
        "valid": (0, 0),
        "same": (span // 2, (span - 1) // 2),
        "full": (span - 1, span - 1),
    }[mode]
    padded, shorter = jnp.pad(longer.astype(jnp.int64), (before, after)), shorter.astype(jnp.int64)
    count = len(padded) - span + 1

    def shifted(i: Any, total: Any) -> Any:
        return total + lax.dynamic_slice(padded, (i,), (count,)) * shorter[i]

    total = lax.fori_loop(0, span, shifted, jnp.zeros(count, jnp.int64))
    return (total != 0) if longer.dtype == jnp.bool_ else total.astype(longer.dtype)


__all__ = ["convolve", "correlate"]
