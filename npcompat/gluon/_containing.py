"""Child blocks in plain lists, tuples and dicts that are attributes of a block."""

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
        "_backward_hooks",
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
    """Return the child blocks of a block, once each, in the order of its attributes.

    These are registered children and blocks in containers. A block in a container is named by its
    attribute and keys, joined by dots. One that is also a registered child keeps the child's name.
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
    """Snapshot of the containers in a tree of blocks, taken when the tree is compiled.

    A program is compiled again if a container has changed since.
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
        """True if a container holds other items than at the snapshot."""
        return any(
            [
                len(now) != len(then) or not all(map(is_, _values(now), then))
                for now, then in self._seen
            ]
        )


def _values(container: Container) -> Any:
    return container.values() if isinstance(container, dict) else container


__all__ = ["Watch", "parts"]
