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

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Var,
    jaxpr_as_fun,
)
from npcompat._internal.backend.jaxpr.nested_jaxprs import is_pure, needed, runs
from npcompat._internal.backend.jaxpr.primitives import bytes_of, family
from npcompat._internal.backend.jaxpr.scan_body import ScanBody

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
    if not isinstance(length, int) or length < LEAST_ROUNDS or not runs(equation, ("dot_general",)):
        return None
    body = _Products(equation)
    products = body.products()
    return partial(body.run, products) if products else None


class _Products(ScanBody):
    """Body of a loop, and the products in it."""

    def products(self) -> list[JaxprEqn]:
        """Return the products that can be moved."""
        varies = dict.fromkeys(self.fixed, False) | dict.fromkeys([*self.steps, *self.read], True)
        most = self._most_bytes()
        found = []
        for equation in self.equations:
            operands = [v for v in equation.invars if isinstance(v, Var)]
            if not all([v in varies for v in operands]) or not is_pure(equation, _KNOWN):
                continue
            changes = [varies[v] for v in operands]
            if not any(changes) or self._bytes(equation.outvars) <= most:
                varies.update(dict.fromkeys(equation.outvars, any(changes)))
                if equation.primitive.name == "dot_general" and any(changes) and not all(changes):
                    found.append(equation)
        taken = sum([self._bytes(e.outvars) for e in found])
        return found if taken <= most else []

    def _most_bytes(self) -> float:
        given = [v.aval for v in self.loop.invars]
        return max(FEW_BYTES, MOST_BYTES_PER_BYTE * sum(map(bytes_of, given)))

    def _bytes(self, variables: Sequence[Any]) -> float:
        return self.length * sum([bytes_of(v.aval) for v in variables])

    def run(self, products: list[JaxprEqn], *operands: Any) -> list[Any]:
        """Compute the products of all rounds, then the loop."""
        params = self.loop.params
        fixed, _, read = self.operands(operands)
        found = [v for e in products for v in e.outvars]
        counts = {v: self.counts(v) for v in self.steps}
        inputs = [*counts, *self.read]
        inner: Jaxpr = self.closed.jaxpr.replace(
            constvars=[],
            invars=[*self.fixed, *inputs],
            outvars=found,
            eqns=needed(found, self.equations),
        )
        compute = partial(jaxpr_as_fun(ClosedJaxpr(inner, ())), *fixed)
        stacked = jax.vmap(compute)(*counts.values(), *read)
        rest = self.closed.jaxpr.replace(
            invars=[*self.closed.jaxpr.invars, *found],
            outvars=self.results,
            eqns=[e for e in self.equations if e not in products],
        )
        changed = {**params, "jaxpr": self.closed.replace(jaxpr=rest)}
        if "linear" in params:
            changed["linear"] = (*params["linear"], *[False] * len(found))
        computed: list[Any] = self.loop.primitive.bind(*operands, *stacked, **changed)
        return computed


__all__ = ["with_products_before"]
