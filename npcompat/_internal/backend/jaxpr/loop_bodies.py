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
from jax import dtypes, lax

PUT = "put_in_place"
"""Name of the call that writes: `put(array, new, *begin)`."""
SMALL = 256
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
    if _IN_BODY.get() and unknown and a.size >= SMALL:
        return _put(a, new, *begin)
    return lax.dynamic_update_slice(a, new, begin, allow_negative_indices=False)


def in_place(a: Any, new: Any, begin: Sequence[Any], after: Sequence[Any] = ()) -> Any:
    """Return an array with the part from `begin` on replaced, by a loop of one round.

    Values of `after` are computed before: XLA can't know that the count of rounds does not depend
    on them.
    """
    if not after:
        return _put(a, new, *begin)
    first = [(jnp.real(jnp.ravel(v)[0]) > 0).astype("int32") for v in after if v.size]
    return _put_after(a, new, sum(first), *begin)


def read_apart(a: Any, begin: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return the part of an array from `begin` on, which XLA reads once, where it stands."""

    def read_apart(a: Any, *begin: Any) -> Any:
        rounds = jnp.minimum(_place(begin) + 1, 1)

        def read(state: Any) -> Any:
            return state[0] + 1, lax.dynamic_slice(a, begin, sizes, allow_negative_indices=False)

        start = jnp.zeros_like(rounds), jnp.zeros(sizes, a.dtype)
        return lax.while_loop(lambda s: s[0] < rounds, read, start)[1]

    return jax.jit(read_apart)(a, *begin)


def _one_round(a: Any, new: Any, *begin: Any) -> Any:
    return _written(a, new, begin, _place(begin))


def _one_round_after(a: Any, new: Any, others: Any, *begin: Any) -> Any:
    return _written(a, new, begin, _place(begin) + others)


def _place(begin: Sequence[Any]) -> Any:
    """Return a number that is not negative, which XLA does not know; of a type that can be added to."""
    wide = dtypes.canonicalize_dtype("int64")
    return jnp.abs(sum([lax.convert_element_type(b, wide) for b in begin]))


def _written(a: Any, new: Any, begin: Sequence[Any], place: Any) -> Any:
    rounds = jnp.minimum(place + 1, 1)

    def write(state: Any) -> Any:
        k, now = state
        written = lax.dynamic_update_slice(now, new, begin, allow_negative_indices=False)
        return k + 1, written

    return lax.while_loop(lambda s: s[0] < rounds, write, (jnp.zeros_like(rounds), a))[1]


_one_round.__name__, _one_round_after.__name__ = PUT, f"{PUT}_after"
_put = jax.jit(_one_round)
_put_after = jax.jit(_one_round_after)


def is_put(equation: Any) -> bool:
    """Return True for the equation of a write by `in_place`."""
    return _is_call(equation, PUT)


def is_apart(equation: Any) -> bool:
    """Return True for the equation of a read or write that is a loop, into which XLA fuses nothing."""
    return _is_call(equation, PUT, f"{PUT}_after", "read_apart")


def _is_call(equation: Any, *names: str) -> bool:
    return equation.primitive.name in ("jit", "pjit") and equation.params.get("name") in names


__all__ = ["PUT", "SMALL", "body", "in_place", "is_apart", "is_put", "put", "read_apart"]
