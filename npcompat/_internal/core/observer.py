"""Observers, which are called around each operation: hooks of blocks, the audit, the profile.

The mode holds the innermost observer. While an observer runs, its outer observer is active instead.
So nested observers are called inside out and never see their own operations.
"""

from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op

Run = Callable[[], Any]


class Observer:
    """Base class of observers, which only runs the operations.

    If `needs_every_op` is True, compiled functions run as Python, and host buffers are only
    accessed by operators. If it is False, the observer changes nothing in how operations run.
    `outer` is the enclosing observer, or None.
    """

    needs_every_op = False

    def __init__(self, outer: "Observer | None") -> None:
        self.outer = outer

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator; return a value, or a tuple of values."""
        return run()

    def program(self, name: str, payloads: Sequence[Any], run: Run) -> Any:
        """Run the program of a compiled function or of a gradient; return payloads."""
        return run()

    def write(self, op: Op | None, target: Any, payloads: Sequence[Any], run: Run) -> Any:
        """Write into a host array: elements, or the result of `op`, which NumPy writes there."""
        return run()


__all__ = ["Observer", "Run"]
