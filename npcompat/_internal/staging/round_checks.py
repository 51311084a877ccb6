"""Checks of a loop's round after it was traced: whether it can stand for all rounds."""

from collections import Counter
from typing import Any

from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core import modes
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import context
from npcompat._internal.staging.aliases import arrays_in, is_shared
from npcompat._internal.staging.carried import ChangedTypeError
from npcompat._internal.support.errors import RefusedError

_MOST_GUARDED = 10_000_000
"""Maximum bound of an unknown count of rounds that are recorded: each has room for its residuals."""
_MOST_OF_PYTHON = 10_000
"""Maximum number of rounds that Python runs, while a function is traced, to have exact integers."""


class PythonRoundsError(Exception):
    """Error for a loop that Python runs, since no data decide what it computes."""


def check_numbers(loop: Any) -> None:
    """Raise PythonRoundsError for a loop of Python's numbers alone, of which an int may need more
    than 64 bits.
    """
    found = loop.captured
    if (
        loop.rounds is not None
        and type(loop.rounds.total) is int
        and loop.rounds.total <= _MOST_OF_PYTHON
        and not (found.reads or found.written or found.jaxpr.consts)
        and all([form.kind == "number" for form in loop.leaving.values()])
        and {kind for kind, _ in found.errors} == {OverflowError}
    ):
        raise PythonRoundsError


def names_afterwards(loop: Any) -> dict[int, int]:
    """Return which variable's array each variable has after a loop of which each round permutes the
    arrays of some; refuse carried arrays with aliases, which would not see the loop's writes.
    """
    count = None if loop.rounds is None else loop.rounds.total
    entering = Counter([id(h) for i in loop.entering for h in arrays_in(loop.init[i])])
    for i in loop.permuted:
        if any([entering[id(h)] > 1 for h in arrays_in(loop.init[i])]):
            refuse(f"{loop.names[i]!r} changes places with others, of which one is the same array")
    cycles = sorted(loop.permuted) == sorted(loop.permuted.values())
    returning: dict[int, int] = {}
    if loop.permuted and cycles and type(count) is int and loop.going is None:
        # the count is known, so is each array's last name
        returning = {i: i for i in loop.permuted}
        for _ in range((count - loop.first) % _order(loop.permuted)):
            returning = {i: loop.permuted[returning[i]] for i in returning}
    else:
        for i in {*loop.permuted, *loop.permuted.values()}:
            if is_shared(loop.init, i):
                refuse(
                    f"{loop.names[i]!r} becomes another array that exists already, and which "
                    "one depends on the number of rounds; use a copy"
                )
    for i in loop.written_names - set(returning):
        if is_shared(loop.init, i):
            # after a peeled round the variable holds a new array, without aliases
            raise ChangedTypeError(
                f"{loop.names[i]!r} is written in place and bound anew, and its array has other "
                "names"
            )
    found = loop.captured.written
    selected = {id(h): reason for h, reason in loop.refused}
    for h in found:
        if id(h) in selected:  # the next round would see the write through the variable
            raise RefusedError(selected[id(h)])
    if loop.written_names:
        found = [*found, *loop.captured.reads]
    touched = {id(h) for h in (*found, *context.running().selections.read_by(found))}
    for i in loop.entering:
        if any([id(h) in touched for h in arrays_in(loop.init[i])]):
            refuse(
                f"{loop.names[i]!r} is bound anew, and its array is read or written by another "
                "name, too"
            )
    return returning


def _order(permutation: dict[int, int]) -> int:
    """Return the order of a permutation: the number of rounds after which it is the identity."""
    n, current = 1, dict(permutation)
    while any([k != v for k, v in current.items()]):
        current = {k: permutation[v] for k, v in current.items()}
        n += 1
    return n


def check_derivative(loop: Any) -> None:
    """Refuse a loop that is differentiated and has no derivative, as its count has no bound."""
    if not modes.differentiated():
        return
    if loop.rounds is None:
        refuse(
            "a while loop has no derivative, as nobody knows how many rounds there are; use "
            "npx.while_loop(max_iterations=), or a for loop with a break"
        )
    count = loop.rounds.total
    if isinstance(count, SymbolicNumber) and count.high > _MOST_GUARDED:
        refuse(
            "a loop of which nobody knows how many rounds there can be (they are at most "
            f"{count.high}) has no derivative; use npx.while_loop(max_iterations=), or give the "
            "count as a number of Python's"
        )


__all__ = ["PythonRoundsError", "check_derivative", "check_numbers", "names_afterwards"]
