"""Fewer equations with the same results: equal ones become one, and those that change nothing none.

All that is done here is exact: of integers, of floats with nan, infinity and the signs of zeros.
What an engine joins besides is in `fusions.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import (
    Atom,
    Constant,
    Equation,
    Program,
    needed,
)

_ALONE = frozenset(("cond", "while", "scan", "pure_callback"))
"""Primitives that are never merged: they hold programs, or call functions of the user's."""
_COMPARED = 64
"""Bytes up to which constants are compared."""
_BLIND = frozenset((
    "abs", "eq", "ne", "lt", "le", "gt", "ge", "exp", "cos", "cosh", "is_finite",
))  # fmt: skip
"""Primitives whose result is the same for both zeros."""
_CARRYING = frozenset(("sqrt", "neg", "broadcast", "reshape", "transpose", "slice"))
"""Primitives of one operand whose result differs by the sign of a zero, if its operand does."""


class Graph:
    """Makers and users of the variables of a program.

    Attributes
    ----------
    ends : frozenset
        Results of the program.
    """

    def __init__(self, equations: Sequence[Equation], outputs: Sequence[Atom]) -> None:
        self._makers: dict[Atom, Equation] = {v: e for e in equations for v in e.outputs}
        self._users: dict[Atom, list[Equation]] = {}
        for equation in equations:
            for atom in equation.inputs:
                self._users.setdefault(atom, []).append(equation)
        self.ends = frozenset(outputs)

    def replace(self, equation: Equation) -> None:
        """Note that an equation takes the place of the one with its outputs."""
        self._makers.update(dict.fromkeys(equation.outputs, equation))

    def made_by(self, atom: Atom) -> Equation | None:
        """Return the equation that makes an atom; None for parameters and constants."""
        return self._makers.get(atom)

    def maker(self, atom: Atom, name: str) -> Equation | None:
        """Return the equation that makes an atom, if it is one of this name."""
        found = self._makers.get(atom)
        return found if found is not None and found.name == name else None

    def is_input(self, atom: Atom) -> bool:
        """Return True for a parameter of the program."""
        return atom not in self._makers and not isinstance(atom, Constant)

    def only_for_one(self, atom: Atom) -> bool:
        """Return True for a variable that is read once."""
        return atom not in self.ends and len(self._users.get(atom, ())) == 1

    def scalar(self, atom: Atom) -> Atom | None:
        """Return what has no axes and is broadcast to an atom; None for others."""
        if not atom.type.shape:
            return atom
        spread = self.maker(atom, "broadcast")
        return spread.inputs[0] if spread is not None and not spread.inputs[0].type.shape else None

    def number(self, atom: Atom) -> Any:
        """Return the value of each element of an atom, if it is one that is known; else None."""
        found = self.scalar(atom)
        return found.value[()] if isinstance(found, Constant) else None

    def tells_zeros_apart(self, atom: Atom) -> bool:
        """Return False if no result depends on the sign of zeros in a variable."""
        if atom in self.ends:
            return True
        return any([self._tells_apart(e, atom) for e in self._users.get(atom, ())])

    def _tells_apart(self, equation: Equation, atom: Atom) -> bool:
        if equation.name in _BLIND:
            return False
        if equation.name in _CARRYING:
            return self.tells_zeros_apart(equation.outputs[0])
        if equation.name not in ("add", "sub") or equation.inputs[0] is equation.inputs[1]:
            return True
        other = self.number(equation.inputs[equation.inputs[0] is atom])
        return other is None or other == 0


Fusion = Callable[[Graph, Equation], Equation | Atom | None]
"""From an equation, another one for its outputs, or the atom that its only output is; None: it stays."""


def simplified(program: Program, fusions: Mapping[str, Sequence[Fusion]]) -> Program:
    """Return a program with the same results, with equal equations merged and others joined.

    Parameters
    ----------
    program : Program
        What to simplify; inner programs stay.
    fusions : mapping
        By primitive, fusions for equations of it, tried in turn after those that are exact.
    """
    table = {n: (*_EXACT.get(n, ()), *fusions.get(n, ())) for n in (*_EXACT, *fusions)}
    equations, outputs = list(program.equations), program.outputs
    for _ in range(4):  # what one joins, another may join again
        before = len(equations)
        equations, outputs = _merged(equations, outputs)
        equations, outputs, joined = _joined(equations, outputs, table)
        equations = needed(equations, outputs)
        if not joined and len(equations) == before:
            break
    return Program(program.name, program.inputs, tuple(equations), outputs)


def _merged(
    equations: Sequence[Equation], outputs: tuple[Atom, ...]
) -> tuple[list[Equation], tuple[Atom, ...]]:
    """Equations of which no two compute the same."""
    same: dict[Atom, Atom] = {}
    numbers: dict[Any, Constant] = {}
    first: dict[Any, Equation] = {}
    kept = []

    def one(atom: Atom) -> Atom:
        if not isinstance(atom, Constant) or atom.value.nbytes > _COMPARED:
            return same.get(atom, atom)
        value = atom.value
        return numbers.setdefault((value.dtype, value.shape, value.tobytes()), atom)

    for equation in equations:
        inputs = tuple(map(one, equation.inputs))
        if inputs != equation.inputs:
            equation = Equation(equation.name, inputs, equation.outputs, equation.attrs)
        key = _key(equation)
        found = equation if key is None else first.setdefault(key, equation)
        if found is equation:
            kept.append(equation)
        else:
            same.update(zip(equation.outputs, found.outputs, strict=True))
    return kept, tuple([same.get(a, a) for a in outputs])


def _key(equation: Equation) -> Any:
    """Return the key that equal equations share; None for an equation that stays alone."""
    if equation.name in _ALONE or not equation.inputs:
        return None
    types = tuple([v.type for v in equation.outputs])
    attrs = tuple(sorted(equation.attrs.items()))
    key = (equation.name, equation.inputs, types, attrs, repr(attrs))  # 0.0 == -0.0, and True == 1
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _joined(
    equations: Sequence[Equation],
    outputs: tuple[Atom, ...],
    fusions: Mapping[str, Sequence[Fusion]],
) -> tuple[list[Equation], tuple[Atom, ...], bool]:
    """Equations after one attempt at each, and True if one was joined."""
    graph = Graph(equations, outputs)
    renamed: dict[Atom, Atom] = {}
    made, joined = [], False
    for equation in equations:
        if renamed and not renamed.keys().isdisjoint(equation.inputs):
            inputs = tuple([renamed.get(a, a) for a in equation.inputs])
            equation = Equation(equation.name, inputs, equation.outputs, equation.attrs)
            graph.replace(equation)
        for fusion in fusions.get(equation.name, ()):
            found = fusion(graph, equation)
            if found is None:
                continue
            joined = True
            if isinstance(found, Equation):
                graph.replace(found)
                equation = found
                break
            renamed[equation.outputs[0]] = found
            break
        if equation.outputs[0] not in renamed if equation.outputs else True:
            made.append(equation)
    return made, tuple([renamed.get(a, a) for a in outputs]), joined


# --- what changes nothing -------------------------------------------------------------------------


def _neutral_number(graph: Graph, equation: Equation) -> Atom | None:
    """Leave out the sum with zero, the product with one, the extreme of a number at the other end.

    `x + 0.0` turns -0.0 to 0.0, so it stays where a result depends on the sign of zeros.
    """
    name, out = equation.name, equation.outputs[0]
    neutral = _NEUTRAL[name]
    if out.type.dtype.kind not in "fiu":
        return None
    for position in (0,) if name in ("sub", "div") else (0, 1):
        operand, other = equation.inputs[position], equation.inputs[1 - position]
        number = graph.number(other)
        if operand.type != out.type or number is None or number != neutral:
            continue
        if neutral == 0 and out.type.dtype.kind == "f":
            exact = bool(onp.signbit(number)) == (name == "add")
            if not exact and graph.tells_zeros_apart(out):
                continue
        return operand
    return None


_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "max": -onp.inf, "min": onp.inf}


def _within(graph: Graph, equation: Equation) -> Atom | None:
    """Leave out the limit of integers that are known to be within it."""
    out = equation.outputs[0]
    if out.type.dtype.kind not in "iu":
        return None
    for operand, other in (equation.inputs, equation.inputs[::-1]):
        if operand.type != out.type:
            continue
        (low, high), (least, most) = _range(graph, operand), _range(graph, other)
        if low >= most if equation.name == "max" else high <= least:
            return operand
    return None


_MOVING = frozenset(("reshape", "broadcast", "transpose", "slice", "flip"))


def _range(graph: Graph, atom: Atom, depth: int = 8) -> tuple[float, float]:
    """Least and greatest value that integers may have, as far as it is known."""
    everything = (-onp.inf, onp.inf)
    if isinstance(atom, Constant):
        value = atom.value
        return (int(value.min()), int(value.max())) if value.size else everything
    equation = graph.made_by(atom)
    if equation is None or not depth:
        return everything
    if equation.name == "iota":
        return 0, atom.type.shape[equation.attrs["axis"]] - 1
    if equation.name in _MOVING:
        return _range(graph, equation.inputs[0], depth - 1)
    if equation.name not in ("max", "min"):
        return everything
    (a, b), (c, d) = [_range(graph, x, depth - 1) for x in equation.inputs]
    return (max(a, c), max(b, d)) if equation.name == "max" else (min(a, c), min(b, d))


def _moved_twice(graph: Graph, equation: Equation) -> Equation | Atom | None:
    """Join a transpose of a transpose, and a reshape of a reshape."""
    before = graph.maker(equation.inputs[0], equation.name)
    if before is None:
        return None
    source, out = before.inputs[0], equation.outputs[0]
    if equation.name == "reshape":
        if source.type.shape == out.type.shape:
            return source
        return Equation("reshape", (source,), equation.outputs)
    axes = tuple([before.attrs["axes"][i] for i in equation.attrs["axes"]])
    if axes == tuple(range(len(axes))):
        return source
    return Equation("transpose", (source,), equation.outputs, {"axes": axes})


def _only_new_axes(graph: Graph, equation: Equation) -> Equation | None:
    """Turn a broadcast that adds axes of one element into a reshape, which can be joined."""
    given, wanted = equation.inputs[0].type, equation.outputs[0].type
    axes = equation.attrs["axes"]
    if not given.shape or given.size != wanted.size or list(axes) != sorted(axes):
        return None
    return Equation("reshape", equation.inputs, equation.outputs)


def _sum_of_one(graph: Graph, equation: Equation) -> Equation | None:
    """Leave out axes of one element from the sum of what is itself a sum, or an integer.

    Another float is added to zero, which turns -0.0 to 0.0.
    """
    source, axes = equation.inputs[0], equation.attrs["axes"]
    if any([source.type.shape[a] != 1 for a in axes]):
        return None
    made = graph.made_by(source)
    while made is not None and made.name == "reshape":
        made = graph.made_by(made.inputs[0])
    summed = made is not None and made.name == "reduce_sum"
    if (
        source.type.dtype.kind not in "iu"
        and not summed
        and graph.tells_zeros_apart(equation.outputs[0])
    ):
        return None
    if source.type.dtype == onp.bool_ or source.type.dtype != equation.outputs[0].type.dtype:
        return None
    return Equation("reshape", (source,), equation.outputs)


_EXACT: Mapping[str, Sequence[Fusion]] = {
    "add": (_neutral_number,),
    "sub": (_neutral_number,),
    "mul": (_neutral_number,),
    "div": (_neutral_number,),
    "max": (_neutral_number, _within),
    "min": (_neutral_number, _within),
    "reshape": (_moved_twice,),
    "transpose": (_moved_twice,),
    "broadcast": (_only_new_axes,),
    "reduce_sum": (_sum_of_one,),
}

__all__ = ["Fusion", "Graph", "simplified"]
