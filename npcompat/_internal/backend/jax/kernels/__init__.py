"""Kernels on XLA that `jax.numpy` lacks, or whose results differ from NumPy's there.

Importing the package registers the kernels of the modules below. The other modules import slowly;
`backend/jax/namespace.py` names them.
"""

from npcompat._internal.backend.jax.kernels import (
    arithmetic,
    array_functions,
    bits,
    comparison,
    complex,
    complex_order,
    interpolation,
    kinks,
    linalg,
    nn,
    signal,
    ufunc_methods,
)

__all__ = [
    "arithmetic",
    "array_functions",
    "bits",
    "comparison",
    "complex",
    "complex_order",
    "interpolation",
    "kinks",
    "linalg",
    "nn",
    "signal",
    "ufunc_methods",
]
