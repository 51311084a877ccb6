"""NumPy's own numpy/_core/tests/test_half.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_half.py", backend="numpy"))
