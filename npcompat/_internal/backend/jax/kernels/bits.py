"""Bytes of elements, as operators' computes see them on XLA."""

from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

_UNSIGNED = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}


def byteswap(a: Any) -> Any:
    """The elements with their bytes in the other order; the parts of complex numbers each."""
    if jnp.iscomplexobj(a):
        return lax.complex(byteswap(a.real), byteswap(a.imag))
    if a.dtype.itemsize == 1:
        return a
    return lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.uint8)[..., ::-1], a.dtype)


def reinterpret(a: Any, dtype: Any) -> Any:
    """The bytes along the last axis read as elements of another dtype."""
    wanted = onp.dtype(dtype)
    if a.dtype == wanted:
        return a
    if jnp.iscomplexobj(a):  # XLA knows no bits of complex numbers, only their parts
        parts = jnp.stack([a.real, a.imag], -1)
        return reinterpret(
            parts.reshape((*a.shape[:-1], 2 * a.shape[-1]) if a.ndim else (2,)), dtype
        )
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
        bits = lax.optimization_barrier(
            bits
        )  # XLA makes one change of size from two, and gets its shape wrong
    return bits != 0 if wanted.kind == "b" else lax.bitcast_convert_type(bits, wanted)


def _bits(a: Any) -> Any:
    return (
        a.astype(jnp.uint8)
        if a.dtype == bool
        else lax.bitcast_convert_type(a, _UNSIGNED[a.dtype.itemsize])
    )


__all__ = ["byteswap", "reinterpret"]
