"""Prefetched draws: a loop that draws a few numbers at a time does not call XLA each time.

Draw `n` of a stream depends only on the stream's key, on `n`, and on the distribution. After enough
equal draws, one program makes the next ones of that kind, equal to the bit, and keeps them on the
host. Draws of other kinds may come in between, at regular distances.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import Resolution
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Attrs, Op, as_attr
from npcompat._internal.dispatch import execution, handles, writes
from npcompat._internal.dispatch.placement import SCALARS, host_payload, on_host
from npcompat._internal.native import fast_path

REPEATED = 2048
"""Draws of a kind before the first prefetch: compiling takes as long as some thousand draws."""
REFILL_AFTER = 4
"""Draws of a kind before further prefetches, once the program is compiled."""
_DRAWS, _NUMBERS, _KINDS = 256, 2**15, 64
"""Maximum number of draws of one program, of numbers in all of them, and of tracked kinds."""
_LAST = 2**63 - 2


class _Waiting:
    """Prefetched draws `first`, `first + stride`, ... of a key."""

    __slots__ = ("first", "key", "samples", "stride")

    def __init__(self, key: Value, first: int, stride: int, samples: onp.ndarray[Any, Any]) -> None:
        self.key, self.first, self.stride, self.samples = key, first, stride, samples


class DrawPrefetcher:
    """Prefetched draws of a stream by kind, and the history of draws that decides about them."""

    __slots__ = ("_habits", "_number", "_seen", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[Any, _Waiting] = {}
        # by kind: number of the last draw, distance to the one before, repetitions of the distance
        self._habits: dict[Any, tuple[int, int, int]] = {}
        # the counter that this object wrote, and the number in it
        self._seen: Value | None = None
        self._number = 0

    def take(self, kind: Any, key: Handle, counter: Handle) -> Value | None:
        """Take the next draw, and count it; return None if it was not prefetched."""
        waiting = self._waiting.get(kind)
        if waiting is None or waiting.key is not key._value:
            return None
        number = self.position(counter)
        place, rest = divmod(number - waiting.first, waiting.stride)
        if rest or not 0 <= place < len(waiting.samples):
            return None
        writes.write(counter, Value(onp.array(number + 1)))
        self._seen, self._number = counter._value, number + 1
        return Value(waiting.samples[place, ...].copy())

    def note(
        self,
        kind: Any,
        given: Sequence[Value],
        key: Handle,
        counter: Handle,
        number: int,
        size: int,
    ) -> None:
        """Record a draw that was counted; prefetch the next ones if it is repeated regularly."""
        self._seen, self._number = counter._value, number + 1
        last, stride, times = self._habits.get(kind, (number, 0, 0))
        times = times + 1 if number - last == stride else 0
        stride = number - last
        if len(self._habits) >= _KINDS and kind not in self._habits:
            self._habits.clear()
            self._waiting.clear()
        self._habits[kind] = number, stride, times
        draws = min(_DRAWS, _NUMBERS // max(size, 1))
        if (
            times < (REFILL_AFTER if kind in self._waiting else REPEATED)
            or stride < 1
            or draws < 2
            or number + draws * stride > _LAST
        ):
            return
        op, attrs, _ = kind
        numbers = number + stride * onp.arange(1, draws + 1)
        made = execution.run(_several(op), [key._value, Value(numbers), *given], attrs)
        self._waiting[kind] = _Waiting(key._value, int(numbers[0]), stride, host_payload(made))
        self._habits[kind] = int(numbers[-1]), stride, times

    def position(self, counter: Handle) -> int:
        """Return the number of the next draw."""
        return self._number if counter._value is self._seen else int(handles.to_host(counter))


def kind_of(op: Op, given: Sequence[Value], attrs: Attrs) -> Any:
    """Return a key for equal draws; None for those that are not prefetched.

    Not prefetched are draws with arrays as parameters, draws on devices, and draws while a function
    is traced or observed. Nor are distributions that are drawn in several steps (not
    `Op.prefetchable`), since a program of another shape rounds them differently. For the same
    reason, single numbers are not if the operator is not `Op.rounding_independent_of_size`.
    """
    mode = modes.current()
    if (
        "draws" not in fast_path.enabled
        or not op.prefetchable
        or mode.trace is not None
        or mode.observer is not None
        or mode.audit is not None
        or not on_host(mode)
    ):
        return None
    if not op.rounding_independent_of_size and (attrs[0] is None or math.prod(attrs[0]) == 1):
        return None
    payloads = [v.payload for v in given]
    if not SCALARS.issuperset(map(type, payloads)):
        return None
    return op, attrs, (mode.numpy_dtypes, *[(type(p), as_attr(p)) for p in payloads])


@lru_cache(maxsize=256)
def _several(op: Op) -> Op:
    """Return the operator that makes several draws, given their numbers."""

    def compute(xp: Any, key: Any, numbers: Any, *parameters: Any, **attrs: Any) -> Any:
        return xp.each(lambda number: op.compute(xp, key, number, *parameters, **attrs)[0], numbers)

    def rule(types: Any, attrs: Any) -> Resolution:
        casts, (sample, _) = op.rule(types, attrs)
        return casts, sample

    return Op(
        f"{op.name}_ahead",
        compute,
        op.inputs,
        variadic=True,
        attrs=op.attrs,
        rule=rule,
        kernels={"jax": compute},
        prefers_xla=True,
    )


__all__ = ["REPEATED", "DrawPrefetcher", "kind_of"]
