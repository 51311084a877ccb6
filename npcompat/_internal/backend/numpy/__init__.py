"""Host backend: programs and kernels over NumPy. Importing it registers the kernels."""

from npcompat._internal.backend.numpy import (
    array_functions,
    bits,
    deconvolution,
    linalg,
    loops,
    nn,
    recurrence,
)

__all__ = ["array_functions", "bits", "deconvolution", "linalg", "loops", "nn", "recurrence"]
