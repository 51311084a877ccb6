"""In-place writes of parts of arrays in loop bodies.

XLA for the CPU fuses a write of an element with a later read of another element of the same array.
For that it keeps the array from before the write, and copies the whole array twice in each round.
So a write is put into a loop of one round, whose count XLA does not know: loops are not fused.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

PUT = "put_in_place"
"""Name of the call that writes: `put(array, new, *begin)`."""
_SMALL = 256
"""Elements of an array below which it is simply copied."""
_IN_BODY: ContextVar[bool] = ContextVar("in the body of a loop", default=False)


@contextmanager
def body(writes_in_place: bool) -> Iterator[None]:
    """Trace a loop body inside this context; a differentiated loop needs plain writes."""
    token = _IN_BODY.set(writes_in_place)
    try:
        yield
    finally:
        _IN_BODY.reset(token)


def put(a: Any, new: Any, begin: Sequence[Any]) -> Any:
    """Return an array with the part from `begin` on replaced, in place if in a loop body."""
    unknown = any([isinstance(b, jax.core.Tracer) for b in begin])
    if _IN_BODY.get() and unknown and a.size >= _SMALL:
        return _put(a, new, *begin)
    return lax.dynamic_update_slice(a, new, begin, allow_negative_indices=False)


def in_place(a: Any, new: Any, begin: Sequence[Any]) -> Any:
    """Return an array with the part from `begin` on replaced, by a loop of one round."""
    return _put(a, new, *begin)


def _one_round(a: Any, new: Any, *begin: Any) -> Any:
    place = jnp.abs(sum(begin))
    rounds = jnp.minimum(place + 1, 1)

    def write(state: Any) -> Any:
        k, now = state
        written = lax.dynamic_update_slice(now, new, begin, allow_negative_indices=False)
        return k + 1, written

    return lax.while_loop(lambda s: s[0] < rounds, write, (jnp.zeros_like(rounds), a))[1]


_one_round.__name__ = PUT
_put = jax.jit(_one_round)


def is_put(equation: Any) -> bool:
    """Return True for the equation of a write by `in_place`."""
    return equation.primitive.name in ("jit", "pjit") and equation.params.get("name") == PUT


__all__ = ["PUT", "body", "in_place", "is_put", "put"]
