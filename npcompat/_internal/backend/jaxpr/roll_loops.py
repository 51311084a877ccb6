"""Loop rerolling: find the unrolled Python loops in a jaxpr, and turn them into loops of XLA.

A traced Python loop leaves the equations of each round, one round after the other. Rounds that
differ only in numbers become one round and a `scan` over those numbers. So neither the time to
compile nor the size of the program grows with the number of rounds. Rounds that also differ in
shapes, as in `a[i:] -= a[i]`, are merged into one round first (`ragged_rounds`). Rounds with only
elementwise work stay unrolled up to a high count, since XLA fuses several of them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    WrappedFun,
    jaxpr_as_fun,
)
from npcompat._internal.backend.jaxpr.nested_jaxprs import within
from npcompat._internal.backend.jaxpr.primitives import family
from npcompat._internal.backend.jaxpr.ragged_rounds import merge_rounds
from npcompat._internal.backend.jaxpr.ragged_rules import SHAPES
from npcompat._internal.backend.jaxpr.ragged_values import RULES, UnfitError, ValidRange, shape_of

MIN_ROUNDS = 4
"""Minimum number of rounds of a loop that is rerolled."""
MIN_EQNS = 64
"""Minimum number of equations of a loop that is rerolled."""
MAX_FUSIBLE_EQNS = 8192
"""Maximum number of equations up to which a loop that XLA can fuse stays unrolled."""
UNROLL_EQNS = 512
"""Equations to which the `scan` of a rerolled loop that XLA can fuse is unrolled."""
UNROLL_RAGGED_ROUNDS = 2
"""Ragged rounds in one step of the `scan`, since each step copies the carried values."""
MAX_STACKED_BYTES = 1 << 16
"""Maximum bytes of the arrays, one for each round, that are stacked as inputs of the `scan`."""
MIN_EQNS_PER_STACKED_INPUT = 8
"""Minimum eqns per round for each stacked input.

Slicing that input out of the stack costs one extra kernel per round.
"""
MAX_PERIODS, MAX_ROTATIONS = 32, 64
"""Maximum number of periods, and of first equations of a round, that are tried."""
SEARCH_BUDGET = 16
"""Mean number of visits of each equation after which the search gives up."""

_FUSED = family("call", "elementwise", "fusible")
"""Primitives that XLA fuses with their neighbours."""


@dataclass(frozen=True)
class _Loop:
    """Loop in a jaxpr: rounds of equal equations, and the values passed from round to round."""

    start: int
    """Index of the first equation."""
    period: int
    """Number of equations of a round."""
    rounds: int
    """Number of rounds."""
    body: ClosedJaxpr
    """Jaxpr of one round; its inputs are the carried, looped and staying values, in this order."""
    carried: list[Any]
    """Initial atom of each carried value; None for one that is only read after the loop."""
    looped: list[list[Any]]
    """Atoms by round of each input of the `scan`."""
    staying: list[Var]
    """Loop invariants: values that are the same in all rounds."""
    finals: dict[Var, int]
    """Variables of the last round that are read after the loop, and their carried values."""
    each: dict[Var, tuple[int, int]]
    """Variables of other rounds that are read after the loop: stacked output, and round."""
    ragged: bool
    """True if the rounds differ in shapes."""

    @property
    def is_sequential(self) -> bool:
        """True if XLA runs one round after the other, even if they are unrolled."""
        return _heavy(self.body.eqns) or _slices(
            self.body.jaxpr, len(self.carried), len(self.looped)
        )


def rolled(jaxpr: Jaxpr, known: Mapping[Var, Any]) -> Callable[..., list[Any]] | None:
    """Return a function that computes a jaxpr with its loops rerolled; None if it has no loops.

    `known` maps inputs that are constants to their values.
    """
    loop = (
        _find(jaxpr, known)
        if len(jaxpr.eqns) >= MIN_EQNS and not jaxpr.effects and not jaxpr.constvars
        else None
    )
    if loop is None:
        return None
    end = loop.start + loop.period * loop.rounds
    before, after = jaxpr.eqns[: loop.start], jaxpr.eqns[end:]
    made = {v for e in before for v in e.outvars}
    needed = [
        *loop.carried,
        *[a for atoms in loop.looped for a in atoms],
        *loop.staying,
        *_read(after),
        *jaxpr.outvars,
    ]
    kept = [*{v: None for v in needed if type(v) is Var and v in made}]
    first = _part(jaxpr, jaxpr.invars, before, kept, known)
    made = {v for e in after for v in e.outvars}
    last_inputs = [
        *{v: None for v in [*_read(after), *jaxpr.outvars] if type(v) is Var and v not in made}
    ]
    last = _part(jaxpr, last_inputs, after, jaxpr.outvars, known)
    body = jaxpr_as_fun(loop.body)
    unroll = 1 if loop.is_sequential else max(1, UNROLL_EQNS // loop.period)
    if loop.ragged:
        unroll = UNROLL_RAGGED_ROUNDS

    def compute(*inputs: Any) -> list[Any]:
        at = dict(zip(jaxpr.invars, inputs, strict=True))
        at |= zip(kept, first(*inputs), strict=True)

        def value(atom: Any) -> Any:
            return atom.val if type(atom) is Literal else known.get(atom, at[atom])

        types: list[Any] = loop.body.in_avals[: len(loop.carried)]
        begin = [
            jnp.zeros(t.shape, t.dtype) if a is None else _strong(value(a), t)
            for a, t in zip(loop.carried, types, strict=True)
        ]
        over = [_stacked([value(a) for a in atoms], atoms[0].aval) for atoms in loop.looped]
        staying = [at[v] for v in loop.staying]

        def once(carried: Any, now: Any) -> Any:
            outs = body(*carried, *now, *staying)
            return [_strong(o, t) for o, t in zip(outs, types, strict=False)], outs[len(types) :]

        finals, each = jax.lax.scan(once, begin, over, length=loop.rounds, unroll=unroll)
        at.update((v, finals[i]) for v, i in loop.finals.items())
        at.update((v, each[i][t]) for v, (i, t) in loop.each.items())
        return last(*[at[v] for v in last_inputs])

    return compute


def _part(
    jaxpr: Jaxpr,
    given: Sequence[Var],
    eqns: Sequence[JaxprEqn],
    results: Sequence[Any],
    known: Mapping[Var, Any],
) -> Callable[..., list[Any]]:
    """Return a function of some of the equations, with the loops in them rerolled."""
    part = jaxpr.replace(invars=list(given), outvars=list(results), eqns=list(eqns))
    return rolled(part, known) or jaxpr_as_fun(ClosedJaxpr(part, ()))


def _read(eqns: Sequence[JaxprEqn]) -> Iterator[Any]:
    return (a for e in eqns for a in e.invars)


def _strong(value: Any, kind: Any) -> Any:
    return jax.lax.convert_element_type(value, kind.dtype)


def _stacked(values: Sequence[Any], kind: Any) -> Any:
    """Stack the arrays of all rounds; smaller ones are padded with zeros."""
    if all(
        [isinstance(v, onp.ndarray | onp.generic | bool | int | float | complex) for v in values]
    ):
        arrays = [onp.asarray(v, kind.dtype) for v in values]
        found = onp.zeros(
            (len(arrays), *map(max, zip(*[a.shape for a in arrays], strict=True))), kind.dtype
        )
        for i, array in enumerate(arrays):
            found[(i, *map(slice, array.shape))] = array  # type: ignore[index]
        return found
    return jnp.stack([_strong(v, kind) for v in values])


def _heavy(eqns: Sequence[JaxprEqn]) -> bool:
    """Return True if XLA does not fuse some of the equations with their neighbours."""
    return any(
        [e.primitive.name not in _FUSED or any([_heavy(j.eqns) for j in within(e)]) for e in eqns]
    )


def _slices(body: Jaxpr, carried: int, looped: int) -> bool:
    """Return True if rounds slice results of earlier rounds, at positions that vary by round.

    Written slices count, too.
    """
    handed = {*body.invars[:carried]}
    numbers = {*body.invars[carried : carried + looped]}
    for e in body.eqns:
        inputs = [a for a in e.invars if type(a) is Var]
        if not numbers.isdisjoint(inputs):
            if (
                e.primitive.name in ("dynamic_slice", "dynamic_update_slice")
                and inputs[0] in handed
            ):
                return True
            numbers.update([v for v in e.outvars if _type(v.aval)[0] == ()])
        if not handed.isdisjoint(inputs):
            handed.update(e.outvars)
    return False


# --- finding --------------------------------------------------------------------------------------


def _find(jaxpr: Jaxpr, known: Mapping[Var, Any]) -> _Loop | None:
    """Find the loop with the most equations; rounds of equal shapes come before ragged ones."""
    exact = _Signatures()
    signatures = [exact.of(e) for e in jaxpr.eqns]
    found = _among(jaxpr, signatures, None, known)
    if found is None:
        but_for_shapes = _Signatures(shapes=False)
        loose = [but_for_shapes.of(e) for e in jaxpr.eqns]
        if len({*loose}) < len({*signatures}):
            found = _among(jaxpr, loose, exact, known)
    return found


def _among(
    jaxpr: Jaxpr, signatures: Sequence[int], exact: "_Signatures | None", known: Mapping[Var, Any]
) -> _Loop | None:
    eqns = jaxpr.eqns
    defined = {v: (i, o) for i, e in enumerate(eqns) for o, v in enumerate(e.outvars)}
    budget = SEARCH_BUDGET * len(eqns)
    for start, period, length in _runs(onp.array(signatures)):
        for rotation in range(min(period, MAX_ROTATIONS)):
            rounds = (length - rotation) // period
            budget -= period * rounds
            if rounds < MIN_ROUNDS or budget < 0:
                break
            try:
                flow = _Dataflow(jaxpr, defined, start + rotation, period, rounds, known)
                found = flow.loop() if exact is None else flow.ragged_loop(exact)
            except _UnequalError:
                continue
            except UnfitError:
                break
            if found.is_sequential or length >= MAX_FUSIBLE_EQNS:
                return found
            break
    return None


def _runs(signatures: Any) -> list[tuple[int, int, int]]:
    """Find runs of repeating equations: start, period and length, the longest first.

    Of runs of equal length, that of the smallest period comes first.
    """
    places: dict[int, int] = {}
    distances: Counter[int] = Counter()
    for i, sign in enumerate(signatures.tolist()):
        if sign in places:
            distances[i - places[sign]] += 1
        places[sign] = i
    found = []
    for period, _ in distances.most_common(MAX_PERIODS):
        if period * MIN_ROUNDS > len(signatures):
            continue
        differ = onp.flatnonzero(signatures[period:] != signatures[:-period])
        edges = onp.concatenate([[-1], differ, [len(signatures) - period]])
        lengths = onp.diff(edges) - 1 + period
        for i in onp.flatnonzero(lengths >= max(MIN_EQNS, period * MIN_ROUNDS)).tolist():
            found.append((int(edges[i]) + 1, period, int(lengths[i])))
    return sorted(found, key=lambda run: (-(run[2] // run[1] * run[1]), run[1]))


_PLAIN = {bool, int, str, type(None)}


class _Signatures:
    """Signatures of equations: equations that differ only in numbers have the same one.

    With `shapes=False`, equations that also differ in shapes have the same one.
    """

    def __init__(self, shapes: bool = True) -> None:
        self._shapes = shapes
        self._numbers: dict[Any, int] = {}
        self._inner: dict[int, Any] = {}
        self._alive: list[Any] = []

    def of(self, eqn: JaxprEqn) -> int:
        kind = self._kind(eqn)
        atoms = tuple([(type(a) is Literal, *kind(a.aval)) for a in eqn.invars])
        key = (eqn.primitive, atoms, self._params(eqn))
        return self._numbers.setdefault(key, len(self._numbers))

    def _kind(self, eqn: JaxprEqn) -> Callable[[Any], tuple[Any, ...]]:
        return _type if self._shapes or eqn.primitive.name not in RULES else _type_but_for_shape

    def _params(self, eqn: JaxprEqn) -> Any:
        left_out = None if self._shapes else SHAPES.get(eqn.primitive.name)
        return tuple(
            [(name, self._frozen(value)) for name, value in eqn.params.items() if name != left_out]
        )

    def _frozen(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, ClosedJaxpr):
            return self._structure(value.jaxpr, tuple(map(id, value.consts)))
        if isinstance(value, Jaxpr):
            return self._structure(value, ())
        if isinstance(value, tuple | list):
            return tuple(map(self._frozen, value))
        if callable(value) or isinstance(value, WrappedFun):
            return type(value)  # derivative rules: the equations themselves identify the function
        try:
            hash(value)
        except TypeError:
            self._alive.append(value)
            return id(value)
        return value

    def _structure(self, jaxpr: Jaxpr, consts: tuple[int, ...]) -> Any:
        found = self._inner.get(id(jaxpr))
        if found is None:
            self._alive.append(jaxpr)
            numbers: dict[Var, int] = {}
            eqns = []
            for v in [*jaxpr.constvars, *jaxpr.invars]:
                numbers[v] = len(numbers)
            for e in jaxpr.eqns:
                atoms = tuple([_literal(a) if type(a) is Literal else numbers[a] for a in e.invars])
                eqns.append(
                    (
                        e.primitive,
                        atoms,
                        self._params(e),
                        tuple([self._kind(e)(v.aval) for v in e.outvars]),
                    )
                )
                for v in e.outvars:
                    numbers[v] = len(numbers)
            outs = tuple([_literal(a) if type(a) is Literal else numbers[a] for a in jaxpr.outvars])
            kinds = tuple(
                [(_type if self._shapes else _type_but_for_shape)(v.aval) for v in jaxpr.invars]
            )
            found = self._inner[id(jaxpr)] = (kinds, tuple(eqns), outs)
        return found, consts


def _type(aval: Any) -> tuple[Any, ...]:
    return getattr(aval, "shape", None), getattr(aval, "dtype", None), type(aval)


def _type_but_for_shape(aval: Any) -> tuple[Any, ...]:
    return len(getattr(aval, "shape", ())), getattr(aval, "dtype", None), type(aval)


def _literal(atom: Any) -> Any:
    array = onp.asarray(atom.val)
    return array.dtype, array.shape, array.tobytes()


class _UnequalError(Exception):
    """Error for rounds, from this first equation on, whose dataflow differs."""


def _expect(holds: bool) -> None:
    if not holds:
        raise _UnequalError


class _Dataflow:
    """Dataflow of a run of rounds: values passed into it, from round to round, and out of it.

    The body of the loop is the first round, with new variables for carried and looped inputs.
    `_UnequalError` is raised if the dataflow of the rounds differs.
    """

    def __init__(
        self,
        jaxpr: Jaxpr,
        defined: dict[Var, tuple[int, int]],
        start: int,
        period: int,
        rounds: int,
        known: Mapping[Var, Any],
    ) -> None:
        self.jaxpr, self.defined = jaxpr, defined
        self.start, self.period, self.rounds = start, period, rounds
        self.known = known
        self.carried: dict[Any, Var] = {}
        """By equation and output of the round before, and the initial atom."""
        self.looped: list[tuple[Var, list[Any]]] = []
        self.staying: dict[Var, None] = {}
        self.stacked_bytes: list[int] = []
        eqns = jaxpr.eqns
        self.body = [
            eqns[start + r].replace(
                invars=[self._input(r, i) for i in range(len(eqns[start + r].invars))]
            )
            for r in range(period)
        ]
        self.results = [eqns[start + r].outvars[out] for r, out, _ in self.carried]
        self.begins = [atom for *_, atom in self.carried]
        self.finals: dict[Var, int] = {}
        self.each: dict[Var, tuple[int, int]] = {}
        self._find_outputs()
        own = [Var(v.aval) for v in self.results[len(self.carried) : len(self.begins)]]
        self.own = [*self.carried.values(), *own]

    def loop(self) -> _Loop:
        """Return the loop of rounds with equal shapes."""
        inputs = [*self.own, *[v for v, _ in self.looped], *self.staying]
        inner = self.jaxpr.replace(invars=inputs, outvars=self.results, eqns=self.body)
        return self._loop(ClosedJaxpr(inner, ()), [atoms for _, atoms in self.looped], False)

    def ragged_loop(self, exact: _Signatures) -> _Loop:
        """Return the loop of ragged rounds; `exact` has their signatures with shapes."""
        eqns, start, period = self.jaxpr.eqns, self.start, self.period
        all_rounds = [
            eqns[start + t * period : start + (t + 1) * period] for t in range(self.rounds)
        ]
        for result, begin in zip_longest(self.results, self.begins):
            made, out = self.defined[result]
            shapes = {shape_of(e[made - start].outvars[out]) for e in all_rounds}
            _expect(len(shapes) == 1 and (begin is None or shape_of(begin) in shapes))
        number = Var(jax.core.ShapedArray((), onp.dtype("int32")))
        inputs = [(v, *_padded_type([v])) for v in self.own]
        inputs += [(v, *_padded_type(atoms)) for v, atoms in self.looped]
        inputs += [(v, *_padded_type([v])) for v in (number, *self.staying)]
        integers = {
            v: tuple([int(a.val) for a in atoms])
            for v, atoms in self.looped
            if _are_integers(atoms)
        }
        body = merge_rounds(
            self.body,
            all_rounds,
            inputs,
            number,
            integers,
            self.results,
            lambda each: len({*map(exact.of, each)}) == 1,
        )
        numbers = [Literal(onp.int32(t), number.aval) for t in range(self.rounds)]
        return self._loop(body, [*[atoms for _, atoms in self.looped], numbers], True)

    def _loop(self, body: ClosedJaxpr, looped: list[list[Any]], ragged: bool) -> _Loop:
        return _Loop(
            self.start,
            self.period,
            self.rounds,
            body,
            self.begins,
            looped,
            [*self.staying],
            self.finals,
            self.each,
            ragged,
        )

    def _place(self, atom: Any) -> tuple[int, int, int] | None:
        """Round, equation and output that compute a variable; None outside of the loop."""
        at, out = self.defined.get(atom, (-1, 0))
        if not self.start <= at < self.start + self.period * self.rounds:
            return None
        return (*divmod(at - self.start, self.period), out)

    def _input(self, r: int, position: int) -> Any:
        """Return the body's atom for an equation's input: itself, carried, looped or staying."""
        eqns, first = self.jaxpr.eqns, self.start + r
        atoms = [eqns[first + t * self.period].invars[position] for t in range(self.rounds)]
        atom = atoms[0]
        if type(atom) is Literal:
            return atom if len({*map(_literal, atoms)}) == 1 else self._looped_over(atoms)
        places = [self._place(a) for a in atoms]
        second = places[1]
        if second is not None and places[0] is not None:
            _expect(places == [(t, *places[0][1:]) for t in range(self.rounds)])
            return atom
        if second is not None:
            _expect(places[1:] == [(t, *second[1:]) for t in range(self.rounds - 1)])
            return self.carried.setdefault((*second[1:], atom), Var(atom.aval))
        _expect(not any(places))
        if len({*atoms}) == 1:
            self.staying[atom] = None
            return atom
        if not all([a in self.known for a in atoms]):
            kind: Any = atom.aval
            self.stacked_bytes.append(self.rounds * kind.size * kind.dtype.itemsize)
            _expect(
                sum(self.stacked_bytes) <= MAX_STACKED_BYTES
                and len(self.stacked_bytes) * MIN_EQNS_PER_STACKED_INPUT <= self.period
                and len({*map(shape_of, atoms)}) == 1
            )
        return self._looped_over(atoms)

    def _looped_over(self, atoms: list[Any]) -> Var:
        variable = Var(atoms[0].aval)
        self.looped.append((variable, atoms))
        return variable

    def _find_outputs(self) -> None:
        """Find the values that are read after the loop, of the last round or of each one."""
        eqns, end = self.jaxpr.eqns, self.start + self.period * self.rounds
        uses: dict[tuple[int, int], dict[Var, int]] = defaultdict(dict)
        for atom in [*_read(eqns[end:]), *self.jaxpr.outvars]:
            place = self._place(atom) if type(atom) is Var else None
            if place is None:
                continue
            t, r, out = place
            variable = eqns[self.start + r].outvars[out]
            if t < self.rounds - 1:
                uses[r, out][atom] = t
            elif atom not in self.finals:
                if variable not in self.results:
                    self.results.append(variable)
                    self.begins.append(None)
                self.finals[atom] = self.results.index(variable)
        for i, ((r, out), by_round) in enumerate(uses.items()):
            _expect(len(by_round) >= self.rounds // 2)  # else most of the stack is not read
            self.results.append(eqns[self.start + r].outvars[out])
            self.each.update((v, (i, t)) for v, t in by_round.items())


def _padded_type(atoms: Sequence[Any]) -> tuple[Any, tuple[ValidRange | None, ...]]:
    """Return the type to which arrays of all rounds are padded, and the valid ranges."""
    lengths = [*zip(*map(shape_of, atoms), strict=True)]
    kind = atoms[0].aval.update(shape=tuple(map(max, lengths)))
    return kind, tuple(
        [ValidRange((0,) * len(atoms), n) if len({*n}) > 1 else None for n in lengths]
    )


def _are_integers(atoms: Sequence[Any]) -> bool:
    return all(
        [type(a) is Literal and onp.ndim(a.val) == 0 and a.val.dtype.kind in "iu" for a in atoms]
    )


__all__ = ["rolled"]
