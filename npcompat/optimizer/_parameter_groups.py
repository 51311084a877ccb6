"""Groups of parameters: update counts, and multipliers of rates."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value, extra
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.dispatch import handles, writes
from npcompat._internal.dispatch.outside_traces import in_trace, outside
from npcompat._internal.dispatch.placement import constant
from npcompat.numpy._ndarray import ndarray

_float64 = onp.dtype("float64")


@dataclass(eq=False, slots=True)
class _Group:
    """Parameters that were registered together.

    Each array is a scalar while all parameters share its value, then a vector. So the usual program
    is that of one parameter, and a compiled step is recompiled when the shape changes.
    """

    indices: list[Any]
    counts: Any  # int32: number of updates
    factors: Any  # float64: of the learning rate; empty if all are 1
    decays: Any  # float64: weight decay; empty if all are 0
    unstepped: list[int]  # the version of the counts that no step has written

    # It is not frozen: up to Python 3.11.3, frozen dataclasses replace these two methods.
    def __getstate__(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def __setstate__(self, state: Sequence[Any]) -> None:
        for field, value in zip(fields(self), state, strict=True):
            setattr(self, field.name, value)
        self.set_unstepped()  # versions are those of the arrays that were copied

    def at(self, array: Any, position: Any, neutral: float) -> ndarray:
        """Return one parameter's entry of an array of the group."""
        if array.ndim == 0:
            return array
        if array.shape == (0,):
            handles.read(array)  # a trace that depends on its length has it as an operand
            return np.array(neutral)
        return array[position]

    def set_counts(self, counts: onp.ndarray[Any, Any]) -> None:
        """Set the update counts."""
        same = (counts == counts[:1]).all()
        _replace(self.counts, constant(onp.array(counts[0] if same else counts)))
        self.set_unstepped()

    def set_unstepped(self) -> None:
        """Note that no step has written the counts."""
        self.unstepped[:] = [version_of(self.counts)]

    def separate(self) -> None:
        """Count the updates of each parameter separately from now on."""
        if self.counts.ndim == 0:
            with nullcontext() if in_trace(self.counts) else outside():
                _replace(
                    self.counts,
                    handles.read(np.broadcast_to(self.counts, (len(self.indices),)).copy()),
                )
                self.set_unstepped()


def _shortest(values: Sequence[float], neutral: float) -> onp.ndarray[Any, Any]:
    """Return values as an array: empty if all are neutral, a scalar if all are equal."""
    array = onp.array(values, _float64)
    if (array == neutral).all():
        return array[:0]
    return onp.array(array[0]) if (array == array[0]).all() else array


def _replace(handle: Handle, value: Value) -> None:
    """Replace the value of an array; the shape may change."""
    with modes.changed(recording=False):
        writes.write(handle, value)
    extra(handle).layout = None
