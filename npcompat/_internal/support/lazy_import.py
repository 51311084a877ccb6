"""Lazy imports of modules, which keep `import npcompat` cheap."""

import importlib
from typing import Any


class LazyModule:
    """Module that is imported when one of its names is first used.

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
