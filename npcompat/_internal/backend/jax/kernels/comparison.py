"""Comparisons on XLA that are exact, and any and all.

JAX converts a signed and an unsigned integer to floats before it compares them.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.support.kernel_table import register_kernels


def _exact(compare: Callable[..., Any]) -> Callable[..., Any]:
    def compared(x: Any, y: Any) -> Any:
        x, y = jnp.asarray(x), jnp.asarray(y)
        if {x.dtype.kind, y.dtype.kind} != {"i", "u"}:
            return compare(x, y)
        # a negative number is less than any unsigned one
        by_sign = compare((y < 0).astype(jnp.int8), (x < 0).astype(jnp.int8))
        by_magnitude = compare(x.astype(jnp.uint64), y.astype(jnp.uint64))
        return jnp.where((x < 0) | (y < 0), by_sign, by_magnitude)

    return compared


equal, not_equal = _exact(jnp.equal), _exact(jnp.not_equal)
less, less_equal = _exact(jnp.less), _exact(jnp.less_equal)
greater, greater_equal = _exact(jnp.greater), _exact(jnp.greater_equal)

_COLUMNS, _MANY = 512, 2**14


def _in_columns(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Make any or all of a large array take half the time if it is fused with its operand.

    On the CPU, XLA reduces all elements of such an array one by one, but columns side by side.
    """

    @functools.wraps(reduce)
    def reduced(a: Any, axis: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
        whole_array = axis is None and not keepdims and where is None
        if whole_array and a.size < _MANY and jax.device_count() > 1:
            return _counted(a, reduce is jnp.all)
        if not whole_array or a.size < _MANY or jax.default_backend() != "cpu":
            return reduce(a, axis=axis, keepdims=keepdims, where=where)
        a = jnp.ravel(a if a.dtype == onp.bool_ else a != 0)
        whole = a.size - a.size % _COLUMNS
        # the barrier keeps XLA from merging both reductions
        columns = lax.optimization_barrier(reduce(a[:whole].reshape(-1, _COLUMNS), axis=0))
        return reduce(jnp.concatenate([columns, a[whole:]]))

    return reduced


def _counted(a: Any, are_all: bool) -> Any:
    """Any or all of an array that may lie on several devices, by a sum of floats.

    XLA joins the sums between devices to one, so that it is no exchange more where gradients are
    summed. A float's count of what is not negative never comes back to zero.
    """
    flags = (a == 0) if are_all else (a != 0)
    count = jnp.sum(flags, dtype=jnp.float32)
    return count == 0 if are_all else count > 0


any, all = _in_columns(jnp.any), _in_columns(jnp.all)
register_kernels(
    "jax",
    equal=equal,
    not_equal=not_equal,
    less=less,
    less_equal=less_equal,
    greater=greater,
    greater_equal=greater_equal,
    any=any,
    all=all,
)

__all__ = ["all", "any", "equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]
