"""Plain arguments of compiled functions: arrays that a program takes as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import backends, late_bound
from npcompat._internal.dispatch.backends import ON_DEVICES

NO_CACHED_RUN: Any = object()
"""Result of a rerun that is not possible."""


def is_plain(a: Any) -> bool:
    """Return True for a writeable array in C order that is neither a view nor a variable."""
    if type(a) is not late_bound.ndarray or a._view is not None or type(a._value) is not Value:
        return False
    rare = a._extra
    if rare is not None and (
        rare.readonly or rare.leaf is not None or rare.grad_handle is not None
    ):
        return False
    payload = a._value.payload
    if type(payload) is onp.ndarray:
        return payload.flags.c_contiguous
    return type(payload) in ON_DEVICES and (
        rare is None or rare.layout is None or rare.layout.flags.c_contiguous
    )


def kinds(args: Sequence[Handle]) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
    """Return the avals of plain arrays, those on the host as on XLA, and whether they have nodes."""
    payloads = [a._value.payload for a in args]
    avals = [p.aval if type(p) in ON_DEVICES else backends.XLA.aval(p) for p in payloads]
    return tuple(avals), tuple([a._value.node is not None for a in args])


__all__ = ["NO_CACHED_RUN", "is_plain", "kinds"]
