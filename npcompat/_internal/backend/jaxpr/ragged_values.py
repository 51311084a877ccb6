"""Padded values of ragged rounds, and the table of rules that compute with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as onp

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Literal
from npcompat._internal.backend.jaxpr.primitives import (
    RuleTable,
)

Ints = tuple[int, ...]


class UnfitError(Exception):
    """Failure to merge rounds."""


@dataclass(frozen=True)
class ValidRange:
    """Valid range of the elements along an axis, for each round.

    Without offsets all elements are equal, and the axis has length 1.
    """

    offsets: Ints | None
    sizes: Ints


@dataclass(frozen=True)
class PaddedValue:
    """Array of one of the rounds, padded to one shape for all of them.

    `ranges` are the valid ranges by axis, None for an axis of the same length in all rounds.
    """

    value: Any
    ranges: tuple[ValidRange | None, ...]

    @property
    def uniform(self) -> bool:
        return not any(self.ranges)


def _literal(atom: Literal) -> PaddedValue:
    return PaddedValue(atom.val, (None,) * onp.ndim(atom.val))


def _uniform(array: PaddedValue) -> Any:
    RULES.expect(array.uniform)
    return array.value


def _bind(eqn: JaxprEqn, values: Sequence[Any], params: dict[str, Any]) -> list[PaddedValue]:
    with eqn.ctx.manager:
        outs = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(params))
    return [
        PaddedValue(o, (None,) * o.ndim)
        for o in (outs if eqn.primitive.multiple_results else [outs])
    ]


def _bind_one(
    eqn: JaxprEqn, values: Sequence[Any], ranges: Sequence[ValidRange | None], **params: Any
) -> list[PaddedValue]:
    (out,) = _bind(eqn, values, {**eqn.params, **params})
    return [replace(out, ranges=tuple(ranges))]


def shape_of(atom: Any) -> Ints:
    """Return the shape of a variable or a literal."""
    shape: Ints = atom.aval.shape
    return shape


def _lengths(atoms: Sequence[Any]) -> list[Ints]:
    """Return the lengths of each axis of an array, by round."""
    return [*zip(*map(shape_of, atoms), strict=True)]


def _varies(lengths: Sequence[int]) -> bool:
    return len({*lengths}) > 1


# --- rules ----------------------------------------------------------------------------------------

Rule = Callable[[Any, JaxprEqn, Sequence[JaxprEqn], Sequence[PaddedValue]], list[PaddedValue]]
RULES: RuleTable[Rule] = RuleTable(UnfitError)
"""Rules that compute a primitive of padded values."""


__all__ = ["RULES", "Ints", "PaddedValue", "Rule", "UnfitError", "ValidRange", "shape_of"]
