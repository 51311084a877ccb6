"""Ownership of values and payloads, by CPython's reference counts."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.retained_outputs import RetainedValue, materialize
from npcompat._internal.dispatch import backends


def release(values: list[Any], payloads: list[Any], given: Sequence[bool]) -> None:
    """Prepare payloads, in place, for a program to which those marked in `given` are donated.

    A payload that only a handle (by its value) and these two lists hold is kept. One that another
    handle, the tape or an export holds, too, is replaced by a copy, and its value by None. The
    reference counts of unshared values and payloads are measured at import.
    """
    if RetainedValue in set(map(type, values)):
        for i in range(len(values)):
            materialize(values[i])
    if _RELEASED.issuperset(map(sys.getrefcount, compress(values, given))):
        if _RELEASED.issuperset(map(sys.getrefcount, compress(payloads, given))):
            return
    of_values = list(map(sys.getrefcount, compress(values, given)))
    of_payloads = list(map(sys.getrefcount, compress(payloads, given)))
    for i, *counts in zip(compress(range(len(values)), given), of_values, of_payloads, strict=True):
        if not _RELEASED.issuperset(counts):
            values[i], payloads[i] = (
                None,
                _copied(
                    "held elsewhere, when a compiled function overwrites it",
                    payloads[i],
                    backends.copied,
                ),
            )


def _copied(why: str, payload: Any, copy: Callable[[Any], Any]) -> Any:
    """Make a copy that the user did not ask for, and report it to the audit."""
    audit = modes.current().audit
    return (
        copy(payload)
        if audit is None
        else audit.record_event("copy", why, payload, partial(copy, payload))
    )


def _keeping_layout(payload: Any) -> Any:
    return payload.copy(order="K")


def _may_overwrite(root: Handle, operands: Sequence[Value]) -> bool:
    mode = modes.current()
    materialize(root._value)
    if mode.trace is not None or _references(root) != _UNSHARED:
        return False
    return not (
        mode.recording
        and (root._value.node is not None or any([v.node is not None for v in operands]))
    )


def _references(handle: Handle) -> tuple[int, int]:
    value = handle._value
    return sys.getrefcount(value), sys.getrefcount(value.payload)


def _unshared(root: Handle) -> bool:
    """True if no other value or array holds the buffer of a host handle.

    Records may: elements of a record array are views of its buffer, as in NumPy.
    """
    counts = _references(root)
    return counts == _UNSHARED or (
        counts[0] == _UNSHARED[0] and root._value.payload.dtype.names is not None
    )


def _calibrate() -> tuple[tuple[int, int], set[int]]:
    handle = Handle()
    handle._value = Value(onp.empty(0))
    values, payloads = [handle._value], [handle._value.payload]
    released = {
        *map(sys.getrefcount, compress(values, (True,))),
        *map(sys.getrefcount, compress(payloads, (True,))),
    }
    del values, payloads
    return _references(handle), released


_UNSHARED, _RELEASED = _calibrate()
