"""Log of compilations with their reasons and the user's lines: `with npx.compile_log() as log`."""

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

    `groups` names the operators of a function that can be fused, by their patterns
    (`fusion_groups`). `loops` has a line for each loop of the function: it is a loop of the
    program, or it was unrolled, and why.
    """

    name: str
    types: tuple[str, ...]
    reason: str
    location: str
    groups: tuple[tuple[str, ...], ...] = ()
    loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(map("+".join, self.groups[:_SHOWN]))
        rest = len(self.groups) - _SHOWN
        more = f", and {rest} more groups" if rest > 0 else ""
        joined = f"; can be fused: {shown}{more}" if self.groups else ""
        loops = "".join([f"\n  {loop}" for loop in self.loops])
        return (
            f"{self.location}: compiled {self.name}({', '.join(self.types)}): {self.reason}{joined}"
            f"{loops}"
        )

    def __repr__(self) -> str:
        return f"<{self}>"


_SHOWN = 8
"""Groups that the text of an entry names."""


def type_name(array: Any) -> str:
    """Return dtype and shape of an array as text, such as `float32[2,3]`."""
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


def watched() -> bool:
    """True if a log, an audit or the logger receives entries."""
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
    """Write an entry; without a log, an audit or the logger, return at once."""
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
    """Collect the compilations inside the context.

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
        _listeners[:] = [found for found in _listeners if found is not entries]
