"""Control flow in programs of XLA."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

recomputing = jax.checkpoint


def conditional(
    predicate: Any, branches: tuple[Callable[..., Any], Callable[..., Any]], operands: Sequence[Any]
) -> Any:
    """Call the first branch if the predicate holds, else the second."""
    with jax.enable_x64(True):
        return lax.cond(jnp.asarray(predicate, bool).reshape(()), *branches, *operands)


def scan(step: Callable[[Any, Any], Any], state: Any, data: Any, length: int | None = None) -> Any:
    """Run `state, out = step(state, slice)` over the leading axis."""
    with jax.enable_x64(True):
        return lax.scan(step, state, data, length)


def while_loop(condition: Callable[[Any], Any], step: Callable[[Any], Any], state: Any) -> Any:
    """Run `state = step(state)` while the condition holds."""
    with jax.enable_x64(True):
        return lax.while_loop(condition, step, state)


def truth(x: Any) -> Any:
    """Convert a condition to a 0-d bool."""
    return jnp.asarray(x, bool).reshape(())


def no_flags(count: int) -> Any:
    """Flags of which none is raised."""
    return jnp.zeros(count, bool)


def joined_flags(flags: Sequence[Any]) -> Any:
    """Concatenate flags to one vector."""
    return jnp.concatenate([jnp.atleast_1d(f) for f in flags])


def any_over_steps(flags: Any) -> Any:
    """Flags that were raised in any step of a loop."""
    return flags.any(0)


def zeros_of(function: Callable[[], Any]) -> Any:
    """Zeros in the shapes and dtypes of the results of a function."""
    return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(function))


def abstract_slice(payload: Any) -> jax.ShapeDtypeStruct:
    """Type of one slice along the leading axis."""
    aval = jax.typeof(payload)
    return jax.ShapeDtypeStruct(aval.shape[1:], aval.dtype)
