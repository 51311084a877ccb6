"""Numbers in the body of a loop that are known for each round when the program is compiled."""

from collections.abc import Callable, Mapping
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

    Parameters
    ----------
    body : ScanBody
        Body of the loop.
    known : mapping
        Known operands of the loop, of which each round reads an element.
    """

    def __init__(self, body: ScanBody, known: Mapping[Any, onp.ndarray]) -> None:
        self._rounds = body.length
        self._known: dict[Var, onp.ndarray] = {v: body.counts(v, onp) for v in body.steps}
        given = body.loop.invars[len(body.loop.invars) - len(body.read) :]
        for variable, operand in zip(body.read, given, strict=True):
            if isinstance(operand, Var) and operand in known:
                self._known[variable] = known[operand]

    def of(self, atom: Any) -> onp.ndarray | None:
        """Return what an atom is in each round; None if that is not known."""
        if not isinstance(atom, Literal):
            return self._known.get(atom)
        kind: Any = atom.aval
        return onp.full(self._rounds, atom.val, kind.dtype) if onp.ndim(atom.val) == 0 else None

    def add(self, equation: JaxprEqn) -> None:
        """Add the result of an equation, if it is known."""
        name = equation.primitive.name
        if name not in _FUNCTIONS:
            return
        out = equation.outvars[0]
        kind: Any = out.aval
        if kind.shape != () or kind.dtype.kind not in _KINDS:
            return
        given = [self.of(v) for v in equation.invars]
        known = [g for g in given if g is not None and g.dtype.kind in _KINDS]
        if len(known) == len(given):
            with onp.errstate(over="ignore"):
                self._known[out] = onp.asarray(_FUNCTIONS[name](*known)).astype(kind.dtype)


def numbers_returned(loop: JaxprEqn, known: Mapping[Any, onp.ndarray]) -> dict[Any, onp.ndarray]:
    """Return the results of a loop that stack known numbers of its rounds."""
    carried = loop.params["num_carry"]
    kinds: list[Any] = [v.aval for v in loop.outvars[carried:]]
    if not any([k.ndim == 1 and k.dtype.kind in _KINDS for k in kinds]):
        return {}
    body = ScanBody(loop)
    numbers = RoundNumbers(body, known)
    for equation in body.equations:
        numbers.add(equation)
    pairs = zip(loop.outvars[carried:], body.results[carried:], strict=True)
    found = {out: numbers.of(result) for out, result in pairs}
    return {out: values for out, values in found.items() if values is not None}


__all__ = ["RoundNumbers", "numbers_returned"]
