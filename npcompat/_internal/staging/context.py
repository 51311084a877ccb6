"""The running trace for loops and branches: its state, variables, and notes for the log."""

from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.protocols import TraceLike


def current() -> TraceLike | None:
    """Return the running trace, or None."""
    return modes.current().trace


def running() -> Any:
    """Return the running trace; there must be one."""
    trace = modes.current().trace
    assert trace is not None
    return trace


def outermost() -> Any:
    """Return the trace of the compiled function itself."""
    trace: Any = running()
    while trace.outer is not None:
        trace = trace.outer
    return trace


def converts() -> bool:
    """Return True if the loops of the traced function are staged."""
    return not outermost().notes.get("loops of python", False)


class Variables:
    """Variables that a loop or branch binds: functions that get and set them, and their names."""

    __slots__ = ("get", "names", "put")

    def __init__(self, get: Any, put: Any, names: tuple[str, ...]) -> None:
        self.get, self.put, self.names = get, put, names


def report(kind: str, where: str, text: str) -> None:
    """Note for the compile log if a loop was staged or unrolled, and why."""
    if current() is not None:
        entry = f"{where}: {kind}: {text}"
        entries = outermost().notes.setdefault("loops", {})
        entries[entry] = entries.get(entry, 0) + 1


def reports() -> tuple[str, ...]:
    """Return the notes on the loops of the running trace."""
    return tuple(running().notes.get("loops", ()))


__all__ = [
    "Variables",
    "converts",
    "current",
    "outermost",
    "report",
    "reports",
    "running",
]
