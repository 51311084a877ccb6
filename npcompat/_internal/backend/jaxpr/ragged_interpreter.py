"""Interpreter of rounds whose arrays differ in length, as one round of padded arrays."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.ragged_values import (
    RULES,
    Ints,
    PaddedValue,
    ValidRange,
    _bind,
    _literal,
    shape_of,
)


class Interpreter:
    """Interpreter that computes the round of a given number from the equations of all rounds."""

    def __init__(
        self,
        number: Any,
        count: int,
        known: dict[Var, Ints],
        same_shapes: Callable[[Sequence[JaxprEqn]], bool],
    ) -> None:
        self.number, self.count, self.known, self.same_shapes = number, count, known, same_shapes
        self.computed = self.needed = 0
        self._found: dict[Ints, Any] = {}

    def run(
        self,
        body: Sequence[JaxprEqn],
        rounds: Sequence[Sequence[JaxprEqn]],
        env: dict[Var, PaddedValue],
    ) -> None:
        for i, eqn in enumerate(body):
            inputs = [_literal(a) if type(a) is Literal else env[a] for a in eqn.invars]
            each = [r[i] for r in rounds]
            if all([h.uniform for h in inputs]) and self.same_shapes(each):
                outs = _bind(eqn, [h.value for h in inputs], eqn.params)
            else:
                outs = RULES.of(eqn)(self, eqn, each, inputs)
                shapes = [shape_of(v) for e in each for v in e.outvars]
                self.needed += sum(map(math.prod, shapes))
                self.computed += self.count * sum([math.prod(h.value.shape) for h in outs])
            env.update(zip(eqn.outvars, outs, strict=True))

    def in_this_round(self, per_round: Ints) -> Any:
        """Return the integer of this round from those of all rounds."""
        if len({*per_round}) == 1:
            return onp.int32(per_round[0])
        if per_round not in self._found:
            table = onp.array(per_round, "int32")
            self._found[per_round] = lax.dynamic_slice(
                table, (self.number,), (1,), allow_negative_indices=False
            ).reshape(())
        return self._found[per_round]

    def per_round(self, atom: Any) -> Ints:
        """Return the values of an integer in all rounds; fail if they are not known."""
        if type(atom) is Literal:
            return (int(atom.val),) * self.count
        RULES.expect(atom in self.known)
        return self.known[atom]

    def valid_mask(self, shape: Sequence[int], ranges: Sequence[ValidRange | None]) -> Any:
        """Return the mask of the elements of an array that lie in its valid ranges."""
        found = onp.bool_(True)
        for axis, valid in enumerate(ranges):
            if valid is not None and valid.offsets is not None:
                place = lax.broadcasted_iota("int32", shape, axis)
                ends = tuple([o + n for o, n in zip(valid.offsets, valid.sizes, strict=True)])
                if any(valid.offsets):
                    found = found & (place >= self.in_this_round(valid.offsets))
                if ends != (shape[axis],) * self.count:
                    found = found & (place < self.in_this_round(ends))
        return jnp.broadcast_to(found, shape)

    def shifted(
        self, array: PaddedValue, axis: int, wanted: ValidRange, extent: int
    ) -> PaddedValue:
        """Move the valid range of an array along an axis, and resize the axis to `extent`."""
        valid, value = array.ranges[axis], array.value
        assert valid is not None and wanted.offsets is not None
        ranges = (*array.ranges[:axis], wanted, *array.ranges[axis + 1 :])
        had = value.shape[axis]
        if valid.offsets is None:
            shape = (*value.shape[:axis], extent, *value.shape[axis + 1 :])
            return PaddedValue(jnp.broadcast_to(value, shape), ranges)
        if valid == wanted and had == extent:
            return array
        shifts = tuple([o - w for o, w in zip(valid.offsets, wanted.offsets, strict=True)])
        low, high = max(0, -min(shifts)), max(0, max(shifts) + extent - had)
        edges = [(low, high, 0) if d == axis else (0, 0, 0) for d in range(value.ndim)]
        padded = lax.pad(value, jnp.zeros((), value.dtype), edges)
        starts = [
            self.in_this_round(tuple([s + low for s in shifts])) if d == axis else onp.int32(0)
            for d in range(value.ndim)
        ]
        spans = [extent if d == axis else n for d, n in enumerate(value.shape)]
        return PaddedValue(
            lax.dynamic_slice(padded, starts, spans, allow_negative_indices=False), ranges
        )

    def extended(self, array: PaddedValue, axes: Sequence[int]) -> PaddedValue:
        """Broadcast axes of equal elements to the largest length of any round."""
        for axis in axes:
            valid = array.ranges[axis]
            if valid is not None and valid.offsets is None:
                array = self.shifted(
                    array, axis, ValidRange((0,) * self.count, valid.sizes), max(valid.sizes)
                )
        return array

    def aligned(
        self, inputs: Sequence[PaddedValue], places: Sequence[Sequence[int]]
    ) -> list[PaddedValue]:
        """Give arrays the same valid ranges along corresponding axes.

        These are the k-th axes of `places`, which has a sequence for each array.
        """
        found = list(inputs)
        for axes in zip(*places, strict=True):
            ranges = [h.ranges[a] for h, a in zip(found, axes, strict=True)]
            with_offsets = [
                i for i, w in enumerate(ranges) if w is not None and w.offsets is not None
            ]
            if with_offsets:
                i = with_offsets[0]
                wanted, extent = ranges[i], found[i].value.shape[axes[i]]
                assert wanted is not None
                found = [
                    h if h.ranges[a] is None else self.shifted(h, a, wanted, extent)
                    for h, a in zip(found, axes, strict=True)
                ]
        return found

    def filled(self, array: PaddedValue, axes: Sequence[int], fill: Any) -> Any:
        """Return the values with `fill` outside the valid ranges along some axes."""
        array = self.extended(array, axes)
        ranges = [w if d in axes else None for d, w in enumerate(array.ranges)]
        if not any(ranges):
            return array.value
        value = array.value
        return jnp.where(
            self.valid_mask(value.shape, ranges), value, jnp.asarray(fill, value.dtype)
        )
