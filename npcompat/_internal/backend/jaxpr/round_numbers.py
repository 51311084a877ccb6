"""Numbers in the body of a loop that are known for each round when the program is compiled."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.scan_body import ScanBody

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": onp.add,
    "and": onp.bitwise_and,
    "broadcast_in_dim": lambda x: x,
    "clamp": lambda low, x, high: onp.minimum(onp.maximum(x, low), high),
    "convert_element_type": lambda x: x,
    "copy": lambda x: x,
    "eq": onp.equal,
    "ge": onp.greater_equal,
    "gt": onp.greater,
    "le": onp.less_equal,
    "lt": onp.less,
    "max": onp.maximum,
    "min": onp.minimum,
    "mul": onp.multiply,
    "ne": onp.not_equal,
    "neg": onp.negative,
    "not": onp.invert,
    "or": onp.bitwise_or,
    "reshape": lambda x: x,
    "select_n": lambda which, *cases: onp.choose(onp.asarray(which, int), cases),
    "squeeze": lambda x: x,
    "sub": onp.subtract,
}
_KINDS = "iub"


class RoundNumbers:
    """Integers and flags of a loop's rounds, in the order of what the rounds read and return.

    They follow from the counters of the loop, and from constants.
    """

    def __init__(self, body: ScanBody) -> None:
        self._rounds = body.length
        self._known: dict[Var, onp.ndarray] = {v: _counted(body, v) for v in body.steps}

    def of(self, atom: Any) -> onp.ndarray | None:
        """Return what an atom is in each round; None if that is not known."""
        if not isinstance(atom, Literal):
            return self._known.get(atom)
        kind: Any = atom.aval
        return onp.full(self._rounds, atom.val, kind.dtype) if onp.ndim(atom.val) == 0 else None

    def add(self, equation: JaxprEqn) -> None:
        """Add the result of an equation, if it is known."""
        out, name = equation.outvars[0], equation.primitive.name
        kind: Any = out.aval
        if name not in _FUNCTIONS or kind.shape != () or kind.dtype.kind not in _KINDS:
            return
        given = [self.of(v) for v in equation.invars]
        known = [g for g in given if g is not None and g.dtype.kind in _KINDS]
        if len(known) == len(given):
            with onp.errstate(over="ignore"):
                self._known[out] = onp.asarray(_FUNCTIONS[name](*known)).astype(kind.dtype)


def _counted(body: ScanBody, variable: Var) -> onp.ndarray:
    start, step = body.steps[variable]
    kind: Any = variable.aval
    counted = onp.arange(body.length, dtype=kind.dtype)
    with onp.errstate(over="ignore"):
        found: onp.ndarray = (
            onp.asarray(start, kind.dtype) + onp.asarray(step, kind.dtype) * counted
        )
    return found[::-1] if body.reverse else found


__all__ = ["RoundNumbers"]
