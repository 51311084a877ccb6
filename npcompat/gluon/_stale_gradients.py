"""Gradients that no backward has written since a trainer's last step.

Versions of arrays come from one clock. So a gradient is stale if it is older than what the last
step wrote, or has been only cleared since it was made. A compiled step that does not run backward
itself carries that question as a guard, so that each of its calls answers it.
"""

from collections.abc import Mapping
from typing import Any

from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.handle import clock
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.dispatch.outside_traces import versions_outside, written_in_trace
from npcompat.optimizer import Optimizer


class StaleGradients:
    """Stale gradients of a trainer: those that its next step must not use.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer, whose counts every step writes, a compiled one included.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._stepped = 0  # when the last eager step was
        self._later: set[int] = set()  # what a compiled step's function writes after the step

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, whose gradients are blank: no step of its own was made."""
        return {**self.__dict__, "_stepped": 0, "_later": set()}

    def find(self, grads: Mapping[int, Any]) -> list[int]:
        """Return the indices of stale gradients; in a trace, guard what is known from outside."""
        trace = modes.current().trace
        if trace is None:
            return self._outside(grads)
        outside, found = {}, []
        for i, grad in grads.items():
            written = written_in_trace(grad)
            if written is None and self._noted(i) is None:
                outside[i] = grad
            elif written is None or written is self._noted(i) or _is_clear(grad):
                found.append(i)
        if outside:
            stale = self._outside(outside)
            trace_notes.guard(
                lambda: self._outside(outside) == stale,
                "other gradients were computed by backward since the last step",
            )
            found += stale
        return sorted(found)

    def note(self, grads: Mapping[int, Any]) -> None:
        """Note a step with gradients: from now on they are stale."""
        trace = modes.current().trace
        if trace is None:
            self._stepped = next(clock)
            return
        values = {i: grad._value for i, grad in grads.items()}
        trace.notes[id(self)] = {**trace.notes.get(id(self), {}), **values}
        if trace.outer is None:
            trace_notes.at_end(lambda: self._look_back(grads, values))

    def _look_back(self, grads: Mapping[int, Any], values: Mapping[int, Any]) -> None:
        """Note which gradients a traced function has written after its last step."""
        self._later = {
            i for i, g in grads.items() if g._value is not values[i] and not _is_clear(g)
        }

    def _noted(self, index: int) -> Any:
        """Return the value that a gradient had at an earlier step of a running trace."""
        trace = modes.current().trace
        while trace is not None:
            found = trace.notes.get(id(self), {}).get(index)
            if found is not None:
                return found
            trace = trace.outer
        return None

    def _outside(self, grads: Mapping[int, Any]) -> list[int]:
        counted = self._optimizer._last_steps(grads)
        return [i for i, grad in grads.items() if self._is_stale(i, grad, counted[i])]

    def _is_stale(self, index: int, grad: Any, counted: int) -> bool:
        version, blank = versions_outside(grad)
        return (
            version == blank
            or version < max(counted, self._stepped)
            or (version == counted and index not in self._later)
        )


def _is_clear(grad: Any) -> bool:
    return grad._extra is not None and version_of(grad) == grad._extra.blank


__all__ = ["StaleGradients"]
