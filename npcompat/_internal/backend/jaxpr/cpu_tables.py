"""Tables that XLA's CPU compiler computes again for each read, and which are stored first instead.

XLA fuses the computation of a table with its consumer, which then computes an element each time it
reads it. It makes an exception of `exp`, `log` and others that it takes for expensive, but not of
the functions of `COSTLY_TO_REPEAT`: `np.cos(x)[None, :] * y` took 20 times as long as with a stored
cosine. A barrier does not prevent that, since it is removed before fusion; a scatter does, because
it is never fused.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Var
from npcompat._internal.backend.jaxpr.makers import Made, Makers, body_of
from npcompat._internal.backend.jaxpr.primitives import CALLS, ELEMENTWISE, family

TABLE_READERS = ELEMENTWISE | {"broadcast_in_dim", "gather"}
"""Primitives that may read elements of an operand several times."""
OFTEN = 4
"""Minimum ratio of the elements read from a table to its elements for which it is stored.

Storing an element takes as long as reading one.
"""
MANY_REPEATED = 1024
"""Minimum number of elements that are computed again for which a broadcast table is stored."""
COSTLY_TO_REPEAT = frozenset(["cos", "erf_inv", "sin", "tan"])
"""Functions that XLA computes again for each read, although one takes 5 to 40 ns."""
_COSTLY_IF_COMPLEX = frozenset(["cosh", "exp", "log", "sinh", "sqrt"])
_COMPUTED = ELEMENTWISE | family("reduction") | {"argmax", "argmin", "concatenate", "iota", "pad"}
_MOVED = family("placing") | {"optimization_barrier", "rev", "slice"}


class Tables:
    """Tables among the values of a jaxpr, whose equations are added in order.

    Parameters
    ----------
    call : callable
        Return a call of a function, for operands of given types, as one equation.
    makers : Makers
        Lookup of equations.
    """

    def __init__(self, call: Callable[..., JaxprEqn], makers: Makers) -> None:
        self._call, self._makers = call, makers
        self._costly: set[Var] = set()
        self._stored: dict[Any, Var] = {}

    def before(self, equation: JaxprEqn, made: Made) -> list[JaxprEqn]:
        """Return an equation that may read a table, after those that store what has to be."""
        result = equation.outvars[0].aval
        if equation.primitive.name == "gather":
            table: Any = equation.invars[0]
            read = _is_read_often(table.aval, result) and self._is_computed(table, made)
            tables = [table] if read else []
        else:
            tables = [
                v
                for v in (equation.invars if self._costly else ())
                if type(v) is Var and v in self._costly and _is_repeated(v.aval, result)
            ]
        if not tables:
            return [equation]
        storing = []
        for table in tables:
            if table not in self._stored:
                self._stored[table] = Var(table.aval)
                store = _store(tuple(table.aval.shape), table.aval.dtype, self._call)
                storing += [store.replace(invars=[table], outvars=[self._stored[table]])]
        operands = [self._stored[v] if v in tables else v for v in equation.invars]
        return [*storing, equation.replace(invars=operands)]

    def _is_computed(self, table: Any, made: Made) -> bool:
        """Return True if XLA fuses the computation of a table with its consumers."""
        maker = self._makers.of(table, made, _MOVED)
        return type(maker) is tuple and maker[0].primitive.name in _COMPUTED

    def add(self, equation: JaxprEqn) -> None:
        """Note whether the results of an equation are costly to compute again."""
        self._costly |= _costly_results(equation, self._costly)


def _costly_results(equation: JaxprEqn, costly: set[Var]) -> set[Var]:
    """Return the results of an equation that are costly to compute again; `costly` ones are known."""
    name = equation.primitive.name
    result: Any = equation.outvars[0].aval if equation.outvars else None
    if name in COSTLY_TO_REPEAT or (
        name in _COSTLY_IF_COMPLEX and getattr(result.dtype, "kind", "V") == "c"
    ):
        return set(equation.outvars)
    if name in CALLS:
        inner = body_of(equation)
        pairs = zip(inner.invars, equation.invars, strict=True)
        within = {v for v, given in pairs if type(given) is Var and given in costly}
        for step in inner.eqns:
            within |= _costly_results(step, within)
        return {
            v
            for v, result in zip(equation.outvars, inner.outvars, strict=True)
            if type(result) is Var and result in within
        }
    if (name in ELEMENTWISE or name in _MOVED) and any(
        [type(v) is Var and v in costly for v in equation.invars]
    ):
        return set(equation.outvars)
    return set()


def _sizes(*types: Any) -> list[int] | None:
    """Return the numbers of elements of types; None where a length or the dtype is not known."""
    lengths: Sequence[Any] = [n for t in types for n in t.shape]
    if not all([type(n) is int for n in lengths]):
        return None
    if getattr(types[0].dtype, "kind", "V") not in "biufc":
        return None
    return [math.prod(t.shape) for t in types]


def _is_read_often(table: Any, taken: Any) -> bool:
    sizes = _sizes(table, taken)
    return sizes is not None and 1 < OFTEN * sizes[0] <= sizes[1]


def _is_repeated(table: Any, result: Any) -> bool:
    """Return True if a broadcast repeats a table, and not only a number, which XLA computes once."""
    sizes = _sizes(table, result)
    return sizes is not None and sizes[0] > 1 and sizes[1] - sizes[0] >= MANY_REPEATED


@functools.cache
def _store(shape: tuple[int, ...], dtype: Any, call: Callable[..., JaxprEqn]) -> JaxprEqn:
    """Return the equation that stores a table in memory, by a scatter."""

    def store(table: Any) -> Any:
        elements = jnp.reshape(table, -1)
        places = lax.broadcasted_iota("int32", (elements.size, 1), 0)
        numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
        result = lax.scatter(
            jnp.zeros_like(elements),
            places,
            elements,
            numbers,
            unique_indices=True,
            mode="promise_in_bounds",
        )
        return jnp.reshape(result, shape)

    return call(store, jnp.zeros(shape, dtype))


__all__ = ["COSTLY_TO_REPEAT", "MANY_REPEATED", "OFTEN", "TABLE_READERS", "Tables"]
