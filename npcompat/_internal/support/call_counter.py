"""What comes again and again: a program pays only for that, as compiling takes as long as some
hundred runs.
"""

from typing import Any


class Repetitions(dict[Any, int]):
    """How often things of a kind have come, by the kind; forgotten when there are too many kinds."""

    _MOST = 4096

    def count(self, kind: Any) -> int:
        """How often the kind has come, this time included."""
        times = self.get(kind, 0) + 1
        if times == 1 and len(self) >= self._MOST:
            self.clear()
        self[kind] = times
        return times


__all__ = ["Repetitions"]
