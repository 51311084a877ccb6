"""Threefry, a counter-based random number generator, with the bits that JAX draws.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). On the CPU, JAX runs its rounds
in a loop, where each is a pass over memory. Written out they are one pass, which takes no longer to
compile.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
_PARITY = 0x1BD11BDA


def hashed(key: Any, high: Any, low: Any) -> tuple[Any, Any]:
    """Hash blocks of two words under a key of two words."""
    if jax.default_backend() != "cpu":
        from jax.extend.random import threefry2x32_p

        first, second = threefry2x32_p.bind(
            jnp.broadcast_to(key[0], low.shape), jnp.broadcast_to(key[1], low.shape), high, low
        )
        return first, second
    keys = key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(_PARITY)
    a, b = high + keys[0], low + keys[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            a = a + b
            b = a ^ (
                lax.shift_left(b, jnp.uint32(distance))
                | lax.shift_right_logical(b, jnp.uint32(32 - distance))
            )
        a = a + keys[(group + 1) % 3]
        b = b + (keys[(group + 2) % 3] + jnp.uint32(group + 1))
    return a, b


def _numbered(key: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Hash the numbers of a shape's elements, in C order."""
    size = math.prod(shape)
    if size <= 2**32:
        low = lax.iota(jnp.uint32, size).reshape(shape)
        return hashed(key, jnp.zeros_like(low), low)
    numbers = lax.iota(jnp.uint64, size).reshape(shape)
    return hashed(key, (numbers >> jnp.uint64(32)).astype(jnp.uint32), numbers.astype(jnp.uint32))


def _bits(key: Any, width: int, shape: Sequence[int]) -> Any:
    high, low = _numbered(key, shape)
    if width == 64:
        return high.astype(jnp.uint64) << jnp.uint64(32) | low.astype(jnp.uint64)
    return (high ^ low).astype(f"uint{width}")


def _split(key: Any, shape: Sequence[int]) -> Any:
    return jnp.stack(_numbered(key, shape), axis=-1)


def _folded(key: Any, data: Any) -> Any:
    low = jnp.asarray(data, jnp.uint32)
    return jnp.stack(hashed(key, jnp.zeros_like(low), low))


def _seed(seed: Any) -> Any:
    words = jnp.asarray(seed).astype(jnp.uint64)
    return jnp.stack([words >> jnp.uint64(32), words & jnp.uint64(0xFFFFFFFF)]).astype(jnp.uint32)


@cache
def _implementation() -> Any:
    """Return the implementation of keys with which JAX's functions draw these bits."""
    # here, as the module imports Pallas: 0.03 s
    from jax.extend.random import define_prng_impl

    return define_prng_impl(
        key_shape=(2,),
        seed=_seed,
        split=_split,
        random_bits=_bits,
        fold_in=_folded,
        name="npcompat_threefry2x32",
        tag="npcompat",
    )


def wrapped(words: Any) -> Any:
    """Wrap a key of two words for JAX's functions."""
    return jax.random.wrap_key_data(words, impl=_implementation())


__all__ = ["hashed", "wrapped"]
