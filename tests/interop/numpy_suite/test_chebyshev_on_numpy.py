"""NumPy's own numpy/polynomial/tests/test_chebyshev.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/polynomial/tests/test_chebyshev.py", backend="numpy"))
