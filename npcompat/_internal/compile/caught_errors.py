"""Errors of a trace that the traced function catches, though its program may not raise them.

A trace raises errors for values that are not known yet, and in arms and rounds that data may not
choose. A function that catches one of them (`except Exception`, `with suppress(...)`) would go on
in its handler, and its program would always go that way.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from npcompat._internal.support.errors import (
    TRACE_ERRORS,
    TracedValueError,
    TraceErrors,
    caught_at,
)


@contextmanager
def refused_if_caught() -> Iterator[None]:
    """Trace a function in this context, which raises an error if the function has caught one."""
    found = TRACE_ERRORS.get()
    token = None
    if found is None:
        found = TraceErrors()
        token = TRACE_ERRORS.set(found)
    begin = len(found.caught)
    try:
        yield
        _refuse(found, found.caught[begin:])
    finally:
        del found.caught[begin:]  # the part that failed is run once more, or not at all
        if token is not None:
            TRACE_ERRORS.reset(token)
            found.runs = False
            found.noted.clear()


def _refuse(found: TraceErrors, caught: list[tuple[str, str]]) -> None:
    """Raise TracedValueError if user code has caught an error of the trace."""
    for error in (*found.noted, *found.alive):
        where = caught_at(error)
        if where is not None:
            caught.append((where, f"{type(error).__name__}: {error}"))
    if caught:
        where, text = caught[0]
        raise TracedValueError(
            f"{where}: the function catches an error of its trace, which its program may not "
            f"raise, so that it would always go on as after the error ({text})"
        )


def note(error: BaseException) -> None:
    """Note an error that the function must not catch, as data may choose no round or arm with it."""
    found = TRACE_ERRORS.get()
    if found is not None and not isinstance(error, TracedValueError):
        found.noted.append(error)


@contextmanager
def noted() -> Iterator[None]:
    """Trace a part that data may not choose in this context, which notes the error of the part."""
    try:
        yield
    except Exception as error:
        note(error)
        raise


def forget(error: BaseException) -> None:
    """Forget an error that was noted, since the part that raised it runs once more."""
    found = TRACE_ERRORS.get()
    if found is not None:
        found.noted[:] = [e for e in found.noted if e is not error]


__all__ = ["forget", "note", "noted", "refused_if_caught"]
