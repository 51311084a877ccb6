"""Cases for every layer; see case.py for what a case says.

All modules of this folder are imported, and `CASES` has their cases.
"""

import importlib
import pkgutil

from layer_cases.case import CASES

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["CASES"]
