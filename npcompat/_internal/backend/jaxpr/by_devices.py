"""Equations that XLA shall compute in one way on one device, and in another on several.

A jaxpr does not say on how many devices it will run: that is known when it is lowered, once for each
layout of its operands.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    Var,
    jaxpr_as_fun,
)
from npcompat._internal.backend.jaxpr.library_fusions import extreme_of_many
from npcompat._internal.support.lazy_import import LazyModule

_partitioning: Any = LazyModule("jax.experimental.custom_partitioning")
_either_p = Primitive("npcompat_either")
_either_p.def_impl(lambda *operands, one, **_: one(*operands))
_either_p.def_abstract_eval(lambda *_, result, **__: result)


def _lower(
    context: Any,
    *operands: Any,
    one: Callable[..., Any],
    several: Callable[..., Any],
    result: Any,
) -> Any:
    devices = getattr(context.module_context.axis_context, "num_devices", 1)
    way = several if devices > 1 else one
    return mlir.lower_fun(way, multiple_results=False)(context, *operands)


mlir.register_lowering(_either_p, _lower)


def on_several(
    within: Jaxpr, equation: JaxprEqn, one: Sequence[JaxprEqn], several: Callable[..., Any]
) -> JaxprEqn:
    """Return an equation that stands for the equations `one` on one device, else for a function.

    Parameters
    ----------
    within : Jaxpr
        The jaxpr that holds them.
    equation : JaxprEqn
        The equation of one result that both ways replace.
    one : sequence of JaxprEqn
        Equations of the way on one device.
    several : callable
        Function of the operands of `equation`.
    """
    variables = [*dict.fromkeys([v for v in equation.invars if isinstance(v, Var)])]
    inner = within.replace(constvars=[], invars=variables, outvars=equation.outvars, eqns=[*one])
    places = [variables.index(v) if isinstance(v, Var) else -1 for v in equation.invars]
    literals = [v.val if isinstance(v, Literal) else None for v in equation.invars]

    def on_one(*operands: Any) -> Any:
        return jaxpr_as_fun(ClosedJaxpr(inner, ()))(*operands)[0]

    def on_many(*operands: Any) -> Any:
        return several(
            *[v if p < 0 else operands[p] for p, v in zip(places, literals, strict=True)]
        )

    params = {"one": on_one, "several": on_many, "result": equation.outvars[0].aval}
    made: JaxprEqn = equation.replace(invars=[*variables], primitive=_either_p, params=params)
    return made


def barred(equation: JaxprEqn) -> Callable[..., Any]:
    """Return the function of an equation whose first operand XLA does not look into."""

    def after_barrier(target: Any, *others: Any) -> Any:
        return equation.primitive.bind(lax.optimization_barrier(target), *others, **equation.params)

    return after_barrier


TRUTHS = frozenset(["reduce_and", "reduce_or"])


def counted(equation: JaxprEqn) -> Callable[..., Any] | None:
    """Return the function of `any` or `all` of a whole mask by a count; None for other reductions.

    XLA combines the sum over devices with those of the gradients of a step: talking between
    devices once takes half as long as twice.
    """
    mask: Any = equation.invars[0].aval
    if mask.dtype != bool or len(equation.params["axes"]) < len(mask.shape):
        return None
    if equation.primitive.name == "reduce_or":
        return lambda mask: jnp.sum(mask, dtype="float32") > 0
    return lambda mask: jnp.sum(~mask, dtype="float32") == 0


EXTREMES = frozenset(["reduce_max", "reduce_min"])


def extreme(equation: JaxprEqn) -> Callable[..., Any] | None:
    """Return the function of a maximum or minimum of floats or complex numbers; None for others.

    Between devices of a CPU, XLA's maximum of nan and a number is the number, and there is none of
    complex numbers: these are compared by real part, then by imaginary part.
    """
    kind: Any = equation.invars[0].aval
    axes = equation.params["axes"]
    is_max = equation.primitive.name == "reduce_max"
    worst = -jnp.inf if is_max else jnp.inf
    of_floats = partial(extreme_of_many, lax.max if is_max else lax.min, equation.params)

    def of_complex(a: Any) -> Any:
        real = of_floats(a.real)
        at_real = a.real == jnp.expand_dims(real, axes)
        return lax.complex(real, of_floats(jnp.where(at_real, a.imag, worst)))

    if jnp.issubdtype(kind.dtype, jnp.complexfloating):
        return of_complex
    return of_floats if jnp.issubdtype(kind.dtype, jnp.floating) else None


def selection(equation: JaxprEqn) -> Callable[..., Any] | None:
    """Return the function that writes a large part of an array by a selection; None for other
    writes.

    XLA's partitioner gathers an array that lies in pieces for a `dynamic_update_slice` of several
    rows; of a padded array and a selection each device computes its piece. A selection reads and
    writes the whole array, so that it is left alone for small parts.
    """
    target, new, *starts = equation.invars
    written: Any = target.aval
    values: Any = new.aval
    shape, part = written.shape, values.shape
    if not all([type(n) is int for n in (*shape, *part)]) or shape == part:
        return None
    known = [int(s.val) for s in starts if isinstance(s, Literal)]
    if len(known) < len(starts):
        return None
    if _LEAST_OF * math.prod(part) < math.prod(shape) or math.prod(part) == 0:
        return None
    first = [min(max(s, 0), n - m) for s, n, m in zip(known, shape, part, strict=True)]
    return partial(_selected, tuple(first))


_LEAST_OF = 2
"""A write of at least half of the elements is a selection."""


def _selected(first: Sequence[int], target: Any, new: Any, *_: Any) -> Any:
    """Return the array with the part from `first` on replaced."""
    around = [(s, n - s - m, 0) for s, n, m in zip(first, target.shape, new.shape, strict=True)]
    inside: Any = True
    for axis, (start, n, m) in enumerate(zip(first, target.shape, new.shape, strict=True)):
        if m < n:
            at = lax.broadcasted_iota("int32", target.shape, axis)
            inside &= (at >= start) & (at < start + m)
    return lax.select(inside, lax.pad(new, jnp.zeros((), new.dtype), around), target)


def spread(equation: JaxprEqn) -> Callable[..., Any] | None:
    """Return the function of a padding between elements by a selection; None for other paddings.

    XLA's partitioner loses elements of such a padding along an axis that is cut, or fails.
    """
    around: Sequence[tuple[int, int, int]] = equation.params["padding_config"]
    between = [n for _, _, n in around]
    if not any(between):
        return None

    def padded(array: Any, number: Any) -> Any:
        for axis, gap in enumerate(between):
            if gap:
                array = _apart(array, number, axis, gap)
        return lax.pad(array, number, [(low, high, 0) for low, high, _ in around])

    return padded


def _apart(array: Any, number: Any, axis: int, gap: int) -> Any:
    """Return an array with `gap` times a number between its elements along an axis."""
    found = jnp.repeat(array, gap + 1, axis=axis)
    found = lax.slice_in_dim(found, 0, max(found.shape[axis] - gap, 0), axis=axis)
    at = lax.broadcasted_iota("int32", found.shape, axis)
    return lax.select(at % (gap + 1) == 0, found, lax.broadcast(number, found.shape))


def transform(equation: JaxprEqn) -> Callable[..., Any]:
    """Return the function of a Fourier transform whose axes lie whole on each device.

    XLA's partitioner ends the process at some axes that are cut.
    """
    kind: Any = equation.invars[0].aval
    rank, count = len(kind.shape), len(equation.params["fft_lengths"])
    function: Any = _partitioning.custom_partitioning(
        lambda a: equation.primitive.bind(a, **equation.params)
    )

    def partition(mesh: Any, operands: Any, _: Any) -> Any:
        cut = [*operands[0].sharding.spec, *[None] * rank][: rank - count]
        layout = NamedSharding(mesh, PartitionSpec(*cut, *[None] * count))
        return mesh, function.fun, layout, (layout,)

    batch = [f"b{i}" for i in range(rank - count)]
    taken = [f"t{i}" for i in range(count)]
    given = [*taken[:-1], "last"]  # which may have another length
    function.def_partition(
        partition=partition,
        sharding_rule=f"{' '.join(batch + taken)} -> {' '.join(batch + given)}",
        need_replication_factors=(*taken, "last"),
    )
    found: Callable[..., Any] = function
    return found


__all__ = [
    "EXTREMES",
    "TRUTHS",
    "barred",
    "counted",
    "extreme",
    "on_several",
    "selection",
    "spread",
    "transform",
]
