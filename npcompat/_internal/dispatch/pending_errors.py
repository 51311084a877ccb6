"""Errors of compiled programs that are pending: flags carried out and raised at the next read."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.dispatch import backends

_pending: list[tuple[Any, Sequence[tuple[type[Exception], str]]]] = []


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Remember flags that a program carried out; the first raised one raises its error at the next
    read.

    Flags on the host are known already, and so are the results, which nothing would look at again:
    they raise at once.
    """
    _pending.append((flags, errors))
    if len(_pending) > 64 or type(flags) is onp.ndarray:
        raise_pending()


def raise_pending() -> None:
    """Raise the first error that programs run so far have flagged."""
    while _pending:
        flags, errors = _pending.pop(0)
        raised = onp.flatnonzero(flags if type(flags) is onp.ndarray else backends.to_host(flags))
        if raised.size:
            kind, message = errors[int(raised[0])]
            raise kind(message)
