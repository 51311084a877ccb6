"""Random bits and elementary floats on XLA, drawn along one axis.

The numbers are those that JAX draws for the shape itself, whose elements it numbers in the same
order. But XLA compiles a program with one axis several times faster, and most of a program that
draws is this.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax


def _along_one_axis(draw: Callable[..., Any]) -> Callable[[Any, Sequence[int], Any], Any]:
    def drawn(key: Any, shape: Sequence[int], dtype: Any) -> Any:
        return draw(key, (math.prod(shape),), dtype).reshape(shape)

    return drawn


def uniform_pairs(key: Any, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
    """Draw two uniform numbers for each element, from neighbouring bits.

    So the numbers of an element don't depend on the number of elements after it.
    """
    drawn = jax.random.uniform(key, (2 * math.prod(shape),), dtype).reshape(*shape, 2)
    return drawn[..., 0], drawn[..., 1]


bits = _along_one_axis(jax.random.bits)
uniform = _along_one_axis(jax.random.uniform)
normal = _along_one_axis(jax.random.normal)
exponential = _along_one_axis(jax.random.exponential)
laplace = _along_one_axis(jax.random.laplace)
gumbel = _along_one_axis(jax.random.gumbel)
logistic = _along_one_axis(jax.random.logistic)
cauchy = _along_one_axis(jax.random.cauchy)
