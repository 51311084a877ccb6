"""Computations on XLA that jax.numpy lacks, or does otherwise than NumPy.

Importing the package registers the kernels of the modules below; the others take long to import,
and are named in `backend/jax/namespace.py`.
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
