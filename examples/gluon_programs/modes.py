"""Shared by the programs: modes, results of a training, and comparison of modes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as onp

from npcompat import np

MODES = ("eager", "hybridized", "compiled step")


@dataclass
class Outcome:
    """Results of one training: losses, parameters, a score, and the next random number.

    The random number is equal in two modes only if both drew as many numbers.
    """

    losses: list[float]
    parameters: dict[str, Any]
    score: float
    draw: float

    @classmethod
    def of(cls, losses: list[float], parameters: Mapping[str, Any], score: float) -> "Outcome":
        """Return the results of a training that just ended."""
        return cls(
            losses,
            {name: array.asnumpy() for name, array in parameters.items()},
            float(score),
            float(np.random.uniform()),
        )


def forever(one_pass: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Iterate over the batches of endless epochs."""
    while True:
        yield from one_pass()


def differences(outcomes: Mapping[str, Outcome], tolerance: float) -> Iterator[str]:
    """Iterate over differences of modes from the first.

    Losses and parameters may differ by the tolerance, random numbers must be equal.
    """
    (first, expected), *others = outcomes.items()
    for mode, got in others:
        for i, (a, b) in enumerate(zip(expected.losses, got.losses, strict=True), 1):
            if not abs(a - b) <= tolerance * abs(a):
                yield f"step {i}: the loss is {a:.7g} {first}, {b:.7g} {mode}"
        if list(got.parameters) != list(expected.parameters):
            yield (
                f"parameters are {list(expected.parameters)} {first}, {list(got.parameters)} {mode}"
            )
            continue
        for name, a in expected.parameters.items():
            b, scale = got.parameters[name], onp.abs(a).max(initial=1e-3)
            if (
                a.dtype != b.dtype
                or a.shape != b.shape
                or not onp.abs(a - b).max(initial=0) <= tolerance * scale
            ):
                yield f"parameter {name} differs between {first} and {mode}"
        if not abs(expected.score - got.score) <= tolerance * abs(expected.score):
            yield f"the score is {expected.score:.7g} {first}, {got.score:.7g} {mode}"
        if expected.draw != got.draw:
            yield f"the next random number is {expected.draw:.7g} {first}, {got.draw:.7g} {mode}"


__all__ = ["MODES", "Outcome", "differences", "forever"]
