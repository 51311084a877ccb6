"""Programs beside objects of a library: with NumPy's arrays in place of ours, they are the oracle."""

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as onp

from npcompat import np, npx


def lines_of(programs: str) -> list[str]:
    """Lines of programs, which are divided by bars."""
    return programs.strip().splitlines()


def assert_as_with_numpys(
    line: str,
    names: Callable[[Any], dict[str, Any]],
    described: Callable[[Any], Any],
    backend: str,
    warned: Literal["ignore", "error"] = "ignore",
) -> None:
    """Compare what each program of a line makes of our arrays and of NumPy's, or its error.

    Parameters
    ----------
    names : function
        Makes what the programs name, of arrays of a namespace.
    described : function
        Describes a result by what can be compared.
    warned : str
        Action of Python's filter of warnings.
    """
    for program in line.split(" | "):
        outcomes = []
        for xp in (np, onp):
            with warnings.catch_warnings(), npx.backend(backend):
                warnings.simplefilter(warned)
                try:
                    outcomes.append(described(eval(program, names(xp))))
                except Exception as error:
                    outcomes.append(type(error).__name__)
        assert outcomes[0] == outcomes[1], program
