"""Rewrites of jaxprs for XLA's CPU compiler, which keep the results.

- A computed table that is read several times is stored first (`cpu_tables`).
- A reduction over a short last axis, such as `(a * b).sum(axis=-1)` of vectors in space, becomes
  operators on its columns, which XLA fuses with their neighbours. A reduction is a library call,
  which is slow for each row.
- Loops whose rounds do not depend on one another are computed for all rounds at once, on one device
  of any platform (`independent_rounds`).
- Products that the rounds of a loop compute from what it does not change are computed before it,
  at once (`loop_products`).
- Loops whose arrays change places, and short ones of elementwise work, have several rounds in one
  (`unrolled_rounds`).
- Loops of short rounds become one function of the CPU (`small_loops`).
- Some convolutions become products of matrices (`cpu_convolution`).
- Some products of matrices take another form (`cpu_product`).
- On several devices, a barrier stands between an array and a scatter into it, since XLA's
  partitioner writes a concatenation at wrong places otherwise, once on each device; and large parts
  are written by a selection, for which it gathers nothing; a maximum or minimum looks for nan,
  which XLA loses between devices; paddings between elements, which it loses, are selections; and
  axes of Fourier transforms are not cut (`by_devices`).
- What a library of the compiler computes otherwise has other words (`library_fusions`).
- Chains of functions that XLA computes as others, such as `a / b / c`, have barriers
  (`exact_chains`), on every platform.
- Writes whose new values overlap the written memory are separated (`overlapping_writes`), on every
  platform.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr import by_devices
from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Jaxpr, JaxprEqn, Var, jaxpr_as_fun
from npcompat._internal.backend.jaxpr.cpu_convolution import as_product, product
from npcompat._internal.backend.jaxpr.cpu_product import faster
from npcompat._internal.backend.jaxpr.cpu_tables import TABLE_READERS, Tables
from npcompat._internal.backend.jaxpr.exact_chains import CHAINED, Chains
from npcompat._internal.backend.jaxpr.independent_rounds import with_rounds_at_once
from npcompat._internal.backend.jaxpr.library_fusions import (
    exactly,
    has_fusions,
    is_exact,
    larger,
    smaller,
)
from npcompat._internal.backend.jaxpr.loop_bodies import is_put
from npcompat._internal.backend.jaxpr.loop_products import with_products_before
from npcompat._internal.backend.jaxpr.makers import Makers, body_of
from npcompat._internal.backend.jaxpr.nested_jaxprs import NestedJaxprs
from npcompat._internal.backend.jaxpr.overlapping_writes import Separator
from npcompat._internal.backend.jaxpr.primitives import CALLS
from npcompat._internal.backend.jaxpr.small_loops import with_small_loops
from npcompat._internal.backend.jaxpr.unrolled_rounds import unrolled

SHORT, MANY = 4, 512
"""Reductions over at most SHORT elements are unrolled, if at least MANY rows are reduced.

A consumer fused with the reduction recomputes it n times, so n must stay small.
"""
_REDUCTIONS: dict[str, tuple[Callable[[Any, Any], Any], int | None]] = {
    "reduce_sum": (lax.add, 0),  # a sum of negative zeros is zero
    "reduce_prod": (lax.mul, None),
    "reduce_max": (larger, None),
    "reduce_min": (smaller, None),
    "reduce_or": (lax.bitwise_or, None),
    "reduce_and": (lax.bitwise_and, None),
}
_WITHIN = CALLS | {"scan", "while", "cond"}


def for_cpu(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose jaxpr is rewritten so that XLA computes it right and fast."""
    return _through(rewritten, compute)


def for_several_devices(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose jaxpr is rewritten so that XLA computes it right on meshes."""
    return _through(lambda jaxpr: _Rewriter(False, True).program(jaxpr), compute)


def _through(rewrite: Callable[[Jaxpr], Jaxpr], compute: Callable[..., Any]) -> Callable[..., Any]:
    def traced(*arrays: Any) -> Any:
        # a new function each time, for JAX keeps something of each trace of one that lives
        found, results = jax.make_jaxpr(lambda *given: compute(*given), return_shape=True)(*arrays)
        outs = jaxpr_as_fun(ClosedJaxpr(rewrite(found.jaxpr), found.consts))(
            *jax.tree.leaves(arrays)
        )
        return jax.tree.unflatten(jax.tree.structure(results), outs)

    return traced


def rewritten(jaxpr: Jaxpr) -> Jaxpr:
    """Return the jaxpr rewritten for the default platform."""
    return _Rewriter(jax.default_backend() == "cpu", jax.device_count() > 1).program(jaxpr)


class _Rewriter(NestedJaxprs):
    """Rewriter of a jaxpr, and of the jaxprs of calls and loops in it."""

    def __init__(self, on_cpu: bool, has_several: bool) -> None:
        super().__init__()
        self.on_cpu, self.has_several = on_cpu, has_several
        self.makers = Makers()
        self.chains = Chains(self.makers, on_cpu)
        self.bodies: set[int] = set()  # of calls, by id
        self.unrolled: dict[int, ClosedJaxpr] = {}  # bodies of several rounds, by id
        self.has_fusions = True  # of a library

    def program(self, jaxpr: Jaxpr) -> Jaxpr:
        """Return the whole jaxpr of a program rewritten."""
        if not self.has_several:
            jaxpr = with_rounds_at_once(jaxpr, _instead, self.on_cpu)
        self.has_fusions = has_fusions(jaxpr)
        found = self.jaxpr(jaxpr)
        return with_small_loops(found, _instead) if self.on_cpu and not self.has_several else found

    def change(self, jaxpr: Jaxpr) -> Jaxpr:
        made: dict[Var, JaxprEqn] = {}
        tables = Tables(_call, self.makers)
        equations: list[JaxprEqn] = []
        for equation in self._written(jaxpr, made):
            name = equation.primitive.name
            if self.on_cpu and name == "scan":
                equation = self._of_fewer_rounds(_after_products(equation))
                name = equation.primitive.name
            if self.has_several and name == "fft":
                equation = _transform(equation)
            elif name in CHAINED:
                given = jaxpr.invars if id(jaxpr) in self.bodies else ()
                *barriers, equation = self.chains.separated(equation, made, given)
                equations += barriers
            if not self.on_cpu and name not in _WITHIN:
                pass
            elif name in TABLE_READERS:
                *storing, equation = tables.before(equation, made)
                equations += storing
            elif name in _REDUCTIONS:
                kind: Any = equation.invars[0].aval
                axes = equation.params["axes"]
                if _is_short(kind.shape, axes):
                    columns = _by_columns(name, kind.shape, kind.dtype, len(axes))
                    equation = columns.replace(invars=equation.invars, outvars=equation.outvars)
            elif name == "conv_general_dilated":
                equation = _product(equation)
            elif name == "dot_general":
                equation = _product_of_matrices(equation, made)
            elif name in _WITHIN:
                if name in CALLS:
                    self.bodies.add(id(body_of(equation)))
                equation = self.with_jaxprs(equation)
            if self.has_fusions and not is_exact(equation):
                equation = _exact(equation)
            equations.append(equation)
            made.update((v, equation) for v in equation.outvars)
            tables.add(equation)
        same = len(equations) == len(jaxpr.eqns)
        if same and all([a is b for a, b in zip(equations, jaxpr.eqns, strict=True)]):
            return jaxpr
        replaced: Jaxpr = jaxpr.replace(eqns=equations)
        return replaced

    def _written(self, jaxpr: Jaxpr, made: Mapping[Var, JaxprEqn]) -> Iterator[JaxprEqn]:
        """Iterate over the equations of a jaxpr, in which writes are apart from what they read."""
        separator = Separator(self.on_cpu)
        for equation in jaxpr.eqns:
            separated = separator.equations(equation)
            several = self._on_several(equation, made)
            if several is None:
                yield from separated
            else:
                one = [e if is_exact(e) else _exact(e) for e in separated]
                yield by_devices.on_several(jaxpr, equation, one, several)

    def _on_several(
        self, equation: JaxprEqn, made: Mapping[Var, JaxprEqn]
    ) -> Callable[..., Any] | None:
        """Return the function that an equation stands for on several devices; None for its own."""
        if not self.has_several:
            return None
        name = equation.primitive.name
        if name == "dynamic_update_slice" or is_put(equation):
            return by_devices.selection(equation)
        if name in by_devices.TRUTHS:
            return by_devices.counted(equation)
        if name in by_devices.EXTREMES:
            return by_devices.extreme(equation)
        if name == "pad":
            return by_devices.spread(equation)
        is_scatter = name.startswith("scatter") and _is_made(equation, made)
        return by_devices.barred(equation) if is_scatter else None

    def _of_fewer_rounds(self, equation: JaxprEqn) -> JaxprEqn:
        """Return a loop with several rounds in one if that is faster, else unchanged."""
        if equation.primitive.name != "scan" or id(equation.params["jaxpr"]) in self.unrolled:
            return equation
        function = unrolled(equation)
        if function is None:
            return equation
        found = _instead(equation, function)
        for inner in body_of(found).eqns:
            if inner.primitive.name == "scan":
                body = inner.params["jaxpr"]
                self.unrolled[id(body)] = body
        return found


def _after_products(equation: JaxprEqn) -> JaxprEqn:
    """Return a loop after the products of its rounds, if they can be computed at once."""
    function = with_products_before(equation)
    return equation if function is None else _instead(equation, function)


def _is_made(equation: JaxprEqn, made: Mapping[Var, JaxprEqn]) -> bool:
    """Return True if the first operand of an equation is computed in the same jaxpr."""
    target = equation.invars[0]
    return isinstance(target, Var) and target in made


def _call(function: Callable[..., Any], *types: Any) -> JaxprEqn:
    """Return a call of a jitted function as one equation."""
    with jax.enable_x64(True):
        found: JaxprEqn = jax.make_jaxpr(jax.jit(function))(
            *[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types]
        ).jaxpr.eqns[0]
    return found


def _instead(
    equation: JaxprEqn, function: Callable[..., Any], operands: Sequence[Any] | None = None
) -> JaxprEqn:
    """Return a call of a function in place of an equation; its operands are the same by default."""
    operands = equation.invars if operands is None else operands
    found: JaxprEqn = _call(function, *[a.aval for a in operands]).replace(
        invars=[*operands], outvars=equation.outvars
    )
    return found


def _exact(equation: JaxprEqn) -> JaxprEqn:
    """Return the equation that computes on CPUs what NumPy does."""
    types: list[Any] = [v.aval for v in equation.invars]
    kinds = tuple([jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types])
    found = _exact_call(equation.primitive, tuple(equation.params.items()), kinds)
    return found.replace(invars=equation.invars, outvars=equation.outvars)  # type: ignore[no-any-return]


@functools.lru_cache(4096)
def _exact_call(primitive: Any, params: tuple[tuple[str, Any], ...], kinds: Any) -> JaxprEqn:
    return _call(exactly(primitive, dict(params)), *kinds)


def _transform(equation: JaxprEqn) -> JaxprEqn:
    """Return a Fourier transform whose axes lie whole on each of several devices."""
    return _instead(equation, by_devices.transform(equation))


def _product(equation: JaxprEqn) -> JaxprEqn:
    """Return a convolution as a product of matrices if that is faster, else unchanged."""
    x, weight = [a.aval for a in equation.invars]
    way = as_product(x, weight, equation.params)
    if way is None:
        return equation
    return _instead(equation, partial(product, way, equation.params))


def _product_of_matrices(equation: JaxprEqn, made: Mapping[Var, JaxprEqn]) -> JaxprEqn:
    """Return a product of matrices in another form if that is faster, else unchanged."""
    way = faster(equation, made)
    if way is None:
        return equation
    function, operands = way
    return _instead(equation, function, operands)


# --- short axes -----------------------------------------------------------------------------------


def _is_short(shape: Sequence[Any], axes: Sequence[int]) -> bool:
    rank, count = len(shape), len(axes)
    if sorted(axes) != [*range(rank - count, rank)] or not all([type(n) is int for n in shape]):
        return False
    return bool(
        1 < math.prod(shape[rank - count :]) <= SHORT and math.prod(shape[: rank - count]) >= MANY
    )


@functools.cache
def _by_columns(name: str, shape: tuple[int, ...], dtype: Any, axes: int) -> JaxprEqn:
    """Return the equation of a reduction over the last `axes` axes by operators on columns."""
    operator, start = _REDUCTIONS[name]

    def reduced(a: Any) -> Any:
        rows = shape[: len(shape) - axes]
        a = jnp.reshape(a, (*rows, -1))
        columns = [a[..., i] for i in range(a.shape[-1])]
        if start is not None:
            columns.insert(
                0, lax.optimization_barrier(jnp.asarray(start, dtype))
            )  # without the barrier XLA removes the addition of zero
        return functools.reduce(lambda x, y: operator(*jnp.broadcast_arrays(x, y)), columns)

    return _call(reduced, jax.ShapeDtypeStruct(shape, dtype))


__all__ = ["MANY", "SHORT", "for_cpu", "for_several_devices", "rewritten"]
