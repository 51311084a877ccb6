"""Jaxprs within jaxprs: how they are found, and how the equations of calls take their place."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.primitives import called

_INLINED = frozenset(["jit", "pjit"])


def within(equation: JaxprEqn) -> Iterator[Jaxpr]:
    """Iterate over the jaxprs that are parameters of an equation."""
    for value in equation.params.values():
        for found in value if isinstance(value, tuple) else (value,):
            if isinstance(found, ClosedJaxpr | Jaxpr):
                yield found.jaxpr if isinstance(found, ClosedJaxpr) else found


def inline(
    jaxpr: Jaxpr,
    names: dict[Any, Any],
    made: list[JaxprEqn],
    opens: Callable[[JaxprEqn], bool],
    changed: Callable[[JaxprEqn], JaxprEqn] = lambda equation: equation,
) -> list[Any]:
    """Append the equations of a jaxpr, those of its calls included; return its results.

    Parameters
    ----------
    names : dict
        What the variables of the jaxpr are called in those equations.
    made : list
        The equations so far.
    opens : callable
        Says which of its calls are replaced.
    changed : callable
        Returns what stands for an equation that is no such call.
    """

    def named(atoms: Sequence[Any]) -> list[Any]:
        return [names.get(v, v) if isinstance(v, Var) else v for v in atoms]

    for equation in jaxpr.eqns:
        invars = named(equation.invars)
        if is_call(equation) and opens(equation):
            inner = called(equation).jaxpr
            begins = dict(zip(inner.invars, invars, strict=True))
            results = inline(inner, begins, made, opens, changed)
            names.update(zip(equation.outvars, results, strict=True))
            continue
        outvars = [Var(v.aval) for v in equation.outvars]
        names.update(zip(equation.outvars, outvars, strict=True))
        made.append(changed(equation).replace(invars=invars, outvars=outvars))
    return named(jaxpr.outvars)


def is_call(equation: JaxprEqn) -> bool:
    """Return True for a call of a jitted function that has no constants."""
    return equation.primitive.name in _INLINED and not called(equation).consts


__all__ = ["inline", "is_call", "within"]
