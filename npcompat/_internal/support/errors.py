"""Errors of npcompat, and the user's line where they happened.

Each class subclasses the exception that NumPy or Python would raise, so `except IndexError` keeps
working.
"""

import contextlib
import functools
import importlib.util
import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType


def _folders(packages: Iterable[str]) -> Iterator[str]:
    """Iterate over the folders of packages and the files of modules, without importing them."""
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            is_package = spec.submodule_search_locations is not None
            yield os.path.dirname(spec.origin) + os.sep if is_package else spec.origin


_PACKAGE = str(Path(__file__).parents[2]) + os.sep
# Prefixes of the files of libraries below npcompat, by where they are installed: a user's folder
# may be named jax, too.
_NAMES = (
    "jax", "jaxlib", "numpy", "optax", "ml_dtypes", "absl", "chex", "etils", "opt_einsum",
    "array_api_compat", "safetensors", "torch", "typing_extensions",
)  # fmt: skip
_LIBRARIES = (*_folders(_NAMES), contextlib.__file__, functools.__file__, "<frozen ")
_STDLIB = os.path.dirname(contextlib.__file__) + os.sep
_SITE = os.sep + "site-packages" + os.sep
_LOGGING = _STDLIB + "logging" + os.sep
"""Folder of Python's `logging`, which prints errors of what it is to log, and goes on."""


def is_library(filename: str) -> bool:
    """Return True for files of npcompat, of libraries below it, and of Python itself."""
    return is_below(filename) or (filename.startswith(_STDLIB) and _SITE not in filename)


def is_below(filename: str) -> bool:
    """Return True for files of npcompat and of libraries below it."""
    return filename.startswith((_PACKAGE, *_LIBRARIES))


class AddressNotImplementedError(AttributeError, NotImplementedError):
    """Error for the address of an array's memory, which arrays on XLA don't have.

    It is an AttributeError, too, so that `hasattr` returns False.
    """


class TraceErrors:
    """Errors of a trace, while it `runs`: those that are `alive`, those `caught` by user code, as
    lines and texts, and other errors that are `noted`.
    """

    __slots__ = ("alive", "caught", "noted", "runs")

    def __init__(self) -> None:
        self.runs = True
        self.alive: weakref.WeakSet[TracedValueError] = weakref.WeakSet()
        self.noted: list[BaseException] = []
        self.caught: list[tuple[str, str]] = []


TRACE_ERRORS: ContextVar[TraceErrors | None] = ContextVar("errors of the trace", default=None)
"""Those of the running trace; see `compile/caught_errors.py`."""


def caught_at(error: BaseException) -> str | None:
    """Return the line of user code that has caught an error: its traceback begins there."""
    begin = error.__traceback__
    filename = "" if begin is None else begin.tb_frame.f_code.co_filename
    if begin is None or not is_user_code(filename) or filename.startswith(_LOGGING):
        return None
    return f"{filename}:{begin.tb_lineno}"


class TracedValueError(TypeError):
    """Error for the value of an array that is only known when the compiled program runs."""

    __slots__ = ("__weakref__", "_trace")  # an attribute would be pickled

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self._trace = TRACE_ERRORS.get()
        if self._trace is not None:
            self._trace.alive.add(self)

    def __del__(self) -> None:
        # The trace does not keep the error: its traceback keeps the frames of the function, and
        # thereby arrays.
        found = getattr(self, "_trace", None)
        if found is not None and found.runs and (where := caught_at(self)) is not None:
            found.caught.append((where, f"{type(self).__name__}: {self}"))


class RefusedError(TracedValueError):
    """Error for a loop or branch that can't be part of the program, and can't be unrolled."""


class LeakedTracerError(RuntimeError):
    """Error for an array of a compiled function that is used after the function was compiled."""


class AutogradError(RuntimeError):
    """Error for a gradient that was not recorded, or whose graph was already used."""


class DeferredInitializationError(RuntimeError):
    """Error for a parameter that is read before its shape or its values are known."""


class ParameterFileError(ValueError):
    """Error for a parameter file that is damaged, or does not fit the block that loads it."""


class DataFileError(ValueError):
    """Error for a damaged file of samples or records; the message names the file and the place."""


class OperatorError(TypeError):
    """Error for an operator that is declared wrongly, or called against its declaration."""


class DefinitionError(ValueError):
    """Error for a serialised operator or graph that is damaged, or names something unknown."""


class InferenceError(ValueError):
    """Error for types that can't be those of one call's operands."""


class SymbolError(TypeError):
    """Error for a symbol that is used as if it had a value."""


class CompileWarning(UserWarning):
    """Warning for a function that is compiled again and again."""


class PrecisionWarning(UserWarning):
    """Warning for a float32 array where SciPy needs float64 to find anything."""


class RemoteValuesError(RuntimeError):
    """Error for values of an array that lie in other processes."""


class AuditError(RuntimeError):
    """Error for a hidden cost inside `npx.audit(strict=True)`."""


class BackendError(RuntimeError):
    """Error for a plug-in backend that can't be made, or was written for other equations."""


class UnsupportedDtypeError(TypeError):
    """Error for a dtype that a plug-in backend does not hold."""


PUBLIC = (
    AddressNotImplementedError, AuditError, AutogradError, BackendError, CompileWarning, DataFileError,
    DeferredInitializationError, DefinitionError, InferenceError, LeakedTracerError, OperatorError,
    ParameterFileError, PrecisionWarning, RefusedError, RemoteValuesError, SymbolError, TracedValueError,
    UnsupportedDtypeError,
)  # fmt: skip
"""The classes that users catch, by their names in `npcompat.errors`; so tracebacks show them."""
for _kind in PUBLIC:
    _kind.__module__ = "npcompat.errors"


def user_location() -> str:
    """Return `file.py:12` of the innermost frame of user code.

    User code belongs neither to npcompat nor to a library below it.
    """
    return user_call()[0]


def is_user_code(filename: str) -> bool:
    """Return True for a file of the user's: neither of npcompat nor of what it stands on."""
    return not filename.startswith((_PACKAGE, *_LIBRARIES, "<frozen"))


def user_call() -> tuple[str, list[CodeType]]:
    """Return `user_location()`, and npcompat's functions between that frame and here.

    They are code objects, innermost first: the last one is the function that the user called.
    """
    codes = []
    for frame in _frames():
        filename = frame.f_code.co_filename
        if filename.startswith(_PACKAGE):
            codes.append(frame.f_code)
        elif not filename.startswith(_LIBRARIES):
            return f"{filename}:{frame.f_lineno}", codes
    return "<unknown>", codes


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back
