"""Counter of repeated calls.

Compiling takes as long as some hundred runs, so a program is made only for calls that repeat.
"""

from typing import Any


class BoundedCounter(dict[Any, int]):
    """Counts by kind; all of them are forgotten when there are too many kinds."""

    _MOST = 4096

    def count(self, kind: Any) -> int:
        """Count a kind once more, and return its count."""
        times = self.get(kind, 0) + 1
        if times == 1 and len(self) >= self._MOST:
            self.clear()
        self[kind] = times
        return times


__all__ = ["BoundedCounter"]
