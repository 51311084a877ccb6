"""Classes and functions that rooms above plug into dispatch; `wiring.py` fills them.

Read them as attributes of this module, at the time of use.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle

ndarray: Any = Handle
"""Public class of arrays."""
scalar: Any = Handle
"""Public class of scalars, which are never written: of all that are recorded, traced or on XLA."""
host_scalars: tuple[Any, ...] = ()
"""Classes of the other scalars, which derive from NumPy's, by NumPy's type numbers; None for bool,
from which no class can derive."""
scalars: frozenset[Any] = frozenset()
"""All classes of scalars."""
symbol: Any = Handle
"""Public class of symbols; `Handle` until `npcompat.symbol` is imported."""
symbolic: type = type(None)
"""Class of the payloads of symbols; `type(None)` until `npcompat.symbol` is imported."""
build: Callable[..., Any]
"""Add a call of an operator on symbolic payloads to a graph."""
stream: Sequence[Any] = ()
"""Payloads that stand in graphs for the key and the counter of the default random stream."""
recorder: Callable[..., Any]
"""Run an operator with its pullback, and put a node on its results."""
overridden: Any = None
"""Ask operands with `__array_ufunc__` or `__array_function__` for a result."""
converted: Callable[..., Any]
"""Convert loops and branches of a user's function, so that they become parts of the program."""
class_of_results: Any = None
"""Give results the class of operands that derive from `ndarray`."""
ufuncs: dict[str, Any] = {}
"""Public functions of operators that are ufuncs, by the operator's name."""
ordinary: set[type] = {
    bool,
    int,
    float,
    complex,
    list,
    tuple,
    onp.ndarray,
    type(None),
    type(...),
    type(onp._NoValue),
}
"""Classes of operands, and of `out=`, that override nothing."""


def is_host_scalar(x: Any) -> bool:
    """Return True for a scalar whose class derives from NumPy's."""
    return type(x) in scalars and type(x) is not scalar


def symbols_exist() -> bool:
    """Return True once `npcompat.symbol` is imported, so that there may be symbols."""
    return symbolic is not type(None)
