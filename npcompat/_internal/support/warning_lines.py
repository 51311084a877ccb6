"""Warnings at the user's line.

NumPy's functions in C warn at the line of Python that called them. Where that is one of npcompat's,
all warnings of a kind would name it, and Python shows a warning only once for each line. So the
first of Python's filters sends such a warning on, from the line of the first caller outside npcompat.
A filter costs nothing where nobody warns; those that a program adds later come before it.
"""

import re
import sys
import threading
import warnings
from typing import Any

from npcompat._internal.support.errors import is_below


class _Compared(threading.local):
    def __init__(self) -> None:
        self.parts: dict[str, Any] = {}


_warning = _Compared()
"""Text, category and module of the warning that this thread compares with the filter."""


class _Part:
    """In place of a part of the filter: notes a part of the warning, and holds for all.

    The last part that Python compares sends the warning on.  A copy, which other libraries make
    for their threads and processes, holds for none.
    """

    def __init__(self, part: str) -> None:
        self.part = part

    def noted(self, given: Any) -> bool:
        """Note a part of a warning; return False if it is the last, and the filter does not hold."""
        if self.part == "text":  # it is the first
            _warning.parts = {}
        elif not _warning.parts:  # a copy has no text
            return False
        parts = _warning.parts
        parts[self.part] = given
        if len(parts) < 3:
            return True
        _warning.parts = {}
        return _sent_on(**parts)


class _Pattern(_Part):
    """Look like a compiled regular expression."""

    pattern = "(?!)"
    flags = 0
    match = _Part.noted

    def __reduce__(self) -> Any:
        return re.compile, (self.pattern,)


class _Category(_Part):
    """Look like a class of warnings."""

    __bases__ = (Warning,)
    __subclasscheck__ = _Part.noted

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # `filterwarnings` asks whether it is a class
        return type

    def __reduce__(self) -> Any:
        return type, (Warning(),)


def _sent_on(text: str, category: type[Warning], module: str) -> bool:
    """Warn at the line of npcompat's caller; return False for a line that is not npcompat's."""
    if module.partition(".")[0] != "npcompat":
        return False
    frame: Any = sys._getframe(1)
    while frame is not None and is_below(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
    return True


_FILTER: Any = ("ignore", _Pattern("text"), _Category("category"), _Pattern("module"), 0)


def name_users_lines() -> None:
    """Let warnings at lines of npcompat name the line of its caller."""
    if _FILTER not in warnings.filters:
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
        warnings._filters_mutated()  # type: ignore[attr-defined]


__all__ = ["name_users_lines"]
