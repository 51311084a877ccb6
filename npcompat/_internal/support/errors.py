"""The errors of npcompat, and where in the user's code they happened.

Each class subclasses the exception that NumPy or Python would raise, so `except IndexError` keeps
working.
"""

import contextlib
import functools
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType


def _folder(package: str) -> str:
    """Folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return os.path.dirname(spec.origin) + os.sep


_PACKAGE = str(Path(__file__).parents[2]) + os.sep
# Files of what npcompat stands on, by where they are installed: a user's folder may be named jax,
# too.
_NAMES = ("jax", "jaxlib", "numpy", "optax", "ml_dtypes")
_LIBRARIES = (*map(_folder, _NAMES), contextlib.__file__, functools.__file__, "<frozen ")
_STDLIB = os.path.dirname(contextlib.__file__) + os.sep
_SITE = os.sep + "site-packages" + os.sep


def is_library(filename: str) -> bool:
    """Return True for files of npcompat, of what it stands on, and of Python itself."""
    if filename.startswith((_PACKAGE, *_LIBRARIES)):
        return True
    return filename.startswith(_STDLIB) and _SITE not in filename


class AddressNotImplementedError(AttributeError, NotImplementedError):
    """The address of an array's memory was asked for: what asks by `hasattr` is told that there is
    none.
    """


class TracedValueError(TypeError):
    """Python asked for the value of an array that is only known when the compiled program runs."""


class LeakedTracerError(RuntimeError):
    """An array made inside a compiled function was used after the function had been compiled."""


class AutogradError(RuntimeError):
    """A gradient was asked for that was not recorded, or whose graph was already used."""


class DeferredInitializationError(RuntimeError):
    """A parameter was read before its shape or its values were known."""


class ParameterFileError(ValueError):
    """A parameter file is damaged, or does not fit the block that loads it."""


class DataFileError(ValueError):
    """A file of samples or records is damaged; the message names the file and the place."""


class OperatorError(TypeError):
    """An operator was declared or called against its declaration."""


class DefinitionError(ValueError):
    """A serialised operator or graph is damaged, or names what is not known here."""


class InferenceError(ValueError):
    """No arrays of the types that were given can be operands of one call."""


class SymbolError(TypeError):
    """A symbol was used as if it had a value."""


class CompileWarning(UserWarning):
    """A function is compiled again and again."""


class AuditError(RuntimeError):
    """Inside `npx.audit(strict=True)` something happened that the program does not say."""


def user_location() -> str:
    """`file.py:12` of the innermost frame that belongs neither to npcompat nor to what it stands
    on.
    """
    return user_call()[0]


def user_call() -> tuple[str, list[str]]:
    """The same, and the names of npcompat's functions between that frame and here, innermost first:
    the last is what the user called.
    """
    names = []
    for frame in _frames():
        filename = frame.f_code.co_filename
        if filename.startswith(_PACKAGE):
            names.append(frame.f_code.co_name)
        elif not filename.startswith(_LIBRARIES):
            return f"{filename}:{frame.f_lineno}", names
    return "<unknown>", names


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back
