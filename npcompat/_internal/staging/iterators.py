"""Iterators in staged runs, where one run of a loop's body stands for all rounds.

To take an item from an iterator changes it, and the next round would go on with the others.  So a
staged run takes items only from iterators that it has made itself.
"""

from typing import Any

from npcompat._internal.compile.staged_runs import is_staged, refuse
from npcompat._internal.staging import context


def is_iterator(x: Any) -> bool:
    """Return True for iterators: generators, `zip`, `iter(x)`, open files."""
    return hasattr(type(x), "__next__")


def made(x: Any) -> Any:
    """Return a value that has just been made; if it is an iterator, this run may use it up."""
    if is_staged() and is_iterator(x):
        context.running().notes.setdefault("iterators", []).append(x)
    return x


def iterated(x: Any) -> Any:
    """Return a value of which all items are taken; refuse an iterator of another run."""
    if is_staged() and is_iterator(x):
        own = context.running().notes.get("iterators", ())
        if not any([x is i for i in own]):
            refuse(
                f"a {type(x).__name__} made before a compiled loop or branch is used up in it, "
                "which would change it; make it there, or use a list"
            )
    return x


__all__ = ["is_iterator", "iterated", "made"]
