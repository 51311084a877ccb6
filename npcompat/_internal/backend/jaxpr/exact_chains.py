"""Barriers in chains of functions that XLA computes as others, with other results.

XLA's algebra is that of real numbers. `a / b / c` becomes `a / (b * c)`, which is infinite where
that product is zero: 1e-30 * 1e-20 is, in single precision. `log(a**b)` becomes `b * log(abs(a))`,
which is a number where the power is nan; `(a + 1e16) - 1e16`, by which one rounds, becomes `a`. NumPy
computes one function after the other. A barrier around the inner result keeps XLA from simplifying,
and on CPUs is gone when functions are fused, so that it costs no time. On other devices, where it
would keep XLA from fusing, a selection of what is not nan takes its place.
"""

import functools
from collections.abc import Collection, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.primitives import CALLS, called

POWERS = frozenset(
    [
        "cbrt",
        "div",
        "exp",
        "exp2",
        "integer_pow",
        "log",
        "logistic",
        "pow",
        "rsqrt",
        "sqrt",
        "square",
        "tan",
    ]
)
"""Functions that XLA simplifies with each other: powers, and what is computed from them."""
_ROOTS = frozenset(["pow", "rsqrt", "sqrt"])
"""Functions that XLA simplifies with products, too."""
_WITH_CONSTANTS: Mapping[str, frozenset[str]] = {
    "add": frozenset(["add", "sub"]),
    "sub": frozenset(["add", "sub"]),
    "mul": frozenset(["mul", "div"]),
    "div": frozenset(["mul", "div"]),
}
"""By function: those that XLA simplifies with it if each has a constant, or one number, as operand."""
CHAINED = POWERS | _WITH_CONSTANTS.keys()
"""Functions that XLA may simplify with those before them."""
_MOVED = frozenset(["broadcast_in_dim", "expand_dims", "reshape", "squeeze", "transpose"])
ANY = object()
"""Stands for the equation that has made what a call is given."""
_Made = Mapping[Var, JaxprEqn]


def separated(
    equation: JaxprEqn, made: _Made, given: Collection[Var] = (), on_cpu: bool = True
) -> list[JaxprEqn]:
    """Return an equation after the barriers around its operands that XLA would simplify with it.

    `given` are the inputs of a call, which any function may have made.
    """
    name = equation.primitive.name
    result: Any = equation.outvars[0].aval
    if getattr(result.dtype, "kind", "V") not in "fc":  # keys of random streams have none
        return [equation]
    makers = [_maker(v, made, given) for v in equation.invars]
    inner = [_is_one_of(m, POWERS) for m in makers]
    if name in _ROOTS:
        inner = [_is_one_of(m, POWERS | {"mul"}) for m in makers]
    elif name not in POWERS:  # products of two powers
        inner = [name == "mul" and all(inner)] * len(makers)
    again = _WITH_CONSTANTS.get(name, ()) if result.ndim else ()
    scaled = [_is_one_of(m, again) and (m is ANY or _has_constant(*m)) for m in makers]
    if all(scaled) or any([_is_constant(v, made) for v in equation.invars]):
        inner = [a or b for a, b in zip(inner, scaled, strict=True)]
    if name == "pow":
        inner[1] = False  # XLA has faster ways for exponents that it knows
    barriers: list[JaxprEqn] = []
    operands: list[Any] = []
    for v, found in zip(equation.invars, inner, strict=True):
        if found:
            barriers.append(_barrier(v.aval, on_cpu).replace(invars=[v], outvars=[Var(v.aval)]))
        operands.append(barriers[-1].outvars[0] if found else v)
    return [*barriers, equation.replace(invars=operands)] if barriers else [equation]


def _is_one_of(maker: Any, names: Collection[str]) -> bool:
    return bool(names) and maker is not None and (maker is ANY or maker[0].primitive.name in names)


def _maker(atom: Any, made: _Made, given: Collection[Var]) -> Any:
    """Return the equation that makes a value, and those around it; ANY for what a call is given,
    None for constants and the inputs of programs and of rounds.
    """
    while type(atom) is Var and atom in made:
        equation = made[atom]
        name = equation.primitive.name
        if name in CALLS:
            inner = getattr(called(equation), "jaxpr", called(equation))
            atom = inner.outvars[equation.outvars.index(atom)]
            made, given = {v: e for e in inner.eqns for v in e.outvars}, inner.invars
        elif name in _MOVED:
            atom = equation.invars[0]
        else:
            return equation, made
    return ANY if type(atom) is Var and atom in given else None


def _has_constant(equation: JaxprEqn, made: _Made) -> bool:
    return any([_is_constant(v, made) for v in equation.invars])


def _is_constant(atom: Any, made: _Made) -> bool:
    """Return True for constants and for single numbers, which XLA combines before it repeats them."""
    while atom.aval.ndim and type(atom) is Var and atom in made:
        equation = made[atom]
        if equation.primitive.name not in _MOVED | {"convert_element_type"}:
            return False
        atom = equation.invars[0]
    return isinstance(atom, Literal) or not atom.aval.ndim


def _selected(x: Any) -> Any:
    """Return `x`, selected where it is not nan, which XLA does not know."""
    if jnp.iscomplexobj(x):
        return lax.complex(_selected(x.real), _selected(x.imag))
    return jnp.where(jnp.isnan(x), jnp.full_like(x, jnp.nan), x)


@functools.lru_cache(4096)
def _barrier(kind: Any, on_cpu: bool) -> JaxprEqn:
    """Return the equation of a barrier around a value of a type, or of what stands for it."""
    function = lax.optimization_barrier if on_cpu else jax.jit(_selected)
    with jax.enable_x64(True):
        found: JaxprEqn = jax.make_jaxpr(function)(
            jax.ShapeDtypeStruct(kind.shape, kind.dtype)
        ).jaxpr.eqns[0]
    return found


__all__ = ["CHAINED", "separated"]
