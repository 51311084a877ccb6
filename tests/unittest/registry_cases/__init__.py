"""One line or two for every operator of the registry: how it is called, on what, and what NumPy
says of it.

A chapter declares its cases when it is imported; `CASES` has them by operator.
"""

from registry_cases import (
    attention,
    creation,
    detection,
    mathematics,
    neural,
    packing,
    pictures,
    probability,
    products,
    random_numbers,
    recurrent,
    reductions,
    selection,
    shaping,
    sorting,
    ufuncs,
    vision,
)
from registry_cases.case import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "attention",
    "creation",
    "detection",
    "mathematics",
    "neural",
    "packing",
    "pictures",
    "probability",
    "products",
    "random_numbers",
    "recurrent",
    "reductions",
    "selection",
    "shaping",
    "sorting",
    "ufuncs",
    "vision",
]
