"""Notes that the parts of a library leave with a running trace, for the program that is made of it.

A trainer tells the trace so what its step depends on beside arrays.
"""

from collections.abc import Callable
from typing import Any

from npcompat._internal.core import modes

GUARDS, COUNTED, AT_END = "guards", "counted guards", "at end"
_ITEM, _CHECK = 0, 4  # kinds of `compile/guards.py`: an item of a dict, a function to call


def guard(holds: Callable[[], bool], otherwise: str) -> None:
    """Let the program that is being made be used only while a function returns True."""
    _outermost().notes.setdefault(GUARDS, []).append((_CHECK, holds, otherwise, None))


def counted(owner: Any, name: str) -> None:
    """Let the program be used only while an attribute is what it is now; setting it is counted."""
    state = vars(owner)
    _outermost().notes.setdefault(COUNTED, []).append((_ITEM, state, name, state[name]))


def at_end(look: Callable[[], None]) -> None:
    """Call a function when the outermost traced function has returned, within its trace."""
    _outermost().notes.setdefault(AT_END, []).append(look)


def _outermost() -> Any:
    trace = modes.current().trace
    assert trace is not None
    while trace.outer is not None:
        trace = trace.outer
    return trace


__all__ = ["AT_END", "COUNTED", "GUARDS", "at_end", "counted", "guard"]
