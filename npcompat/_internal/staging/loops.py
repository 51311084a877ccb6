"""Loops of converted functions: staged as parts of the program, or unrolled by Python.

A loop with a known count that can't be staged is unrolled: its rounds are traced one after the
other. A loop with an unknown count that can't be staged raises an error.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.caught_errors import forget, note
from npcompat._internal.compile.staged_runs import is_staged, staged
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import context
from npcompat._internal.staging.aliases import holding
from npcompat._internal.staging.branches import OF_PROGRAM, RaisedError, staged_branch, text_of
from npcompat._internal.staging.context import Variables, report
from npcompat._internal.staging.iterables import LoopIterator, Rounds, SymbolicRange, rounds_of
from npcompat._internal.staging.iterators import iterated
from npcompat._internal.staging.round_checks import PythonRoundsError
from npcompat._internal.staging.rounds import ChangedTypeError, StagedLoop
from npcompat._internal.staging.truths import negated, truth
from npcompat._internal.support.errors import RefusedError

FEWEST = 9
"""Minimum number of rounds of a staged loop with a known count."""
_FEWEST_NESTED = 16
"""The same for a loop with loops in it, of which each counts as two rounds: a nest of loops of few
rounds each would be a program of many.
"""
_PEELED = 2
"""Maximum number of rounds that are peeled off a loop because its variables change their types."""
_TRIES = 2
"""Number of failures in one program after which a loop is not staged any more."""

Body = Callable[..., None]


class _Site:
    """Loop in the source: its body, its variables and its line."""

    def __init__(
        self, body: Body, variables: Any, where: tuple[int, int], first: tuple[int, ...]
    ) -> None:
        self.body, self.first = body, first
        self.variables = Variables(*variables)
        self.line = f"{body.__code__.co_filename}:{where[0]}"
        self.key = (body.__code__.co_filename, *where)

    def may_stage(self) -> bool:
        """Return True unless staging has failed `_TRIES` times in the program being traced."""
        if context.current() is None:
            return False
        failed: int = context.outermost().notes.get(("failed", self.key), 0)
        return failed < _TRIES

    def failed(self, error: BaseException, what: str) -> None:
        """Note, for the compile log, why the loop is not staged."""
        notes = context.outermost().notes
        notes["failed", self.key] = notes.get(("failed", self.key), 0) + 1
        text = str(error) or type(error).__name__
        report("unrolled", self.line, f"{what}: {text.removeprefix(self.line + ': ')}")


class _Undo:
    """Snapshot of variables and error flags, which restores them after a failed try."""

    def __init__(self, variables: Variables) -> None:
        self.variables, self.saved = variables, list(variables.get())
        trace = context.running()
        self.trace, self.errors = trace, len(trace.errors)

    def __call__(self) -> None:
        self.variables.put(list(self.saved))
        del self.trace.errors[self.errors :], self.trace.flags[self.errors :]


def for_loop(
    iterable: Any,
    body: Body,
    variables: Any,
    where: tuple[int, int],
    first: tuple[int, ...],
    going: Callable[[], Any] | None,
    nested: int = 0,
) -> None:
    """Run `for item in iterable: body(item)`, as long as `going()` holds after each round.

    Loops are `nested` so deep in the body.
    """
    site = _Site(body, variables, where, first)
    rounds = rounds_of(iterated(iterable)) if context.current() is not None else None
    if isinstance(iterable, LoopIterator) and rounds is not None:
        iterable.take(whole=going is None)
    if rounds is None:
        _unrolled(iterable, site, going)
    elif type(rounds.total) is not int:
        _run_rounds(rounds, site, going)
    elif _are_few(rounds.total, nested) or not site.may_stage():
        _few(rounds, site, going)
    else:
        _run_rounds(rounds, site, going)


def _are_few(rounds: int, nested: int) -> bool:
    """Return True if a loop of so many rounds, with loops in it, is faster unrolled."""
    return rounds < 2 or (rounds < FEWEST and rounds << nested < _FEWEST_NESTED)


def _few(rounds: Rounds, site: _Site, going: Callable[[], Any] | None) -> None:
    """Unroll a loop of few rounds; if its first round contains a staged loop, stage the others."""
    for k in range(int(rounds.total)):
        before = context.outermost().notes.get("staged", 0)
        site.body(rounds.at(k))
        flag = True if going is None else truth(going())
        if flag is False:
            return
        if not isinstance(flag, bool):
            rest = rounds.after(k + 1)
            return _under(flag, partial(_run_rounds, rest, site, going), site)
        staged_inside = context.outermost().notes.get("staged", 0) > before
        if k == 0 and rounds.total > 2 and staged_inside and site.may_stage():
            return _run_rounds(rounds.after(1), site, going)


def _under(flag: Any, others: Callable[[], None], site: _Site) -> None:
    """Run the other rounds under a branch on a traced flag."""
    staged_branch(flag, others, lambda: None, site.variables)


def _unrolled(iterable: Any, site: _Site, going: Callable[[], Any] | None) -> None:
    for item in iterable:
        site.body(item)
        flag = True if going is None else truth(going())
        if not isinstance(flag, bool):
            raise RefusedError(
                f"{site.line}: a break or return that depends on data, in a loop over what is no "
                "range, array, enumerate or zip of them; loop over a range"
            )
        if not flag:
            return


def _run_rounds(rounds: Rounds, site: _Site, going: Callable[[], Any] | None) -> None:
    """Stage a loop; if that fails and its count is known, unroll it."""
    first = 0
    while True:
        undo = _Undo(site.variables)
        try:
            with holding(undo.saved):
                StagedLoop(site, rounds, first, going).run()
            return
        except PythonRoundsError:
            undo()
            report("run by Python", site.line, f"{rounds.total} rounds of numbers")
            return _round_by_round(rounds, first, site, going)
        except ChangedTypeError as error:
            undo()
            if first >= _PEELED:
                if type(rounds.total) is int:
                    site.failed(error, f"{rounds.total} rounds")
                    return _round_by_round(rounds, first, site, going)
                raise RefusedError(f"{site.line}: {error}") from None
            if not _peeled(rounds, first, site, going, str(error)):
                return
            first += 1
        except Exception as error:
            undo()
            if type(rounds.total) is not int:
                count: Any = rounds.total
                _let_raise(error, truth(count > first))
                return
            forget(error)
            site.failed(error, f"{rounds.total} rounds")
            return _round_by_round(rounds, first, site, going)


def _peeled(
    rounds: Rounds, first: int, site: _Site, going: Callable[[], Any] | None, why: str
) -> bool:
    """Run one round before the loop; return False if no rounds are left for it."""
    count = rounds.total
    if type(count) is int:
        if first >= count:
            return False
        site.body(rounds.at(first))
        if going is None:
            return first + 1 < count
        flag = truth(going())
        if isinstance(flag, bool):
            return flag and first + 1 < count

        rest = rounds.after(first + 1)
        _under(flag, lambda: _run_rounds(rest, site, going), site)
        return False
    if first or going is not None:
        raise RefusedError(f"{site.line}: {why}")

    def once() -> None:
        with staged():
            site.body(rounds.at_payload(numbers.weak(int, 0)))

    some = truth(count > 0)
    if isinstance(some, bool):
        if some:
            once()
        return some
    staged_branch(some, once, lambda: None, site.variables, promotes=True)
    return True


def _round_by_round(
    rounds: Rounds, first: int, site: _Site, going: Callable[[], Any] | None
) -> None:
    for k in range(first, int(rounds.total)):
        site.body(rounds.at(k))
        flag = True if going is None else truth(going())
        if flag is False:
            return
        if not isinstance(flag, bool):
            return _under(flag, partial(_round_by_round, rounds, k + 1, site, going), site)


def while_loop(
    test: Callable[[], Any],
    body: Body,
    variables: Any,
    where: tuple[int, int],
    first: tuple[int, ...],
) -> None:
    """Run `while test(): body()`."""
    site = _Site(body, variables, where, first)
    rounds = 0
    while True:
        flag = truth(test())
        if not isinstance(flag, bool):
            return _staged_while(flag, test, site)
        if not flag:
            return
        rounds += 1
        # A condition on constants may become unknown in later rounds, so staging is tried after
        # 1, 2, 4, ... rounds.
        if (
            rounds & (rounds - 1) == 0
            and site.may_stage()
            and not modes.differentiated()
            and _stages_known(test, site)
        ):
            return
        body()


def _stages_known(test: Callable[[], Any], site: _Site) -> bool:
    """Stage a while loop whose condition is True now; return False if that fails."""
    undo = _Undo(site.variables)
    try:
        with holding(undo.saved):
            loop = StagedLoop(site, None, 0, test)
            loop.entered = True
            loop.run()
        return True
    except Exception as error:
        undo()
        forget(error)
        site.failed(error, "a while loop whose condition is known")
        return False


def _staged_while(flag: Any, test: Callable[[], Any], site: _Site) -> None:
    for peeled in range(_PEELED + 1):
        undo = _Undo(site.variables)
        try:
            with holding(undo.saved):
                loop = StagedLoop(site, None, 0, test)
                loop.active = flag
                loop.run()
            return
        except ChangedTypeError as error:
            undo()
            if peeled == _PEELED:
                raise RefusedError(f"{site.line}: {error}") from None

            def once() -> None:
                with staged():
                    site.body()

            staged_branch(flag, once, lambda: None, site.variables, promotes=True)
            again = truth(test())
            flag = again if not isinstance(again, bool) else numbers.truth(again)
        except Exception as error:
            undo()
            return _let_raise(error, flag)


def _let_raise(error: Exception, flag: Any) -> None:
    """Let the program raise an error of a loop's round if a flag is set that one runs; raise errors
    that are no results of the round.
    """
    found = error.error if isinstance(error, RaisedError) else error
    if isinstance(found, RefusedError) or not isinstance(error, (RaisedError, *OF_PROGRAM)):
        note(found)  # there may be no round
        raise found
    if flag is True:
        raise error if is_staged() else found
    if flag is not False:
        context.running().expect(flag, type(found), text_of(found))


__all__ = [
    "FEWEST",
    "Handle",
    "SymbolicNumber",
    "SymbolicRange",
    "for_loop",
    "negated",
    "while_loop",
]
