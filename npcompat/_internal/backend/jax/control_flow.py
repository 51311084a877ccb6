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
    """Return a vector of flags of which none is set."""
    return jnp.zeros(count, bool)


def joined_flags(flags: Sequence[Any]) -> Any:
    """Concatenate flags to one vector."""
    return jnp.concatenate([jnp.atleast_1d(f) for f in flags])


def any_over_steps(flags: Any) -> Any:
    """Return the flags that were set in any step of a loop."""
    return flags.any(0)


def zeros_of(function: Callable[[], Any]) -> Any:
    """Return zeros with the shapes and dtypes of a function's results, without calling it."""
    return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(function))


def abstract_slice(payload: Any) -> jax.ShapeDtypeStruct:
    """Return the type of one slice along the leading axis."""
    aval = jax.typeof(payload)
    return jax.ShapeDtypeStruct(aval.shape[1:], aval.dtype)


def constant(flag: bool) -> Any:
    """Return a constant flag."""
    return jnp.asarray(flag)


def of_type(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Cast and broadcast a payload to a dtype and a shape."""
    with jax.enable_x64(True):
        found = lax.convert_element_type(jnp.asarray(x), dtype)
        return jnp.broadcast_to(found, shape) if found.shape != shape else found


Step = Callable[[Any, Any], Any]
"""`carry = step(index, carry)`."""


def counted(first: Any, stop: Any, step: Step, carry: Any) -> Any:
    """Run `carry = step(k, carry)` for k in [first, stop); differentiable if both are ints."""
    with jax.enable_x64(True):
        if not isinstance(stop, int):
            first, stop = jnp.asarray(first, jnp.int64), jnp.asarray(stop, jnp.int64)
        return lax.fori_loop(first, stop, step, carry)


def index(k: Any) -> Any:
    """Return the number of a round as an int64 payload."""
    return jnp.asarray(k, jnp.int64)


def flagged(flags: Sequence[Any]) -> Any:
    """Return the flag that is set if any flag in some vectors is."""
    found = jnp.asarray(False)
    for f in flags:
        found = found | f.any()
    return found


def index_type() -> jax.ShapeDtypeStruct:
    """Return the type of the number of a round."""
    return jax.ShapeDtypeStruct((), jnp.dtype("int64"))


Round = Callable[[Any, Any], tuple[Any, Any]]
"""`going, carry = step(index, carry)`; the last item of a carry is a tuple of error flags."""


def while_staged(step: Round, carry: Any, active: Any) -> Any:
    """Run rounds until one says that it is the last, or sets an error flag."""

    def goes_on(state: Any) -> Any:
        return jnp.logical_and(state[0], ~flagged(state[1][2]))

    with jax.enable_x64(True):
        return lax.while_loop(goes_on, lambda s: step(None, s[1]), (truth(active), carry))[1]


def rounds_while(first: int, stop: Any, step: Round, carry: Any, breaks: bool) -> Any:
    """Run counted rounds until one breaks (if `breaks`) or sets an error flag."""

    def goes_on(state: Any) -> Any:
        k, going, now = state
        return (k < stop) & going & ~flagged(now[2])

    def next_one(state: Any) -> Any:
        k, _, now = state
        going, after = step(k, now)
        return k + 1, going if breaks else jnp.asarray(True), after

    with jax.enable_x64(True):
        stop = jnp.asarray(stop, jnp.int64)
        start = (jnp.asarray(first, jnp.int64), jnp.asarray(True), carry)
        return lax.while_loop(goes_on, next_one, start)[2]


def bounded_rounds(first: int, most: int, stop: Any, step: Round, carry: Any) -> Any:
    """Run at most `most` counted rounds, until one says that it is the last; differentiable."""

    def guarded(k: Any, state: Any) -> Any:
        going, now = state
        return lax.cond(going & (k < stop), lambda s: step(k, s), lambda s: (going, s), now)

    with jax.enable_x64(True):
        stop = jnp.asarray(stop, jnp.int64)
        return lax.fori_loop(first, most, guarded, (jnp.asarray(True), carry))[1]
