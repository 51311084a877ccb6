"""What is told of operations while they run: hooks on operators, the audit and the profile are
observers.

An observer stands in the mode. While it is told of something it is out of it, and the one around it
in its place, so that observers are told one after the other, and nobody of what they do themselves.
"""

from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op

Run = Callable[[], Any]


class Observer:
    """The base of observers, which looks at nothing.

    With `apart` it needs to see every operator: compiled functions run as Python, and the host's
    buffers are not written behind the operators. Without, everything happens as it would without an
    observer. `outer` is the observer around it.
    """

    needs_every_op = False

    def __init__(self, outer: "Observer | None") -> None:
        self.outer = outer

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator; the results are a value, or a tuple of them."""
        return run()

    def program(self, name: str, payloads: Sequence[Any], run: Run) -> Any:
        """Run the program of a compiled function, or of a gradient; the results are payloads."""
        return run()

    def write(self, op: Op | None, target: Any, payloads: Sequence[Any], run: Run) -> Any:
        """Write an array's elements, or what NumPy's function for an operator makes of arrays, into
        one on the host.
        """
        return run()


__all__ = ["Observer", "Run"]
