"""Loops of operators on XLA, which are compiled once for all their steps."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("for_each", backend="jax")
def for_each(step: Callable[..., Any], *arrays: Any) -> Any:
    """Stack the results of a function of slices along the leading axes.

    Differentiation computes them again.
    """
    return lax.map(lambda slices: jax.checkpoint(step)(*slices), arrays)


@register_kernel("sum_over", backend="jax")
def sum_over(step: Callable[..., Any], *arrays: Any) -> Any:
    """Sum the results of a function of slices along the leading axes.

    Differentiation computes them again.
    """
    shape = jax.eval_shape(step, *[jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in arrays])

    def add(total: Any, slices: Any) -> tuple[Any, None]:
        return total + jax.checkpoint(step)(*slices), None

    return lax.scan(add, jnp.zeros(shape.shape, shape.dtype), arrays)[0]


@register_kernel("for_range", backend="jax")
def for_range(count: int, step: Callable[[Any, Any], Any], state: Any) -> Any:
    """Run `state = step(i, state)` for each number below the count; it is not differentiable."""
    return lax.fori_loop(0, count, step, state) if count else state
