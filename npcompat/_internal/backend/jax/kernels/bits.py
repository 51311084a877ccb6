"""Bytes of elements on XLA: byte order, and views as another dtype."""

from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel

_UNSIGNED = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}


@register_kernel("byteswap", backend="jax")
def byteswap(a: Any) -> Any:
    """Swap the bytes of each element; of complex numbers, those of each part."""
    if jnp.iscomplexobj(a):
        return lax.complex(byteswap(a.real), byteswap(a.imag))
    if a.dtype.itemsize == 1:
        return a
    return lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.uint8)[..., ::-1], a.dtype)


@register_kernel("reinterpret", backend="jax")
def reinterpret(a: Any, dtype: Any) -> Any:
    """Read the bytes along the last axis as elements of another dtype."""
    wanted = onp.dtype(dtype)
    if a.dtype == wanted:
        return a
    if jnp.iscomplexobj(a):
        # XLA has no bits of complex numbers, only of their parts
        parts = jnp.stack([a.real, a.imag], -1)
        shape = (*a.shape[:-1], 2 * a.shape[-1]) if a.ndim else (2,)
        return reinterpret(parts.reshape(shape), dtype)
    if wanted.kind == "c":
        parts = reinterpret(a, onp.finfo(wanted).dtype)
        return lax.complex(parts[..., 0::2], parts[..., 1::2])
    bits = _bits(a)
    have, want = bits.dtype.itemsize, wanted.itemsize
    if have > want:
        bits = lax.bitcast_convert_type(bits, _UNSIGNED[want])
        bits = bits.reshape((*bits.shape[:-2], bits.shape[-2] * bits.shape[-1]))
    elif have < want:
        count = want // have
        bits = lax.bitcast_convert_type(
            bits.reshape((*bits.shape[:-1], bits.shape[-1] // count, count)), _UNSIGNED[want]
        )
    if have != want:
        # XLA would merge two changes of size into one, and get its shape wrong
        bits = lax.optimization_barrier(bits)
    return bits != 0 if wanted.kind == "b" else lax.bitcast_convert_type(bits, wanted)


def _bits(a: Any) -> Any:
    return (
        a.astype(jnp.uint8)
        if a.dtype == bool
        else lax.bitcast_convert_type(a, _UNSIGNED[a.dtype.itemsize])
    )


__all__ = ["byteswap", "reinterpret"]
