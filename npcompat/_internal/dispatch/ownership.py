"""Ownership of values and payloads, by CPython's reference counts."""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, StoredHandle, Value
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


def lend(payloads: list[Any], donated: Collection[int], device: Any = None) -> None:
    """Lend the large host arrays among payloads to XLA, in place, for a program that reads them.

    Each is held by its value and by this list. While XLA has it on loan, it has one more reference,
    so that whoever writes the array makes a copy first. What another value or the tape holds, too,
    is left to be copied.
    """
    for i in range(len(payloads)):
        if type(payloads[i]) is not onp.ndarray or i in donated or not xla.can_lend(payloads[i]):
            continue
        if sys.getrefcount(payloads[i]) != _LENDABLE:
            xla.collect_garbage()  # a loan that has ended
        if sys.getrefcount(payloads[i]) == _LENDABLE:
            payloads[i] = xla.lend(payloads[i], device)


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
    if counts != _UNSHARED and xla.can_lend(root._value.payload):
        xla.collect_garbage()  # the loan of `lend` may have ended
        counts = _references(root)
    return counts == _UNSHARED or (
        counts[0] == _UNSHARED[0] and root._value.payload.dtype.names is not None
    )


def _calibrate() -> tuple[tuple[int, int], set[int], int]:
    handle = StoredHandle()
    handle._value = Value(onp.empty(0))
    values, payloads = [handle._value], [handle._value.payload]
    released = {
        *map(sys.getrefcount, compress(values, (True,))),
        *map(sys.getrefcount, compress(payloads, (True,))),
    }
    del values
    lendable = sys.getrefcount(payloads[0])
    del payloads
    return _references(handle), released, lendable


_UNSHARED, _RELEASED, _LENDABLE = _calibrate()
