"""Functions that a library of XLA's CPU compiler computes otherwise than NumPy, in other words.

The compiler gives a reduction of at least LEAST elements to a library (YNNPACK), and with it the
elementwise functions before and after. There, the maximum of nan and a number is the number, while
NumPy's is nan, and integers of 8 bits don't wrap around.

The library takes no comparisons, no selections and no integers of 32 bits, so the maximum of two
arrays is written by the former, and integers of 8 bits leave it by the latter. The maximum of many
is still the library's, which takes a fifth of the time of XLA's own: nan is looked for by another
reduction, the sum of the absolute values.

The library also leaves out the rounding of numbers that are cast to a narrower float and back,
unless a program is compiled with `xla_allow_excess_precision=False`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import Jaxpr, JaxprEqn
from npcompat._internal.backend.jaxpr.nested_jaxprs import within
from npcompat._internal.backend.jaxpr.primitives import elements, family

LEAST = 4096
"""Elements of an operand or a result from which XLA may give a function to the library."""
_NAMES = frozenset(
    [
        "convert_element_type",
        "max",
        "min",
        "reduce",
        "reduce_max",
        "reduce_min",
        "reduce_window",
        "reduce_window_max",
        "reduce_window_min",
    ]
)


def larger(x: Any, y: Any) -> Any:
    """Return the larger of each two elements; nan if one of them is."""
    return lax.select((x > y) | (x != x), x, y)


def smaller(x: Any, y: Any) -> Any:
    """Return the smaller of each two elements; nan if one of them is."""
    return lax.select((x < y) | (x != x), x, y)


_STARTING = family("reduction", "function_reduction", "window", "product")


def has_fusions(jaxpr: Jaxpr) -> bool:
    """Return True if XLA may give functions of a jaxpr to the library, beginning at a reduction."""
    return any(
        [
            (e.primitive.name in _STARTING and any([elements(v.aval) >= LEAST for v in e.invars]))
            or any(map(has_fusions, within(e)))
            for e in jaxpr.eqns
        ]
    )


def is_exact(equation: JaxprEqn) -> bool:
    """Return True for all equations but those that the library computes otherwise."""
    name = equation.primitive.name
    if name not in _NAMES:
        return True
    kinds: list[Any] = [v.aval for v in equation.invars]
    kind = max(kinds, key=elements)  # the other one may be a constant
    if elements(kind) < LEAST or kind.dtype == bool:
        return True
    is_float = jnp.issubdtype(kind.dtype, jnp.floating)
    if name == "convert_element_type":
        to_float = jnp.issubdtype(equation.params["new_dtype"], jnp.floating)
        return is_float or kind.dtype.itemsize > 1 or not to_float
    if name in ("max", "min"):
        return not is_float
    if len(kinds) > 2 or _combined_by(name, equation.params) is None:
        return True
    return not is_float and kind.dtype.itemsize > 1


def exactly(primitive: Any, params: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function of a primitive that computes on CPUs what it does elsewhere."""
    name = primitive.name
    if name == "convert_element_type":
        exact = partial(_through_wide_integers, params["new_dtype"])
    elif name in ("max", "min"):
        exact = partial(_broadcast, larger if name == "max" else smaller)
    else:
        exact = partial(extreme_of_many, _combined_by(name, params), params)
    elsewhere = partial(_unchanged, primitive, params)
    return partial(lax.platform_dependent, cpu=exact, default=elsewhere)


def _unchanged(primitive: Any, params: Mapping[str, Any], *operands: Any) -> Any:
    found = primitive.bind(*operands, **params)
    return found[0] if primitive.multiple_results else found


def _combined_by(name: str, params: Mapping[str, Any]) -> Any:
    """Return `lax.max` or `lax.min` if a reduction is by it; None for others."""
    if "jaxpr" in params:
        body = getattr(params["jaxpr"], "jaxpr", params["jaxpr"])
        names = [inner.primitive.name for inner in body.eqns]
        name = names[0] if len(names) == 1 else ""
    ending = name.rpartition("_")[2]
    return {"max": lax.max, "min": lax.min}.get(ending)


def _through_wide_integers(dtype: Any, a: Any) -> Any:
    return a.astype("int32").astype(dtype)


def _broadcast(function: Callable[..., Any], x: Any, y: Any) -> Any:
    return function(*jnp.broadcast_arrays(x, y))


_WINDOW = ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")


def extreme_of_many(combine: Any, params: Mapping[str, Any], a: Any, *start: Any) -> Any:
    """Return the maximum or minimum of elements or windows, and of `start`; nan if one of them is.

    `params` are those of the primitive, `combine` is `lax.max` or `lax.min`.
    """
    axes = params.get("axes", params.get("dimensions"))
    reduction: Callable[..., Any]
    if axes is None:
        windows = {name: params[name] for name in _WINDOW}
        reduction = partial(lax.reduce_window, **windows)
    else:
        reduction = partial(lax.reduce, dimensions=axes)
    first = start[0] if start else _worst(combine, a.dtype)
    if a.dtype.itemsize == 1:
        wide = reduction(a.astype("int32"), first.astype("int32"), combine)
        return wide.astype(a.dtype)
    found = reduction(a, first, combine)
    # of no negative ones, so that infinities don't make nan; of half floats in single precision
    wide = abs(a).astype("float32") if a.dtype.itemsize < 4 else abs(a)
    total = reduction(wide, jnp.zeros((), wide.dtype), lax.add)
    is_nan = jnp.isnan(total) | jnp.isnan(first)
    return lax.select(is_nan, jnp.full_like(found, jnp.nan), found)


def _worst(combine: Any, dtype: Any) -> Any:
    """Return the number that no maximum or minimum is changed by."""
    if jnp.issubdtype(dtype, jnp.floating):
        return jnp.asarray(-jnp.inf if combine is lax.max else jnp.inf, dtype)
    limits = onp.iinfo(dtype)
    return jnp.asarray(limits.min if combine is lax.max else limits.max, dtype)


__all__ = ["LEAST", "exactly", "extreme_of_many", "has_fusions", "is_exact", "larger", "smaller"]
