"""Branches of programs: predicated arms if they are small, else `lax.cond`.

XLA copies each array of which an arm of `lax.cond` writes an element. So if both arms are small,
both run. A partial write of the arm that is not taken writes the old elements back.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr import loop_bodies
from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Literal
from npcompat._internal.backend.jaxpr.primitives import CALLS, SAME, called

FEW = 4096
"""Maximum elements, of both arms together, up to which both are computed."""
_HEAVY = frozenset(("while", "scan", "cond", "dot_general", "custom_call", "sort"))
_PUT = "dynamic_update_slice"

Arm = Callable[..., tuple[Any, ...]]


def run(flag: Any, then: Arm, otherwise: Arm, arrays: Sequence[Any], selects: bool) -> Any:
    """Run the arm that a flag selects; both arms if they are small and `selects` is True.

    A differentiated branch needs `lax.cond`: the derivative of the arm not taken may be nan.
    """
    with jax.enable_x64(True):
        flag = jnp.asarray(flag, bool).reshape(())
        if selects:
            arms = [jax.make_jaxpr(arm)(*arrays) for arm in (then, otherwise)]
            if sum(_elements(arm.jaxpr) for arm in arms) <= FEW:
                return _both(flag, arms[0], arms[1], arrays)
        return lax.cond(flag, then, otherwise, *arrays)


def _elements(jaxpr: Any) -> float:
    """Count the elements that a jaxpr computes; infinite if one of its primitives is expensive."""
    total: float = 0
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in _HEAVY or "solve" in name or name in ("lu", "qr", "svd", "eigh", "cholesky"):
            return math.inf
        if loop_bodies.is_put(equation):
            total += math.prod(equation.invars[1].aval.shape)
        elif name in CALLS:
            inner = called(equation)
            total += _elements(getattr(inner, "jaxpr", inner))
        elif name == _PUT:
            total += math.prod(equation.invars[1].aval.shape)
        elif name not in SAME:
            total += max([math.prod(v.aval.shape) for v in equation.outvars], default=0)
    return total


def _both(flag: Any, then: ClosedJaxpr, otherwise: ClosedJaxpr, arrays: Sequence[Any]) -> Any:
    first = _predicated(then, arrays, flag)
    second = _predicated(otherwise, arrays, ~flag)
    result: list[Any] = []
    chained = {}
    for n, ((a, root), (b, other)) in enumerate(zip(first, second, strict=True)):
        if root is not None and root == other:
            chained[n] = root  # both arms write parts of one array: run them one after the other
            result.append(None)
        else:
            result.append(a if a is b else jnp.where(flag, a, b))
    if chained:
        # The second arm starts from the arrays of the first, which are unchanged if that one is not
        # taken.
        begun = list(arrays)
        for n, root in chained.items():
            begun[root] = first[n][0]
        again = _predicated(otherwise, begun, ~flag)
        for n in chained:
            result[n] = again[n][0]
    return tuple(result)


def _predicated(closed: ClosedJaxpr, arrays: Sequence[Any], flag: Any) -> list[tuple[Any, Any]]:
    """Evaluate a jaxpr; where the flag is not set, partial writes write the old elements back.

    Return each output, and the position of the operand that it is after such writes, or None.
    """

    def evaluated(
        jaxpr: Any, constants: Sequence[Any], operands: Sequence[Any], roots: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, constants, strict=True))
        values.update(zip(jaxpr.invars, operands, strict=True))
        root_of = dict(zip(jaxpr.invars, roots, strict=True))

        def value(atom: Any) -> Any:
            if not isinstance(atom, Literal):
                return values[atom]
            aval: Any = atom.aval
            return lax.convert_element_type(jnp.asarray(atom.val), aval.dtype)

        def root(atom: Any) -> Any:
            return None if isinstance(atom, Literal) else root_of.get(atom)

        for equation in jaxpr.eqns:
            given = [value(v) for v in equation.invars]
            name = equation.primitive.name
            in_place = loop_bodies.is_put(equation)
            if name in CALLS and not in_place:
                inner = called(equation)
                body, closed_over = getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
                found = evaluated(body, closed_over, given, [root(v) for v in equation.invars])
                for v, (out, source) in zip(equation.outvars, found, strict=True):
                    values[v], root_of[v] = out, source
                continue
            if (in_place or name == _PUT) and root(equation.invars[0]) is not None:
                target, new, *starts = given
                old = lax.dynamic_slice(target, starts, new.shape, allow_negative_indices=False)
                put = loop_bodies.in_place if in_place else loop_bodies.put
                values[equation.outvars[0]] = put(target, jnp.where(flag, new, old), starts)
                root_of[equation.outvars[0]] = root(equation.invars[0])
                continue
            params = equation.primitive.get_bind_params(equation.params)
            outs = equation.primitive.bind(*given, **params)
            outs = outs if equation.primitive.multiple_results else [outs]
            values.update(zip(equation.outvars, outs, strict=True))
            if name in SAME and len(equation.invars) == 1:
                root_of[equation.outvars[0]] = root(equation.invars[0])
        return [(value(v), root(v)) for v in jaxpr.outvars]

    roots = [n if getattr(a, "ndim", 0) else None for n, a in enumerate(arrays)]
    return evaluated(closed.jaxpr, closed.consts, arrays, roots)


__all__ = ["FEW", "run"]
