"""Writes of parts of arrays in the bodies of loops, in place.

XLA for the CPU fuses a write of an element with a later read of another one of the same array, and
keeps the array as it was before: two copies of the whole array in each round. A loop of one round,
of which XLA does not know that it has one, is fused with nothing.
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
"""Elements of arrays that may as well be copied."""
_IN_BODY: ContextVar[bool] = ContextVar("in the body of a loop", default=False)


@contextmanager
def body(writes_in_place: bool) -> Iterator[None]:
    """A context in which the body of a loop is traced; a derivative needs plain writes."""
    token = _IN_BODY.set(writes_in_place)
    try:
        yield
    finally:
        _IN_BODY.reset(token)


def put(a: Any, new: Any, begin: Sequence[Any]) -> Any:
    """Write a part of an array that begins somewhere."""
    unknown = any([isinstance(b, jax.core.Tracer) for b in begin])
    if _IN_BODY.get() and unknown and a.size >= _SMALL:
        return _put(a, new, *begin)
    return lax.dynamic_update_slice(a, new, begin, allow_negative_indices=False)


def in_place(a: Any, new: Any, begin: Sequence[Any]) -> Any:
    """Write a part of an array by a loop of one round."""
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
