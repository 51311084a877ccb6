"""One line or two for every operator of the registry: how it is called, on what, and what NumPy
says of it.

Each module declares the cases of a chapter; all modules of this folder are imported, and `CASES`
has their cases by operator.
"""

import importlib
import pkgutil

from registry_cases.case import CASES, Case

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["CASES", "Case"]
