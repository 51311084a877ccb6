"""Functions with the derivative of the identity, on XLA."""

from typing import Any

import jax

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("straight_through", backend="jax")
@jax.custom_jvp
def straight_through(x: Any, y: Any) -> Any:
    """Return the second array, with the derivative of the identity in the first."""
    return y


straight_through.defjvps(lambda tangent, result, x, y: tangent, None)
