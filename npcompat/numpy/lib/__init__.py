"""NumPy's `lib`: `stride_tricks` and `scimath` are ours, the rest, which knows no arrays of ours, is NumPy's own."""

from numpy.lib import (
    Arrayterator,
    NumpyVersion,
    add_docstring,
    add_newdoc,
    array_utils,
    format,
    introspect,
    mixins,
    npyio,
    tracemalloc_domain,
)

from npcompat.numpy import emath as scimath
from npcompat.numpy.lib import stride_tricks

__all__ = [
    "Arrayterator", "NumpyVersion", "add_docstring", "add_newdoc", "array_utils", "format", "introspect", "mixins", "npyio", "scimath",
    "stride_tricks", "tracemalloc_domain",
]  # fmt: skip
