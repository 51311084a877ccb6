"""Notes that the parts of a library leave with a running trace, for the program that is made of it.

A trainer tells the trace so what its step depends on beside arrays.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from npcompat._internal.core import modes

GUARDS, COUNTED, AT_END, LAYOUT = "guards", "counted guards", "at end", "layout on a mesh"
DIFFERENTIATES = "runs backward"
CAPTURED = "lists of what ended traces have captured"
COPIES = "copies that are views of NumPy's"
_MAKES = "makes arrays"
_NOTED = "dicts whose items are noted"
# kinds of `compile/guards.py`: an item of a dict, all items, a function to call
_ITEM, _MAPPING, _CHECK = 0, 2, 4


def guard(holds: Callable[[], bool], otherwise: str) -> None:
    """Let the program that is being made be used only while a function returns True."""
    _outermost().notes.setdefault(GUARDS, []).append((_CHECK, holds, otherwise, None))


def differentiates() -> None:
    """Note that the function runs backward: its program depends on what was recorded outside."""
    _outermost().notes[DIFFERENTIATES] = True


def counted(owner: Any, name: str) -> None:
    """Let the program be used only while an attribute is what it is now; setting it is counted."""
    state = vars(owner)
    _outermost().notes.setdefault(COUNTED, []).append((_ITEM, state, name, state[name]))


def counted_items(registry: dict[Any, Any]) -> None:
    """Let the program be used only while a `CountedDict` has the items that it has now.

    A function notes so what it reads, and what it is about to change: the first note counts.
    """
    notes = _outermost().notes
    noted = notes.setdefault(_NOTED, set())
    if id(registry) not in noted:
        noted.add(id(registry))
        notes.setdefault(COUNTED, []).append((_MAPPING, registry, None, dict(registry)))


def makes_arrays(layout: Any) -> None:
    """Note that the function makes arrays of this layout, or None; its program is for contexts that
    lay new arrays out as that of its trace.
    """
    notes = _outermost().notes
    if not notes.get(_MAKES):
        notes[_MAKES] = True
        before = _outermost().context.device
        guard(partial(_has_device, before), "the layout of new arrays has changed")
    runs_on(layout)


def runs_on(layout: Any) -> None:
    """Note that the function lays arrays out so, or as XLA likes for None; the first layout gives the
    mesh of its program.
    """
    notes = _outermost().notes
    notes[LAYOUT] = notes.get(LAYOUT) or layout


def _has_device(before: Any) -> bool:
    now = modes.current().device
    return now is before or bool(now == before)


def at_end(look: Callable[[], None]) -> None:
    """Call a function when the outermost traced function has returned, within its trace."""
    _outermost().notes.setdefault(AT_END, []).append(look)


def _outermost() -> Any:
    trace = modes.current().trace
    assert trace is not None
    while trace.outer is not None:
        trace = trace.outer
    return trace


__all__ = [
    "AT_END",
    "CAPTURED",
    "COPIES",
    "COUNTED",
    "GUARDS",
    "LAYOUT",
    "at_end",
    "counted",
    "counted_items",
    "guard",
    "makes_arrays",
    "runs_on",
]
