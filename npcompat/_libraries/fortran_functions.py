"""npcompat's arrays for SciPy's functions of BLAS and LAPACK, which overwrite what isn't NumPy's.

F2py makes the copy that `overwrite_b=0` asks for of NumPy's arrays only. What it makes of any other
object it takes for a copy, also if it is over the object's own memory, as for buffers.
"""

import sys
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._libraries.replacing import as_numpys

_MODULES = ("scipy.linalg.blas", "scipy.linalg.lapack")


class FortranFunction:
    """Function in Fortran that gets NumPy's arrays, over the same memory, for ours."""

    __module__ = "scipy.linalg"  # to the runner they are SciPy's, whose results become ours

    def __init__(self, function: Any) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; its results are NumPy's arrays.

        Raises
        ------
        ValueError
            If it writes an array that others can't write: one on XLA, recorded or read-only.
            What `overwrite_a=True` gives up is left as it is there.
        """
        copies: list[tuple[Any, Any]] = []
        taken = [_taken(x, copies) for x in args]
        named = {name: _taken(x, copies) for name, x in kwargs.items()}
        found = self._function(*taken, **named)
        if copies and not any([v for name, v in kwargs.items() if name.startswith("overwrite_")]):
            if any([copy.tobytes() != given.tobytes() for given, copy in copies]):
                raise ValueError(
                    f"{self._function.__name__} writes an array that is read-only to other "
                    "libraries: on XLA, recorded, or read-only. Pass a copy of NumPy's, "
                    "numpy.array(a)"
                )
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return repr(self._function)


def _taken(x: Any, copies: list[tuple[Any, Any]]) -> Any:
    """Return NumPy's array for ours, and a copy of a read-only one, which is noted."""
    found = as_numpys(x)
    if not isinstance(x, Handle) or type(found) is not onp.ndarray or found.flags.writeable:
        return found
    copies.append((found, found.copy("K")))
    return copies[-1][1]


def _replace_all() -> None:
    """Replace the functions of both modules wherever SciPy has imported them."""
    found = [v for n in _MODULES if n in sys.modules for v in vars(sys.modules[n]).values()]
    replaced = {id(v): FortranFunction(v) for v in found if type(v).__name__ == "fortran"}
    for name, module in list(sys.modules.items()):
        if name.startswith("scipy.") and hasattr(module, "__dict__"):
            for key, value in list(vars(module).items()):
                if id(value) in replaced:
                    setattr(module, key, replaced[id(value)])


_replace_all()

__all__ = ["FortranFunction"]
