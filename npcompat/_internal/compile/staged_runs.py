"""Runs of a loop's body, or of an arm of a branch, that stand for all of its rounds.

What such a run does besides computing with arrays would happen once, and not in each round. So it
is refused before it happens: `refuse` raises, and no code of the user's runs that was not converted.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import NoReturn

from npcompat._internal.source.conversion import is_converted
from npcompat._internal.support.errors import TracedValueError, is_library, user_location


class RefusedError(TracedValueError):
    """Error for a loop or branch that can't be part of the program."""


_DEPTH: ContextVar[int] = ContextVar("depth of staged runs", default=0)


def is_staged() -> bool:
    """Return True while a run stands for others."""
    return _DEPTH.get() > 0


DEEPEST = 20
"""Loops and branches within each other; of a recursion there is no end."""


@contextmanager
def staged() -> Iterator[None]:
    """A context in which one run stands for others."""
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
            sys.setprofile(profile)  # Python drops one that raises


def refuse(what: str) -> NoReturn:
    """Raise the error for what can't be part of the program."""
    raise RefusedError(f"{user_location()}: {what}")


def check_call(frame: FrameType) -> None:
    """Refuse a call of the user's code that was not converted, while a run stands for others."""
    code = frame.f_code
    if is_staged() and not is_converted(code):
        module = frame.f_globals.get("__file__") or ""
        if code.co_filename.startswith("<") and is_library(module):
            return  # what a library has made with exec, as dataclasses are
        raise RefusedError(
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_qualname!r} would be called in a "
            "compiled loop or branch, and may do more than compute with arrays"
        )


__all__ = ["RefusedError", "check_call", "is_staged", "refuse", "staged"]
