"""Merge of the rounds of a loop whose arrays differ in size (ragged rounds) into one round.

Along an axis whose length differs between rounds, an array is padded to a length that is enough in
all rounds. Its elements lie in a valid range, whose offset and size are looked up by the number of
the round. Elements outside are undefined; a reduction fills them with its identity element first. A
slice is not moved: it becomes the whole axis with a valid range. So slices that grow or shrink have
one shape.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax

from npcompat._internal.backend.jaxpr import ragged_rules  # noqa: F401 (it fills the table)
from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.ragged_interpreter import Interpreter
from npcompat._internal.backend.jaxpr.ragged_values import (
    RULES,
    Ints,
    PaddedValue,
    ValidRange,
    _uniform,
)

WASTE = 8
"""Maximum ratio of the elements that the merged rounds compute to those that the rounds have."""


def merge_rounds(
    body: Sequence[JaxprEqn],
    rounds: Sequence[Sequence[JaxprEqn]],
    given: Sequence[tuple[Var, Any, tuple[ValidRange | None, ...]]],
    number: Var,
    known: dict[Var, Ints],
    results: Sequence[Var],
    same_shapes: Callable[[Sequence[JaxprEqn]], bool],
) -> ClosedJaxpr:
    """Return the jaxpr of one round that computes any of the rounds.

    Parameters
    ----------
    body : sequence of equations
        The first round; its variables are the inputs and the results of its equations.
    rounds : sequence of sequences of equations
        All rounds, whose equations differ only in shapes.
    given : sequence of (variable, type, ranges)
        The inputs.
    number : variable
        Input that is the number of the round.
    known : dict
        Inputs that are integers, by round.
    results : sequence of variables
        The results, which have the same shape in each round.
    same_shapes : callable
        Returns True if equations have the same shapes, too.

    Raises
    ------
    UnfitError
        If the rounds can't be merged.
    """

    def once(*values: Any) -> list[Any]:
        env = {
            v: PaddedValue(value, ranges)
            for (v, _, ranges), value in zip(given, values, strict=True)
        }
        interpreter = Interpreter(env[number].value, len(rounds), known, same_shapes)
        interpreter.run(body, rounds, env)
        RULES.expect(interpreter.computed <= WASTE * interpreter.needed)
        return [_uniform(env[v]) for v in results]

    types = [
        jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
        for _, kind, _ in given
    ]
    with jax.enable_x64(True):
        return jax.make_jaxpr(once)(*types)


__all__ = ["WASTE", "merge_rounds"]
