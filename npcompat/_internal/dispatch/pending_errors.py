"""Pending errors of compiled programs: flags among their outputs, checked at the next read."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.dispatch import backends

_pending: deque[tuple[Any, Sequence[tuple[type[Exception], str]]]] = deque()


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Keep the error flags of a program; the next read raises the error of the first flag set.

    Flags on the host raise at once: no later read of host arrays would check them.
    """
    _pending.append((flags, errors))
    if len(_pending) > 64 or type(flags) is onp.ndarray:
        raise_pending()


def raise_pending() -> None:
    """Raise the first error that a program has flagged so far."""
    while _pending:
        try:
            flags, errors = _pending.popleft()
        except IndexError:  # another thread has looked at it meanwhile
            return
        array = flags if type(flags) is onp.ndarray else backends.to_host(flags)
        if b"\1" in array.tobytes():  # ten times as fast as `any` for so few
            kind, message = errors[int(onp.flatnonzero(array)[0])]
            raise kind(message)
