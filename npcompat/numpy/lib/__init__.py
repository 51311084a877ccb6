"""NumPy's `lib` with our `npyio`, `recfunctions`, `stride_tricks` and `scimath`.

The rest, which does not use arrays, is NumPy's own.
"""

from numpy.lib import (
    Arrayterator,
    NumpyVersion,
    add_docstring,
    add_newdoc,
    array_utils,
    format,
    introspect,
    mixins,
    tracemalloc_domain,
)

from npcompat.numpy import emath as scimath
from npcompat.numpy.lib import npyio, stride_tricks

__all__ = [
    "Arrayterator", "NumpyVersion", "add_docstring", "add_newdoc", "array_utils", "format",
    "introspect", "mixins", "npyio", "scimath", "stride_tricks", "tracemalloc_domain",
]  # fmt: skip
