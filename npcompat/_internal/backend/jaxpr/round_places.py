"""Parts of arrays that the rounds of a loop read and write, each its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import Literal


@dataclass(frozen=True)
class RoundPlace:
    """Part of an array that begins at one place along an axis, another one in each round.

    Attributes
    ----------
    axis : int
        Axis along which rounds have places of their own.
    numbers : ndarray of int64
        Places of the rounds, at equal distances.
    starts, sizes : tuple
        Where the part begins along each axis, by variables, and its lengths.
    """

    axis: int
    numbers: onp.ndarray
    starts: tuple[Any, ...]
    sizes: tuple[int, ...]

    @property
    def _step(self) -> int:
        return int(self.numbers[1] - self.numbers[0])

    @property
    def _least(self) -> int:
        return int(self.numbers.min())

    def along(self, other: "RoundPlace") -> bool:
        """Return True if each round has the same place along the axis."""
        return self.axis == other.axis and onp.array_equal(self.numbers, other.numbers)

    def is_same(self, other: "RoundPlace") -> bool:
        """Return True if each round has the same part."""
        pairs = [*zip(self.starts, other.starts, strict=True)]
        del pairs[self.axis]
        same = [x is y or _is_literal_of(x, y) for x, y in pairs]
        return self.along(other) and self.sizes == other.sizes and all(same)

    def read(self, array: Any, value: Callable[[Any], Any]) -> Any:
        """Return the parts of all rounds, in their order along the axis, and then their own axis.

        `value` returns the value of a variable of `starts`.
        """
        width = self.sizes[self.axis]
        parts = [self._at(array, self._starts(value, after)) for after in range(width)]
        return jnp.stack(parts, self.axis + 1)

    def _at(self, array: Any, starts: Sequence[Any]) -> Any:
        found = self._interval(array, starts)
        if abs(self._step) > 1:
            found = lax.slice_in_dim(found, 0, None, abs(self._step), self.axis)
        return lax.rev(found, [self.axis]) if self._step < 0 else found

    def written(self, array: Any, new: Any, value: Callable[[Any], Any]) -> Any:
        """Return an array with the parts of all rounds replaced; see `read`."""
        stride, starts = abs(self._step), self._starts(value)
        if self._step < 0:
            new = lax.rev(new, [self.axis])
        if stride > 1:
            between = [(0, 0, stride - 1 if i == self.axis else 0) for i in range(new.ndim)]
            new = lax.pad(new, jnp.zeros((), new.dtype), between)
            is_new = lax.broadcasted_iota(jnp.int32, new.shape, self.axis) % stride == 0
            new = jnp.where(is_new, new, self._interval(array, starts))
        return lax.dynamic_update_slice(array, new, starts, allow_negative_indices=False)

    def _interval(self, array: Any, starts: Sequence[Any]) -> Any:
        """Return what lies between the first and the last place, along the axis."""
        sizes = [*self.sizes]
        sizes[self.axis] = int(self.numbers.max()) - self._least + 1
        return lax.dynamic_slice(array, starts, sizes, allow_negative_indices=False)

    def _starts(self, value: Callable[[Any], Any], after: int = 0) -> list[Any]:
        kind = self.starts[self.axis].aval.dtype
        found = []
        for axis, start in enumerate(self.starts):
            at = self._least + after if axis == self.axis else value(start)
            found.append(jnp.asarray(at, kind))
        return found


def place_of_rounds(
    numbers: Callable[[Any], onp.ndarray | None],
    starts: Sequence[Any],
    varying: Sequence[bool],
    sizes: Sequence[int],
    shape: Sequence[int],
    widest: int = 1,
) -> RoundPlace | None:
    """Return the part of an array at some starts, which vary or not; None if that is not known, or
    wider along the axis than `widest`: rounds share parts wider than one.
    """
    axes = [axis for axis, varies in enumerate(varying) if varies]
    if len(axes) != 1 or not 1 <= sizes[axes[0]] <= widest:
        return None
    found = numbers(starts[axes[0]])
    if found is None:
        return None
    found = found.astype(onp.int64)
    steps = onp.diff(found)
    last = found.max() + sizes[axes[0]] - 1
    if found.min() < 0 or last >= shape[axes[0]] or steps[0] == 0 or onp.ptp(steps):
        return None
    return RoundPlace(axes[0], found, tuple(starts), tuple(sizes))


def _is_literal_of(x: Any, y: Any) -> bool:
    literals = isinstance(x, Literal) and isinstance(y, Literal)
    return literals and bool(x.val == y.val)


__all__ = ["RoundPlace", "place_of_rounds"]
