"""Comparisons on XLA that are exact: of a signed with an unsigned integer, for which JAX makes floats of both."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp


def _exact(compare: Callable[..., Any]) -> Callable[..., Any]:
    def compared(x: Any, y: Any) -> Any:
        x, y = jnp.asarray(x), jnp.asarray(y)
        if {x.dtype.kind, y.dtype.kind} != {"i", "u"}:
            return compare(x, y)
        below = compare((y < 0).astype(jnp.int8), (x < 0).astype(jnp.int8))  # what is negative is the less
        return jnp.where((x < 0) | (y < 0), below, compare(x.astype(jnp.uint64), y.astype(jnp.uint64)))

    return compared


equal, not_equal = _exact(jnp.equal), _exact(jnp.not_equal)
less, less_equal = _exact(jnp.less), _exact(jnp.less_equal)
greater, greater_equal = _exact(jnp.greater), _exact(jnp.greater_equal)

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]
