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
    given = [
        *{v: None for v in [*_read(after), *jaxpr.outvars] if type(v) is Var and v not in made}
    ]
    last = _part(jaxpr, given, after, jaxpr.outvars, known)
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
        return last(*[at[v] for v in given])

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
    for e in eqns:
        inner = [
            getattr(p, "jaxpr", p) for p in e.params.values() if isinstance(p, ClosedJaxpr | Jaxpr)
        ]
        if e.primitive.name not in _FUSED or any([_heavy(j.eqns) for j in inner]):
            return True
    return False


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
                found = _dataflow(jaxpr, defined, start + rotation, period, rounds, exact, known)
            except UnfitError:
                break
            if found is not None:
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


def _dataflow(
    jaxpr: Jaxpr,
    defined: dict[Var, tuple[int, int]],
    start: int,
    period: int,
    rounds: int,
    exact: _Signatures | None,
    known: Mapping[Var, Any],
) -> _Loop | None:
    """Return the loop of a run of rounds, or None if their dataflow differs.

    `exact` has the signatures with shapes if the rounds differ in shapes, else it is None.
    """
    eqns, end = jaxpr.eqns, start + period * rounds
    # by the output of the round before, and the value before the loop
    carried: dict[Any, Var] = {}
    looped: list[tuple[Var, list[Any]]] = []
    staying: dict[Var, None] = {}
    stacked_bytes: list[int] = []

    def place(atom: Any) -> tuple[int, int, int] | None:
        """Return the round, equation and output that compute a variable; None outside the loop."""
        at, out = defined.get(atom, (-1, 0))
        return (*divmod(at - start, period), out) if start <= at < end else None

    body = []
    for r in range(period):
        inputs: list[Any] = []
        for position, atom in enumerate(eqns[start + r].invars):
            atoms = [eqns[start + t * period + r].invars[position] for t in range(rounds)]
            kind: Any = atom.aval
            if type(atom) is Literal:
                if len({*map(_literal, atoms)}) == 1:
                    inputs.append(atom)
                    continue
            else:
                at = [place(a) for a in atoms]
                inside = at[1]
                if inside is not None and at[0] is not None:
                    if at != [(t, *at[0][1:]) for t in range(rounds)]:
                        return None
                    inputs.append(atom)
                    continue
                if inside is not None:
                    if at[1:] != [(t, *inside[1:]) for t in range(rounds - 1)]:
                        return None
                    inputs.append(carried.setdefault((*inside[1:], atom), Var(kind)))
                    continue
                if any(at):
                    return None
                if len({*atoms}) == 1:
                    staying[atom] = None
                    inputs.append(atom)
                    continue
                if not all([a in known for a in atoms]):
                    stacked_bytes.append(rounds * kind.size * kind.dtype.itemsize)
                    if (
                        sum(stacked_bytes) > MAX_STACKED_BYTES
                        or len(stacked_bytes) * MIN_EQNS_PER_STACKED_INPUT > period
                        or len({*map(shape_of, atoms)}) > 1
                    ):
                        return None
            looped.append((Var(kind), atoms))
            inputs.append(looped[-1][0])
        body.append(eqns[start + r].replace(invars=inputs))
    results = [eqns[start + r].outvars[o] for r, o, _ in carried]
    begins = [atom for *_, atom in carried]
    finals: dict[Var, int] = {}
    uses: dict[tuple[int, int], dict[Var, int]] = defaultdict(dict)
    for atom in [*_read(eqns[end:]), *jaxpr.outvars]:
        at_end = place(atom) if type(atom) is Var else None
        if at_end is None:
            continue
        t, r, o = at_end
        variable = eqns[start + r].outvars[o]
        if t < rounds - 1:
            uses[r, o][atom] = t
        elif atom not in finals:
            if variable not in results:
                results.append(variable)
                begins.append(None)
            finals[atom] = results.index(variable)
    each: dict[Var, tuple[int, int]] = {}
    for i, ((r, o), by_round) in enumerate(uses.items()):
        if len(by_round) < rounds // 2:
            return None  # most of what is stacked would not be read
        results.append(eqns[start + r].outvars[o])
        each.update((v, (i, t)) for v, t in by_round.items())
    own = [*carried.values(), *[Var(results[i].aval) for i in range(len(carried), len(begins))]]
    outside = [atoms for _, atoms in looped]
    if exact is None:
        inner = jaxpr.replace(
            invars=[*own, *[v for v, _ in looped], *staying], outvars=results, eqns=body
        )
        return _Loop(
            start,
            period,
            rounds,
            ClosedJaxpr(inner, ()),
            begins,
            outside,
            [*staying],
            finals,
            each,
            False,
        )
    all_rounds = [eqns[start + t * period : start + (t + 1) * period] for t in range(rounds)]
    for result, begin in zip_longest(results, begins):
        made, out = defined[result]
        shapes = {shape_of(e[made - start].outvars[out]) for e in all_rounds}
        if len(shapes) > 1 or (begin is not None and shape_of(begin) not in shapes):
            return None
    number = Var(jax.core.ShapedArray((), onp.dtype("int32")))
    inputs_of_all = [(v, *_padded_type([v])) for v in own]
    inputs_of_all += [(v, *_padded_type(atoms)) for v, atoms in looped]
    inputs_of_all += [(v, *_padded_type([v])) for v in (number, *staying)]
    integers = {
        v: tuple([int(a.val) for a in atoms]) for v, atoms in looped if _are_integers(atoms)
    }
    serving = merge_rounds(
        body,
        all_rounds,
        inputs_of_all,
        number,
        integers,
        results,
        lambda each: len({*map(exact.of, each)}) == 1,
    )
    outside.append([Literal(onp.int32(t), number.aval) for t in range(rounds)])
    return _Loop(start, period, rounds, serving, begins, outside, [*staying], finals, each, True)


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
