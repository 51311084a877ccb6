"""Cases of layers: a constructor, and the inputs of a call.

    layer("nn.Dense", lambda **known: nn.Dense(4, **known), "3,5", in_units=5)

The keywords are what makes the layer explicit: without them its shapes are found at the first call.
Inputs are those of `registry_cases`: shapes, domains and dtypes, in lists where the layer takes
lists; the first axis is that of the batch.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp
from registry_cases.case import draw, operand


@dataclass(frozen=True)
class LayerCase:
    """Constructor of a layer, and inputs of a call."""

    name: str
    make: Callable[..., Any]
    inputs: tuple[Any, ...]
    known: dict[str, Any]
    mixes: bool = False  # whether samples of a batch influence each other's results in prediction
    loose: float = 1.0  # factor on the tolerances of 16-bit floats

    def arrays(self) -> list[Any]:
        """The inputs: float32, but for those that have dtypes of their own."""
        rng = onp.random.default_rng(zlib.crc32(self.name.encode()))

        def made(given: Any) -> Any:
            if isinstance(given, list):
                return [made(g) for g in given]
            wanted = operand(given)
            return draw(wanted, wanted.shape, onp.dtype(wanted.dtype or "float32"), rng)

        return [made(given) for given in self.inputs]


CASES: dict[str, list[LayerCase]] = {}


def layer(
    name: str,
    make: Callable[..., Any],
    *inputs: Any,
    mixes: bool = False,
    loose: float = 1.0,
    **known: Any,
) -> None:
    """Declare a case."""
    CASES.setdefault(name, []).append(LayerCase(name, make, inputs, known, mixes, loose))
