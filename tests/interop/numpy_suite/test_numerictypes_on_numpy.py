"""NumPy's own numpy/_core/tests/test_numerictypes.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_numerictypes.py", backend="numpy"))
