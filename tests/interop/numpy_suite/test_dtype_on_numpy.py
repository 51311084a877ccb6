"""NumPy's own numpy/_core/tests/test_dtype.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_dtype.py", backend="numpy"))
