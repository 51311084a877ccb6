"""Cache of the programs of one operator, by kind of program, backend and dtype policy.

A table holds the programs of one kind by the attributes of the call:

    FORWARD    attributes -> program
    RECORDED   (attributes, mask of operands with gradients) -> program that also returns a pullback
    DONATING   (attributes, mask of donated operands) -> program that may write into these

The C fast path finds the tables that it reads by their position in `ProgramCache.direct`.
"""

from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

Table = dict[Any, Any]
FORWARD, RECORDED, DONATING = "forward", "recorded", "donating"
_DIRECT = [
    (kind, backend, policy)
    for kind, backend in ((FORWARD, "jax"), (FORWARD, "numpy"), (DONATING, "jax"))
    for policy in (0, 1)
]


def position(kind: str, backend: str) -> int:
    """Return the position in `direct` of the first table of a kind and a backend.

    That table belongs to the default dtype policy, the next one to NumPy's.
    """
    return _DIRECT.index((kind, backend, 0))


class _Tables(dict[tuple[str, str, int], Table]):
    def __missing__(self, key: tuple[str, str, int]) -> Table:
        made = self[key] = {}
        return made


_caches: "WeakSet[ProgramCache]" = WeakSet()


def taken_away(backend: str) -> list[Table]:
    """Empty all tables of a backend, and return what they held."""
    found = []
    for cache in list(_caches):
        for table in cache.of_backend(backend):
            found.append(dict(table))
            table.clear()
    return found


class ProgramCache:
    """Cache of the programs of an operator; the module's docstring explains its tables.

    Attributes
    ----------
    tables : dict
        Tables by kind, backend and dtype policy (1 for NumPy's); each is made at first use.
    direct : tuple of dict
        The tables that the C fast path reads.
    """

    __slots__ = ("__weakref__", "direct", "tables")

    def __init__(self) -> None:
        _caches.add(self)
        self.tables = _Tables()
        self.direct = tuple([self.tables[key] for key in _DIRECT])

    def table(self, kind: str, backend: str, numpy_dtypes: int) -> Table:
        """Return the table of a kind, a backend and a dtype policy."""
        return self.tables[kind, backend, numpy_dtypes]

    def of_backend(self, backend: str) -> Iterator[Table]:
        """Iterate over all tables of a backend."""
        return iter([table for key, table in self.tables.items() if key[1] == backend])

    def clear(self) -> None:
        """Drop all programs."""
        for table in self.tables.values():
            table.clear()


__all__ = ["DONATING", "FORWARD", "RECORDED", "ProgramCache", "Table", "position", "taken_away"]
