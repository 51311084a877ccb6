"""Policy for loops and branches in compiled functions: parts of the program, or run by Python."""

import os

POLICIES = ("staged", "python")


def _from_environment() -> str:
    found = os.environ.get("NPCOMPAT_LOOPS", "staged")
    if found not in POLICIES:
        raise ValueError(f"NPCOMPAT_LOOPS={found!r}: expected one of {', '.join(POLICIES)}")
    return found


DEFAULT = _from_environment()


def is_staged(loops: str | None) -> bool:
    """Return True if an argument `loops`, or the default, says that loops are parts of the program.

    Raises
    ------
    ValueError
        If the argument is no policy.
    """
    if loops is not None and loops not in POLICIES:
        raise ValueError(f"loops={loops!r}: expected one of {', '.join(POLICIES)}")
    return (DEFAULT if loops is None else loops) == "staged"


__all__ = ["DEFAULT", "POLICIES", "is_staged"]
