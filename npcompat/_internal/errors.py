"""The errors of npcompat, and where in the user's code they happened.

Each class subclasses the exception that NumPy or Python would raise, so `except IndexError` keeps working.
"""

import os
import sys
from collections.abc import Iterator

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (f"{os.sep}jax{os.sep}", f"{os.sep}contextlib.py", f"{os.sep}functools.py", "<frozen ")


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


def user_location() -> str:
    """`file.py:12` of the innermost frame that belongs neither to npcompat nor to what it stands on."""
    for filename, line in _frames():
        return f"{filename}:{line}"
    return "<unknown>"


def _frames() -> Iterator[tuple[str, int]]:
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_PACKAGE) and not any(part in filename for part in _LIBRARIES):
            yield filename, frame.f_lineno
        if frame.f_back is None:
            return
        frame = frame.f_back
