"""Convolution and correlation of vectors on XLA, as exact as NumPy's.

Floats are computed in full precision, integers as integers. XLA pads the longer vector with zeros,
whose product with an infinity or nan of the shorter one is nan: such vectors are convolved without.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("convolve", backend="jax")
def convolve(a: Any, v: Any, mode: str) -> Any:
    """Convolution: sums of products of two vectors, one of them reversed, at each distance."""
    longer, shorter = (a, v) if len(a) >= len(v) else (v, a)
    if not jnp.issubdtype(a.dtype, jnp.inexact):
        return _sums(longer, jnp.flip(shorter), mode, jnp.int64)
    if mode == "valid":
        return jnp.convolve(a, v, mode, precision=lax.Precision.HIGHEST)
    return lax.cond(
        jnp.isfinite(shorter).all(),
        lambda: jnp.convolve(a, v, mode, precision=lax.Precision.HIGHEST),
        lambda: _sums(longer, jnp.flip(shorter), mode, longer.dtype),
    )


@register_kernel("correlate", backend="jax")
def correlate(a: Any, v: Any, mode: str) -> Any:
    """Correlation: sums of products of two vectors, the second conjugated, at each distance."""
    if jnp.issubdtype(a.dtype, jnp.inexact):
        if mode == "valid":
            return jnp.correlate(a, v, mode, precision=lax.Precision.HIGHEST)
        return lax.cond(
            jnp.isfinite(v if len(a) >= len(v) else a).all(),
            lambda: jnp.correlate(a, v, mode, precision=lax.Precision.HIGHEST),
            lambda: _correlated(a, jnp.conj(v), mode, a.dtype),
        )
    return _correlated(a, v, mode, jnp.int64)


def _correlated(a: Any, v: Any, mode: str, dtype: Any) -> Any:
    if len(a) >= len(v):
        return _sums(a, v, mode, dtype)
    return jnp.flip(_sums(v, a, mode, dtype))


def _sums(longer: Any, shorter: Any, mode: str, dtype: Any) -> Any:
    """Convolve shift by shift.

    XLA convolves integers on some devices only, and JAX converts them to floats. A gradient computes
    each shift again, as keeping all of them takes their number times the memory of the result.
    """
    span = len(shorter)
    before, after = {
        "valid": (0, 0),
        "same": (span // 2, (span - 1) // 2),
        "full": (span - 1, span - 1),
    }[mode]
    padded, shorter = jnp.pad(longer.astype(dtype), (before, after)), shorter.astype(dtype)
    count = len(padded) - span + 1
    places = jnp.arange(count) - before

    def shifted(total: Any, i: Any) -> Any:
        is_within = (places + i >= 0) & (places + i < len(longer))
        product = lax.dynamic_slice(padded, (i,), (count,)) * shorter[i]
        return total + jnp.where(is_within, product, 0), None

    total = lax.scan(jax.checkpoint(shifted), jnp.zeros(count, dtype), jnp.arange(span))[0]
    return (total != 0) if longer.dtype == jnp.bool_ else total.astype(longer.dtype)


__all__ = ["convolve", "correlate"]
