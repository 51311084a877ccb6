"""Rounds of loops that XLA's CPU runs at once: unrolled, where it then copies or stores less.

- Two arrays that change places in each round, as in `now, after = after, now`, are copied in each
  round; of two rounds in one, each array stays in its place.
- Short loops of elementwise work become one kernel, which stores the arrays once, not in each
  round. They may write parts of arrays that they do not read.

Rounds are put together here, not by the `unroll` of `lax.scan`, so that the rewrites of writes
(`overlapping_writes`) see all of them.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
from jax import lax

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Jaxpr, JaxprEqn, Var, jaxpr_as_fun
from npcompat._internal.backend.jaxpr.loop_bodies import is_put
from npcompat._internal.backend.jaxpr.nested_jaxprs import inline, is_call, within
from npcompat._internal.backend.jaxpr.primitives import CALLS, called, family

MOST_EQNS = 1024
"""Maximum number of equations of the rounds that become one."""
LEAST_BYTES = 1 << 12
"""Minimum number of bytes of arrays that change places, for which copies cost more than code."""
MOST_WRITES = 16
"""Maximum number of rounds that become one kernel, or one for each, if they write parts of arrays."""
_FREE = frozenset(
    ["broadcast_in_dim", "expand_dims", "iota", "reshape", "squeeze", "optimization_barrier"]
)
_ELEMENTWISE = family("elementwise") | _FREE
_SAME = frozenset(["copy", "optimization_barrier"])
_SLICES = frozenset(["dynamic_slice", "slice"])


def unrolled(equation: JaxprEqn) -> Callable[..., list[Any]] | None:
    """Return a function that computes a loop with several rounds in one; None if that costs more.

    Only loops whose rounds hand on arrays, and neither read nor stack others, are taken.
    """
    found = equation.params
    carried = found["num_carry"]
    is_plain = len(equation.invars) == found["num_consts"] + carried
    if found["unroll"] != 1 or not is_plain or len(equation.outvars) != carried:
        return None
    body: ClosedJaxpr = found["jaxpr"]
    constants, length = found["num_consts"], found["length"]
    count = _count(body.jaxpr)
    if length > 1 and count * length <= MOST_EQNS:
        plain = body.jaxpr
        if length <= MOST_WRITES and _writes(plain):
            plain = _with_plain_writes(plain)
        if _is_one_kernel(plain, constants, length <= MOST_WRITES):
            return _Rounds(body.replace(jaxpr=plain), constants, length, length)
    at_once = _turns(body.jaxpr, constants)
    if not 1 < at_once <= length or count * at_once > MOST_EQNS:
        return None
    return _Rounds(body, constants, length, at_once)


class _Rounds:
    """Loop whose body is several rounds."""

    def __init__(self, body: ClosedJaxpr, constants: int, length: int, at_once: int) -> None:
        self._round = jaxpr_as_fun(body)
        self._types = body.in_avals[constants:]
        self._constants, self._length, self._at_once = constants, length, at_once

    def __call__(self, *arrays: Any) -> list[Any]:
        constants, state = arrays[: self._constants], list(arrays[self._constants :])
        times, rest = divmod(self._length, self._at_once)

        def several(state: list[Any], count: int) -> list[Any]:
            for _ in range(count):
                state = [
                    lax.convert_element_type(x, t.dtype)
                    for x, t in zip(self._round(*constants, *state), self._types, strict=True)
                ]
            return state

        if times > 1:
            state = jax.lax.scan(
                lambda s, _: (several(s, self._at_once), None), state, None, length=times
            )[0]
        else:
            rest += self._at_once * times
        return several(state, rest)


def _count(jaxpr: Jaxpr) -> int:
    """Return the number of equations, those of inner jaxprs included."""
    return len(jaxpr.eqns) + sum([_count(inner) for e in jaxpr.eqns for inner in within(e)])


def _is_one_kernel(body: Jaxpr, constants: int, may_write: bool) -> bool:
    """Return True if XLA makes one kernel of the rounds, which reads each element once.

    Those are elements of the operands of elementwise work, and of tables, which are arrays from
    outside of the loop. An array of which a round writes a part is not read in the loop.
    """
    tables = {*body.invars[:constants], *body.constvars}
    origins: dict[Any, Any] = {v: v for v in (*body.invars, *body.constvars)}
    read, written = set(), set()
    for e in body.eqns:
        name = e.primitive.name
        operands = [origins.get(v) if isinstance(v, Var) else None for v in e.invars]
        if name in _SLICES:
            if operands[0] not in tables:
                return False
        elif name in _SAME:
            origins.update(zip(e.outvars, operands, strict=True))
        elif name == "dynamic_update_slice" and may_write:
            if operands[0] is None or operands[0] in tables:
                return False
            written.add(operands[0])
            read.update(operands[1:])
            origins[e.outvars[0]] = operands[0]
        elif _is_elementwise(e):
            read.update(operands)
        else:
            return False
    return read.isdisjoint(written)


def _is_elementwise(equation: JaxprEqn) -> bool:
    if equation.primitive.name not in CALLS:
        return equation.primitive.name in _ELEMENTWISE
    found = called(equation)
    return all(map(_is_elementwise, getattr(found, "jaxpr", found).eqns))


def _writes(jaxpr: Jaxpr) -> bool:
    """Return True if a jaxpr writes a part of an array, itself or in calls."""
    return any(
        [
            is_put(e)
            or e.primitive.name == "dynamic_update_slice"
            or (is_call(e) and _writes(called(e).jaxpr))
            for e in jaxpr.eqns
        ]
    )


def _with_plain_writes(jaxpr: Jaxpr) -> Jaxpr:
    """Return a jaxpr whose own equations write parts of arrays, not calls in it.

    Of arrays that are not read, no write needs a loop of one round.
    """
    equations: list[JaxprEqn] = []
    outvars = inline(jaxpr, {}, equations, _opens, _plain_write)
    replaced: Jaxpr = jaxpr.replace(eqns=equations, outvars=outvars)
    return replaced


def _opens(call: JaxprEqn) -> bool:
    return not is_put(call) and _writes(called(call).jaxpr)


def _plain_write(put: JaxprEqn) -> JaxprEqn:
    """Return the equation of a write without a loop; others unchanged."""
    if not is_put(put):
        return put
    types: list[Any] = [v.aval for v in put.invars]
    array, new, *begin = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types]
    write = partial(lax.dynamic_update_slice, allow_negative_indices=False)
    with jax.enable_x64(True):
        found: JaxprEqn = jax.make_jaxpr(write)(array, new, begin).jaxpr.eqns[-1]
    replaced: JaxprEqn = found.replace(invars=put.invars, outvars=put.outvars)
    return replaced


def _turns(body: Jaxpr, constants: int) -> int:
    """Return after how many rounds arrays that change places are where they were; 1 for none.

    An array changes places if a round hands it on, whole or with a part replaced, as another one of
    the carried arrays. The last place of a chain, as in `a, b = b, f(a, b)`, is that of a new one.
    """
    places = {v: i for i, v in enumerate(body.invars[constants:])}
    begins = _Origins(body)
    moves = {}
    for i, out in enumerate(body.outvars):
        begin = begins.of(out)
        at = places.get(begin) if isinstance(begin, Var) else None
        if at is not None and at != i and _bytes(out.aval) >= LEAST_BYTES:
            moves[at] = i
    turns, left = 1, dict(moves)
    begins_first = sorted(moves, key=lambda place: place in moves.values())
    for place in begins_first:
        size, now = 1, place
        while now in left:
            now = left.pop(now)
            size += now != place
        turns = math.lcm(turns, size)
    return turns


def _bytes(kind: Any) -> int:
    return int(kind.size) * int(getattr(kind.dtype, "itemsize", 0))


class _Origins:
    """Variables of a jaxpr whose memory a value may be in: it is the same, or a part is replaced."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._made = {v: e for e in jaxpr.eqns for v in e.outvars}

    def of(self, atom: Any) -> Any:
        """Return the input of the jaxpr from which a value comes, or what else it comes from."""
        while type(atom) is Var and atom in self._made:
            equation = self._made[atom]
            name = equation.primitive.name
            if name in CALLS:
                found = called(equation)
                inner: Jaxpr = getattr(found, "jaxpr", found)
                begin = _Origins(inner).of(inner.outvars[equation.outvars.index(atom)])
                if begin not in inner.invars:
                    return None
                atom = equation.invars[inner.invars.index(begin)]
            elif name == "while":
                atom = _carried_by(equation, atom)
            elif name == "optimization_barrier":
                atom = equation.invars[equation.outvars.index(atom)]
            elif name in ("convert_element_type", "copy", "dynamic_update_slice", "scatter"):
                atom = equation.invars[0]
            else:
                return None
        return atom


def _carried_by(equation: JaxprEqn, atom: Any) -> Any:
    """Return the initial value of what a `while` hands on, as the loop of one round of a write."""
    carried: Sequence[Any] = equation.invars[
        equation.params["cond_nconsts"] + equation.params["body_nconsts"] :
    ]
    return carried[equation.outvars.index(atom)]


__all__ = ["LEAST_BYTES", "MOST_EQNS", "unrolled"]
