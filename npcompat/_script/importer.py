"""Import of a program's own modules, converted; installed packages are imported as they are."""

import builtins
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from multiprocessing import spawn
from types import CodeType, FunctionType, ModuleType
from typing import Any

from npcompat import np, npx
from npcompat._internal.core import modes
from npcompat._internal.dispatch.devices import as_device
from npcompat._script import border, packages
from npcompat._script.source import (
    ACROSS,
    AS_ARRAY,
    ASSIGNED,
    ITEM,
    JIT,
    KEY,
    OF_PYTHON,
    converted,
)
from npcompat.numpy import _creation
from npcompat.numpy.random import mtrand

_MODULE = np.ndarray.__module__
COMPILED: dict[str, bool] = {}
"""Names of functions of the program that are compiled; True once one is defined."""


class _Loader(SourceFileLoader):
    """Loader of the source of a program's module; what it compiles is not cached in files."""

    def get_code(self, fullname: str) -> CodeType:
        file = self.get_filename(fullname)
        return converted(self.get_data(file), file, COMPILED, MARK)


class _Finder:
    """Finder of the modules that belong to a program."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the program; None for one that others find."""
        if name.partition(".")[0] in ("npcompat", "numpy") or name in sys.stdlib_module_names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if (
            spec is None
            or not isinstance(spec.loader, SourceFileLoader)
            or spec.origin is None
            or packages.is_installed_file(spec.origin)
        ):
            return None
        spec.loader = _Loader(name, spec.origin)
        return spec


def _compiled(function: FunctionType) -> Any:
    """Compile a function of the program, and note that it is defined."""
    COMPILED[function.__name__] = True
    return npx.jit(function)


BOUND: dict[str, Any] = {
    ACROSS: border.across,
    KEY: border.key,
    ITEM: border.item,
    ASSIGNED: border.assigned,
    OF_PYTHON["isinstance"]: border.is_instance,
    OF_PYTHON["issubclass"]: border.is_subclass,
    OF_PYTHON["setattr"]: border.set_attribute,
    JIT: _compiled,
    AS_ARRAY: border.as_array,
}
"""Functions that converted source calls, by their names there."""


def bind(functions: Mapping[str, Any] = BOUND) -> None:
    """Give converted source the functions that it calls, in whatever namespace it is executed."""
    vars(builtins).update(functions)


def install() -> None:
    """Convert the modules of a program from now on, when they are imported.

    Programs print the class of arrays under the name of NumPy's.
    What it seeds are its own draws, and those of the libraries that it calls; `np.asarray(S.data)`
    shares the memory of what belongs to a library.
    """
    bind()
    sys.meta_path.insert(0, _Finder)
    np.ndarray.__module__ = "numpy"
    mtrand.seeds_numpys[0] = _creation.aliases_numpys[0] = True
    spawn.get_preparation_data = _prepared


def is_installed() -> bool:
    """Return True if this process runs programs on npcompat."""
    return _Finder in sys.meta_path


def uninstall() -> None:
    """Import modules as they are again."""
    np.ndarray.__module__ = _MODULE
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _Finder]
    mtrand.seeds_numpys[0] = _creation.aliases_numpys[0] = False
    spawn.get_preparation_data = _PREPARED


# --- functions of a program in other processes ----------------------------------------------------

PLACED: dict[str, str | None] = {"backend": None, "device": None}
"""Options that say where a program's new arrays are placed, in its workers, too."""


def place(stack: ExitStack) -> None:
    """Place new arrays where the options say, until the stack is left."""
    if PLACED["backend"] is not None:
        stack.enter_context(npx.backend(PLACED["backend"]))
    if PLACED["device"] is not None:
        stack.enter_context(as_device(PLACED["device"]))


_PREPARED = spawn.get_preparation_data


class _NumpysDtypes:
    """Object that a spawned process unpickles first: functions of npcompat that it is sent by name
    give NumPy's dtypes, as in the program.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import os; os.environ['NPCOMPAT_DEFAULT_DTYPE'] = 'numpy'",)


def _prepared(name: str) -> dict[str, Any]:
    """Return what a spawned process is told, as `multiprocessing.spawn` does."""
    return {"npcompat": _NumpysDtypes(), **_PREPARED(name)}


class Mark(bytes):
    """Constant in the code of a program: who unpickles it runs programs on npcompat from then on.

    joblib, Dask and others send functions of `__main__` to other processes by their code, which
    calls the border by names that a new process lacks. For `marshal` it is bytes.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _join, (PLACED["backend"], PLACED["device"])


MARK = Mark(b"npcompat")


def _join(backend: str | None, device: str | None) -> Mark:
    """Let this process run functions of a program, unless it does; return the mark."""
    if not is_installed():
        npx.set_np(dtype=True)
        PLACED.update(backend=backend, device=device)
        with ExitStack() as stack:
            place(stack)
            mode = modes.current()
        modes.set_default(backend=mode.backend, device=mode.device)
        install()
    return MARK


__all__ = [
    "BOUND",
    "COMPILED",
    "MARK",
    "PLACED",
    "Mark",
    "bind",
    "install",
    "is_installed",
    "place",
    "uninstall",
]
