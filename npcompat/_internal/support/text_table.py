"""Tables of text, and the formats of numbers and places in them."""

import os
from collections.abc import Collection, Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Format rows as columns of equal width under a header.

    Columns in `right` are right-aligned.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            c.rjust(w) if i in right else c.ljust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def amount(count: float) -> str:
    """Format a number of bytes, as `1.5 MB`."""
    unit = next((i for i in range(4) if abs(count) < 1000 ** (i + 1)), 4)
    return f"{count / 1000**unit:.{min(unit, 1)}f} {('B', 'kB', 'MB', 'GB', 'TB')[unit]}"


def duration(seconds: float) -> str:
    """Format a time in seconds, as `1.5 ms`."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def shortened(location: str) -> str:
    """Return a file's line relative to the current directory, if it is below it."""
    start = os.getcwd() + os.sep
    return location.removeprefix(start)


__all__ = ["amount", "duration", "shortened", "table"]
