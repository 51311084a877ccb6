"""Staged runs: one run of a loop's body, or of a branch's arm, stands for all of its rounds.

Other effects than computing with arrays would happen once, not in each round. So they are refused
before they happen: `refuse` raises, and user code that was not converted does not run.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import NoReturn

from npcompat._internal.source.conversion import is_converted
from npcompat._internal.support.errors import RefusedError, is_library, user_location

_DEPTH: ContextVar[int] = ContextVar("depth of staged runs", default=0)


def is_staged() -> bool:
    """Return True during a staged run."""
    return _DEPTH.get() > 0


DEEPEST = 20
"""Maximum depth of nested loops and branches; a recursion would have no end."""


@contextmanager
def staged() -> Iterator[None]:
    """Run one body or arm, which stands for all rounds, inside this context."""
    if _DEPTH.get() >= DEEPEST:
        refuse(
            f"{DEEPEST} branches or loops within each other, as in a recursion whose depth data "
            "decide; use a while loop"
        )
    profile = sys.getprofile()
    token = _DEPTH.set(_DEPTH.get() + 1)
    try:
        yield
    finally:
        _DEPTH.reset(token)
        if profile is not None and sys.getprofile() is None:
            sys.setprofile(profile)  # Python removes a profile function that raises


def refuse(what: str) -> NoReturn:
    """Raise the error for a construct that can't be part of the program."""
    raise RefusedError(f"{user_location()}: {what}")


def is_generated(code: CodeType | None) -> bool:
    """Return True for the code that makes a named tuple, which Python has written."""
    return (
        code is not None
        and (code.co_filename, code.co_name) == ("<string>", "<lambda>")
        and code.co_names == ("_tuple_new",)
    )


def check_call(frame: FrameType) -> None:
    """Refuse a call of user code that was not converted, during a staged run."""
    code = frame.f_code
    if is_staged() and not is_converted(code):
        module = frame.f_globals.get("__file__") or ""
        if code.co_filename.startswith("<") and is_library(module):
            return  # code that a library made with exec, such as methods of dataclasses
        if is_generated(code):
            return
        raise RefusedError(
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_qualname!r} would be called in a "
            "compiled loop or branch, and may do more than compute with arrays"
        )


__all__ = ["check_call", "is_generated", "is_staged", "refuse", "staged"]
