"""Pending errors of programs: flags among their outputs, checked at the next read."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes
from npcompat._internal.dispatch import backends
from npcompat._internal.native import fast_path

MOST = 64
"""Number of flags that are left unread until a read: older ones were computed long ago."""
pending: list[tuple[Any, Sequence[tuple[type[Exception], str]]]] = []
"""Flags that nobody has looked at, with their errors; the fast path appends to it, too."""


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Keep the error flags of a program; the next read raises the error of the first flag set.

    Flags on the host raise at once: no later read of host arrays would check them.
    """
    pending.append((flags, errors))
    if type(flags) is onp.ndarray:
        raise_pending()
    elif len(pending) > 2 * MOST:
        raise_pending(MOST)


def raise_pending(left: int = 0, keep: bool = False) -> None:
    """Raise the first error that a program has flagged so far; the newest `left` stay unread.

    With `keep=True` the next read raises it again: NumPy ignores the errors of the buffer protocol,
    and then asks in another way.
    """
    while len(pending) > left:
        try:
            found = pending.pop(0)
        except IndexError:  # another thread has looked at it meanwhile
            return
        flags, errors = found
        if fast_path.is_clear(flags):
            continue
        array = flags if type(flags) is onp.ndarray else _read(flags)
        if b"\1" in array.tobytes():  # ten times as fast as `any` for so few
            if keep:
                pending.insert(0, found)
            kind, message = errors[int(onp.flatnonzero(array)[0])]
            raise kind(message)


def check_pending() -> None:
    """Raise the first error that a program has flagged so far, and keep it for the next read."""
    raise_pending(keep=True)


def _read(flags: Any) -> onp.ndarray[Any, Any]:
    """Read flags; it is no read of the user's that an audit reports."""
    if sharding.several[0] and (copy := sharding.one_copy(flags)) is not flags:
        return onp.asarray(copy)
    if modes.current().audit is None:
        return backends.to_host(flags)
    with modes.changed(audit=None):
        return backends.to_host(flags)


__all__ = ["MOST", "check_pending", "expect", "pending", "raise_pending"]
