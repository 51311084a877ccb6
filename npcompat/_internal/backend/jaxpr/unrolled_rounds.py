"""Rounds of loops that XLA's CPU runs at once: unrolled, where it then copies or stores less.

- Two arrays that change places in each round, as in `now, after = after, now`, are copied in each
  round; of two rounds in one, each array stays in its place.
- Short loops of elementwise work become one kernel, which stores the arrays once, not in each
  round.

Rounds are put together here, not by the `unroll` of `lax.scan`, so that the rewrites of writes
(`overlapping_writes`) see all of them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Jaxpr, JaxprEqn, Var, jaxpr_as_fun
from npcompat._internal.backend.jaxpr.primitives import CALLS, called, family

MOST_EQNS = 1024
"""Maximum number of equations of the rounds that become one."""
LEAST_BYTES = 1 << 12
"""Minimum number of bytes of arrays that change places, for which copies cost more than code."""
_FREE = frozenset(
    ["broadcast_in_dim", "expand_dims", "iota", "reshape", "squeeze", "optimization_barrier"]
)
_ELEMENTWISE = family("elementwise") | _FREE


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
    at_once = _at_once(body.jaxpr, found["num_consts"], found["length"])
    if at_once < 2:
        return None
    return _Rounds(body, found["num_consts"], found["length"], at_once)


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


def _at_once(body: Jaxpr, constants: int, length: int) -> int:
    """Return how many rounds are to become one."""
    count = _count(body)
    if count * length <= MOST_EQNS and _is_elementwise(body):
        return length
    turns = _turns(body, constants)
    return turns if 1 < turns <= length and count * turns <= MOST_EQNS else 1


def _count(jaxpr: Jaxpr) -> int:
    """Return the number of equations, those of inner jaxprs included."""
    inner = [p for e in jaxpr.eqns for p in e.params.values()]
    total = len(jaxpr.eqns)
    for found in inner:
        if isinstance(found, ClosedJaxpr | Jaxpr):
            total += _count(found.jaxpr if isinstance(found, ClosedJaxpr) else found)
    return total


def _is_elementwise(jaxpr: Jaxpr) -> bool:
    """Return True if XLA makes one kernel of the equations, which reads each element once."""
    for e in jaxpr.eqns:
        name = e.primitive.name
        if name in CALLS:
            found = called(e)
            if not _is_elementwise(getattr(found, "jaxpr", found)):
                return False
        elif name not in _ELEMENTWISE:
            return False
    return True


def _turns(body: Jaxpr, constants: int) -> int:
    """Return after how many rounds arrays that change places are where they were; 1 for none.

    An array changes places if a round hands it on, whole or with a part replaced, as another one of
    the carried arrays. The last place of a chain, as in `a, b = b, f(a, b)`, is that of a new one.
    """
    places = {v: i for i, v in enumerate(body.invars[constants:])}
    begins = _Origins(body)
    moves = {}
    for i, out in enumerate(body.outvars):
        at = places.get(begins.of(out))
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
