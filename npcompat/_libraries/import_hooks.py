"""Import hooks: an extension is registered when its library is imported, before or after npcompat.

Neither does npcompat import such a library, nor the library npcompat: an entry point would load
JAX into every program of the library.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar

from npcompat._libraries import replaced

EXTENSIONS = {
    "dask.array.backends": "npcompat._libraries.dask_percentile",
    "dill": "npcompat._libraries.dill_globals",
    "einops": "npcompat._libraries.einops_backend",
    "numba": "npcompat._libraries.numba_arrays",
    "pyarrow": "npcompat._libraries.arrow_lists",
    "scipy.linalg.lapack": "npcompat._libraries.fortran_functions",
    "scipy.ndimage": "npcompat._libraries.ndimage_outputs",
    "scipy.ndimage._ndimage_api": "npcompat._libraries.ndimage_outputs",
    "scipy.sparse": "npcompat._libraries.scipy_sparse",
    "torch": "npcompat._libraries.torch_asarray",
    "torch.utils.data._utils.collate": "npcompat._libraries.torch_collate",
    "xarray.core.variable": "npcompat._libraries.xarray_dates",
}
"""Modules whose import registers an extension, by the library that is extended; those of which only
functions are replaced are in `replaced.REPLACED`."""


def _extend(library: str) -> None:
    if library in EXTENSIONS:
        importlib.import_module(EXTENSIONS[library])
    else:
        replaced.extend(library)


class _Loader:
    """Loader of a library, which registers the extension after it."""

    def __init__(self, loader: Any, library: str) -> None:
        self._loader, self._library = loader, library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as the library's own loader does."""
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Import the library, then its extension."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _extend(self._library)


class _Finder:
    """Finder of the libraries that have an extension."""

    finding: ClassVar[set[str]] = set()

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a library that is extended; None for any other module."""
        if (name not in EXTENSIONS and name not in replaced.REPLACED) or name in cls.finding:
            return None
        cls.finding.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            cls.finding.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, name)  # type: ignore[assignment]
        return spec


def install() -> None:
    """Register the extensions of libraries that are imported, and those of others later."""
    for library in (*EXTENSIONS, *replaced.REPLACED):
        if library in sys.modules:
            _extend(library)
    sys.meta_path.insert(0, _Finder)


__all__ = ["EXTENSIONS", "install"]
