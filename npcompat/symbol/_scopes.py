"""Scopes that give attributes and names to the nodes of graphs that are made within them."""

from collections import Counter
from collections.abc import Mapping
from contextvars import Token
from types import TracebackType
from typing import Any

from npcompat._internal.graph import symbolic


def checked(labels: Mapping[str, Any], what: str) -> dict[str, str]:
    """Return attributes as a dict; ValueError for those that are no strings."""
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ValueError(
                f"{what}: attributes are strings, which a file keeps: got {key!r}={value!r}"
            )
    return dict(labels)


class _Scope:
    """Context manager that sets a context variable; it may be entered again within itself."""

    def __init__(self) -> None:
        self._entered: list[Token[Any]] = []

    def _enter(self) -> Token[Any]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._entered.append(self._enter())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        token = self._entered.pop()
        token.var.reset(token)


class AttrScope(_Scope):
    """Scope whose attributes the nodes that are made within it get.

    Attributes are words of the user's, such as the part of a network to which a node belongs. They
    change nothing in what is computed, and are kept in files. Inner scopes, and `attr=` of a
    variable, come before outer ones.

    Parameters
    ----------
    **attributes : str
        Attributes by name.

    Raises
    ------
    ValueError
        If one is no string.

    Examples
    --------
    >>> with symbol.AttrScope(stage="encoder"):
    ...     x = symbol.var("x", attr={"kind": "data"})
    ...     y = np.exp(x)
    >>> x.list_attr(), y.attr("stage")
    ({'stage': 'encoder', 'kind': 'data'}, 'encoder')
    """

    def __init__(self, **attributes: str) -> None:
        super().__init__()
        self._attributes = checked(attributes, "AttrScope")

    def get(self, attr: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the attributes of this scope, replaced by those that are given."""
        return {**self._attributes, **(attr or {})}

    def _enter(self) -> Token[Any]:
        return symbolic.labels.set({**symbolic.labels.get(), **self._attributes})


class NameManager(_Scope):
    """Scope that names the nodes that are made within it: an operator's name and a number.

    The numbers begin at 0 in each manager. A subclass with another `get` gives other names.

    Examples
    --------
    >>> x = symbol.var("x")
    >>> with symbol.NameManager():
    ...     y = np.exp(np.exp(x))
    >>> y.name
    'exp1'
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: Counter[str] = Counter()

    def get(self, name: str | None, hint: str) -> str:
        """Return the name of a node: the given one, or one that begins with `hint`."""
        if name:
            return name
        number = self._made[hint]
        self._made[hint] += 1
        return f"{hint}{number}"

    def _enter(self) -> Token[Any]:
        return symbolic.naming.set(self.get)


class Prefix(NameManager):
    """Scope that begins the names of nodes that are made within it with a prefix.

    Variables keep the names that they are given.

    Parameters
    ----------
    prefix : str
        Beginning of the names.

    Examples
    --------
    >>> with symbol.Prefix("net_"):
    ...     y = np.exp(symbol.var("x"))
    >>> y.name, y.list_arguments()
    ('net_exp0', ['x'])
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        if not isinstance(prefix, str):
            raise TypeError(f"Prefix: expected a string, got {prefix!r}")
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return the name of a node, with the prefix."""
        return self._prefix + super().get(name, hint)


__all__ = ["AttrScope", "NameManager", "Prefix", "checked"]
