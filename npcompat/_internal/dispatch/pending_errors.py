"""Pending errors of programs: flags among their outputs, checked at the next read."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.dispatch import backends

_MOST = 64
"""Number of flags that may wait: of more, the oldest are looked at, which were computed long ago."""
_pending: deque[tuple[Any, Sequence[tuple[type[Exception], str]]]] = deque()


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Keep the error flags of a program; the next read raises the error of the first flag set.

    Flags on the host raise at once: no later read of host arrays would check them.
    """
    _pending.append((flags, errors))
    if type(flags) is onp.ndarray:
        raise_pending()
    elif len(_pending) > _MOST:
        raise_pending(_MOST)


def raise_pending(left: int = 0) -> None:
    """Raise the first error that a program has flagged so far; `left` flags may stay unread."""
    while len(_pending) > left:
        try:
            flags, errors = _pending.popleft()
        except IndexError:  # another thread has looked at it meanwhile
            return
        array = flags if type(flags) is onp.ndarray else _read(flags)
        if b"\1" in array.tobytes():  # ten times as fast as `any` for so few
            kind, message = errors[int(onp.flatnonzero(array)[0])]
            raise kind(message)


def _read(flags: Any) -> onp.ndarray[Any, Any]:
    """Read flags; it is no read of the user's that an audit reports."""
    if modes.current().audit is None:
        return backends.to_host(flags)
    with modes.changed(audit=None):
        return backends.to_host(flags)


__all__ = ["expect", "raise_pending"]
