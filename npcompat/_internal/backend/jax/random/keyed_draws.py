"""Random bits, floats, integers and permutations on XLA.

Distributions are in the modules beside this one. Each kernel takes the key and the counter of a
stream; Threefry (`threefry`) gives the bits.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jax.random import random_bits as noise
from npcompat._internal.backend.jax.random.rejection import accepted
from npcompat._internal.backend.jax.random.threefry import hashed, wrapped
from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("at", backend="jax")
def at(key: Any, counter: Any) -> Any:
    """Return the key of a draw that hashes in one step."""
    return wrapped(_block(key, counter))


def rolled_at(key: Any, counter: Any) -> Any:
    """Return the key of a draw that hashes in several places or in a loop.

    JAX then hashes in a loop, which compiles faster in each place.
    """
    return jax.random.wrap_key_data(_block(key, counter), impl="threefry2x32")


def _block(key: Any, counter: Any) -> Any:
    """Hash the counter's 64 bits under the stream's key."""
    high, low = (counter >> 32).astype(jnp.uint32), (counter & 0xFFFFFFFF).astype(jnp.uint32)
    return jnp.stack(hashed(key, high, low))


def shape_of(size: Any, *parameters: Any) -> tuple[int, ...]:
    """Return the shape of a sample: `size`, or that of the broadcast parameters."""
    return jnp.broadcast_shapes(*[p.shape for p in parameters]) if size is None else size


def spread(size: Any, *parameters: Any) -> Any:
    """Return the shape of a sample, and the parameters in that shape."""
    shape = shape_of(size, *parameters)
    return shape, *[jnp.broadcast_to(p, shape) for p in parameters]


@register_kernel("each", backend="jax")
def each(draw: Any, counters: Any) -> Any:
    """Make several draws, one after the other along the first axis."""
    return jax.vmap(draw)(counters)


@register_kernel("next_counter", backend="jax")
def next_counter(counter: Any) -> Any:
    """Return the counter after a draw."""
    return lax.add(counter, jnp.asarray(1, counter.dtype))


@register_kernel("random_uniform", backend="jax")
def random_uniform(key: Any, counter: Any, low: Any, high: Any, size: Any, dtype: Any) -> Any:
    """Uniform distribution on [low, high)."""
    shape = shape_of(size, low, high)
    return noise.uniform(at(key, counter), shape, dtype) * (high - low) + low


@register_kernel("random_integers", backend="jax")
def random_integers(
    key: Any, counter: Any, low: Any, high: Any, size: Any, dtype: Any, closed: bool
) -> Any:
    """Integers that are uniform on [low, high), or on [low, high] if closed.

    They are unbiased: of the 2**64 numbers that 64 bits give, those above the last multiple of the
    range's length are drawn again. For lengths below 2**32 that would happen to one number in 2**32
    at most, and is left out.
    """
    shape = shape_of(size, low, high)
    first = low.astype(jnp.uint64)
    # the length minus one, since a length of 2**64 has no uint64
    last = high.astype(jnp.uint64) - first - jnp.uint64(not closed)
    length = jnp.where(last == jnp.uint64(2**64 - 1), jnp.uint64(1), last + jnp.uint64(1))
    rest = (jnp.uint64(2**64 - 1) % length + jnp.uint64(1)) % length  # 2**64 modulo the length
    wide = last >= jnp.uint64(2**32)

    def attempt(key: Any) -> tuple[Any, Any]:
        bits = noise.bits(key, shape, jnp.uint64)
        return bits, ~wide | (rest == 0) | (bits < jnp.uint64(0) - rest)

    bits = accepted(rolled_at(key, counter), shape, jnp.uint64, attempt)
    offset = jnp.where(last == jnp.uint64(2**64 - 1), bits, bits % length)
    drawn = first + offset
    return (drawn if dtype == jnp.uint64 else drawn.astype(jnp.int64)).astype(dtype)
