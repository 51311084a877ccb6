"""Program of equations: the language that plug-in backends execute.

A program is straight-line. Each equation applies one primitive to variables and constants, whose
shapes and dtypes are known, and makes new variables. There are no weak types, no calls, and no
keys of random streams. docs/backends.md lists the vocabulary.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as onp

VOCABULARY = 1
"""Version of the vocabulary of equations; it grows when primitives are added or change."""


class UnsupportedError(NotImplementedError):
    """Error for an equation that an engine can't execute, raised while the program is built.

    Parameters
    ----------
    primitive : str
        Name of the primitive.
    reason : str, optional
        Why; empty if the engine has no such primitive at all.

    Examples
    --------
    >>> str(UnsupportedError("svd"))
    "no primitive 'svd'"
    >>> str(UnsupportedError("argmax", "of complex numbers"))
    "primitive 'argmax': of complex numbers"
    """

    def __init__(self, primitive: str, reason: str = "") -> None:
        self.primitive, self.reason = primitive, reason
        super().__init__(
            f"primitive {primitive!r}: {reason}" if reason else f"no primitive {primitive!r}"
        )


@dataclass(frozen=True, slots=True)
class Type:
    """Shape and dtype of a variable or constant.

    Attributes
    ----------
    shape : tuple of int
        Lengths of the axes.
    dtype : numpy.dtype
        One of NumPy's, or of ml_dtypes'.
    """

    shape: tuple[int, ...]
    dtype: onp.dtype[Any]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False, slots=True)
class Variable:
    """Value that an equation makes, or that the program is given; compared by identity."""

    type: Type


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """Value that is known when the program is built; compared by identity."""

    value: onp.ndarray[Any, Any]

    @property
    def type(self) -> Type:
        """Shape and dtype of the value."""
        return Type(self.value.shape, self.value.dtype)


Atom = Variable | Constant


@dataclass(frozen=True, eq=False, slots=True)
class Equation:
    """One application of a primitive.

    Attributes
    ----------
    name : str
        Name of the primitive.
    inputs : tuple of Variable or Constant
        Operands.
    outputs : tuple of Variable
        Results.
    attrs : mapping
        Attributes of the primitive; those of loops and branches hold programs.
    """

    name: str
    inputs: tuple[Atom, ...]
    outputs: tuple[Variable, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        types = ", ".join([f"{a.type.dtype}{list(a.type.shape)}" for a in self.inputs])
        return f"{self.name}({types})"


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """Function of arrays as a sequence of equations.

    Attributes
    ----------
    name : str
        Name of the operator or function that it computes, for errors.
    inputs : tuple of Variable
        Parameters.
    equations : tuple of Equation
        Applications of primitives, in an order in which they can be executed.
    outputs : tuple of Variable or Constant
        Results; one variable may stand there twice.
    """

    name: str
    inputs: tuple[Variable, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Atom, ...]

    def primitives(self) -> Iterator[str]:
        """Iterate over the names of all primitives, those of inner programs included."""
        for equation in self.equations:
            yield equation.name
            for attr in equation.attrs.values():
                for inner in attr if isinstance(attr, tuple) else (attr,):
                    if isinstance(inner, Program):
                        yield from inner.primitives()


_EFFECTS = frozenset(("pure_callback", "io_callback", "debug_callback"))


def needed(equations: Sequence[Equation], outputs: Sequence[Atom]) -> list[Equation]:
    """Return the equations that outputs, or effects, depend on, in their order."""
    read, kept = set(outputs), []
    for equation in reversed(equations):
        if equation.name in _EFFECTS or not read.isdisjoint(equation.outputs):
            kept.append(equation)
            read.update(equation.inputs)
    return kept[::-1]


Function = Callable[..., Sequence[Any]]
"""Executable program: arrays of the engine in, a list of them out."""

__all__ = [
    "VOCABULARY",
    "Atom",
    "Constant",
    "Equation",
    "Function",
    "Program",
    "Type",
    "UnsupportedError",
    "Variable",
    "needed",
]
