"""The equations that make values, looked up through calls and through what only moves elements."""

from collections.abc import Collection, Mapping
from typing import Any

from npcompat._internal.backend.jaxpr.compat import Jaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.primitives import CALLS, called

ANY: Any = object()
"""Stands for the equation that has made what a call is given: any one may have."""
Made = Mapping[Var, JaxprEqn]
"""Equations of a jaxpr by the values that they make."""


def body_of(equation: JaxprEqn) -> Jaxpr:
    """Return the jaxpr that a call runs."""
    found = called(equation)
    return getattr(found, "jaxpr", found)  # type: ignore[no-any-return]


class Makers:
    """Lookup of the equations that make values; those of the bodies of calls are listed once."""

    def __init__(self) -> None:
        self._bodies: dict[int, tuple[Jaxpr, Made]] = {}  # by id

    def of(self, atom: Any, made: Made, moved: Collection[str], given: Collection[Var] = ()) -> Any:
        """Return the equation that makes a value, and those around it; ANY for one of `given`, the
        inputs of a call, and None for constants and other inputs.

        Primitives in `moved` are passed over, to their first operands.
        """
        while type(atom) is Var and atom in made:
            equation = made[atom]
            name = equation.primitive.name
            if name in CALLS:
                body = body_of(equation)
                atom = body.outvars[equation.outvars.index(atom)]
                made, given = self._of_body(body), body.invars
            elif name in moved:
                atom = equation.invars[0]
            else:
                return equation, made
        return ANY if type(atom) is Var and atom in given else None

    def _of_body(self, body: Jaxpr) -> Made:
        if id(body) not in self._bodies:
            self._bodies[id(body)] = body, {v: e for e in body.eqns for v in e.outvars}
        return self._bodies[id(body)][1]


__all__ = ["ANY", "Made", "Makers", "body_of"]
