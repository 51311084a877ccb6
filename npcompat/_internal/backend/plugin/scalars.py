"""Python numbers as operands of programs: cast on the host, once, to what the equations cast them to."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import (
    Atom,
    Equation,
    Program,
    Type,
    Variable,
)


def array(number: Any, dtype: onp.dtype[Any] | None) -> onp.ndarray[Any, Any]:
    """A number as an array without axes: of 64 bits, or cast to a dtype."""
    if type(number) is int and not -(2**63) <= number < 2**63:
        number = onp.uint64(number) if 0 < number < 2**64 else float(number)
    made = onp.asarray(number)
    if dtype is None:
        return made
    with onp.errstate(all="ignore"):
        return made.astype(dtype)


def sign(number: Any) -> float:
    """Sign of a zero, by which numbers that are equal are told apart."""
    if type(number) is float and number == 0:
        return math.copysign(1.0, number)
    return repr(number) if type(number) is complex else 1.0  # type: ignore[return-value]


def kind(number: Any) -> Any:
    """Return the cache key of a number: its class, and the dtype of a large integer."""
    if type(number) is int and not -(2**63) <= number < 2**63:
        return int, array(number, None).dtype
    return type(number)


def hoisted(program: Program, numbers: Sequence[int]) -> tuple[Program, dict[int, onp.dtype[Any]]]:
    """A program without casts of operands that are numbers, and the dtypes that these then have.

    An operand that is used otherwise, too, or cast to several dtypes, stays as it is.
    """
    casts: dict[int, onp.dtype[Any]] = {}
    inputs = list(program.inputs)
    renamed: dict[Atom, Atom] = {}
    dropped: set[Equation] = set()
    for i in numbers:
        scalar = program.inputs[i]
        uses = [e for e in program.equations if scalar in e.inputs]
        wanted = {e.outputs[0].type.dtype for e in uses if e.name == "convert"}
        if scalar in program.outputs or len(wanted) != 1 or {e.name for e in uses} != {"convert"}:
            continue
        (dtype,) = wanted
        if dtype.kind in "iu" and scalar.type.dtype.kind in "fc":
            continue  # floats beyond the integers are cast in a way of their own
        inputs[i], casts[i] = Variable(Type((), dtype)), dtype
        renamed.update({e.outputs[0]: inputs[i] for e in uses})
        dropped.update(uses)
    if not casts:
        return program, casts
    equations = [
        Equation(e.name, tuple([renamed.get(a, a) for a in e.inputs]), e.outputs, e.attrs)
        for e in program.equations
        if e not in dropped
    ]
    outputs = tuple([renamed.get(a, a) for a in program.outputs])
    return Program(program.name, tuple(inputs), tuple(equations), outputs), casts


__all__ = ["array", "hoisted", "kind", "sign"]
