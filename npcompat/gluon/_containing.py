"""Blocks in plain lists, tuples and dicts that are attributes of a block: they are parts of it,
wherever they were put in.
"""

from collections.abc import Iterator
from operator import is_
from typing import Any

from npcompat.gluon._structure import Structured

_OWN = frozenset(
    (
        "_children",
        "_reg_params",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_op_hooks",
        "_watched",
        "_order",
    )
)
Container = list[Any] | tuple[Any, ...] | dict[Any, Any]


def _items(container: Container) -> Iterator[tuple[Any, Any]]:
    return iter(container.items() if isinstance(container, dict) else enumerate(container))


def _containers(block: Any) -> Iterator[tuple[str, Container]]:
    for name, value in block.__dict__.items():
        if isinstance(value, list | tuple | dict) and name not in _OWN:
            yield name, value


def _inside(container: Container, path: str) -> Iterator[tuple[str, Any]]:
    for key, item in _items(container):
        if isinstance(item, Structured):
            yield f"{path}.{key}", item
        elif isinstance(item, list | tuple | dict):
            yield from _inside(item, f"{path}.{key}")


def parts(block: Any) -> dict[str, Any]:
    """The blocks that a block is made of, in the order of its attributes: children, and blocks in
    containers, once each.

    A block in a container has the name of its attribute and its keys joined by dots, or that of a
    child which it is already.
    """
    children, containers = block._children, dict(_containers(block))
    if not containers:
        return dict(children)
    names = {id(child): name for name, child in reversed(children.items())}
    found: dict[str, Any] = {}
    early = [name for name in containers if name not in block._order]  # set before the block began
    for attribute in (*early, *block._order):
        if attribute in children:
            found[attribute] = children[attribute]
        else:
            for path, item in _inside(containers.get(attribute, ()), attribute):
                found[names.setdefault(id(item), path)] = item
    return found


class Watch:
    """The containers of blocks in a tree as they are when a program is compiled of it: changing one
    makes another program.
    """

    def __init__(self, root: Any) -> None:
        self._seen: list[tuple[Container, list[Any]]] = []
        self._add(root)

    def _add(self, block: Any) -> None:
        for _, container in _containers(block):
            self._note(container)
        for child in parts(block).values():
            child._parents.add(block)
            self._add(child)

    def _note(self, container: Container) -> None:
        items = [item for _, item in _items(container)]
        nested = [item for item in items if isinstance(item, list | tuple | dict)]
        if not isinstance(container, tuple) and (
            not items or nested or any([isinstance(item, Structured) for item in items])
        ):
            self._seen.append((container, items))
        for item in nested:
            self._note(item)

    def __bool__(self) -> bool:
        return bool(self._seen)

    @property
    def changed(self) -> bool:
        """Whether one of the containers holds other things now."""
        return any(
            [
                len(now) != len(then) or not all(map(is_, _values(now), then))
                for now, then in self._seen
            ]
        )


def _values(container: Container) -> Any:
    return container.values() if isinstance(container, dict) else container


__all__ = ["Watch", "parts"]
