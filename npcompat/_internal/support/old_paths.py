"""Modules under MXNet's paths, made when they are imported.

`npcompat.gluon.data.dataloader` and its like have no file: a finder makes them of
`npcompat._mxnet_paths`, the table of their names, which is not read before that.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_ROOT = "npcompat."


def _entry(name: str) -> Any:
    """Return what the table says of a module, given by its full name; None if nothing."""
    if not f"{name}.".startswith(_ROOT):
        return None
    table = importlib.import_module("npcompat._mxnet_paths")
    return table.MODULES.get(name.removeprefix(_ROOT))


class OldModule(ModuleType):
    """Module whose names are those of other modules."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _entry(self.__name__).public()
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if _entry(f"{self.__name__}.{name}") is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        found = _entry(self.__name__).find(self.__name__, name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *_entry(self.__name__).public()])


class _Finder:
    """Finder and loader of the modules of the table."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the table; None for any other."""
        entry = _entry(name)
        if entry is None:
            return None
        # every one may have modules below it; none of them has a folder
        return ModuleSpec(name, _Finder, origin=entry.origin, is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """Create a module that looks up its names when they are used."""
        return OldModule(spec.name, f"MXNet's names of this path: {spec.origin}.")

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put the module that the whole path stands for, if any, into `sys.modules`."""
        whole = _entry(module.__name__).whole
        if whole is not None:
            sys.modules[module.__name__] = importlib.import_module(whole)


def names_of(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that has modules of the table below it.

    So `gluon.data.dataloader.DataLoader` works without an import of its module, as in MXNet.
    """

    def found(name: str) -> Any:
        if not name.startswith("_"):
            if _entry(f"{package}.{name}") is not None:
                return importlib.import_module(f"{package}.{name}")
            if (entry := _entry(package)) is not None:
                return entry.find(package, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return found


def install() -> None:
    """Let the paths of the table be imported; those that have files are found before."""
    sys.meta_path.append(_Finder)


__all__ = ["OldModule", "install", "names_of"]
