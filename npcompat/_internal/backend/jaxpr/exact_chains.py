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
from npcompat._internal.backend.jaxpr.makers import ANY, Made, Makers
from npcompat._internal.backend.jaxpr.primitives import family

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
_MOVED = family("placing")


class Chains:
    """Chains among the equations of jaxprs, and what keeps XLA from simplifying them."""

    def __init__(self, makers: Makers, on_cpu: bool) -> None:
        self._makers, self._on_cpu = makers, on_cpu

    def separated(
        self, equation: JaxprEqn, made: Made, given: Collection[Var] = ()
    ) -> list[JaxprEqn]:
        """Return an equation after the barriers around operands that XLA would simplify with it.

        `given` are the inputs of a call, which any function may have made.
        """
        result: Any = equation.outvars[0].aval
        if getattr(result.dtype, "kind", "V") not in "fc":  # keys of random streams have none
            return [equation]
        inner = self._simplified(equation, made, given, result.ndim > 0)
        barriers: list[JaxprEqn] = []
        operands: list[Any] = []
        for v, found in zip(equation.invars, inner, strict=True):
            if found:
                barrier = _barrier(v.aval, self._on_cpu)
                barriers.append(barrier.replace(invars=[v], outvars=[Var(v.aval)]))
            operands.append(barriers[-1].outvars[0] if found else v)
        return [*barriers, equation.replace(invars=operands)] if barriers else [equation]

    def _simplified(
        self, equation: JaxprEqn, made: Made, given: Collection[Var], repeats: bool
    ) -> list[bool]:
        """Return which operands XLA would simplify with an equation; it takes single numbers for
        constants where the result `repeats` them.
        """
        name = equation.primitive.name
        makers = [self._maker(v, made, given) for v in equation.invars]
        inner = [_is_one_of(m, POWERS) for m in makers]
        if name in _ROOTS:
            inner = [_is_one_of(m, POWERS | {"mul"}) for m in makers]
        elif name not in POWERS:  # products of two powers
            inner = [name == "mul" and all(inner)] * len(makers)
        again = _WITH_CONSTANTS.get(name, ())
        scaled = [_is_one_of(m, again) and _has_constant(m, repeats) for m in makers]
        constant = [_is_constant(v, made, repeats) for v in equation.invars]
        if all(scaled) or any(constant):
            inner = [a or b for a, b in zip(inner, scaled, strict=True)]
        if name == "pow":
            inner[1] = False  # XLA has faster ways for exponents that it knows
        return inner

    def _maker(self, atom: Any, made: Made, given: Collection[Var]) -> Any:
        """Return what has made a value; through a selection by one number, which may be a constant,
        and is then made by XLA first, a power.
        """
        maker = self._makers.of(atom, made, _MOVED, given)
        while maker not in (None, ANY) and maker[0].primitive.name == "select_n":
            which, *cases = maker[0].invars
            if not _is_number(which):
                break
            found = [self._makers.of(v, maker[1], _MOVED) for v in cases]
            powers = [m for m in found if _is_one_of(m, POWERS | {"select_n"})]
            if not powers:
                break
            maker = powers[0]
        return maker


def _is_one_of(maker: Any, names: Collection[str]) -> bool:
    return bool(names) and maker is not None and (maker is ANY or maker[0].primitive.name in names)


def _has_constant(maker: Any, repeats: bool) -> bool:
    return maker is ANY or any([_is_constant(v, maker[1], repeats) for v in maker[0].invars])


def _is_constant(atom: Any, made: Made, repeats: bool) -> bool:
    """Return True for constants, and for single numbers that are repeated: XLA combines them first."""
    while type(atom) is Var and atom in made and not (repeats and _is_number(atom)):
        equation: JaxprEqn = made[atom]
        if equation.primitive.name not in _MOVED | {"convert_element_type"}:
            return False
        atom = equation.invars[0]
    return isinstance(atom, Literal) or (repeats and _is_number(atom))


def _is_number(atom: Any) -> bool:
    return not atom.aval.ndim


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


__all__ = ["CHAINED", "Chains"]
