"""Bytes of elements, as operators' computes see them on XLA."""

from typing import Any

import jax.numpy as jnp
from jax import lax


def byteswap(a: Any) -> Any:
    """The elements with their bytes in the other order; the parts of complex numbers each."""
    if jnp.iscomplexobj(a):
        return lax.complex(byteswap(a.real), byteswap(a.imag))
    if a.dtype.itemsize == 1:
        return a
    return lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.uint8)[..., ::-1], a.dtype)


__all__ = ["byteswap"]
