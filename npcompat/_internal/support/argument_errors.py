"""Errors for wrong arguments that many functions share."""

import difflib
import inspect
import operator
from collections.abc import Iterable
from typing import Any


def unknown(owner: str, name: str, known: Iterable[str]) -> TypeError:
    """Return the error for an unknown argument, which suggests a known one."""
    names = list(known)
    meant = closest(name, names)
    question = f"; did you mean {meant!r}?" if meant else "."
    return TypeError(
        f"{owner}: there is no argument {name!r}{question} There are {', '.join(names)}"
    )


def closest(name: str, known: list[str]) -> str | None:
    """Return the known name that another one abbreviates, or is spelled like."""
    lower = name.lower()
    initials = [
        k for k in known if "_" in k and "".join([word[:1] for word in k.split("_")]) == lower
    ]
    longer = [k for k in known if len(lower) > 1 and (k.startswith(lower) or lower.startswith(k))]
    found = initials or difflib.get_close_matches(lower, known, 1, 0.7) or longer
    return found[0] if found else None


def of_constructors(kind: type) -> list[str]:
    """Names of the arguments of a class and of its bases that it hands on to by `**kwargs`."""
    found: dict[str, None] = {}
    for base in kind.__mro__:
        if "__init__" in vars(base) and base is not object:
            parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            found |= dict.fromkeys(
                [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
            )
            if not any([p.kind is p.VAR_KEYWORD for p in parameters]):
                break
    return list(found)


def count(owner: str, name: str, given: Any, least: int = 1) -> int:
    """Return an argument that counts something as an int; raise if it is none."""
    try:
        found = operator.index(given)
    except TypeError:
        raise TypeError(f"{owner}: {name}: expected an integer, got {given!r}") from None
    if found < least:
        raise ValueError(f"{owner}: {name} must be at least {least}, got {found}")
    return found


def number(owner: str, name: str, given: Any) -> float:
    """Return an argument that is a number as a float; raise if it is none."""
    try:
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: {name}: expected a number, got {given!r}") from None


__all__ = ["closest", "count", "number", "of_constructors", "unknown"]
