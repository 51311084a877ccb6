"""Writes of single elements in rounds of loops, moved to the end of the round.

In `a[i, j] -= x; a[i, j] /= a[j, j]` the second line reads what the first one has written. Such a
read is answered by the value that was written, or by a selection between that and the element from
before, so that the round writes once, after all of its reads. Then XLA for the CPU writes in place
without the loop of one round (see `loop_bodies`), which takes longer than the rest of such a round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.loop_bodies import is_apart, is_put
from npcompat._internal.backend.jaxpr.nested_jaxprs import inline, needed
from npcompat._internal.backend.jaxpr.primitives import SAME, elements

Call = Callable[[JaxprEqn, Callable[..., Any], Sequence[Any]], JaxprEqn]


@dataclass(frozen=True)
class _Written:
    """Array that differs from another one in single elements."""

    root: Var
    writes: tuple[tuple[Any, tuple[Any, ...]], ...]
    """New elements and their places, in the order of the writes."""
    last: JaxprEqn


class _ReadWholeError(Exception):
    """An array is used otherwise than by reads and writes of elements."""

    def __init__(self, root: Var) -> None:
        self.root = root


def with_writes_last(loop: JaxprEqn, call: Call) -> JaxprEqn:
    """Return a loop whose rounds write single elements after all reads, where that is possible.

    `call(equation, function, operands)` is a call of a function in place of an equation.
    """
    name = "jaxpr" if loop.primitive.name == "scan" else "body_jaxpr"
    closed: ClosedJaxpr = loop.params[name]
    equations: list[JaxprEqn] = []
    results = inline(closed.jaxpr, {}, equations, lambda e: not is_apart(e))
    if not any(map(_writes_element, equations)) or any([e.effects for e in equations]):
        return loop
    excluded: set[Var] = set()
    while True:
        try:
            found = _Round(equations, results, excluded, call)
            break
        except _ReadWholeError as error:
            excluded.add(error.root)
    if not found.moved:
        return loop
    jaxpr = closed.jaxpr.replace(eqns=found.equations, outvars=found.results)
    changed: JaxprEqn = loop.replace(params={**loop.params, name: closed.replace(jaxpr=jaxpr)})
    return changed


class _Round:
    """Equations of a round, in which writes to all arrays but those of `excluded` come last."""

    def __init__(
        self,
        equations: Sequence[JaxprEqn],
        results: Sequence[Any],
        excluded: set[Var],
        call: Call,
    ) -> None:
        self._excluded, self._call = excluded, call
        self._names: dict[Var, Any] = {}  # what variables are called that are not computed
        self._same: dict[Var, Any] = {}  # variables of the same value
        self._written: dict[Var, _Written] = {}
        self.equations: list[JaxprEqn] = []
        for equation in equations:
            self._add(equation)
        named = [self._named(v) for v in results]
        pending = {v: self._written[v] for v in named if isinstance(v, Var) and v in self._written}
        self.moved = len(pending)
        puts = {v: self._put(v, written) for v, written in pending.items()}
        self.equations = needed(
            [v for v in named if isinstance(v, Var)], [*self.equations, *puts.values()]
        )
        self._check(puts, pending)
        self.results = named

    def _named(self, atom: Any) -> Any:
        return self._names.get(atom, atom) if isinstance(atom, Var) else atom

    def _add(self, equation: JaxprEqn) -> None:
        equation = equation.replace(invars=[self._named(v) for v in equation.invars])
        out, name = equation.outvars[0], equation.primitive.name
        first: Any = equation.invars[0] if equation.invars else None
        pending = [v for v in equation.invars if isinstance(v, Var) and v in self._written]
        if pending == [first] and name in SAME and len(equation.invars) == 1:
            self._names[out] = first
        elif pending == [first] and name == "dynamic_slice" and elements(out.aval) == 1:
            self._read(equation, self._written[first])
        elif _writes_element(equation) and pending in ([], [first]):
            self._write(equation)
        elif pending:
            raise _ReadWholeError(self._written[pending[0]].root)
        else:
            self._note(equation)
            self.equations.append(equation)

    def _note(self, equation: JaxprEqn) -> None:
        """Note a value that is the same as another one."""
        out, name = equation.outvars[0], equation.primitive.name
        if len(equation.invars) != 1:
            return
        of: Any = equation.invars[0].aval
        made: Any = out.aval
        is_converted = name == "convert_element_type" and of.dtype == made.dtype
        if of.shape == made.shape and (name in SAME or is_converted):
            self._same[out] = self._value(equation.invars[0])

    def _value(self, atom: Any) -> Any:
        return self._same.get(atom, atom) if isinstance(atom, Var) else int(atom.val)

    def _place(self, begin: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([self._value(b) for b in begin])

    def _write(self, equation: JaxprEqn) -> None:
        """Keep a write for later; an earlier one at the same place is lost."""
        array, new, *begin = equation.invars
        before = self._written.get(array) if isinstance(array, Var) else None
        root: Any = self._value(array) if before is None else before.root
        if root in self._excluded:
            self.equations.append(equation)
            return
        place = self._place(begin)
        kept = [] if before is None else [w for w in before.writes if self._place(w[1]) != place]
        writes = (*kept, (new, tuple(begin)))
        self._written[equation.outvars[0]] = _Written(root, writes, equation)

    def _read(self, equation: JaxprEqn, written: _Written) -> None:
        """Read an element of an array before its writes, or what they write."""
        begin = equation.invars[1:]
        new, place = written.writes[-1]
        if self._place(begin) == self._place(place):
            self._names[equation.outvars[0]] = new
            return
        given = [v for new, place in written.writes for v in (new, *place)]
        read = self._call(equation, _selected, [written.root, *begin, *given])
        self.equations.append(read)

    def _put(self, out: Var, written: _Written) -> JaxprEqn:
        if len(written.writes) > 1:
            raise _ReadWholeError(written.root)
        new, begin = written.writes[0]
        called = self._call(written.last, _put, [written.root, new, *begin])
        put: JaxprEqn = called.replace(outvars=[out])
        return put

    def _check(self, puts: dict[Var, JaxprEqn], written: dict[Var, _Written]) -> None:
        """Raise for an array that XLA would copy: a write must depend on all reads of its array, and
        on no other array that is written.
        """
        roots = [w.root for w in written.values()]
        others = [
            self._value(e.invars[0]) for e in self.equations if is_apart(e) and len(e.invars) > 1
        ]
        for out, put in puts.items():
            root = written[out].root
            inputs = [v for v in put.invars[1:] if isinstance(v, Var)]
            before = {id(e) for e in needed(inputs, self.equations)}
            for equation in self.equations:
                if equation is put:
                    continue
                arrays = {self._value(v) for v in equation.invars if isinstance(v, Var)}
                if root in arrays and id(equation) not in before:
                    raise _ReadWholeError(root)
                changes = arrays.intersection([r for r in (*roots, *others) if r is not root])
                if changes and id(equation) in before:
                    raise _ReadWholeError(root)
            if roots.count(root) > 1 or root in others:
                raise _ReadWholeError(root)


def _writes_element(equation: JaxprEqn) -> bool:
    """Return True for a write of one element; two bytes would be rounded where they are written."""
    if not is_put(equation) or elements(equation.invars[1].aval) != 1:
        return False
    kind: Any = equation.invars[1].aval
    return not (kind.dtype.kind not in "iub" and kind.dtype.itemsize == 2)


def _put(array: Any, new: Any, *begin: Any) -> Any:
    return lax.dynamic_update_slice(array, new, begin, allow_negative_indices=False)


def _selected(array: Any, *given: Any) -> Any:
    """Return the element at a place of an array after writes: its new elements and their places."""
    axes = array.ndim
    begin, given = given[:axes], given[axes:]
    found = lax.dynamic_slice(array, begin, (1,) * axes, allow_negative_indices=False)
    for k in range(0, len(given), axes + 1):
        new, place = given[k], given[k + 1 : k + 1 + axes]
        pairs = zip(begin, place, array.shape, strict=True)
        same = [_within(b, n) == _within(p, n) for b, p, n in pairs]
        found = jnp.where(jnp.stack(same).all(), new, found)
    return found


def _within(position: Any, length: int) -> Any:
    """Return the position in an axis that is read or written: XLA takes the nearest one."""
    return jnp.clip(jnp.asarray(position, "int64"), 0, length - 1)


__all__ = ["with_writes_last"]
