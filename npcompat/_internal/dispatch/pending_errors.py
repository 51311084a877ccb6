"""Pending errors of programs: flags among their outputs, checked at the next read."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes, program_lock
from npcompat._internal.dispatch import backends
from npcompat._internal.native import fast_path

MOST = 64
"""Number of flags that are left unread until a read: older ones were computed long ago."""
pending: list[tuple[Any, Sequence[tuple[type[Exception], str]]]] = []
"""Flags of the main thread that nobody has looked at, with their errors; C appends to it, too."""


main_thread = threading.main_thread().ident or 0
"""Identifier of the thread that keeps flags for later; in the others a program waits for its own."""


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Keep the error flags of a program; the next read raises the error of the first flag set.

    Flags on the host raise at once: no later read of host arrays would check them. In another
    thread than the main one those on XLA do, too: the results may be read in any thread.
    """
    if threading.get_ident() != main_thread:
        _raise_if_set(flags, errors)
        return
    pending.append((flags, errors))
    if type(flags) is onp.ndarray:
        raise_pending()
    elif len(pending) > 2 * MOST:
        raise_pending(MOST)


def raise_pending(left: int = 0, keep: bool = False) -> None:
    """Raise the first error that a program has flagged so far; the newest `left` stay unread.

    With `keep=True` the next read raises it again: NumPy ignores the errors of the buffer protocol,
    and then asks in another way. Other threads leave the flags to the main one.
    """
    if pending and threading.get_ident() != main_thread:
        if not program_lock.is_in_callback():  # whose program may be the one to wait for
            for flags, errors in list(pending):
                _raise_if_set(flags, errors)
        return
    while len(pending) > left:
        found = pending.pop(0)
        try:
            _raise_if_set(*found)
        except BaseException:
            if keep:
                pending.insert(0, found)
            raise


def _raise_if_set(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Wait for flags, and raise the error of the first that is set."""
    if fast_path.is_clear(flags):
        return
    array = flags if type(flags) is onp.ndarray else _read(flags)
    if b"\1" in array.tobytes():  # ten times as fast as `any` for so few
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


__all__ = ["MOST", "check_pending", "expect", "main_thread", "pending", "raise_pending"]
