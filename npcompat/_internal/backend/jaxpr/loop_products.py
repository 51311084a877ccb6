"""Products in loops that are computed for all rounds at once, before the loop.

In `for i in range(n): y[i] = a[:, i] @ a`, each round multiplies a matrix and a vector, and reads
the whole matrix. All rounds together multiply two matrices, which takes a quarter of the time. A
product is moved if its operands depend on the number of the round and on arrays that the loop does
not change, and one of them on the latter only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    jaxpr_as_fun,
)
from npcompat._internal.backend.jaxpr.loop_bodies import is_put
from npcompat._internal.backend.jaxpr.makers import body_of
from npcompat._internal.backend.jaxpr.nested_jaxprs import inline, is_call
from npcompat._internal.backend.jaxpr.primitives import CALLS, elements, family

LEAST_ROUNDS = 8
"""Rounds of a loop from which its products are moved."""
MOST_BYTES_PER_BYTE = 2
"""Bytes that the moved products may take, for each byte that the loop is given."""
FEW_BYTES = 1 << 20
"""Bytes that they may take always."""
_KNOWN = family("elementwise", "fusible", "placing", "free", "product", "positional", "reduction")


def with_products_before(equation: JaxprEqn) -> Callable[..., list[Any]] | None:
    """Return a function that computes a loop after the products of its rounds; None if it has none."""
    length = equation.params["length"]
    if not isinstance(length, int) or length < LEAST_ROUNDS or not _has_product(equation):
        return None
    body = _Body(equation)
    products = body.products()
    return partial(body.run, products) if products else None


def _has_product(equation: JaxprEqn) -> bool:
    for inner in body_of(equation).eqns:
        name = inner.primitive.name
        if name == "dot_general" or (is_call(inner) and _has_product(inner)):
            return True
    return False


class _Body:
    """Body of a `scan`, whose calls are inlined."""

    def __init__(self, equation: JaxprEqn) -> None:
        self._loop = equation
        params = equation.params
        closed: ClosedJaxpr = params["jaxpr"]
        self.equations: list[JaxprEqn] = []
        self.results = inline(closed.jaxpr, {}, self.equations, lambda e: not is_put(e))
        self._closed = closed
        self._length: int = params["length"]
        fixed, carried = params["num_consts"], params["num_carry"]
        variables: list[Var] = closed.jaxpr.invars
        self._fixed = [*closed.jaxpr.constvars, *variables[:fixed]]
        self._state = variables[fixed : fixed + carried]
        self._read = variables[fixed + carried :]
        self._steps = self._counters(equation.invars[fixed : fixed + carried])

    def _counters(self, first: Sequence[Any]) -> dict[Var, tuple[Any, Any]]:
        """Return the first value and the step of each carried value that counts the rounds."""
        made = {v: e for e in self.equations for v in e.outvars}
        found: dict[Var, tuple[Any, Any]] = {}
        for variable, start, result in zip(self._state, first, self.results, strict=False):
            made_by = made.get(result) if isinstance(result, Var) else None
            if made_by is None or made_by.primitive.name != "add" or not isinstance(start, Literal):
                continue
            x, y = made_by.invars
            if x is variable and isinstance(y, Literal):
                found[variable] = start.val, y.val
        return found

    def products(self) -> list[JaxprEqn]:
        """Return the products that can be moved."""
        varies = dict.fromkeys(self._fixed, False) | dict.fromkeys(
            [*self._steps, *self._read], True
        )
        most = self._most_bytes()
        found = []
        for equation in self.equations:
            operands = [v for v in equation.invars if isinstance(v, Var)]
            if not all([v in varies for v in operands]) or not _is_pure(equation):
                continue
            changes = [varies[v] for v in operands]
            if not any(changes) or self._bytes(equation.outvars) <= most:
                varies.update(dict.fromkeys(equation.outvars, any(changes)))
                if equation.primitive.name == "dot_general" and any(changes) and not all(changes):
                    found.append(equation)
        taken = sum([self._bytes(e.outvars) for e in found])
        return found if taken <= most else []

    def _most_bytes(self) -> float:
        given = [v.aval for v in self._loop.invars]
        return max(FEW_BYTES, MOST_BYTES_PER_BYTE * sum(map(_bytes, given)))

    def _bytes(self, variables: Sequence[Any]) -> float:
        return self._length * sum([_bytes(v.aval) for v in variables])

    def run(self, products: list[JaxprEqn], *operands: Any) -> list[Any]:
        """Compute the products of all rounds, then the loop."""
        params = self._loop.params
        given = len(self._fixed) - len(self._closed.jaxpr.constvars)
        fixed = [*self._closed.consts, *operands[:given]]
        read = operands[given + len(self._state) :]
        found = [v for e in products for v in e.outvars]
        counts = {v: self._counts(*self._steps[v]) for v in self._steps}
        inputs = [*counts, *self._read]
        inner: Jaxpr = self._closed.jaxpr.replace(
            constvars=[],
            invars=[*self._fixed, *inputs],
            outvars=found,
            eqns=_needed(found, self.equations),
        )
        compute = partial(jaxpr_as_fun(ClosedJaxpr(inner, ())), *fixed)
        stacked = jax.vmap(compute)(*counts.values(), *read)
        rest = self._closed.jaxpr.replace(
            invars=[*self._closed.jaxpr.invars, *found],
            outvars=self.results,
            eqns=[e for e in self.equations if e not in products],
        )
        changed = {**params, "jaxpr": self._closed.replace(jaxpr=rest)}
        if "linear" in params:
            changed["linear"] = (*params["linear"], *[False] * len(found))
        computed: list[Any] = self._loop.primitive.bind(*operands, *stacked, **changed)
        return computed

    def _counts(self, start: Any, step: Any) -> Any:
        """Return the values of a counter, in the order in which the loop reads others."""
        counted = start + step * jnp.arange(self._length, dtype=jnp.asarray(start).dtype)
        return counted[::-1] if self._loop.params["reverse"] else counted


def _needed(wanted: Sequence[Var], equations: Sequence[JaxprEqn]) -> list[JaxprEqn]:
    """Return the equations that compute some variables."""
    missing = {*wanted}
    found = []
    for equation in reversed(equations):
        if not missing.isdisjoint(equation.outvars):
            found.append(equation)
            missing.update([v for v in equation.invars if isinstance(v, Var)])
    return found[::-1]


def _is_pure(equation: JaxprEqn) -> bool:
    """Return True for functions that compute the same for all rounds at once, without a loop."""
    name = equation.primitive.name
    if name not in CALLS:
        return name in _KNOWN and not equation.effects
    return all(map(_is_pure, body_of(equation).eqns))


def _bytes(kind: Any) -> float:
    size: int = kind.dtype.itemsize
    return elements(kind) * size


__all__ = ["with_products_before"]
