"""Loops of Python's, found again in the equations that they left, and rolled up into loops of
XLA's.

A traced function has the equations of each round of a loop, one after the other. Where the rounds
are alike but for numbers, they are equations of one round and a `scan` over those numbers: what XLA
compiles, and keeps in its caches, does not grow with the number of rounds. Rounds that are alike
but for shapes too, as in `a[i:] -= a[i]`, are computed by one that serves for all
(`ragged_rounds`). Rounds of nothing but elementwise work are left as they are, since XLA computes
several of them at a time, until there are very many.
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
from npcompat._internal.backend.jaxpr.primitives import CALLS, ELEMENTWISE
from npcompat._internal.backend.jaxpr.ragged_rounds import (
    RULES,
    SHAPES,
    UnfitError,
    Window,
    one_for_all,
    shape_of,
)

ROUNDS = 4
"""So many rounds are rolled up at the least."""
EQUATIONS = 64
"""So many equations that are alike are looked at, at the least."""
FUSIBLE_EQUATIONS = 8192
"""So many equations are left to XLA to compute several rounds at a time, where it can."""
_TOGETHER = 512
"""Equations of several rounds that are computed at a time where XLA can, and there are too many."""
_UNEVEN_TOGETHER = 2
"""Rounds of different sizes that are computed one after the other before what they carry is copied.
"""
_GATHERED = 1 << 16
"""Bytes of arrays, one for each round, that may be put together to be looped over."""
_PER_GATHERED = 8
"""Equations that a round has at the least for each array that is put together: who takes its array
out again is a kernel more.
"""
_PERIODS, _ROTATIONS = 32, 64
_LOOKS = 16
"""How often each equation is looked at, in the mean, before there is said to be no loop."""

_REARRANGEMENTS = """
bitcast_convert_type broadcast_in_dim concatenate dynamic_slice dynamic_update_slice iota
optimization_barrier pad reshape rev slice squeeze transpose
"""
_FUSED = ELEMENTWISE | CALLS | frozenset(_REARRANGEMENTS.split())
"""What XLA computes together with what is around it, by the names of its primitives."""


@dataclass(frozen=True)
class _Loop:
    """Where rounds of equal equations begin, how many equations are one, how many rounds there are,
    and what goes from one to the next.
    """

    start: int
    period: int
    rounds: int
    body: ClosedJaxpr  # of what is carried, then what is looped over, then what stays
    carried: list[
        Any
    ]  # what each carried value begins with: an atom, or None for one that is only looked at in the end
    looped: list[list[Any]]  # for each value that is looped over, its atoms by round
    staying: list[Var]
    finals: dict[Var, int]  # what the last round leaves, by its place among what is carried
    each: dict[
        Var, tuple[int, int]
    ]  # what other rounds leave: its place among what is stacked, and the round
    uneven: bool  # whether the rounds are alike but for shapes

    @property
    def apart(self) -> bool:
        """Whether XLA computes the rounds one after the other also where it sees them all."""
        return _heavy(self.body.eqns) or _slices(
            self.body.jaxpr, len(self.carried), len(self.looped)
        )


def rolled(jaxpr: Jaxpr, known: Mapping[Var, Any]) -> Callable[..., list[Any]] | None:
    """A function of the inputs of equations, some of which may be known, in which loops are rolled
    up; None if there are none.
    """
    loop = (
        _find(jaxpr, known)
        if len(jaxpr.eqns) >= EQUATIONS and not jaxpr.effects and not jaxpr.constvars
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
    together = (
        _UNEVEN_TOGETHER if loop.uneven else 1 if loop.apart else max(1, _TOGETHER // loop.period)
    )

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

        finals, each = jax.lax.scan(once, begin, over, length=loop.rounds, unroll=together)
        at.update((v, finals[i]) for v, i in loop.finals.items())
        at.update((v, each[i][t]) for v, (i, t) in loop.each.items())
        return last(*[at[v] for v in given])

    return compute


def _part(
    jaxpr: Jaxpr,
    given: Sequence[Var],
    equations: Sequence[JaxprEqn],
    results: Sequence[Any],
    known: Mapping[Var, Any],
) -> Callable[..., list[Any]]:
    """Some of the equations, as a function; with loops of their own rolled up."""
    part = jaxpr.replace(invars=list(given), outvars=list(results), eqns=list(equations))
    return rolled(part, known) or jaxpr_as_fun(ClosedJaxpr(part, ()))


def _read(equations: Sequence[JaxprEqn]) -> Iterator[Any]:
    return (a for e in equations for a in e.invars)


def _strong(value: Any, kind: Any) -> Any:
    return jax.lax.convert_element_type(value, kind.dtype)


def _stacked(values: Sequence[Any], kind: Any) -> Any:
    """Arrays of several rounds as one, with zeros around those that are smaller."""
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


def _heavy(equations: Sequence[JaxprEqn]) -> bool:
    """Whether there are equations that XLA does not compute together with those around them."""
    for e in equations:
        inner = [
            getattr(p, "jaxpr", p) for p in e.params.values() if isinstance(p, ClosedJaxpr | Jaxpr)
        ]
        if e.primitive.name not in _FUSED or any([_heavy(j.eqns) for j in inner]):
            return True
    return False


def _slices(body: Jaxpr, carried: int, looped: int) -> bool:
    """Whether rounds look at, or write, parts of what rounds before them made, whose place is
    looped over.
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
    """The loop with the most equations in it, of rounds that are alike; or else, of those that are
    alike but for shapes.
    """
    exact = _Signatures()
    signs = [exact.of(e) for e in jaxpr.eqns]
    found = _among(jaxpr, signs, None, known)
    if found is None:
        but_for_shapes = _Signatures(shapes=False)
        loose = [but_for_shapes.of(e) for e in jaxpr.eqns]
        if len({*loose}) < len({*signs}):
            found = _among(jaxpr, loose, exact, known)
    return found


def _among(
    jaxpr: Jaxpr, signs: Sequence[int], exact: "_Signatures | None", known: Mapping[Var, Any]
) -> _Loop | None:
    equations = jaxpr.eqns
    defined = {v: (i, o) for i, e in enumerate(equations) for o, v in enumerate(e.outvars)}
    looks = _LOOKS * len(equations)
    for start, period, length in _runs(onp.array(signs)):
        for rotation in range(min(period, _ROTATIONS)):
            rounds = (length - rotation) // period
            looks -= period * rounds
            if rounds < ROUNDS or looks < 0:
                break
            try:
                found = _dataflow(jaxpr, defined, start + rotation, period, rounds, exact, known)
            except UnfitError:
                break
            if found is not None:
                if found.apart or length >= FUSIBLE_EQUATIONS:
                    return found
                break
    return None


def _runs(signs: Any) -> list[tuple[int, int, int]]:
    """Where equations repeat: start, period, and length of each run, the longest first, and of
    equal ones that of the smallest period.
    """
    places: dict[int, int] = {}
    distances: Counter[int] = Counter()
    for i, sign in enumerate(signs.tolist()):
        if sign in places:
            distances[i - places[sign]] += 1
        places[sign] = i
    found = []
    for period, _ in distances.most_common(_PERIODS):
        if period * ROUNDS > len(signs):
            continue
        differ = onp.flatnonzero(signs[period:] != signs[:-period])
        edges = onp.concatenate([[-1], differ, [len(signs) - period]])
        lengths = onp.diff(edges) - 1 + period
        for i in onp.flatnonzero(lengths >= max(EQUATIONS, period * ROUNDS)).tolist():
            found.append((int(edges[i]) + 1, period, int(lengths[i])))
    return sorted(found, key=lambda run: (-(run[2] // run[1] * run[1]), run[1]))


_PLAIN = {bool, int, str, type(None)}


class _Signatures:
    """What equations do, as numbers: the same number for the same thing, but for the numbers in it;
    and for shapes, where that is said.
    """

    def __init__(self, shapes: bool = True) -> None:
        self._shapes = shapes
        self._numbers: dict[Any, int] = {}
        self._inner: dict[int, Any] = {}
        self._alive: list[Any] = []

    def of(self, equation: JaxprEqn) -> int:
        kind = self._kind(equation)
        atoms = tuple([(type(a) is Literal, *kind(a.aval)) for a in equation.invars])
        key = (equation.primitive, atoms, self._params(equation))
        return self._numbers.setdefault(key, len(self._numbers))

    def _kind(self, equation: JaxprEqn) -> Callable[[Any], tuple[Any, ...]]:
        return (
            _type if self._shapes or equation.primitive.name not in RULES else _type_but_for_shape
        )

    def _params(self, equation: JaxprEqn) -> Any:
        left_out = None if self._shapes else SHAPES.get(equation.primitive.name)
        return tuple(
            [
                (name, self._frozen(value))
                for name, value in equation.params.items()
                if name != left_out
            ]
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
        if callable(value) or isinstance(
            value, WrappedFun
        ):  # rules for gradients, which the equations stand for
            return type(value)
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
            equations = []
            for v in [*jaxpr.constvars, *jaxpr.invars]:
                numbers[v] = len(numbers)
            for e in jaxpr.eqns:
                atoms = tuple([_literal(a) if type(a) is Literal else numbers[a] for a in e.invars])
                equations.append(
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
            found = self._inner[id(jaxpr)] = (kinds, tuple(equations), outs)
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
    """The loop of rounds that are alike, if they hand on from one to the next alike.

    Where they are so but for shapes, `exact` tells which equations are alike in those, too.
    """
    equations, end = jaxpr.eqns, start + period * rounds
    carried: dict[Any, Var] = {}  # by the output of the round before, and what it begins with
    looped: list[tuple[Var, list[Any]]] = []
    staying: dict[Var, None] = {}
    gathered: list[int] = []  # bytes of what is put together

    def place(atom: Any) -> tuple[int, int, int] | None:
        """Round, equation and output where a variable is made; None if that is outside."""
        at, out = defined.get(atom, (-1, 0))
        return (*divmod(at - start, period), out) if start <= at < end else None

    body = []
    for r in range(period):
        inputs: list[Any] = []
        for position, atom in enumerate(equations[start + r].invars):
            atoms = [equations[start + t * period + r].invars[position] for t in range(rounds)]
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
                    gathered.append(rounds * kind.size * kind.dtype.itemsize)
                    if (
                        sum(gathered) > _GATHERED
                        or len(gathered) * _PER_GATHERED > period
                        or len({*map(shape_of, atoms)}) > 1
                    ):
                        return None
            looped.append((Var(kind), atoms))
            inputs.append(looped[-1][0])
        body.append(equations[start + r].replace(invars=inputs))
    results = [equations[start + r].outvars[o] for r, o, _ in carried]
    begins = [atom for *_, atom in carried]
    finals: dict[Var, int] = {}
    uses: dict[tuple[int, int], dict[Var, int]] = defaultdict(dict)
    for atom in [*_read(equations[end:]), *jaxpr.outvars]:
        at_end = place(atom) if type(atom) is Var else None
        if at_end is None:
            continue
        t, r, o = at_end
        variable = equations[start + r].outvars[o]
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
            return None  # most of what would be kept of each round would not be looked at
        results.append(equations[start + r].outvars[o])
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
    all_rounds = [equations[start + t * period : start + (t + 1) * period] for t in range(rounds)]
    for result, begin in zip_longest(results, begins):
        made, out = defined[result]
        shapes = {shape_of(e[made - start].outvars[out]) for e in all_rounds}
        if len(shapes) > 1 or (begin is not None and shape_of(begin) not in shapes):
            return None
    number = Var(jax.core.ShapedArray((), onp.dtype("int32")))
    inputs_of_all = [(v, *_held([v])) for v in own]
    inputs_of_all += [(v, *_held(atoms)) for v, atoms in looped]
    inputs_of_all += [(v, *_held([v])) for v in (number, *staying)]
    integers = {
        v: tuple([int(a.val) for a in atoms]) for v, atoms in looped if _are_integers(atoms)
    }
    serving = one_for_all(
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


def _held(atoms: Sequence[Any]) -> tuple[Any, tuple[Window | None, ...]]:
    """The type of an array that holds each of some arrays, and its windows."""
    lengths = [*zip(*map(shape_of, atoms), strict=True)]
    kind = atoms[0].aval.update(shape=tuple(map(max, lengths)))
    return kind, tuple([Window((0,) * len(atoms), n) if len({*n}) > 1 else None for n in lengths])


def _are_integers(atoms: Sequence[Any]) -> bool:
    return all(
        [type(a) is Literal and onp.ndim(a.val) == 0 and a.val.dtype.kind in "iu" for a in atoms]
    )


__all__ = ["rolled"]
