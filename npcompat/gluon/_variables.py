"""Blocks on symbols: the variables that stand for parameters while a graph is built."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.dispatch import late_bound
from npcompat._internal.random import stream
from npcompat.symbol import Symbol, var
from npcompat.symbol._graph import stands_for
from npcompat.symbol._recorded import graph_of_block

_CURRENT: "ContextVar[Variables | None]" = ContextVar("npcompat variables", default=None)
current = _CURRENT.get


class Named(Protocol):
    """Properties of a parameter that its variable has, too.

    A protocol, since `gluon.parameter` imports this module.
    """

    @property
    def name(self) -> str:
        """Name of the parameter."""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape, with -1 for unknown lengths; None if nothing is known."""

    @property
    def dtype(self) -> onp.dtype[Any]:
        """Dtype."""


class Variables:
    """Context manager in which a block that is called on symbols builds a graph.

    Each parameter is a variable, and random draws are nodes of the graph.

    Parameters
    ----------
    params : dict of str to Parameter
        The result of the block's `collect_params`; variables have these names.
    """

    def __init__(self, params: Mapping[str, Named]) -> None:
        self._names: dict[int, str] = {}
        for name, parameter in params.items():
            self._names.setdefault(id(parameter), name)
        self._made: dict[int, tuple[Symbol, Any]] = {}
        self._draws = stream.graph()

    def of(self, parameter: Named) -> Symbol:
        """Return the variable of a parameter."""
        found = self._made.get(id(parameter))
        if found is None:
            made = var(
                self._names.get(id(parameter), parameter.name), parameter.shape, parameter.dtype
            )
            found = self._made[id(parameter)] = made, made.heads[0].node
        return found[0]

    def __enter__(self) -> "Variables":
        self._token = _CURRENT.set(self)
        self._draws.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._draws.__exit__(None, None, None)
        _CURRENT.reset(self._token)
        written = [
            before.name
            for made, before in self._made.values()
            if stands_for(made.heads[0]) is not before
        ]
        if written and error[0] is None:
            raise NotImplementedError(
                f"a block on symbols writes its parameters {', '.join(written)} by an operator "
                "that is not declared to overwrite them, "
                "so its graph would leave them as they are: compile the block instead"
            )


def begins_graph(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return True if a call with these arguments is the outermost one that builds a graph."""
    if current() is not None or (not kwargs and {*map(type, args)} == _ONLY_ARRAYS):
        return False
    return any(type(leaf) is late_bound.symbol for leaf in language.flatten((args, kwargs))[0])


_ONLY_ARRAYS = {late_bound.ndarray}


def _of_method(function: Any) -> Variables | None:
    """Return the variables of the block whose method a function is, None for other functions."""
    parameters = getattr(getattr(function, "__self__", None), "collect_params", None)
    return None if parameters is None else Variables(parameters())


graph_of_block.append(_of_method)


__all__ = ["Variables", "begins_graph", "current"]
