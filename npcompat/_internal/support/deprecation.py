"""The decorator of deprecated functions and classes; docs/api_stability.md has the rules."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_Named = TypeVar("_Named", bound=Callable[..., Any])


def deprecated(since: str, remove_in: str, instead: str) -> Callable[[_Named], _Named]:
    """Mark a function or a class as deprecated: each call warns.

    Parameters
    ----------
    since, remove_in : str
        Version of the deprecation, and the first version without the name, at least two minor
        releases later.
    instead : str
        Replacement, for the warning.

    Raises
    ------
    ValueError
        If it would be removed sooner.
    """
    if _minor(remove_in) - _minor(since) < 2:
        raise ValueError(
            f"deprecated(since={since!r}, remove_in={remove_in!r}): expected at least two minor "
            "releases between them"
        )

    def mark(named: _Named) -> _Named:
        text = (
            f"{named.__qualname__} is deprecated since npcompat {since} and will be removed in "
            f"{remove_in}; use {instead}"
        )
        kind: Any = named
        called: Any = kind.__init__ if isinstance(named, type) else named

        @functools.wraps(called)
        def warned(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(DeprecationWarning(text), stacklevel=2)
            return called(*args, **kwargs)

        if isinstance(named, type):
            kind.__init__ = warned
            return named
        return warned  # type: ignore[return-value]

    return mark


def _minor(version: str) -> int:
    """Return the number of a minor release, with 1000 for each major one."""
    major, minor, *_ = map(int, version.split("."))
    return 1000 * major + minor


__all__ = ["deprecated"]
