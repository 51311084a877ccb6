"""Programs of one operator, by what kind of program it is, the backend and the policy of dtypes.

A table holds the programs of one kind by the attributes of the call:

    FORWARD    attributes -> program
    RECORDED   (attributes, which operands have gradients) -> program that returns its pullback too
    DONATING   (attributes, which operands are given away) -> program that may write into these

The C fast path finds the tables that it reads by their position in `ProgramCache.direct`.
"""

from collections.abc import Iterator
from typing import Any

Table = dict[Any, Any]
FORWARD, RECORDED, DONATING = "forward", "recorded", "donating"
_DIRECT = [
    (kind, backend, policy)
    for kind, backend in ((FORWARD, "jax"), (FORWARD, "numpy"), (DONATING, "jax"))
    for policy in (0, 1)
]


def position(kind: str, backend: str) -> int:
    """Return where the tables of a kind and a backend begin in `direct`.

    The first is of the default policy of dtypes, the next of NumPy's.
    """
    return _DIRECT.index((kind, backend, 0))


class _Tables(dict[tuple[str, str, int], Table]):
    def __missing__(self, key: tuple[str, str, int]) -> Table:
        made = self[key] = {}
        return made


class ProgramCache:
    """Cache of the programs of an operator; see the module for what its tables are.

    Attributes
    ----------
    tables : dict
        Tables by kind, backend and policy of dtypes (1 for NumPy's); made when they are asked for.
    direct : tuple of dict
        Those of the tables that the C fast path reads.
    """

    __slots__ = ("direct", "tables")

    def __init__(self) -> None:
        self.tables = _Tables()
        self.direct = tuple([self.tables[key] for key in _DIRECT])

    def table(self, kind: str, backend: str, numpy_dtypes: int) -> Table:
        """Return the table of a kind, a backend and a policy of dtypes."""
        return self.tables[kind, backend, numpy_dtypes]

    def of_backend(self, backend: str) -> Iterator[Table]:
        """Iterate over all tables of a backend."""
        return iter([table for key, table in self.tables.items() if key[1] == backend])

    def clear(self) -> None:
        """Forget all programs."""
        for table in self.tables.values():
            table.clear()


__all__ = ["DONATING", "FORWARD", "RECORDED", "ProgramCache", "Table", "position"]
