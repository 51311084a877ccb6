"""Kernels of the backends by name: functions that `xp` has in addition to the array library's.

A kernel is registered where it is written:

    @register_kernel("vecdot", backend="jax")
    def vecdot(a, b):
        ...

Modules of kernels that import slowly are named by the backend together with their kernels, and are
imported when one of these is first used.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from npcompat._internal.support.errors import OperatorError

_Function = TypeVar("_Function", bound=Callable[..., Any])
KERNELS: dict[str, dict[str, Callable[..., Any]]] = {}
"""By backend, then by name."""


def register_kernel(name: str, *, backend: str) -> Callable[[_Function], _Function]:
    """Register a function as the kernel of this name on a backend; return it unchanged.

    Raises
    ------
    OperatorError
        If the backend has another kernel of this name.
    """
    known = KERNELS.setdefault(backend, {})

    def register(function: _Function) -> _Function:
        if name in known:
            raise OperatorError(
                f"the backend {backend!r} has two kernels {name!r}: in "
                f"{getattr(known[name], '__module__', '?')} and in "
                f"{getattr(function, '__module__', '?')}"
            )
        known[name] = function
        return function

    return register


def register_kernels(backend: str, /, **kernels: Callable[..., Any]) -> None:
    """Register existing functions, each as the kernel named by its keyword."""
    for name, function in kernels.items():
        register_kernel(name, backend=backend)(function)


class KernelNamespace:
    """Namespace `xp` of an operator's compute on a backend.

    A name is looked up among the kernels of the backend, after the import of its module, and then
    in the array libraries. The function found becomes an attribute.

    Parameters
    ----------
    name : str
        Backend.
    libraries : sequence of module
        Array libraries.
    later : mapping of str to sequence of str
        Modules that are imported when one of their kernels, given by name, is first used.
    """

    def __init__(
        self, name: str, libraries: Sequence[Any], later: Mapping[str, Sequence[str]]
    ) -> None:
        self.name, self._libraries = name, libraries
        self._later = {kernel: module for module, names in later.items() for kernel in names}

    def __getattr__(self, attribute: str) -> Any:
        if attribute in self._later:
            importlib.import_module(self._later[attribute])
        found = KERNELS[self.name].get(attribute)
        for library in self._libraries if found is None else ():
            found = getattr(library, attribute, None)
            if found is not None:
                break
        if found is None:
            raise AttributeError(f"the backend {self.name!r} has no kernel {attribute!r}")
        setattr(self, attribute, found)
        return found


__all__ = ["KERNELS", "KernelNamespace", "register_kernel", "register_kernels"]
