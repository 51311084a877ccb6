"""Loops whose rounds do not depend on one another, computed for all rounds at once.

In `for i in range(n): y[i] = a[i] @ b`, round i reads and writes row i only. So the rounds may run
in any order, and all of them are one program of arrays, which takes the time of a few operators
where the loop takes microseconds for each round. A round may

- read what no round changes, wherever it likes;
- read and write an array of the state at one place of an axis, another one in each round, which is
  known when the program is compiled; and read again what it has just written;
- add to sums of integers and of derivatives, and to flags;
- bind a variable that no round reads before it is bound.

If one of two branches is taken by each round, rounds are computed at once where all of them take
the shorter one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    jaxpr_as_fun,
)
from npcompat._internal.backend.jaxpr.element_writes import with_writes_last
from npcompat._internal.backend.jaxpr.loop_bodies import is_apart, is_put
from npcompat._internal.backend.jaxpr.loop_writes import with_sums_of_parts, with_writes_in_place
from npcompat._internal.backend.jaxpr.makers import body_of
from npcompat._internal.backend.jaxpr.nested_jaxprs import NestedJaxprs, inline, is_pure, needed
from npcompat._internal.backend.jaxpr.primitives import CALLS, SAME, bytes_of, elements, family
from npcompat._internal.backend.jaxpr.round_numbers import RoundNumbers, numbers_returned
from npcompat._internal.backend.jaxpr.round_places import RoundPlace, place_of_rounds
from npcompat._internal.backend.jaxpr.scan_body import ScanBody

ROUNDS = range(8, 1 << 20)
"""Numbers of rounds that are computed at once."""
MOST_EACH, MOST_OF_PRODUCTS = 128, 1 << 16
"""Elements that an equation of one round may compute, on the average, and all of one with products:
longer rounds gain nothing, and windows that overlap lose.
"""
WIDEST = 16
"""Length of what a round may read along the axis of its place: all rounds read that many arrays."""
MOST_BYTES = 1 << 23
"""Bytes that a value of all rounds may take, so that caches hold it."""

_PURE = family("elementwise", "placing", "free", "reduction", "arg_reduction", "cumulative") | {
    "add_any",
    "dot_general",
    "iota",
}
_SUMS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("iu", lambda first, values: first + jnp.sum(values, 0, dtype=values.dtype)),
    "add_any": ("fc", lambda first, values: first + jnp.sum(values, 0)),
    "and": ("b", lambda first, values: first & values.all(0)),
    "max": ("iub", lambda first, values: jnp.maximum(first, values.max(0))),
    "min": ("iub", lambda first, values: jnp.minimum(first, values.min(0))),
    "or": ("b", lambda first, values: first | values.any(0)),
}
"""Kinds of dtypes for which rounds may add in any order, and the sum of a first value and theirs.
`add_any` adds derivatives, whose order is nobody's.
"""


class _DependentError(Exception):
    """A round depends on others, or nothing is gained."""


def with_rounds_at_once(jaxpr: Jaxpr, call: Callable[..., JaxprEqn], on_cpu: bool) -> Jaxpr:
    """Return a jaxpr in which loops of independent rounds are no loops; inner ones come first.

    Those that stay loops write in place. `call(equation, function)` is a call of a function in place
    of an equation.
    """
    return _AtOnce(call, on_cpu).jaxpr(jaxpr)


class _AtOnce(NestedJaxprs):
    """Jaxprs whose loops are computed at once, or write in place."""

    def __init__(self, call: Callable[..., JaxprEqn], on_cpu: bool) -> None:
        super().__init__()
        self._call, self._on_cpu = call, on_cpu

    def change(self, jaxpr: Jaxpr) -> Jaxpr:
        known: dict[Any, Any] = {}  # numbers that loops return, and that those of derivatives read
        found = [self._equation(e, known) for e in jaxpr.eqns]
        same = all([a is b for a, b in zip(found, jaxpr.eqns, strict=True)])
        return jaxpr if same else jaxpr.replace(eqns=found)

    def _equation(self, equation: JaxprEqn, known: dict[Any, Any]) -> JaxprEqn:
        if is_apart(equation):
            return equation
        equation = self.with_jaxprs(equation)
        if equation.primitive.name == "while" and self._on_cpu:
            return with_writes_last(equation, self._call)
        if equation.primitive.name != "scan":
            return equation
        if equation.params["length"] in ROUNDS:
            known |= numbers_returned(equation, known)
        loop = with_sums_of_parts(equation, self._call)
        function = at_once(loop, known)
        if function is not None:
            return self._call(equation, function)
        if not self._on_cpu:
            return loop
        return with_writes_last(with_writes_in_place(loop, self._call), self._call)


def at_once(
    loop: JaxprEqn, known: Mapping[Any, Any] = MappingProxyType({})
) -> Callable[..., list[Any]] | None:
    """Return a function that computes all rounds of a loop at once; None if that is not possible.

    `known` are operands of the loop that are known.
    """
    if loop.params["length"] not in ROUNDS:
        return None
    body = ScanBody(loop)
    if any([e.effects for e in body.equations]):
        return None
    choices = [i for i, e in enumerate(body.equations) if e.primitive.name == "cond"]
    try:
        if len(choices) == 1:
            return _with_choice(body, known, choices[0])
        return _Rounds(body, known, body.equations, body.results).loop
    except _DependentError:
        return None


def _with_choice(body: ScanBody, known: Mapping[Any, Any], place: int) -> Callable[..., list[Any]]:
    """Return a function that computes rounds at once if all take the shorter one of two branches."""
    cond = body.equations[place]
    branches = cond.params["branches"]
    if len(branches) != 2 or any([b.consts for b in branches]):
        raise _DependentError
    which = min((0, 1), key=lambda i: _work(branches[i].jaxpr.eqns))
    branch: Jaxpr = branches[which].jaxpr
    equations = body.equations[:place]
    names = dict(zip(branch.invars, cond.invars[1:], strict=True))
    results = inline(branch, names, equations, lambda e: not is_apart(e))
    named = dict(zip(cond.outvars, results, strict=True))

    def renamed(atoms: Sequence[Any]) -> list[Any]:
        return [named.get(v, v) if isinstance(v, Var) else v for v in atoms]

    rest = [e.replace(invars=renamed(e.invars)) for e in body.equations[place + 1 :]]
    index = cond.invars[0]  # what it reads of the state must be the round's own, too
    rounds = _Rounds(body, known, [*equations, *rest], renamed(body.results), index)
    choice = _Rounds(body, known, body.equations[:place], body.results, index, is_part=True)

    def run(*operands: Any) -> list[Any]:
        found: list[Any] = lax.cond(
            jnp.all(choice.run(*operands)[1][0] == which),
            lambda *given: rounds.loop(*given),
            lambda *given: [*body.loop.primitive.bind(*given, **body.loop.params)],
            *operands,
        )
        return found

    return run


def _work(equations: Sequence[JaxprEqn]) -> float:
    """Return the number of elements that equations compute."""
    found = 0.0
    for equation in equations:
        if equation.primitive.name in CALLS and not is_apart(equation):
            found += _work(body_of(equation).eqns)
        else:
            found += sum([elements(v.aval) for v in equation.outvars])
    return found


@dataclass
class _State:
    """Array that rounds hand to each other and change, at one place each."""

    variable: Var
    last: Var
    place: RoundPlace | None = None
    writes: list[tuple[RoundPlace, Var]] = field(default_factory=list)
    added: tuple[str, Any] | None = None

    def keep(self, place: RoundPlace) -> None:
        """Take a place for that of each round; another one would be that of another round."""
        if self.added is not None or (self.place is not None and not self.place.along(place)):
            raise _DependentError
        self.place = place


class _Rounds:
    """Rounds of a loop, of which each is independent of the others; else `_DependentError`.

    Parameters
    ----------
    body : ScanBody
        Body of the loop.
    known : mapping
        Operands of the loop that are known.
    equations, results : sequence
        What a round computes, and its results.
    index : Var or Literal, optional
        Number of the branch that the equations are the round with.
    is_part : bool
        True if only `index` is wanted, and the equations are the beginning of a round.
    """

    def __init__(
        self,
        body: ScanBody,
        known: Mapping[Any, Any],
        equations: Sequence[JaxprEqn],
        results: Sequence[Any],
        index: Any = None,
        is_part: bool = False,
    ) -> None:
        self._body = body
        self._numbers = RoundNumbers(body, known)
        self._same: dict[Any, Any] = {}  # other names of variables
        self._varying: set[Any] = {*body.steps, *body.read}
        self._once: list[JaxprEqn] = []  # what is the same in all rounds
        self._each: list[JaxprEqn] = []
        self._reads: dict[Var, tuple[Var, RoundPlace]] = {}
        wanted = [index] if is_part else results
        analysed = [v for v in (*wanted, index) if isinstance(v, Var)]
        equations = needed(analysed, equations)
        self._states = self._changed(equations, results)
        self._versions = dict(self._states)
        for equation in equations:
            self._add(equation)
        state = [] if is_part else [*zip(body.state, results, strict=False)]
        self._outs = [self._result(*pair) for pair in state]
        self._stacked = [self._actual(r) for r in wanted[len(state) :]]
        self._refuse_states([*self._stacked, self._actual(index)])
        self._check_gain()

    # --- analysis

    def _changed(self, equations: Sequence[JaxprEqn], results: Sequence[Any]) -> dict[Any, _State]:
        """Return the variables of the state that rounds change."""
        names: dict[Any, Any] = {}
        for equation in equations:
            if equation.primitive.name in SAME:
                for a, b in zip(equation.invars, equation.outvars, strict=True):
                    names[b] = names.get(a, a) if isinstance(a, Var) else a
        found = {}
        for variable, result in zip(self._body.state, results, strict=False):
            same = isinstance(result, Var) and names.get(result, result) is variable
            if variable not in self._body.steps and not same:
                found[variable] = _State(variable, variable)
        return found

    def _actual(self, atom: Any) -> Any:
        while isinstance(atom, Var) and atom in self._same:
            atom = self._same[atom]
        return atom

    def _is_state(self, atom: Any) -> bool:
        return isinstance(atom, Var) and atom in self._versions

    def _refuse_states(self, atoms: Sequence[Any]) -> None:
        if any(map(self._is_state, atoms)):
            raise _DependentError

    def _add(self, equation: JaxprEqn) -> None:
        """Add an equation to those of all rounds, of each, or to what is known of the state."""
        name = equation.primitive.name
        invars = [self._actual(v) for v in equation.invars]
        equation = equation.replace(invars=invars)
        has_state = any(map(self._is_state, invars))
        if (has_state and name in SAME) or _is_same(equation):
            self._same.update(zip(equation.outvars, invars, strict=True))
        elif name == "dynamic_slice" and self._reads_own(equation):
            pass
        elif (
            has_state
            and self._is_state(invars[0])
            and (name == "dynamic_update_slice" or is_put(equation))
        ):
            self._write(equation)
        elif has_state:
            self._add_sum(equation)
        elif not is_pure(equation, _PURE):
            raise _DependentError
        elif any([v in self._varying for v in invars if isinstance(v, Var)]):
            self._each.append(equation)
            self._varying.update(equation.outvars)
            self._numbers.add(equation)
        else:
            self._once.append(equation)

    def _place(
        self, starts: Sequence[Any], sizes: Sequence[int], array: Any, widest: int = 1
    ) -> RoundPlace | None:
        varying = [isinstance(s, Var) and s in self._varying for s in starts]
        return place_of_rounds(self._numbers.of, starts, varying, sizes, array.aval.shape, widest)

    def _reads_own(self, equation: JaxprEqn) -> bool:
        """Add what a round reads at its own place; return False for other reads."""
        array, *starts = equation.invars
        out = equation.outvars[0]
        if not isinstance(array, Var) or array in self._varying:
            return False
        self._refuse_states(starts)
        state = self._versions.get(array)
        widest = WIDEST if state is None else 1
        place = self._place(starts, equation.params["slice_sizes"], array, widest)
        if place is None:
            if state is not None:
                raise _DependentError
            return False
        if state is not None:
            if array is not state.variable:
                written, update = state.writes[-1] if state.writes else (None, None)
                if array is not state.last or written is None or not written.is_same(place):
                    raise _DependentError
                self._same[out] = update
                return True
            state.keep(place)
        self._reads[out] = array, place
        self._varying.add(out)
        return True

    def _write(self, equation: JaxprEqn) -> None:
        array, update, *starts = equation.invars
        state = self._versions[array]
        self._refuse_states([update, *starts])
        kind: Any = update.aval
        place = self._place(starts, kind.shape, array)
        if place is None or array is not state.last:
            raise _DependentError
        state.keep(place)
        state.writes.append((place, update))
        self._name_version(equation, state)

    def _add_sum(self, equation: JaxprEqn) -> None:
        """Add an equation that adds to a variable, as rounds may in any order."""
        name = equation.primitive.name
        kind: Any = equation.outvars[0].aval
        if name not in _SUMS or kind.dtype.kind not in _SUMS[name][0]:
            raise _DependentError
        x, y = equation.invars
        x, y = (x, y) if self._is_state(x) else (y, x)
        self._refuse_states([y])
        state = self._versions[x]
        new: Any = y.aval
        if x is not state.variable or state.last is not x or state.place is not None:
            raise _DependentError
        if new.shape != kind.shape:
            raise _DependentError
        state.added = name, y
        self._name_version(equation, state)

    def _name_version(self, equation: JaxprEqn, state: _State) -> None:
        state.last = equation.outvars[0]
        self._versions[state.last] = state

    def _result(self, variable: Var, result: Any) -> Any:
        """Return a state, a value that the last round binds, or None for what is known otherwise."""
        result = self._actual(result)
        state = self._states.get(variable)
        if state is None:
            return None
        if state.place is not None or state.added is not None:
            if result is not state.last:
                raise _DependentError
            return state
        self._refuse_states([result])
        return result

    def _check_gain(self) -> None:
        states = self._states.values()
        wanted = [*self._stacked, *[a for a in self._outs if isinstance(a, Var)]]
        wanted += [u for s in states for _, u in s.writes]
        wanted += [s.added[1] for s in states if s.added is not None]
        self._each = needed([v for v in wanted if isinstance(v, Var)], self._each)
        products = any([e.primitive.name == "dot_general" for e in self._each])
        windows = [v for v, (_, place) in self._reads.items() if place.sizes[place.axis] > 1]
        made = [*windows, *[v for e in self._each for v in e.outvars]]
        largest = max([bytes_of(v.aval) for v in made], default=0)
        most = MOST_OF_PRODUCTS if products else MOST_EACH * len(self._each)
        work = _work(self._each) + sum([elements(v.aval) for v in windows])
        if work > most or largest * self._body.length > MOST_BYTES:
            raise _DependentError

    # --- running

    def loop(self, *operands: Any) -> list[Any]:
        """Compute the results of the loop."""
        kinds: list[Any] = [v.aval for v in self._body.loop.outvars]
        state, stacked = self.run(*operands)
        results = zip([*state, *stacked], kinds, strict=True)
        return [lax.convert_element_type(r, kind.dtype) for r, kind in results]

    def run(self, *operands: Any) -> tuple[list[Any], list[Any]]:
        """Return the state after the loop, and what the rounds return, stacked."""
        body = self._body
        fixed, state, read = body.operands(operands)
        known: dict[Any, Any] = dict(zip([*body.fixed, *body.state], [*fixed, *state], strict=True))
        self._compute(self._once, known)

        def value(atom: Any) -> Any:
            return _value(known, atom)

        states = self._states.values()
        added = [s.added[1] for s in states if s.added is not None]
        bound = [r for r in self._outs if r is not None and not isinstance(r, _State)]
        writes = [write for s in states for write in s.writes]
        mapped = [*body.steps, *body.read]
        axes = [place.axis for _, place in self._reads.values()]

        def each(given: Sequence[Any], own: Sequence[Any]) -> Any:
            now = known | dict(zip(mapped, given, strict=True))
            now |= dict(zip(self._reads, own, strict=True))
            self._compute(self._each, now)
            written = [jnp.squeeze(_value(now, new), place.axis) for place, new in writes]
            return written, [[_value(now, v) for v in vs] for vs in (added, bound, self._stacked)]

        written, (sums, last, stacked) = jax.vmap(
            each, (0, axes), ([place.axis for place, _ in writes], 0), axis_size=body.length
        )(
            [*map(body.counts, body.steps), *read],
            [place.read(known[array], value) for array, place in self._reads.values()],
        )
        after = {}
        for s in states:
            now = known[s.variable]
            if s.added is not None:
                now = _SUMS[s.added[0]][1](now, sums.pop(0))
            for place, _ in s.writes:
                now = place.written(now, written.pop(0), value)
            after[s.variable] = now
        for variable, result in zip(body.state, self._outs, strict=False):
            if variable in body.steps:
                after[variable] = body.count(variable)
            elif result is not None and not isinstance(result, _State):
                after[variable] = last.pop(0)[0 if body.reverse else -1]
        return [after.get(v, known[v]) for v in body.state], stacked

    def _compute(self, equations: Sequence[JaxprEqn], known: dict[Any, Any]) -> None:
        """Compute equations, and add their results to the known values."""
        found = [v for e in equations for v in e.outvars]
        inner = self._body.closed.jaxpr.replace(
            constvars=[], invars=[*known], outvars=found, eqns=[*equations]
        )
        results = jaxpr_as_fun(ClosedJaxpr(inner, ()))(*known.values())
        known.update(zip(found, results, strict=True))


def _value(known: dict[Any, Any], atom: Any) -> Any:
    if not isinstance(atom, Literal):
        return known[atom]
    kind: Any = atom.aval
    return jnp.asarray(atom.val, kind.dtype)


def _is_same(equation: JaxprEqn) -> bool:
    """Return True for a cast to the same dtype."""
    if equation.primitive.name != "convert_element_type":
        return False
    a: Any = equation.invars[0].aval
    b: Any = equation.outvars[0].aval
    return isinstance(equation.invars[0], Var) and a.dtype == b.dtype


__all__ = ["at_once", "with_rounds_at_once"]
