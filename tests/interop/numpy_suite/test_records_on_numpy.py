"""NumPy's own numpy/_core/tests/test_records.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_records.py", backend="numpy"))
