"""Truth on XLA: comparisons that are exact, also of a signed with an unsigned integer, of which JAX
makes floats, and any and all of it.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax


def _exact(compare: Callable[..., Any]) -> Callable[..., Any]:
    def compared(x: Any, y: Any) -> Any:
        x, y = jnp.asarray(x), jnp.asarray(y)
        if {x.dtype.kind, y.dtype.kind} != {"i", "u"}:
            return compare(x, y)
        below = compare(
            (y < 0).astype(jnp.int8), (x < 0).astype(jnp.int8)
        )  # what is negative is the less
        return jnp.where(
            (x < 0) | (y < 0), below, compare(x.astype(jnp.uint64), y.astype(jnp.uint64))
        )

    return compared


equal, not_equal = _exact(jnp.equal), _exact(jnp.not_equal)
less, less_equal = _exact(jnp.less), _exact(jnp.less_equal)
greater, greater_equal = _exact(jnp.greater), _exact(jnp.greater_equal)

_COLUMNS, _MANY = 512, 2**14


def _in_columns(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Any or all of a large array in half the time, where it is computed on the way: XLA goes
    through all of it one by one on the CPU, but through columns side by side.
    """

    @functools.wraps(reduce)
    def reduced(a: Any, axis: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
        if (
            axis is not None
            or keepdims
            or where is not None
            or a.size < _MANY
            or jax.default_backend() != "cpu"
        ):
            return reduce(a, axis=axis, keepdims=keepdims, where=where)
        a = jnp.ravel(a if a.dtype == onp.bool_ else a != 0)
        whole = a.size - a.size % _COLUMNS
        columns = lax.optimization_barrier(
            reduce(a[:whole].reshape(-1, _COLUMNS), axis=0)
        )  # else XLA makes one reduction of both
        return reduce(jnp.concatenate([columns, a[whole:]]))

    return reduced


any, all = _in_columns(jnp.any), _in_columns(jnp.all)

__all__ = ["all", "any", "equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]
