"""Packages that are installed, and what belongs to them: modules, classes, callables."""

import builtins
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from npcompat import np

OURS = "npcompat"
_STANDARD = frozenset(sys.stdlib_module_names)
_INSTALLED = tuple(
    {sysconfig.get_path(name) + "/" for name in ("purelib", "platlib", "stdlib", "platstdlib")}
)


@lru_cache(maxsize=4096)
def is_installed(package: str) -> bool:
    """Return True for the name of a package that is installed, and neither ours nor Python's."""
    if package == OURS or package in _STANDARD:
        return False
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and is_installed_file(file)


def module_of(kind: type) -> str:
    """Return the module that a class belongs to: our arrays' has the name of NumPy's for programs."""
    return OURS if kind is np.ndarray else kind.__module__


@lru_cache(maxsize=4096)
def is_packages(kind: type) -> bool:
    """Return True for a class of a package that is installed."""
    return is_installed(package_in(module_of(kind)))


@lru_cache(maxsize=4096)
def _owner(kind: type, name: str) -> type:
    """Return the class that an attribute belongs to: a package's class itself, and for one of the
    program the base that has the attribute.
    """
    if is_packages(kind):
        return kind
    return next((k for k in kind.__mro__ if name in vars(k)), kind)


@lru_cache(maxsize=4096)
def takes_numpys(kind: type, name: str) -> bool:
    """Return True if an attribute of an object, or its items, are those of a package's class."""
    return is_packages(_owner(kind, name))


@lru_cache(maxsize=4096)
def extends_package(kind: type) -> bool:
    """Return True for a class of a package, and for one of the program that extends it."""
    return any(map(is_packages, kind.__mro__))


@lru_cache(maxsize=4096)
def is_ours(kind: Any) -> bool:
    """Return True for a class of npcompat's."""
    return kind is not type and package_in(module_of(kind)) == OURS


@lru_cache(maxsize=4096)
def is_installed_file(file: str) -> bool:
    """Return True for a file of an installed package or of Python itself, not of the program."""
    path = Path(file).resolve()
    if str(path).startswith(_INSTALLED) or not {"site-packages", "dist-packages"}.isdisjoint(
        path.parts
    ):
        return True
    return any([_holds_packages(str(folder)) for folder in path.parents])


@lru_cache(maxsize=4096)
def _holds_packages(folder: str) -> bool:
    """Return True for a folder into which packages were installed, as by `pip install --target`."""
    return folder in sys.path and any(Path(folder).glob("*.dist-info"))


@lru_cache(maxsize=4096)
def _answers(kind: type) -> bool:
    """Return True for a class that looks in Python for the attributes of its objects."""
    found = [vars(k) for k in kind.__mro__]
    return any(
        ["__getattr__" in f or type(f.get("__getattribute__")) is FunctionType for f in found]
    )


def attribute(function: Any, name: str) -> Any:
    """Return an attribute of a callable that it has, or None: it is asked for no other.

    Columns of polars, mocks and dicts with attributes answer for any name, or raise.
    """
    kind: Any = type(function)
    read: Any = getattr
    if _answers(kind):
        read = type.__getattribute__ if issubclass(kind, type) else object.__getattribute__
    try:
        return read(function, name)
    except Exception:  # what a property raises is for the program, when it reads it
        return None


def _name_of(function: Any) -> str:
    name = attribute(function, "__name__")
    return name if isinstance(name, str) else ""


def package_of(function: Any, reached: Any) -> str:
    """The package that a callable belongs to: that of the object or module that it was taken
    from.
    """
    kind = type(function)
    owner = attribute(function, "__self__")
    if isinstance(owner, ModuleType):
        name: Any = owner.__name__
    elif owner is not None and not isinstance(owner, type):
        of: Any = type(owner)
        if of in _nameless:
            return SOME_PACKAGE
        name = module_of(_owner(of, _name_of(function)))
    elif owner is not None and kind is BuiltinFunctionType:
        name = module_of(owner)  # a method in C of a class
    elif not isinstance(function, type | FunctionType) and is_installed(
        package_in(kind.__module__)
    ):
        name = kind.__module__  # an object that is called, such as numba's functions
    else:
        name = attribute(function, "__module__")
    if name is None and kind is FunctionType:  # a wrapper that is named after a function in C
        name = function.__globals__.get("__name__")
    if name is None:  # of a class in C
        name = attribute(attribute(function, "__objclass__"), "__module__")
    if name is None and _is_nameless(kind):
        return SOME_PACKAGE  # an object that is called, such as SciPy's functions in Fortran
    if name in (None, "builtins") and isinstance(reached, ModuleType):
        name = reached.__name__
    return package_in(_module_that_has(function) if name is None else name)


def package_in(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else "builtins"


def _module_that_has(function: Any) -> str | None:
    """Return the name of an installed module that has a function in C under its name."""
    name = _name_of(function)
    for module, found in list(sys.modules.items()):
        if (
            type(found) is ModuleType
            and found.__dict__.get(name) is function
            and is_installed(package_in(module))
        ):
            return module
    return None


_nameless: set[type] = set()
"""Classes in C that name no module, of which an object came from a package."""
SOME_PACKAGE = "<a package>"
"""Name in place of the package that such a class belongs to."""
PYTHONS_OWN = frozenset(
    [c for m in (builtins, sys.modules["types"]) for c in vars(m).values() if isinstance(c, type)]
)


def note_nameless(x: Any) -> None:
    """Note the class of a package's object if it is in C and names no module."""
    kind = type(getattr(x, "__self__", None)) if type(x) is BuiltinFunctionType else type(x)
    if _is_nameless(kind):
        _nameless.add(kind)


def _is_nameless(kind: type) -> bool:
    return kind.__module__ == "builtins" and kind not in PYTHONS_OWN


__all__ = [
    "OURS",
    "PYTHONS_OWN",
    "SOME_PACKAGE",
    "attribute",
    "extends_package",
    "is_installed",
    "is_installed_file",
    "is_ours",
    "is_packages",
    "note_nameless",
    "package_in",
    "package_of",
    "takes_numpys",
]
