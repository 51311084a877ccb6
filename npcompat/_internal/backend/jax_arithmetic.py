"""Arithmetic that XLA does otherwise than NumPy: integers divided by zero give zero."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp


def _guarded(divide: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    if not jnp.issubdtype(jnp.result_type(x, y), jnp.integer):
        return divide(x, y)
    zero = y == 0
    return jnp.where(zero, 0, divide(x, jnp.where(zero, 1, y)))


def floor_divide(x: Any, y: Any) -> Any:
    """Division rounded down."""
    return _guarded(jnp.floor_divide, x, y)


def remainder(x: Any, y: Any) -> Any:
    """Remainder with the sign of the divisor."""
    return _guarded(jnp.remainder, x, y)


def fmod(x: Any, y: Any) -> Any:
    """Remainder with the sign of the dividend."""
    return _guarded(jnp.fmod, x, y)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder."""
    return floor_divide(x, y), remainder(x, y)
