"""Modules that are imported when something in them is first asked for, so that `import npcompat`
stays cheap.
"""

import importlib
from typing import Any


class LazyModule:
    """Stands for a module until one of its names is asked for.

    Parameters
    ----------
    name : str
        Full name of the module.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(importlib.import_module(self.__name__), attribute)
        setattr(self, attribute, found)
        return found
