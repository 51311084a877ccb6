"""Small programs of other libraries, each with a row in docs/libraries.md.

A program takes `of`, which makes its arrays of NumPy's: NumPy's own, ours, or aliases of ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp

X = onp.arange(1.0, 31.0).reshape(6, 5) % 7
"""Floats of two axes."""
Y = X @ onp.array([1.0, -1.0, 0.5, 2.0, 0.0])
PICTURE = (onp.arange(12 * 12 * 3).reshape(12, 12, 3) % 251).astype(onp.uint8)
LABELS = onp.array([0, 1, 0, 1, 1, 0])


def values(found: Any) -> Any:
    """The values of a result, to be compared."""
    return onp.asarray(found)


@dataclass
class Case:
    """One program of a library."""

    library: str
    module: str
    program: str
    run: Callable[[Any], Any]
    read: Callable[[Any], Any] = values


CASES: list[Case] = []


def case(library: str, module: str, program: str, read: Callable[[Any], Any] = values) -> Any:
    """Add a program to the table."""

    def add(run: Callable[[Any], Any]) -> Any:
        CASES.append(Case(library, module, program, run, read))
        return run

    return add


def text(found: Any) -> Any:
    """The text of a result, for those that hold no numbers."""
    return onp.array(str(found))


def frame(found: Any) -> Any:
    """The values of a table."""
    return onp.asarray(found.to_numpy())
