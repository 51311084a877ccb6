"""NumPy's own numpy/lib/tests/test_type_check.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/lib/tests/test_type_check.py", backend="numpy"))
