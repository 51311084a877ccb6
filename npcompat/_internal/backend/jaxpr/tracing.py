"""Traces of functions to jaxprs, and functions of these for programs that are compiled."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax.core import Tracer

from npcompat._internal.backend.jaxpr import loop_bodies
from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    DynamicJaxprTracer,
    Jaxpr,
    Var,
    convert_constvars_jaxpr,
    convert_element_type,
    jaxpr_as_fun,
    without_constants,
)
from npcompat._internal.backend.jaxpr.primitives import CALLS, called
from npcompat._internal.backend.jaxpr.roll_loops import rolled
from npcompat._internal.core.dtypes import check_dtype
from npcompat._internal.core.engine_array import EngineArray


def abstract(payload: Any) -> jax.ShapeDtypeStruct:
    """Return the abstract value of a payload, an argument of a trace."""
    if isinstance(payload, onp.ndarray | jax.ShapeDtypeStruct | EngineArray):
        check_dtype(onp.dtype(payload.dtype))
        return jax.ShapeDtypeStruct(payload.shape, payload.dtype)
    aval = jax.typeof(payload)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def distinct(payload: Any, others: Sequence[Any] = ()) -> Any:
    """Return an array, of an outer trace or over the same buffer, that is none of the others.

    A trace distinguishes captured handles by the identity of their payloads. Two that mean one
    array of an outer trace, as after a copy, are written apart: the second one gets zeros, for
    which the program takes an operand.
    """
    if isinstance(payload, Tracer):
        if not any([payload is other for other in others]):
            return payload
        aval: Any = payload.aval
        with jax.enable_x64(True):
            zeros = jnp.zeros(aval.shape, aval.dtype)
            return convert_element_type(zeros, aval.dtype, weak_type=aval.weak_type)
    if payload.sharding.num_devices == 1:
        parts = [payload]
    else:
        parts = [shard.data for shard in payload.addressable_shards]
    return jax.make_array_from_single_device_arrays(payload.shape, payload.sharding, parts)


def lifted(constant: Any) -> Any:
    """Return a tracer of the current trace for a closed-over constant; XLA removes the copy."""
    with jax.enable_x64(True):
        return jnp.copy(constant)


def trace(
    body: Callable[..., Sequence[Any]], arguments: Sequence[jax.ShapeDtypeStruct]
) -> ClosedJaxpr:
    """Trace `body` on arguments of these types; arrays that it closes over become constants."""
    flag = bool(jax.config.read("jax_enable_x64"))

    def outside(*tracers: Any) -> Sequence[Any]:
        with jax.enable_x64(flag):
            return body(*tracers)

    with jax.enable_x64(True):
        try:
            return jax.make_jaxpr(outside)(*arguments)
        except (
            Exception
        ) as error:  # an error of the user's code; JAX's note on hidden frames would not help
            error.__notes__ = [
                note
                for note in getattr(error, "__notes__", ())
                if "JAX_TRACEBACK_FILTERING" not in note
            ]
            raise


def _as_call(jaxpr: Any) -> Callable[..., Any]:
    """Return a function whose trace is one call of the jaxpr, however many equations that has."""
    call = jax.make_jaxpr(jax.jit(lambda x: (x,)))(0.0).jaxpr.eqns[0]
    lengths = {"in": len(jaxpr.invars), "donated": len(jaxpr.invars), "out": len(jaxpr.outvars)}
    params = dict(call.params, jaxpr=ClosedJaxpr(jaxpr, ()), name="equations")
    for name, value in call.params.items():
        if type(value) is tuple and (length := lengths.get(name.partition("_")[0])) is not None:
            params[name] = value * length
    return partial(call.primitive.bind, **params)


_SMALL = 1 << 15
"""Maximum bytes of constants whose values are compared and used for rerolling."""


def _known(jaxpr: ClosedJaxpr, constant: Sequence[bool]) -> dict[Var, Any]:
    """Return the values of small constants as NumPy arrays."""
    found = zip(jaxpr.jaxpr.constvars, jaxpr.consts, constant, strict=True)
    return {
        v: onp.asarray(c)
        for v, c, known in found
        if known and not isinstance(c, Tracer) and c.nbytes <= _SMALL
    }


def _with_equal_constants(equations: Jaxpr, known: Mapping[Var, Any]) -> Jaxpr:
    """Replace equal constants by one variable, so that rounds of a loop have equal equations."""
    first: dict[Any, Var] = {}
    same: dict[Any, Var] = {}
    for variable, value in known.items():
        kept = first.setdefault((variable.aval, value.tobytes()), variable)
        if kept is not variable:
            same[variable] = kept
    if not same:
        return equations

    def renamed(atoms: Sequence[Any]) -> list[Any]:
        return [same.get(a, a) if type(a) is Var else a for a in atoms]

    replaced = [e.replace(invars=renamed(e.invars)) for e in equations.eqns]
    found: Jaxpr = equations.replace(eqns=replaced, outvars=renamed(equations.outvars))
    return found


def _without_unused(jaxpr: Jaxpr) -> Jaxpr:
    """Return the jaxpr without equations on which neither results nor effects depend."""
    needed, kept = {v for v in jaxpr.outvars if type(v) is Var}, []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not needed.isdisjoint(equation.outvars):
            kept.append(equation)
            needed.update([v for v in equation.invars if type(v) is Var])
    replaced: Jaxpr = jaxpr.replace(eqns=kept[::-1])
    return replaced


def _with_loops(jaxpr: Jaxpr, known: Mapping[Var, Any]) -> tuple[Jaxpr, Sequence[Any]]:
    """Return the jaxpr with its loops rerolled, and the numbers that these loop over.

    The numbers become the first inputs of the jaxpr.
    """
    compute = rolled(jaxpr, known)
    if compute is None:
        return jaxpr, ()
    avals: list[Any] = [v.aval for v in jaxpr.invars]
    inputs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
    with jax.enable_x64(True):
        found = jax.make_jaxpr(compute)(*inputs)
    return convert_constvars_jaxpr(found.jaxpr), found.consts


def program_function(jaxpr: ClosedJaxpr, captured: Sequence[Any]) -> Callable[..., list[Any]]:
    """Return `f(captured, arguments)` from a trace, with captured constants as parameters.

    None in `captured` stands for a handle that is never read.
    """
    position = {id(c): i for i, c in enumerate(captured) if c is not None}
    found = [position.get(id(c)) for c in jaxpr.consts]
    places = [(i, c if i is None else None) for i, c in zip(found, jaxpr.consts, strict=True)]
    known = _known(jaxpr, [i is None for i in found])
    equations = _without_unused(_with_equal_constants(without_constants(jaxpr), known))
    compact, numbers = _with_loops(convert_constvars_jaxpr(equations), known)
    call = _as_call(compact)

    def run(values: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        consts = [c if i is None else values[i] for i, c in places]
        traced = [
            type(a) is DynamicJaxprTracer for a in (*consts, *arguments) if isinstance(a, Tracer)
        ]
        outs: list[Any]
        if all(traced):
            outs = call(*numbers, *consts, *arguments)
        # differentiated: evaluated one by one, so that only necessary residuals are kept
        else:
            outs = jaxpr_as_fun(ClosedJaxpr(equations, consts))(*arguments)
        return outs

    return run


def dependence(jaxpr: ClosedJaxpr, captured: Sequence[Any]) -> Callable[[], list[frozenset[int]]]:
    """Return a function that finds the inputs on which each output of a trace depends.

    They are those with respect to which it has a derivative, numbered: captured constants, then
    arguments. The function holds none of the captured arrays, and computes once.
    """
    position = {id(c): i for i, c in enumerate(captured)}
    inner = jaxpr.jaxpr
    numbered = [
        *zip(inner.constvars, [position.get(id(c)) for c in jaxpr.consts], strict=True),
        *zip(inner.invars, range(len(captured), len(captured) + len(inner.invars)), strict=True),
    ]
    known = {v: frozenset() if i is None else frozenset((i,)) for v, i in numbered}
    return cache(partial(_dependence, inner, known))


def _dependence(jaxpr: Jaxpr, known: dict[Var, frozenset[int]]) -> list[frozenset[int]]:
    def of(atom: Any) -> frozenset[int]:
        return known.get(atom, _NOTHING) if type(atom) is Var else _NOTHING

    for eqn in jaxpr.eqns:
        found = [of(v) for v in eqn.invars]
        name = eqn.primitive.name
        if name == "stop_gradient":
            outs = [_NOTHING] * len(eqn.outvars)
        elif name in CALLS - _OWN_DERIVATIVES:
            body = getattr(called(eqn), "jaxpr", called(eqn))
            outs = _dependence(body, dict(zip(body.invars, found, strict=True)))
        else:
            outs = [_NOTHING.union(*found)] * len(eqn.outvars)
        for v, out in zip(eqn.outvars, outs, strict=True):
            kind: Any = v.aval
            inexact = getattr(kind.dtype, "kind", " ") in "fcV"  # dtypes of random keys lack `kind`
            known[v] = out if inexact else _NOTHING
    return [of(v) for v in jaxpr.outvars]


_NOTHING: frozenset[int] = frozenset()
_OWN_DERIVATIVES = frozenset(["custom_jvp_call", "custom_vjp_call"])
"""Calls whose derivative does not follow from what they compute."""


def contains_loop(jaxpr: Any, names: Collection[str]) -> bool:
    """Return True if a jaxpr, or one in it, has a loop among `names` ("scan", "while")."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        if loop_bodies.is_put(equation):
            continue
        if equation.primitive.name in names:
            return True
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, tuple | list) else (parameter,):
                if hasattr(getattr(inner, "jaxpr", inner), "eqns") and contains_loop(inner, names):
                    return True
    return False


def eagerly() -> AbstractContextManager[None]:
    """Return a context in which programs of concrete arrays run at once, even during a trace."""
    context: AbstractContextManager[None] = jax.core.eval_context()
    return context


def output_types(jaxpr: ClosedJaxpr) -> list[tuple[tuple[int, ...], Any]]:
    """Return the shape and dtype of each output."""
    return [(a.shape, a.dtype) for a in jaxpr.out_avals]


def count(mask: Any) -> Any:
    """Count the true elements of a traced mask, as a weakly typed number."""
    with jax.enable_x64(True):
        return jax.lax.reduce(jnp.where(mask, 1, 0), 0, jax.lax.add, tuple(range(mask.ndim)))


def weak(number: Any) -> Any:
    """Convert a number to a weakly typed one, like a Python number."""
    with jax.enable_x64(True):
        return convert_element_type(number, weak_type=True)


def counted_from_zero(position: Any, size: int) -> Any:
    """Return a position counted from zero, from one that may be counted from the end."""
    with jax.enable_x64(True):
        position = jnp.asarray(position, jnp.int64)
        return jnp.where(position < 0, position + size, position)


def exactly(compute: Callable[..., Any], *payloads: Any) -> Any:
    """Call a function with 64-bit dtypes honoured."""
    with jax.enable_x64(True):
        return compute(*payloads)


def any_true(flags: Sequence[Any]) -> Any:
    """Stack the error flags of a program to one vector."""
    return jnp.stack([jnp.asarray(f, bool).reshape(()) for f in flags])
