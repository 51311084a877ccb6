"""The program that is being traced, as loops and branches see it."""

from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.protocols import TraceLike


def current() -> TraceLike | None:
    """The trace that runs, if any."""
    return modes.current().trace


def running() -> Any:
    """The trace that runs; there must be one."""
    trace = modes.current().trace
    assert trace is not None
    return trace


def outermost() -> Any:
    """The trace of the compiled function itself."""
    trace: Any = running()
    while trace.outer is not None:
        trace = trace.outer
    return trace


def differentiated() -> bool:
    """Return True if the program, or what is traced of it, may be differentiated."""
    mode = modes.current()
    trace: Any = mode.trace
    while trace is not None:
        if trace.recorded_outside:
            return True
        trace = trace.outer
    return mode.recording


def converts() -> bool:
    """Return True if the compiled function that is traced has its loops staged."""
    return not outermost().notes.get("loops of python", False)


class Variables:
    """The variables that a loop or branch binds: functions that get and set them, and their
    names.
    """

    __slots__ = ("get", "names", "put")

    def __init__(self, get: Any, put: Any, names: tuple[str, ...]) -> None:
        self.get, self.put, self.names = get, put, names


def report(kind: str, where: str, text: str) -> None:
    """Note for the compile log what became of a loop."""
    if current() is not None:
        entry = f"{where}: {kind}: {text}"
        entries = outermost().notes.setdefault("loops", {})
        entries[entry] = entries.get(entry, 0) + 1


def reports() -> tuple[str, ...]:
    """Return the notes on the loops of the program that is traced."""
    return tuple(running().notes.get("loops", ()))


__all__ = [
    "Variables",
    "converts",
    "current",
    "differentiated",
    "outermost",
    "report",
    "reports",
    "running",
]
