"""Number of floating-point operations of a program, counted in its jaxpr.

A multiplication and an addition are two operations. Primitives that only move, compare or convert
numbers count zero; other elementwise functions count one operation for each element of the result.
XLA's own analysis is not used, since it counts the body of a loop once.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax

from npcompat._internal.backend.jaxpr.primitives import family

_FREE = family("free")
_OVER_OPERAND = family("arg_reduction", "cumulative", "function_reduction", "reduction")
_WINDOWS = family("window")
_SCATTERS = family("scatter")
_OWN_FUNCTION = family("function_reduction", "scatter", "window")
"""Primitives that hold the jaxpr of a function of two elements, which is counted by its calls."""


def operations(function: Callable[..., Any], *inputs: Any) -> int:
    """Count the operations of a function of arrays, given by anything with a shape and a dtype."""
    return _count(jax.make_jaxpr(function)(*inputs).jaxpr)


def _count(jaxpr: Any) -> int:
    return sum([_count_eqn(eqn) for eqn in jaxpr.eqns])


def _inner_jaxprs(eqn: Any) -> Iterator[Any]:
    """Iterate over the jaxprs among the parameters of an equation."""
    for value in eqn.params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            jaxpr = getattr(part, "jaxpr", part)
            if hasattr(jaxpr, "eqns"):
                yield jaxpr


def _size(shape: Any) -> int:
    return math.prod(map(int, shape))


def _count_eqn(eqn: Any) -> int:
    name, params = eqn.primitive.name, eqn.params
    out = eqn.outvars[0].aval if eqn.outvars else None
    counts = list(map(_count, _inner_jaxprs(eqn)))
    if name == "cond":
        return max(counts, default=0)
    if counts and name not in _OWN_FUNCTION:
        # the number of rounds of a while loop is unknown: its body counts once
        return sum(counts) * int(params.get("length", 1) if name == "scan" else 1)
    if out is None or not hasattr(out, "shape") or name in _FREE:
        return 0
    if not jax.numpy.issubdtype(out.dtype, jax.numpy.inexact):
        return 0
    operands = [v.aval.shape for v in eqn.invars if hasattr(v.aval, "shape")]
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        return 2 * _size(out.shape) * _size([operands[0][axis] for axis in contracted])
    if name == "conv_general_dilated":
        filters = int(operands[1][params["dimension_numbers"].rhs_spec[0]])
        taps = _size(operands[1]) // max(1, filters)
        return 2 * _size(out.shape) * taps // _size(params["lhs_dilation"])
    if name in _WINDOWS:
        return _size(out.shape) * _size(params["window_dimensions"])
    if name in _SCATTERS:
        return _size(operands[2])
    return _size(operands[0] if name in _OVER_OPERAND else out.shape)


__all__ = ["operations"]
