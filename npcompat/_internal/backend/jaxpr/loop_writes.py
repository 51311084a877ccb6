"""Writes and sums of loops that were differentiated, done in place.

The derivative of `a[i]` is an array of zeros with one row written. A loop over the rows that adds
such an array in each round takes a time that grows with the square of their number. So each round
adds to the row. And its writes are made to be in place on the CPU (see `loop_bodies`), as those of
other loops are when they are traced.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.loop_bodies import SMALL, in_place, is_apart, read_apart
from npcompat._internal.backend.jaxpr.makers import body_of
from npcompat._internal.backend.jaxpr.nested_jaxprs import inline, needed, runs
from npcompat._internal.backend.jaxpr.primitives import SAME, elements
from npcompat._internal.backend.jaxpr.scan_body import ScanBody

_SUM = "add_any"
_PARTS = ("dynamic_update_slice", "scatter-add", "scatter_add")
Call = Callable[[JaxprEqn, Callable[..., Any], Sequence[Any]], JaxprEqn]


def with_sums_of_parts(loop: JaxprEqn, call: Call) -> JaxprEqn:
    """Return a loop whose rounds add derivatives of parts to these parts only.

    `call(equation, function, operands)` is a call of a function in place of an equation.
    """
    if not runs(loop, (_SUM,)) or not runs(loop, _PARTS):
        return loop
    body = ScanBody(loop)
    made = {v: e for e in body.equations for v in e.outvars}
    used = Counter([v for e in body.equations for v in e.invars if isinstance(v, Var)])
    equations: list[JaxprEqn] = []
    for equation in body.equations:
        equations += _in_parts(equation, made, used, call)
    return _with_body(loop, body, equations, body.results)


def with_writes_in_place(loop: JaxprEqn, call: Call) -> JaxprEqn:
    """Return a loop whose rounds write to large arrays in place; `call` as above."""
    if not runs(loop, _PARTS[:1]):
        return loop
    body = ScanBody(loop)
    writing = _Writing(body.equations, call)
    return _with_body(loop, body, writing.equations, body.results)


def _with_body(
    loop: JaxprEqn, body: ScanBody, equations: Sequence[JaxprEqn], results: Sequence[Any]
) -> JaxprEqn:
    if not any([e.effects for e in equations]):  # parts that are added in place are not used
        equations = needed([v for v in results if isinstance(v, Var)], equations)
    jaxpr = body.closed.jaxpr.replace(eqns=[*equations], outvars=[*results])
    changed: JaxprEqn = loop.replace(
        params={**loop.params, "jaxpr": body.closed.replace(jaxpr=jaxpr)}
    )
    return changed


class _Writing:
    """Equations of a round, with their writes and sums in place."""

    def __init__(self, equations: Sequence[JaxprEqn], call: Call) -> None:
        self._call = call
        self._made = {v: e for e in equations for v in e.outvars}
        self.equations: list[JaxprEqn] = []
        waiting = [*equations]
        while waiting:
            equation = waiting.pop(0)
            if _is_write(equation) and not self._is_sum(equation):
                self._write(equation, waiting)
            else:
                self.equations.append(equation)

    def _write(self, equation: JaxprEqn, waiting: list[JaxprEqn]) -> None:
        """Add a write after all reads of what the array was: else XLA keeps a copy for them."""
        array, new, *begin = equation.invars
        before = self._root(array)
        done = {v for e in self.equations for v in e.outvars}
        reads = [
            e for e in waiting if self._reads(e, before) and self._is_known(e.invars[1:], done)
        ]
        for read in reads:
            waiting.remove(read)
            apart = partial(_read_apart, read.params["slice_sizes"])
            self.equations += _opened(self._call(read, apart, [before, *read.invars[1:]]))
        after = [read.outvars[0] for read in reads]
        write = partial(_written_in_place, len(after))
        self.equations += _opened(self._call(equation, write, [array, new, *after, *begin]))

    def _root(self, atom: Any) -> Any:
        while isinstance(atom, Var) and atom in self._made:
            equation = self._made[atom]
            if equation.primitive.name not in SAME:
                break
            atom = equation.invars[equation.outvars.index(atom)]
        return atom

    def _is_sum(self, equation: JaxprEqn) -> bool:
        """Return True for a write of the sum of a part and another value: XLA does it in place."""
        array, new, *begin = equation.invars
        by = self._made.get(new) if isinstance(new, Var) else None
        if by is None or by.primitive.name != "add":
            return False
        reads = [self._made[v] for v in by.invars if isinstance(v, Var) and v in self._made]
        root = self._root(array)
        return any([self._reads(e, root) and [*e.invars[1:]] == begin for e in reads])

    def _reads(self, equation: JaxprEqn, array: Any) -> bool:
        is_read = equation.primitive.name == "dynamic_slice"
        return is_read and self._root(equation.invars[0]) is array

    def _is_known(self, atoms: Sequence[Any], done: set[Any]) -> bool:
        return all([not isinstance(v, Var) or v in done or v not in self._made for v in atoms])


def _opened(call: JaxprEqn) -> list[JaxprEqn]:
    """Return the equations of a call that has one result, of which the last one computes that."""
    body = body_of(call)
    made: list[JaxprEqn] = []
    inline(body, dict(zip(body.invars, call.invars, strict=True)), made, lambda e: not is_apart(e))
    return [*made[:-1], made[-1].replace(outvars=call.outvars)]


def _is_write(equation: JaxprEqn) -> bool:
    """Return True for a write to a part of a large array, which is not known."""
    if equation.primitive.name != "dynamic_update_slice":
        return False
    starts = equation.invars[2:]
    return elements(equation.invars[0].aval) >= SMALL and any([isinstance(s, Var) for s in starts])


def _in_parts(
    equation: JaxprEqn, made: Mapping[Var, JaxprEqn], used: Mapping[Var, int], call: Call
) -> list[JaxprEqn]:
    """Return the equations of a sum whose parts are added in place; itself for all others."""
    if equation.primitive.name != _SUM:
        return [equation]
    terms = [*_terms(equation, made, used)]
    parts = [made[t] for t in terms if _is_part(t, made)]
    rest = [t for t in terms if not _is_part(t, made)]
    if not parts or not rest:
        return [equation]
    found: list[JaxprEqn] = []
    total = rest[0]

    def add(new: JaxprEqn) -> None:
        nonlocal total
        total = Var(equation.outvars[0].aval)
        found.append(new.replace(outvars=[total]))

    for term in rest[1:]:
        add(equation.replace(invars=[total, term]))
    for part in parts:
        if part.primitive.name == "dynamic_update_slice":
            add(call(equation, _added_to_part, [total, *part.invars[1:]]))
        else:
            add(part.replace(invars=[total, *part.invars[1:]]))
    found[-1] = found[-1].replace(outvars=equation.outvars)
    return found


def _terms(
    equation: JaxprEqn, made: Mapping[Var, JaxprEqn], used: Mapping[Var, int]
) -> Iterator[Any]:
    """Iterate over what a sum of sums adds up; a sum that others use, too, is one term."""
    kind: Any = equation.outvars[0].aval
    for atom in equation.invars:
        by = _maker(atom, made, kind.dtype)
        if by is not None and by.primitive.name == _SUM and used[by.outvars[0]] == 1:
            yield from _terms(by, made, used)
        elif by is not None and _is_part(by.outvars[0], made):
            yield by.outvars[0]
        else:
            yield atom


def _maker(atom: Any, made: Mapping[Var, JaxprEqn], dtype: Any) -> JaxprEqn | None:
    """Return the equation that computes a value, which others only name again."""
    while isinstance(atom, Var) and atom in made:
        equation = made[atom]
        if equation.primitive.name not in SAME | {"convert_element_type"}:
            return equation
        atom = equation.invars[equation.outvars.index(atom)]
        kind: Any = atom.aval
        if kind.dtype != dtype:
            return None
    return None


def _is_part(atom: Any, made: Mapping[Var, JaxprEqn]) -> bool:
    """Return True for zeros with a part written, or to which one is added."""
    if not isinstance(atom, Var) or atom not in made:
        return False
    equation = made[atom]
    if equation.primitive.name not in _PARTS:
        return False
    zeros = equation.invars[0]
    kind: Any = zeros.aval
    by = _maker(zeros, made, kind.dtype)
    if by is None or by.primitive.name != "broadcast_in_dim":
        return False
    (value,) = by.invars
    return isinstance(value, Literal) and bool(value.val == 0)


def _added_to_part(total: Any, part: Any, *starts: Any) -> Any:
    """Return an array to whose part from `starts` on another one is added."""
    old = lax.dynamic_slice(total, starts, part.shape, allow_negative_indices=False)
    return lax.dynamic_update_slice(total, old + part, starts, allow_negative_indices=False)


def _written_in_place(reads: int, array: Any, part: Any, *operands: Any) -> Any:
    return in_place(array, part, operands[reads:], operands[:reads])


def _read_apart(sizes: Sequence[int], array: Any, *starts: Any) -> Any:
    return read_apart(array, starts, sizes)


__all__ = ["with_sums_of_parts", "with_writes_in_place"]
