"""Body of a scan, as the equations of one round."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.loop_bodies import is_apart
from npcompat._internal.backend.jaxpr.nested_jaxprs import inline


class ScanBody:
    """Equations of one round of a `scan`, in which calls are inlined.

    Attributes
    ----------
    closed : ClosedJaxpr
        The body as the loop has it.
    equations, results : list
        Its equations, and its results by their variables.
    fixed, state, read : list of Var
        What no round changes, what one round hands to the next, and what each reads of its own.
    steps : dict
        First value and step of each variable of `state` that counts the rounds.
    """

    def __init__(self, loop: JaxprEqn) -> None:
        self.loop = loop
        params = loop.params
        self.closed: ClosedJaxpr = params["jaxpr"]
        self.equations: list[JaxprEqn] = []
        self.results = inline(self.closed.jaxpr, {}, self.equations, lambda e: not is_apart(e))
        self.length: int = params["length"]
        self.reverse: bool = params["reverse"]
        given, carried = params["num_consts"], params["num_carry"]
        variables: list[Var] = self.closed.jaxpr.invars
        self.fixed = [*self.closed.jaxpr.constvars, *variables[:given]]
        self.state = variables[given : given + carried]
        self.read = variables[given + carried :]
        self.steps = self._counters(loop.invars[given : given + carried])

    def _counters(self, first: Sequence[Any]) -> dict[Var, tuple[Any, Any]]:
        made = {v: e for e in self.equations for v in e.outvars}
        found: dict[Var, tuple[Any, Any]] = {}
        for variable, start, result in zip(self.state, first, self.results, strict=False):
            made_by = made.get(result) if isinstance(result, Var) else None
            if made_by is None or made_by.primitive.name != "add" or not isinstance(start, Literal):
                continue
            kind: Any = variable.aval
            if kind.dtype.kind not in "iu":
                continue  # sums of floats are not their products
            x, y = made_by.invars
            if x is variable and isinstance(y, Literal):
                found[variable] = start.val, y.val
        return found

    def operands(self, given: Sequence[Any]) -> tuple[list[Any], Sequence[Any], Sequence[Any]]:
        """Split the operands of the loop into the values of `fixed`, `state` and `read`."""
        a = len(self.fixed) - len(self.closed.jaxpr.constvars)
        b = a + len(self.state)
        return [*self.closed.consts, *given[:a]], given[a:b], given[b:]

    def counts(self, variable: Var, xp: Any = jnp) -> Any:
        """Return the values of a counter, in the order in which the loop reads others.

        They are an array of `xp`: of JAX, for a program, or of NumPy, where they are known.
        """
        start, step = self.steps[variable]
        kind: Any = variable.aval
        counted = xp.arange(self.length, dtype=kind.dtype)
        counted = xp.asarray(start, kind.dtype) + xp.asarray(step, kind.dtype) * counted
        return counted[::-1] if self.reverse else counted

    def count(self, variable: Var) -> Any:
        """Return a counter's value after the loop."""
        start, step = self.steps[variable]
        kind: Any = variable.aval
        return jnp.asarray(start, kind.dtype) + self.length * jnp.asarray(step, kind.dtype)


__all__ = ["ScanBody"]
