"""Recent calls of compiled functions: programs run on plain arrays without flattening arguments.

A function keeps its last programs with the avals of the plain arrays that they were called with. A
call whose arrays have the same ones runs the program at once, if its guards hold.
"""

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from npcompat._internal.backend.jax import sharding
from npcompat._internal.compile.plain_arguments import NO_CACHED_RUN, is_plain, kinds
from npcompat._internal.compile.program import Program
from npcompat._internal.compile.trace import CapturedTypeError
from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.handle import have_variable_views

_lock = program_lock.lock


class Recent(NamedTuple):
    """Program of a recorded call of plain arrays, with their avals and whether they have nodes."""

    program: Program
    avals: tuple[Any, ...]
    nodes: tuple[bool, ...]


def rerun_recent(
    recent: list[tuple[Program, tuple[Any, ...]]], args: tuple[Any, ...], mode: modes.Mode
) -> Any:
    """Run the first of a function's recent programs whose guards hold and whose types match.

    Return `NO_CACHED_RUN` if there is none, if captured arrays were written meanwhile, or if
    another thread holds the lock. The C fast path has the same function (native/rerun_program.h).
    """
    for program, types in recent:
        if not program.guards.hold():
            continue
        if program.pure:
            result = program.rerun(args, types, mode)
        elif _lock.acquire(False):
            try:
                result = program.rerun(args, types, mode)
            except CapturedTypeError:
                break  # the caller traces again, and says why
            finally:
                _lock.release()
        else:
            break
        if result is not NO_CACHED_RUN:
            return result
    return NO_CACHED_RUN


def rerun_recorded(recent: Sequence[Recent], args: tuple[Any, ...], mode: modes.Mode) -> Any:
    """Record the first of a function's recent programs whose guards hold and whose types match.

    Return `NO_CACHED_RUN` if there is none. As in `rerun_recent`, arguments are not flattened.
    """
    if sharding.several[0] or not all(map(is_plain, args)):
        return NO_CACHED_RUN
    avals, nodes = kinds(args)
    for program, known, of_known in recent:
        if (
            of_known == nodes
            and all(map(operator.is_, avals, known))
            and mode.training == program.training
            and mode.numpy_dtypes == program.numpy_dtypes
            and program.guards.hold()
        ):
            fits = program.fits(True) and program.touched.isdisjoint(map(id, args))
            if fits and not (have_variable_views(args) or have_variable_views(program.reads)):
                return program.replay_recorded(args)
            break
    return NO_CACHED_RUN


__all__ = ["Recent", "rerun_recent", "rerun_recorded"]
