"""Functions with the derivative of the identity, on XLA."""

from typing import Any

import jax


@jax.custom_jvp
def straight_through(x: Any, y: Any) -> Any:
    """Return the second array, with the derivative of the identity in the first."""
    return y


straight_through.defjvps(lambda tangent, result, x, y: tangent, None)
