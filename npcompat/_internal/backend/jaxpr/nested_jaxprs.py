"""Jaxprs within jaxprs: how they are found and changed, and how equations of calls take their place."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.makers import body_of
from npcompat._internal.backend.jaxpr.primitives import CALLS, called

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


def runs(equation: JaxprEqn, names: Collection[str]) -> bool:
    """Return True if a call or a loop has an equation of some primitives, or a call that has."""
    equations = body_of(equation).eqns
    return any([e.primitive.name in names or (is_call(e) and runs(e, names)) for e in equations])


def is_pure(equation: JaxprEqn, primitives: Collection[str]) -> bool:
    """Return True for an equation of some primitives, or a call of such, without effects."""
    name = equation.primitive.name
    if name not in CALLS:
        return name in primitives and not equation.effects
    return all([is_pure(inner, primitives) for inner in body_of(equation).eqns])


def needed(wanted: Sequence[Var], equations: Sequence[JaxprEqn]) -> list[JaxprEqn]:
    """Return the equations that compute some variables."""
    missing = {*wanted}
    found = []
    for equation in reversed(equations):
        if not missing.isdisjoint(equation.outvars):
            found.append(equation)
            missing.update([v for v in equation.invars if isinstance(v, Var)])
    return found[::-1]


class NestedJaxprs(ABC):
    """Jaxprs that are changed, each once, so that equations which share one share its new form."""

    def __init__(self) -> None:
        self._changed: dict[int, tuple[Any, Any]] = {}  # by id

    @abstractmethod
    def change(self, jaxpr: Jaxpr) -> Jaxpr:
        """Return the new form of a jaxpr, or the jaxpr itself."""

    def jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        """Return the new form of a jaxpr."""
        if id(jaxpr) not in self._changed:
            self._changed[id(jaxpr)] = jaxpr, self.change(jaxpr)
        return self._changed[id(jaxpr)][1]  # type: ignore[no-any-return]

    def with_jaxprs(self, equation: JaxprEqn) -> JaxprEqn:
        """Return an equation with the new forms of the jaxprs that are its parameters."""
        params = {key: self._parameter(value) for key, value in equation.params.items()}
        same = all([params[key] is value for key, value in equation.params.items()])
        return equation if same else equation.replace(params=params)

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            if id(value) not in self._changed:
                found = self.jaxpr(value.jaxpr)
                closed = value if found is value.jaxpr else value.replace(jaxpr=found)
                self._changed[id(value)] = value, closed
            return self._changed[id(value)][1]
        if isinstance(value, Jaxpr):
            return self.jaxpr(value)
        if isinstance(value, tuple):
            new = [self._parameter(v) for v in value]
            return value if all([a is b for a, b in zip(new, value, strict=True)]) else tuple(new)
        return value


__all__ = ["NestedJaxprs", "inline", "is_call", "is_pure", "needed", "runs", "within"]
