"""NumPy's own numpy/linalg/tests/test_linalg.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/linalg/tests/test_linalg.py", backend="numpy"))
