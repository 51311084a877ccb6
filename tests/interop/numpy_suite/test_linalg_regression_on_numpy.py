"""NumPy's own numpy/linalg/tests/test_regression.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/linalg/tests/test_regression.py", backend="numpy"))
