"""Containers that loops and branches carry: tuples, named tuples, lists and dicts.

A carried list or dict is made anew from its items.  So it must have one name: another would not
see what is put into it later.
"""

from collections.abc import Iterable
from typing import Any

from npcompat._internal.compile.staged_runs import is_generated

_MOST_ITEMS = 1000
"""Maximum number of items of a list or dict that is carried."""


def is_container(x: Any) -> bool:
    """Return True for a container that can be carried."""
    if type(x) in (list, dict):
        return len(x) <= _MOST_ITEMS
    return type(x) is tuple or is_named(type(x))


def is_named(kind: Any) -> bool:
    """Return True for a class of named tuples without code of the user's that makes one."""
    return (
        isinstance(kind, type)
        and kind.__bases__ == (tuple,)
        and type(getattr(kind, "_fields", None)) is tuple
        and "__init__" not in vars(kind)
        and is_generated(getattr(kind.__new__, "__code__", None))
    )


def items_of(x: Any) -> list[Any]:
    """Return the items of a container, the values of a dict."""
    return list(x.values()) if type(x) is dict else list(x)


def class_of(x: Any) -> Any:
    """Return what containers have in common that are interchangeable: the class, and the keys."""
    return (dict, tuple(x)) if type(x) is dict else type(x)


def made_of(kind: Any, items: Iterable[Any]) -> Any:
    """Return a container of what `class_of` gave, with these items."""
    if kind in (list, tuple):
        return kind(items)
    if type(kind) is tuple:
        return dict(zip(kind[1], items, strict=True))
    return tuple.__new__(kind, items)


def name_of(kind: Any) -> str:
    """Return the name of what `class_of` gave."""
    return f"dict with the keys {kind[1]}" if type(kind) is tuple else str(kind.__name__)


__all__ = ["class_of", "is_container", "is_named", "items_of", "made_of", "name_of"]
