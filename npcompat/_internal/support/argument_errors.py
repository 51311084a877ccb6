"""Arguments of users' calls that are wrong in the same way in many places, and what is said then."""

import difflib
import inspect
import operator
from collections.abc import Iterable
from typing import Any


def unknown(owner: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for an argument that does not exist, which names the one that is probably meant."""
    names = list(known)
    meant = _meant(name, names)
    question = f"; did you mean {meant!r}?" if meant else "."
    return TypeError(
        f"{owner}: there is no argument {name!r}{question} There are {', '.join(names)}"
    )


def _meant(name: str, known: list[str]) -> str | None:
    """The known name that is nearest to another one: which it abbreviates, or is spelled like."""
    lower = name.lower()
    initials = [
        k for k in known if "_" in k and "".join([word[0] for word in k.split("_")]) == lower
    ]
    longer = [k for k in known if len(lower) > 1 and (k.startswith(lower) or lower.startswith(k))]
    found = initials or difflib.get_close_matches(lower, known, 1, 0.7) or longer
    return found[0] if found else None


def of_constructors(kind: type) -> list[str]:
    """The names of the arguments that a class and its bases take, which hand on by `**kwargs` what
    they do not know.
    """
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
    """An argument that counts something, as an int."""
    try:
        found = operator.index(given)
    except TypeError:
        raise TypeError(f"{owner}: {name}: expected an integer, got {given!r}") from None
    if found < least:
        raise ValueError(f"{owner}: {name} must be at least {least}, got {found}")
    return found


def number(owner: str, name: str, given: Any) -> float:
    """An argument that is a number, as a float."""
    try:
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: {name}: expected a number, got {given!r}") from None


__all__ = ["count", "number", "of_constructors", "unknown"]
