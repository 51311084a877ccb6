"""Quotients and products that are rounded once, as NumPy's and Python's.

XLA turns a quotient with a constant or repeated divisor into a product, and a product before a sum
into a fused multiply-add, which are rounded differently.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero


@jax.custom_jvp
def quotient(x: Any, y: Any) -> Any:
    """Quotient whose divisor XLA takes to differ between elements.

    The divisor is `x` where that is nan: the quotient is nan anyway. On a CPU a barrier hides that it
    is repeated, which is gone when equations are fused; on other devices barriers keep XLA from fusing.
    """
    shape = jnp.broadcast_shapes(x.shape, y.shape)
    is_cpu = jax.default_backend() == "cpu"
    if is_cpu and y.shape != shape:
        return x / lax.optimization_barrier(jnp.broadcast_to(y, shape))
    # With a selection XLA's CPU compiler also computes the quotients once where they are broadcast;
    # without, once for each element of the result.
    x = jnp.broadcast_to(x, shape)
    return x / jnp.where(jnp.isnan(x), x, lax.optimization_barrier(y) if is_cpu else y)


@functools.partial(quotient.defjvp, symbolic_zeros=True)
def _tangent_of_quotient(operands: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    """Tangent from the operands that have one; most divisors are constants."""
    (x, y), (dx, dy) = operands, tangents
    found = quotient(x, y)
    if isinstance(dy, SymbolicZero):
        return found, dx / y
    if isinstance(dx, SymbolicZero):
        return found, -found / y * dy
    return found, dx / y - found / y * dy


def rounded(product: Any) -> Any:
    """Round a product before a later addition, as NumPy does.

    XLA would compute a fused multiply-add, which rounds once. The selection prevents that, and
    changes nothing else.
    """
    if jnp.iscomplexobj(product):
        return lax.complex(rounded(product.real), rounded(product.imag))
    return jnp.where(product <= 0, product, abs(product))


__all__ = ["quotient", "rounded"]
