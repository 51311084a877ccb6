"""Arithmetic of Python ints, floats and bools in programs: 64 bits wide, and weakly typed.

Python ints are unbounded. So results that may not fit 64 bits come with a flag of overflow.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import convert_element_type
from npcompat._internal.backend.jaxpr.rounding import quotient, rounded

_DTYPES: dict[type, Any] = {bool: onp.bool_, int: onp.int64, float: onp.float64}
_LARGE = 9.2e18
"""Bound just below the largest int of 64 bits, because floats are rounded."""


def weak(kind: type, payload: Any) -> Any:
    """Convert a payload to a weakly typed Python bool, int or float."""
    with jax.enable_x64(True):
        payload = lax.convert_element_type(jnp.asarray(payload), _DTYPES[kind])
        return payload if kind is bool else convert_element_type(payload, weak_type=True)


def _divided(a: Any, b: Any) -> Any:
    return quotient(jnp.asarray(a, onp.float64), jnp.asarray(b, onp.float64))


def _multiplied(a: Any, b: Any) -> Any:
    product = a * b
    return rounded(product) if product.dtype.kind == "f" else product


def _power(a: Any, b: Any) -> Any:
    return jnp.asarray(a) ** b


_COMPUTES: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift")
} | {"mul": _multiplied, "truediv": _divided, "pow": _power}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_COMPUTES |= {name: getattr(operator, name) for name in COMPARISONS}
_COMPUTES |= {
    "abs": jnp.abs,
    "neg": operator.neg,
    "not_": jnp.logical_not,
    "logical_and": jnp.logical_and,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "rint": jnp.rint,
    "where": jnp.where,
}


def computed(name: str, kind: type, *operands: Any) -> Any:
    """Compute an operation, and convert its result to a Python kind."""
    with jax.enable_x64(True):
        return weak(kind, _COMPUTES[name](*operands))


def overflowed(name: str, a: Any, b: Any, result: Any) -> Any:
    """Return the flag of overflow of a sum, difference, product, shift or power of ints."""
    with jax.enable_x64(True):
        if name in ("add", "sub"):
            other = jnp.asarray(b) if name == "add" else ~jnp.asarray(b)
            return ((a ^ result) & (other ^ result)) < 0
        x, y = jnp.asarray(a, onp.float64), jnp.asarray(b, onp.float64)
        exact = {"mul": lambda: x * y, "lshift": lambda: x * 2.0**y, "pow": lambda: x**y}[name]()
        return ~(jnp.abs(exact) < _LARGE)


def is_zero(number: Any) -> Any:
    """Return the flag that a number is zero."""
    with jax.enable_x64(True):
        return jnp.asarray(number) == 0


def outside(number: Any, low: Any, high: Any) -> Any:
    """Return the flag that a number lies outside the interval [low, high]."""
    with jax.enable_x64(True):
        return (number < low) | (number > high)


def truth(payload: Any) -> Any:
    """Return the truth value of a payload of one element."""
    with jax.enable_x64(True):
        payload = jnp.asarray(payload)
        return (payload if payload.dtype == onp.bool_ else payload != 0).reshape(())


def negation(flag: Any) -> Any:
    """Return the negation of a flag."""
    with jax.enable_x64(True):
        return jnp.logical_not(flag)


def either(*flags: Any) -> Any:
    """Return the disjunction of flags."""
    return _folded(jnp.logical_or, flags)


def both(*flags: Any) -> Any:
    """Return the conjunction of flags."""
    return _folded(jnp.logical_and, flags)


def _folded(combine: Callable[[Any, Any], Any], flags: Sequence[Any]) -> Any:
    with jax.enable_x64(True):
        return functools.reduce(combine, flags[1:], jnp.asarray(flags[0]))


def as_int(payload: Any) -> tuple[Any, Any]:
    """Return `int(payload)`, and the flag that it has no 64-bit value, None if it always has."""
    with jax.enable_x64(True):
        payload = jnp.asarray(payload)
        if payload.dtype.kind != "f":
            wide = payload.dtype == onp.uint64
            return weak(int, payload), payload > 2**63 - 1 if wide else None
        return weak(int, jnp.trunc(payload)), ~(jnp.abs(payload) < _LARGE)


def is_nan(payload: Any) -> Any:
    """Return the flag that a number is nan."""
    with jax.enable_x64(True):
        return payload != payload


def is_infinite(payload: Any) -> Any:
    """Return the flag that a number is infinite."""
    with jax.enable_x64(True):
        return jnp.isinf(payload)


def position(number: Any, size: int, below: bool, above: bool, negative: bool) -> Any:
    """Return a position in an axis counted from zero, clipped if it may be `below` or `above`."""
    with jax.enable_x64(True):
        number = jnp.asarray(number, onp.int64)
        if below or above:
            number = jnp.clip(number, -size, size - 1)
        return jnp.where(number < 0, number + size, number) if negative else number


def bound(number: Any, size: int, negative: bool, above: bool) -> Any:
    """Return a bound of a slice in [0, size], clipped if it may be `negative` or `above`."""
    with jax.enable_x64(True):
        number = jnp.asarray(number, onp.int64)
        if negative:
            number = jnp.where(number < 0, jnp.maximum(number + size, 0), number)
        return jnp.minimum(number, size) if above else number


def between(size: int, start: Any, stop: Any) -> Any:
    """Return the mask of the positions of an axis in [start, stop)."""
    with jax.enable_x64(True):
        at = jnp.arange(size)
        found = at < stop
        return found if isinstance(start, int) and start == 0 else found & (at >= start)


def outer_mask(mask: Any, other: Any, between: tuple[int, ...]) -> Any:
    """Return the mask of what one mask selects along the first axes, and another along a later one;
    axes of these lengths in between are whole.
    """
    shape = (*mask.shape, *between, *other.shape)
    mask = mask.reshape((*mask.shape, *(1,) * (len(shape) - mask.ndim)))
    return jnp.broadcast_to(jnp.logical_and(mask, other), shape)


def window(width: int, start: Any, stop: Any) -> tuple[Any, Any]:
    """Return the mask of a window's elements before `stop`, and the flag that it is too short."""
    with jax.enable_x64(True):
        length = jnp.asarray(stop) - start
        return jnp.arange(width) < length, length > width


def through_window(array: Any, start: Any, width: int, axis: int) -> Any:
    """Return `width` elements along an axis from `start` on; the last one repeats past the end."""
    with jax.enable_x64(True):
        places = jnp.clip(start + jnp.arange(width), 0, array.shape[axis] - 1)
        return jnp.take(array, places, axis=axis)


def total(*numbers: Any) -> Any:
    """Return the sum of positions."""
    with jax.enable_x64(True):
        return functools.reduce(jnp.add, [jnp.asarray(n, onp.int64) for n in numbers])


def distance(start: Any, stop: Any) -> Any:
    """Return the difference of two positions."""
    with jax.enable_x64(True):
        return jnp.asarray(stop, onp.int64) - start


def places(first: Any, step: int, size: int) -> Any:
    """Return consecutive positions of an axis, from the first one on."""
    with jax.enable_x64(True):
        return first + step * jnp.arange(size)


def looked_up(numbers: Sequence[Any], kind: type, at: Any) -> Any:
    """Look up one of some constant numbers by its position."""
    with jax.enable_x64(True):
        return weak(kind, jnp.asarray(onp.array(numbers, _DTYPES[kind]))[at])


def element(number: Any, dtype: Any) -> Any:
    """Convert a number to an element of a dtype."""
    with jax.enable_x64(True):
        return lax.convert_element_type(jnp.asarray(number), dtype)


def chosen(flag: Any, one: Any, other: Any, dtype: Any) -> Any:
    """Return one number if a flag is set, else the other one, in a dtype or as a class of Python's."""
    weakly = isinstance(dtype, type)
    with jax.enable_x64(True):
        wide = _DTYPES[dtype] if weakly else dtype
        found = jnp.where(flag, *[lax.convert_element_type(x, wide) for x in (one, other)])
        return weak(dtype, found) if weakly else found


def inexact(number: Any, dtype: Any, unless: Any) -> Any:
    """Return the flag that a dtype does not hold a number, which counts unless a flag is set."""
    with jax.enable_x64(True):
        own = jnp.asarray(number)
        back = lax.convert_element_type(lax.convert_element_type(own, dtype), own.dtype)
        return (back != own) & (own == own) & ~jnp.asarray(unless)


__all__ = [
    "COMPARISONS",
    "as_int",
    "between",
    "both",
    "bound",
    "chosen",
    "computed",
    "distance",
    "either",
    "element",
    "inexact",
    "is_infinite",
    "is_nan",
    "is_zero",
    "looked_up",
    "negation",
    "outer_mask",
    "outside",
    "overflowed",
    "places",
    "position",
    "through_window",
    "total",
    "truth",
    "weak",
    "window",
]
