"""How many operations on floats a program makes, counted in its equations: a multiplication and an
addition are two.

What only moves numbers, compares or converts them counts nothing, other functions of elements one
for each result. XLA's own analysis is not taken: it counts the body of a loop once.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax

_FREE = frozenset((
    "broadcast_in_dim", "clamp", "concatenate", "convert_element_type", "copy", "copy_p",
    "device_put", "dynamic_slice", "dynamic_update_slice", "gather", "optimization_barrier",
    "pad", "reduce_precision", "reshape", "rev", "scatter", "select_and_gather_add", "select_n",
    "slice", "sort", "split", "squeeze", "stop_gradient", "transpose",
))  # fmt: skip
_OVER_OPERAND = frozenset((
    "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "reduce_max",
    "reduce_min", "reduce_prod", "reduce_sum", "scatter-add", "scatter_add",
))  # fmt: skip


def operations(function: Callable[..., Any], *inputs: Any) -> int:
    """The count for a function, of arrays or of what has their shapes and dtypes."""
    return _counted(jax.make_jaxpr(function)(*inputs).jaxpr)


def _counted(jaxpr: Any) -> int:
    return sum([_of_equation(eqn) for eqn in jaxpr.eqns])


def _inner(eqn: Any) -> Iterator[Any]:
    """The programs in an equation."""
    for value in eqn.params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            jaxpr = getattr(part, "jaxpr", part)
            if hasattr(jaxpr, "eqns"):
                yield jaxpr


def _size(shape: Any) -> int:
    return math.prod(map(int, shape))


def _of_equation(eqn: Any) -> int:
    name, params = eqn.primitive.name, eqn.params
    out = eqn.outvars[0].aval if eqn.outvars else None
    counts = list(map(_counted, _inner(eqn)))
    if name == "cond":
        return max(counts, default=0)
    if (
        name not in ("reduce", "reduce_window") and counts
    ):  # the body of a while loop once: nobody knows how often
        return sum(counts) * int(params.get("length", 1) if name == "scan" else 1)
    if (
        out is None
        or not hasattr(out, "shape")
        or not jax.numpy.issubdtype(out.dtype, jax.numpy.inexact)
    ):
        return 0
    operands = [v.aval.shape for v in eqn.invars if hasattr(v.aval, "shape")]
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        return 2 * _size(out.shape) * _size([operands[0][axis] for axis in contracted])
    if name == "conv_general_dilated":
        filters = int(operands[1][params["dimension_numbers"].rhs_spec[0]])
        taps = _size(operands[1]) // max(1, filters)
        return 2 * _size(out.shape) * taps // _size(params["lhs_dilation"])
    if name.startswith("reduce_window"):
        return _size(out.shape) * _size(params["window_dimensions"])
    if name in _OVER_OPERAND or name == "reduce":
        return _size(operands[0])
    return 0 if name in _FREE else _size(out.shape)


__all__ = ["operations"]
