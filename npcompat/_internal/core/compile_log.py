"""What was compiled, when, from where, and why: `with npx.compile_log() as log: ...`."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.support.errors import user_location

_logger = logging.getLogger("npcompat.compile")
FIRST = "first call with these types"
_listeners: list[list["Compilation"]] = []


@dataclass(frozen=True, slots=True)
class Compilation:
    """One program that was compiled: an operator's, or a whole function's.

    `groups` names the operators of a function that can be computed together, by their patterns
    (`fusion`); `loops` says of each of its loops whether it is one loop of the program, or was
    unrolled, and why.
    """

    name: str
    types: tuple[str, ...]
    reason: str
    location: str
    groups: tuple[tuple[str, ...], ...] = ()
    loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        joined = f"; can be fused: {', '.join(map('+'.join, self.groups))}" if self.groups else ""
        loops = "".join([f"\n  {loop}" for loop in self.loops])
        return (
            f"{self.location}: compiled {self.name}({', '.join(self.types)}): {self.reason}{joined}"
            f"{loops}"
        )


def type_name(array: Any) -> str:
    """`float32[2,3]`."""
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


def watched() -> bool:
    """Whether somebody reads what is written."""
    return (
        bool(_listeners) or modes.current().audit is not None or _logger.isEnabledFor(logging.INFO)
    )


def compiled(
    name: str,
    arrays: Sequence[Any],
    reason: str = FIRST,
    groups: tuple[tuple[str, ...], ...] = (),
    loops: tuple[str, ...] = (),
) -> None:
    """Write an entry; costs nothing unless somebody listens."""
    if watched():
        types = tuple(map(type_name, arrays))
        entry = Compilation(name, types, reason, user_location(), groups, loops)
        audit = modes.current().audit
        if audit is not None:
            audit.compiling(entry)
        for listener in _listeners:
            listener.append(entry)
        _logger.info("%s", entry)


@contextmanager
def compile_log() -> Iterator[list[Compilation]]:
    """Collect what is compiled inside the context.

    Yields
    ------
    list of Compilation
        Grows as programs are compiled; each entry has `name`, `types`, `reason`, `location` (the
        user's line), and `groups` (which operators of a compiled function can be fused).

    Examples
    --------
    >>> from npcompat import np, npx
    >>> a = np.arange(10.0)
    >>> with npx.compile_log() as log:
    ...     for i in range(8):
    ...         b = a[i]
    >>> len(log) <= 1
    True
    """
    entries: list[Compilation] = []
    _listeners.append(entries)
    try:
        yield entries
    finally:
        _listeners.remove(entries)
