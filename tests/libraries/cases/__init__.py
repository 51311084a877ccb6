"""Small programs of other libraries, each with a row in docs/libraries.md, by subject."""

from . import base, computing, files, models, operators, pictures, tables
from .base import CASES, Case

FILES = (base, computing, files, models, operators, pictures, tables)

__all__ = ["CASES", "FILES", "Case"]
