"""Blocks on symbols: what stands for their parameters while a graph is built."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from npcompat._internal import dispatch
from npcompat._internal.backend import jax as xla
from npcompat.symbol import Symbol, var

if TYPE_CHECKING:
    from npcompat.gluon.parameter import Parameter

_CURRENT: "ContextVar[Variables | None]" = ContextVar("npcompat variables", default=None)
current = _CURRENT.get


class Variables:
    """As a context: the block that is called is called on symbols, and each parameter is a variable.

    Parameters
    ----------
    params : dict of str to Parameter
        What `collect_params` of the block gives; variables have these names.
    """

    def __init__(self, params: "Mapping[str, Parameter]") -> None:
        self._names: dict[int, str] = {}
        for name, parameter in params.items():
            self._names.setdefault(id(parameter), name)
        self._made: dict[int, tuple[Symbol, Any]] = {}

    def of(self, parameter: "Parameter") -> Symbol:
        """The variable of a parameter."""
        found = self._made.get(id(parameter))
        if found is None:
            made = var(self._names.get(id(parameter), parameter.name), parameter.shape, parameter.dtype)
            found = self._made[id(parameter)] = made, made.heads[0].node
        return found[0]

    def __enter__(self) -> "Variables":
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _CURRENT.reset(self._token)
        written = [made.name for made, before in self._made.values() if made.heads[0].node is not before]
        if written and error[0] is None:
            raise NotImplementedError(
                f"a block on symbols writes {len(written)} of its parameters, as normalisation does in training mode: build the graph "
                "in prediction mode, or compile the block instead"
            )


def wanted(args: Any) -> bool:
    """Whether a block that is called with these arguments is to build a graph, and is the outermost to do so."""
    return current() is None and any(type(leaf) is dispatch.symbol for leaf in xla.flatten(args)[0])


__all__ = ["Variables", "current", "wanted"]
